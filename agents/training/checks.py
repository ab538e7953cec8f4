"""Checks of a config's values, with errors that name the field."""

import math
from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import torch

from glimpse_envs.evaluation.from_json import FieldError, from_json


def check_counts(config: object, *names: str) -> None:
    """Raise a `ValueError` where a field of `names` is below 1."""
    for name in names:
        value = getattr(config, name)
        if not value >= 1:
            raise ValueError(f"{name}={value} must be at least 1")


MOST_THREADS = 1024
"""More than any machine runs at once; a process that asks for tens of thousands dies."""


def check_threads(config: Any) -> None:
    """Raise a `ValueError` where `threads` is below 1 or above `MOST_THREADS`."""
    check_counts(config, "threads")
    if config.threads > MOST_THREADS:
        raise ValueError(f"threads={config.threads} must be at most {MOST_THREADS}")


def check_positive(config: object, *names: str) -> None:
    """Raise a `ValueError` where a field of `names` is neither None nor above 0 and finite."""
    for name in names:
        value = getattr(config, name)
        if value is not None and not 0 < value < math.inf:
            raise ValueError(f"{name}={value} must be above 0 and finite")


def check_finite(config: object, *names: str) -> None:
    """Raise a `ValueError` where a field of `names` is NaN or infinite."""
    for name in names:
        value = getattr(config, name)
        if not math.isfinite(value):
            raise ValueError(f"{name}={value} must be finite")


def check_not_negative(config: object, *names: str) -> None:
    """Raise a `ValueError` where a field of `names` is not at least 0 and finite."""
    for name in names:
        value = getattr(config, name)
        if not 0 <= value < math.inf:
            raise ValueError(f"{name}={value} must be at least 0 and finite")


def check_unused(config: object, needs: str, *names: str) -> None:
    """Raise a `ValueError` where a field of `names` has another value than its default, though it
    has no effect without what it `needs`."""
    for name in names:
        value = getattr(config, name)
        if value != getattr(type(config), name):
            raise ValueError(
                f"{name}={value} has no effect without {needs}: give that too, or leave this out"
            )


def check_types(config: Any) -> None:
    """Raise a `ValueError` where a field of a dataclass, or of one within it, is not of its
    declared type, or cannot be written to the run's config."""
    values = asdict(config)
    for path, value in _leaves(values):
        if not isinstance(value, NoneType | bool | int | float | str):
            raise ValueError(
                f"{path} is {value!r:.80}, of the type {type(value).__name__}; it must be a plain "
                "number, a text, True, False or None, or a list or dict of these"
            )
    try:
        from_json(type(config), values)
    except FieldError as error:
        raise ValueError(str(error)) from error


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The path and value of everything in nested dicts, lists and tuples."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _leaves(part, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            yield from _leaves(part, f"{path}[{index}]")
    else:
        yield path, value


def check_choices(config: object) -> None:
    """Raise a `ValueError` where a field of a dataclass, or of one within it, is not among the
    words of its `Literal` type."""
    for name, kind in get_type_hints(type(config)).items():
        value = getattr(config, name)
        if is_dataclass(value):
            check_choices(value)
        if str in get_args(kind):
            continue  # any text may be right
        words = [
            w for k in (kind, *get_args(kind)) if get_origin(k) is Literal for w in get_args(k)
        ]
        if words and value not in words and not (value is None and NoneType in get_args(kind)):
            raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, words))}")


def check_device(device: str) -> None:
    """Raise a `ValueError` where torch cannot compute on `device`."""
    try:
        torch.zeros(1, device=device).item()
    # A torch built without CUDA raises an AssertionError.
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"device={device!r} cannot be used here ({reason}); device='cpu' always can"
        ) from error
