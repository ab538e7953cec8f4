"""Argument checks; each error gives the argument's name, its value and the valid range."""

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

SPLITS = ("train", "validation", "test")


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise a ValueError unless `value` is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, choices))}")


def check_integers(least: int, /, **values: object) -> None:
    """Raise a ValueError unless all of `values` are integers of at least `least`."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise ValueError(f"{name}={value!r} must be an integer of at least {least}")


def check_lengths(least: int, min_length: Any, length: Any) -> None:
    """Raise a ValueError unless `least` <= `min_length` <= `length` and 1 <= `length`, integers."""
    check_integers(1, length=length)
    check_integers(least, min_length=min_length)
    if min_length > length:
        raise ValueError(f"min_length={min_length} must be at most length={length}")


def check_numbers(least: float, /, **values: Any) -> None:
    """Raise a ValueError unless all of `values` are finite numbers of at least `least`."""
    for name, value in values.items():
        if not is_number(value) or not least <= value < np.inf:
            raise ValueError(f"{name}={value!r} must be a number of at least {least}")


def check_flags(**values: object) -> None:
    """Raise a ValueError unless all of `values` are booleans."""
    for name, value in values.items():
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"{name}={value!r} must be True or False")


def is_number(value: object) -> bool:
    """Return whether `value` is a number; NaN and infinity are numbers, booleans are not."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def check_mode(mode: str | AutoresetMode) -> AutoresetMode:
    """Return `mode` as Gymnasium's enum.

    Raises:
        ValueError: `mode` names no autoreset mode.
    """
    value = mode.value if isinstance(mode, AutoresetMode) else mode
    check_choice("autoreset_mode", value, tuple(known.value for known in AutoresetMode))
    return AutoresetMode(value)
