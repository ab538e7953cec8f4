"""What all commands share: KEY=VALUE pairs, and errors in one line."""

import json
import sys
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import tyro

from glimpse_envs.evaluation.runs import RunError
from glimpse_envs.sources import SourceError


def parse_pairs(pairs: list[str]) -> dict[str, Any]:
    """From ["budget=4", "look=tiles"] to {"budget": 4, "look": "tiles"}.

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
            values[name] = json.loads(text.lower() if text in ("True", "False") else text)
        except json.JSONDecodeError:
            values[name] = text
    return values


KEY_VALUE_PAIRS = tyro.constructors.PrimitiveConstructorSpec(
    nargs="*",
    metavar="[KEY=VALUE ...]",
    instance_from_str=parse_pairs,
    is_instance=lambda instance: isinstance(instance, dict),
    str_from_instance=lambda instance: [f"{name}={value}" for name, value in instance.items()],
)
"""How tyro reads an environment's arguments."""


USER_ERRORS = (RunError, SourceError, ValueError, FloatingPointError, OSError, gym.error.Error)
"""Errors whose message is enough for a user."""


def run_command(command: Callable[[], object]) -> None:
    """Run `command`; an error of `USER_ERRORS` is one line on stderr and exit status 2."""
    try:
        command()
    except USER_ERRORS as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
