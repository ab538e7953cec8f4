"""Checking arguments: an error says which one was wrong, its value, and what would be right."""

import numpy as np
from gymnasium.vector import AutoresetMode


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise a ValueError unless `value` is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, choices))}")


def check_integers(least: int, /, **values: object) -> None:
    """Raise a ValueError unless all of `values` are integers of at least `least`."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise ValueError(f"{name}={value!r} must be an integer of at least {least}")


def check_flags(**values: object) -> None:
    """Raise a ValueError unless all of `values` are truth values."""
    for name, value in values.items():
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"{name}={value!r} must be True or False")


def is_number(value: object) -> bool:
    """Whether `value` is a number, NaN and infinity included."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def check_mode(mode: str | AutoresetMode) -> AutoresetMode:
    """Return the mode that `mode` names.

    Raises:
        ValueError: there is no such mode.
    """
    value = mode.value if isinstance(mode, AutoresetMode) else mode
    check_choice("autoreset_mode", value, tuple(known.value for known in AutoresetMode))
    return AutoresetMode(value)
