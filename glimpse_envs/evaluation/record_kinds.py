"""What kind of value each entry of a record holds, checked one by one."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeGuard


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_percent(value: object) -> bool:
    return _is_number(value) and 0 <= value <= 100


def _is_count(least: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and value >= least


def _are_percents(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(map(_is_percent, value))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_cost(value: object) -> bool:
    return _is_number(value) and value >= 0


def _are_costs(value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and all(map(_is_cost, value))
        and all(less <= more for less, more in pairwise(value))
    )


def _is_point(value: object) -> bool:
    if not isinstance(value, list | tuple) or len(value) != 4:
        return False
    seconds, images, error, scenes = value
    counts = _is_count(0)(images) and _is_count(1)(scenes)
    return counts and _is_cost(seconds) and _is_percent(error)


def _is_curve(value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and all(map(_is_point, value))
        and all(earlier[1] < later[1] for earlier, later in pairwise(value))
    )


def _is_named(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, dict) and all(map(_is_text, value)) and all(map(holds, value.values()))
    )


KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "env_id": (lambda value: _is_text(value) and value != "", "the id of an environment"),
    "env_kwargs": (lambda value: isinstance(value, dict), "an object of flat scalars"),
    "model": (lambda value: _is_text(value) and value != "", "the name of a model"),
    "seed": (_is_count(0), "a whole number of at least 0"),
    "glimpses": (_is_count(1), "a whole number of at least 1"),
    "error_percent": (_is_percent, "a number in [0, 100]"),
    "interval_percent": (
        lambda value: _are_percents(value) and len(value) == 2,
        "two numbers in [0, 100]",
    ),
    "error_by_glimpse": (_are_percents, "a list of numbers in [0, 100]"),
    "images_seen": (_is_count(0), "a whole number of at least 0"),
    "seconds": (lambda value: _is_number(value) and value >= 0, "a number of at least 0"),
    "hardware": (_is_text, "text"),
    "revision": (_is_text, "text"),
    "config": (lambda value: isinstance(value, dict), "an object"),
    "split": (_is_text, "text"),
    "scenes": (_is_count(1), "a whole number of at least 1"),
    "correct_hex": (_is_text, "hexadecimal text"),
    "notes": (_is_text, "text"),
    "cores": (_is_count(1), "a whole number of at least 1"),
    "costs": (_is_named(_is_cost), "an object of numbers of at least 0"),
    "costs_by_glimpse": (
        _is_named(_are_costs),
        "an object of lists of numbers of at least 0, none below the one before it",
    ),
    "curve": (
        _is_curve,
        "a list of [core-seconds, images, error in percent, scenes], each after more images",
    ),
}
"""Name -> whether a value is of the right kind, and what is right."""
