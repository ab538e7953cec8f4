"""What kind of value each entry of a memory record holds, checked one by one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, TypeGuard

Kinds = dict[str, tuple[Callable[[Any], bool], str]]
"""Name -> whether a value is of the right kind, and what is right."""


def _is_number(value: object) -> TypeGuard[float]:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return math.isfinite(value) and value >= 0


def _is_count(least: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and value >= least


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _by_length(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, dict)
        and len(value) > 0
        and all(isinstance(key, str) and re.fullmatch("[1-9][0-9]*", key) for key in value)
        and all(map(holds, value.values()))
    )


def _is_share(value: object) -> bool:
    return _is_number(value) and value <= 1


def _is_copied(value: object) -> bool:
    return (
        isinstance(value, dict)
        and all(_is_number(value.get(name)) for name in ("wrong_bits", "greatest"))
        and _is_share(value.get("wholly"))
    )


def _or_none(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or holds(value)


_NUMBER = (_is_number, "a number of at least 0")
_COUNT = (_is_count(0), "a whole number of at least 0")
_COUNT_FROM_1 = (_is_count(1), "a whole number of at least 1")
_NUMBER_OR_NONE = (_or_none(_is_number), "a number of at least 0, or none")
_TEXT = (_is_text, "text")
_OBJECT = (_is_object, "an object")

MEMORY_KINDS: Kinds = {
    "env_id": (_is_name, "the id of an environment"),
    "env_kwargs": (_is_object, "an object of flat scalars"),
    "model": (_is_name, "the name of a model"),
    "seed": _COUNT,
    "length": _COUNT_FROM_1,
    "solved": (lambda value: isinstance(value, bool), "true or false"),
    "episodes_to_solve": (_or_none(_is_count(0)), "a whole number of at least 0, or none"),
    "minutes_to_solve": _NUMBER_OR_NONE,
    "episodes": _COUNT,
    "seconds": _NUMBER,
    "accuracy_by_length": (
        _by_length(_is_share),
        "an object of shares in [0, 1] by length, such as {'20': 0.99}",
    ),
    "cells_read": _NUMBER,
    "hardware": _TEXT,
    "revision": _TEXT,
    "config": _OBJECT,
    "seconds_per_step": _NUMBER_OR_NONE,
    "multiply_adds": _NUMBER_OR_NONE,
    "sequences": _COUNT_FROM_1,
    "notes": _TEXT,
    "cores": _COUNT_FROM_1,
}

COPY_KINDS: Kinds = {
    "seed": _COUNT,
    "by_length": (
        _by_length(_is_copied),
        "an object by length of objects of the numbers wrong_bits, greatest and wholly",
    ),
    "sequences": _COUNT,
    "test_sequences": _COUNT_FROM_1,
    "seconds": _NUMBER,
    "config": _OBJECT,
    "hardware": _TEXT,
    "revision": _TEXT,
}
