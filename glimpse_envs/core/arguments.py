"""Argument checks; each error gives the argument's name, its value and the valid range."""

import difflib
import inspect
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import prod
from typing import Any, Unpack, get_args, get_origin

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

SPLITS = ("train", "validation", "test")


MOST_STEPS = 2**31
"""The greatest budget of an episode."""

_OF_ARGUMENTS = re.compile(
    r"unexpected keyword argument|missing \d+ required .*argument|takes no arguments"
)
"""What Python says where a call's arguments are not those of the function."""

_MOST = 1e100  # squares and sums of such numbers are still finite


def keyword_parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of `function` that are given by keyword alone, name -> parameter; those
    that a class takes as `**rest: Unpack[...]` as its base has them."""
    found: dict[str, inspect.Parameter] = {}
    for name, one in inspect.signature(function).parameters.items():
        if one.kind is one.KEYWORD_ONLY:
            found[name] = one
        elif one.kind is one.VAR_KEYWORD and get_origin(one.annotation) is Unpack:
            assert isinstance(function, type)
            assert function.__base__
            of_base = keyword_parameters(function.__base__)
            (passed_on,) = get_args(one.annotation)
            found |= {name: of_base[name] for name in passed_on.__annotations__}
    return found


def enter_arguments(
    known: Iterable[str],
    arguments: Mapping[str, Any],
    hint_of: Callable[[str, Mapping[str, Any]], str] = lambda _, __: "",
) -> dict[str, Any]:
    """Return `arguments`, all of them `known`, with NumPy's numbers as Python's: sums of small
    NumPy integers wrap around.

    Raises:
        TypeError: one is not known; the message has the nearest one, or else what `hint_of` tells
            of it, and names all.
    """
    parameters = list(known)
    unknown = [name for name in arguments if name not in parameters]
    if unknown:
        nearest = nearest_of(unknown[0], parameters)
        hint = f": did you mean {nearest!r}?" if nearest else "."
        told = "" if nearest else hint_of(unknown[0], arguments)
        hint = f": {told}." if told else hint
        # In Python's words, by which TorchRL knows that an environment has no `frameskip`.
        raise TypeError(
            f"unexpected keyword argument {unknown[0]!r}{hint} The arguments are "
            f"{', '.join(parameters)}"
        )
    return {name: _as_plain(value) for name, value in arguments.items()}


def nearest_of(name: object, known: Iterable[str]) -> str | None:
    """Return the one of `known` that `name` may be a slip of; None where none is near."""
    if not isinstance(name, str):
        return None
    return next(iter(difflib.get_close_matches(name, known, 1, cutoff=0.7)), None)


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return a full stop and a question, whether the nearest of `known` was meant; "" where none is
    near."""
    nearest = nearest_of(name, known)
    return "" if nearest is None else f". Did you mean {nearest!r}?"


def _as_plain(value: Any) -> Any:
    if isinstance(value, np.longdouble):
        return float(value)
    return value.item() if isinstance(value, np.generic) else value


@contextmanager
def naming_environment(env_id: str) -> Iterator[None]:
    """Turn the TypeError of an environment that lacks an argument, or does not take one, into one
    sentence; other TypeErrors are faults of code, and keep their traceback.

    Raises:
        ValueError: the block gave such arguments; without the names of all of them, which Gymnasium
            puts behind the reason.
    """
    try:
        yield
    except TypeError as error:
        if not _OF_ARGUMENTS.search(str(error)):
            raise
        reason = str(error).partition(" was raised from the environment creator")[0]
        raise ValueError(f"{env_id}: {reason}") from error


def shown(value: object) -> str:
    """Return `value` as it stands in an error: its `repr`, shortened where it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 200 else f"{text[:200]}... ({type(value).__name__})"


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise a ValueError unless `value` is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={shown(value)} must be one of {', '.join(map(repr, choices))}")


def check_integers(least: int, /, **values: object) -> None:
    """Raise a ValueError unless all of `values` are integers of at least `least`."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise ValueError(f"{name}={shown(value)} must be an integer of at least {least}")


def check_seed(seed: object) -> None:
    """Raise a ValueError unless `seed` is an integer from 0 to 2**64 - 1."""
    whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not whole or not 0 <= seed < 2**64:  # type: ignore[operator]  # it is an integer
        raise ValueError(f"seed={shown(seed)} must be an integer from 0 to 2**64 - 1")


def check_options(options: Any, known: tuple[str, ...]) -> dict[str, Any]:
    """Return the `options` of a reset, {} where they are None.

    Raises:
        ValueError: they are no dict, or one is not `known`.
    """
    if options is None:
        return {}
    *first, last = map(repr, known)
    names = f"{', '.join(first)} and {last}"
    if not isinstance(options, Mapping):
        raise ValueError(f"options={shown(options)} must be a dict of {names}, or None")
    unknown = set(options) - set(known)
    if unknown:
        raise ValueError(f"reset has the options {names}, not {unknown}")
    return dict(options)


def check_lengths(least: int, min_length: Any, length: Any) -> None:
    """Raise a ValueError unless `least` <= `min_length` <= `length` and 1 <= `length`, integers."""
    check_integers(1, length=length)
    check_integers(least, min_length=min_length)
    if min_length > length:
        raise ValueError(f"min_length={min_length} must be at most length={length}")
    if length > MOST_STEPS:
        raise ValueError(f"length={length} must be at most 2**31")


def check_numbers(least: float, /, **values: Any) -> None:
    """Raise a ValueError unless all of `values` are numbers from `least` to 1e100."""
    for name, value in values.items():
        if not is_number(value) or not least <= value <= _MOST:
            raise ValueError(
                f"{name}={shown(value)} must be a number of at least {least}, at most {_MOST}"
            )


def check_slack(slack: float, steps: int) -> None:
    """Raise a ValueError unless `slack` times `steps`, a budget, is at most `MOST_STEPS`."""
    if slack * steps > MOST_STEPS:
        raise ValueError(
            f"slack={slack} makes a budget of {slack * steps:.3g} steps: it must be at most 2**31"
        )


def check_memory(needed: int, **values: int) -> None:
    """Raise a ValueError if a single row of an environment with these `values` needs more bytes,
    `needed`, than the machine has."""
    available = memory_of_machine()
    if needed > available:
        named = ", ".join(f"{name}={value}" for name, value in values.items())
        raise ValueError(
            f"{named} needs {needed:,} bytes for each row; this machine has {available:,}"
        )


def check_batch_memory(num_envs: int, *single_spaces: spaces.Space, hidden: int = 0) -> None:
    """Raise a ValueError if `num_envs` rows of spaces, and what is `hidden` in all of them, need
    more bytes than the machine has: of each entry the least, the greatest and the present value."""
    leaves = [
        leaf
        for space in single_spaces
        for leaf in (space.spaces.values() if isinstance(space, spaces.Dict) else [space])
    ]
    entries = sum(np.dtype(s.dtype).itemsize * prod(s.shape or ()) for s in leaves)
    needed, available = 3 * num_envs * entries + hidden, memory_of_machine()
    if needed > available:
        raise ValueError(
            f"num_envs={num_envs} needs at least {needed:,} bytes; this machine has {available:,}"
        )


@contextmanager
def naming_memory(num_envs: int) -> Iterator[None]:
    """Turn the MemoryError of a batch of `num_envs` rows into a sentence.

    Raises:
        ValueError: of the block.
    """
    try:
        yield
    except MemoryError as error:
        raise ValueError(
            f"num_envs={num_envs} needs more memory than is free ({error}); this machine has "
            f"{memory_of_machine():,} bytes"
        ) from error


def memory_of_machine() -> int:
    """Return the bytes of memory that this machine has, or, where it does not tell, 1 TiB."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 1 << 40


def check_move(look: str, max_move: Any, default: float | None = None) -> None:
    """Raise a ValueError unless `max_move`, above 0 and at most 2, is the longest move of a `look`
    that moves; `default`, which may have been given by nobody, goes with every look."""
    if not is_number(max_move) or not 0.0 < max_move <= 2.0:
        raise ValueError(
            f"max_move={shown(max_move)} must be a number above 0 and at most 2, the whole scene"
        )
    if look != "relative" and max_move != default:
        raise ValueError(
            f"max_move={shown(max_move)} is the longest move of look='relative'; with "
            f"look={shown(look)} nothing moves by it: give look='relative' too, or leave it out"
        )


def check_flags(**values: object) -> None:
    """Raise a ValueError unless all of `values` are booleans."""
    for name, value in values.items():
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"{name}={shown(value)} must be True or False")


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
