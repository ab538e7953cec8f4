"""Arguments of an environment on a command line, KEY=VALUE."""

import json
from collections.abc import Iterable
from typing import Any

_CONSTANTS = {"True": "true", "False": "false", "None": "null"}  # Python's constants in JSON


def parse_pairs(pairs: Iterable[str]) -> dict[str, Any]:
    """Convert ["budget=4", "look=tiles"] to {"budget": 4, "look": "tiles"}: values are constants of
    JSON or Python, or else text.

    Raises:
        ValueError: a pair has no "=", or a key is given twice.
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise ValueError(f"{pair!r} should be KEY=VALUE, such as budget=4")
        if name in values:
            raise ValueError(f"{name} is given twice: {values[name]!r} and {text!r}")
        try:
            values[name] = json.loads(_CONSTANTS.get(text, text))
        except json.JSONDecodeError:
            values[name] = text
    return values
