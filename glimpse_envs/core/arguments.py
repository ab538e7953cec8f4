"""Argument checks; each error gives the argument's name, its value and the valid range."""

import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Unpack, get_args, get_origin

import numpy as np
from gymnasium.vector import AutoresetMode

SPLITS = ("train", "validation", "test")


MOST_STEPS = 2**31
"""The greatest budget of an episode."""

_OF_ARGUMENTS = re.compile(
    r"unexpected keyword argument|missing \d+ required .*argument|takes no arguments"
)
"""Python's messages for a call whose arguments do not match the function's."""

_MOST = 1e100  # squares and sums of such numbers are still finite


def keyword_parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the keyword-only parameters of `function`, name -> parameter. Those that a class takes
    as `**rest: Unpack[...]` are looked up in its base class; by a plain `**rest` it passes on all
    of its base class, where this takes them by keyword alone."""
    found: dict[str, inspect.Parameter] = {}
    for name, one in inspect.signature(function).parameters.items():
        if one.kind is one.KEYWORD_ONLY:
            found[name] = one
        elif one.kind is one.VAR_KEYWORD and isinstance(function, type):
            assert function.__base__
            of_base = keyword_parameters(function.__base__)
            if get_origin(one.annotation) is Unpack:
                (passed_on,) = get_args(one.annotation)
                found |= {name: of_base[name] for name in passed_on.__annotations__}
            elif _takes_keywords_alone(function.__base__):
                found |= {name: p for name, p in of_base.items() if name not in found}
    return found


def _takes_keywords_alone(function: Callable[..., Any]) -> bool:
    kinds = {one.kind for one in inspect.signature(function).parameters.values()}
    return kinds <= {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD}


def enter_arguments(
    known: Iterable[str],
    arguments: Mapping[str, Any],
    hint_of: Callable[[str, Mapping[str, Any]], str] = lambda _, __: "",
) -> dict[str, Any]:
    """Return `arguments`, all of which must be `known`, with NumPy's numbers converted to Python's:
    sums of small NumPy integers wrap around.

    Raises:
        TypeError: an argument is not known; the message suggests the nearest known name, or else
            gives the hint of `hint_of`, and lists all names.
    """
    parameters = list(known)
    unknown = [name for name in arguments if name not in parameters]
    if unknown:
        nearest = nearest_of(unknown[0], parameters)
        hint = f": did you mean {nearest!r}?" if nearest else "."
        told = "" if nearest else hint_of(unknown[0], arguments)
        hint = f": {told}." if told else hint
        # Python's wording, by which TorchRL recognises that an environment has no `frameskip`.
        raise TypeError(
            f"unexpected keyword argument {unknown[0]!r}{hint} The arguments are "
            f"{', '.join(parameters)}"
        )
    return {name: _as_plain(value) for name, value in arguments.items()}


def nearest_of(name: object, known: Iterable[str]) -> str | None:
    """Return the name in `known` that `name` may be a misspelling of; None where none is close."""
    if not isinstance(name, str):
        return None
    return next(iter(difflib.get_close_matches(name, known, 1, cutoff=0.7)), None)


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return the end of a message that suggests the nearest of `known`, such as
    ". Did you mean 'tiles'?"; "" where none is close."""
    nearest = nearest_of(name, known)
    return "" if nearest is None else f". Did you mean {nearest!r}?"


def _as_plain(value: Any) -> Any:
    if isinstance(value, np.longdouble):
        return float(value)
    return value.item() if isinstance(value, np.generic) else value


@contextmanager
def naming_environment(
    env_id: str, arguments: Mapping[str, Any] = MappingProxyType({})
) -> Iterator[None]:
    """Turn the TypeError for a missing or unknown argument of an environment, or for one of
    another type than its constructor takes, into one sentence. Where no `arguments` are given,
    other TypeErrors are bugs, and keep their traceback.

    Raises:
        ValueError: the block lacks an argument, has an unknown one, or fails on one of the
            `arguments`. The message omits the list of all arguments that Gymnasium appends.
    """
    try:
        yield
    except TypeError as error:
        reason = str(error).partition(" was raised from the environment creator")[0]
        if _OF_ARGUMENTS.search(str(error)):
            raise ValueError(f"{env_id}: {reason}") from error
        if not arguments:
            raise
        given = ", ".join(f"{name}={shown(value)}" for name, value in arguments.items())
        raise ValueError(
            f"{env_id} cannot be made with {given}: {reason}. If these values are of the types "
            f"that it takes, gymnasium.make({env_id!r}, {given}) in Python shows where it failed"
        ) from error


def shown(value: object) -> str:
    """Return `value` as error messages show it: its `repr`, shortened where it is long."""
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


def checked_seeds(seed: Any, num_envs: int) -> int | list[int | None] | None:
    """Return the seed of a reset of `num_envs` rows as Python's integers: one, or one or None for
    each row, or None.

    Raises:
        ValueError: one is no integer from 0 to 2**64 - 1, or there are too few or too many.
    """
    if seed is None:
        return None
    if not isinstance(seed, list | tuple | np.ndarray) or np.shape(seed) == ():
        check_seed(seed)
        return int(seed)
    if len(seed) != num_envs:
        raise ValueError(f"seed must be one int or {num_envs}; it has {len(seed)}")
    for each in seed:
        if each is not None:
            check_seed(each)
    return [None if each is None else int(each) for each in seed]


def check_reset_mask(mask: Any, num_envs: int) -> None:
    """Raise an error unless `mask` is an array (num_envs,) of bool which takes a row.

    Raises:
        TypeError: it is no array of bool.
        ValueError: it has another shape, or takes no row.
    """
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        raise TypeError(f"options['reset_mask'] must be a numpy array of bool, not {mask!r}")
    if mask.shape != (num_envs,) or not mask.any():
        raise ValueError(
            f"options['reset_mask'] must have shape ({num_envs},) and at least one True; "
            f"it is {mask}"
        )


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


def check_move(look: str, max_move: Any, default: float | None = None) -> None:
    """Raise a ValueError unless `max_move` is above 0 and at most 2, and `look` is "relative", the
    only look that uses it; with every other look only `default` is accepted, since the user may not
    have given it."""
    if not is_number(max_move) or not 0.0 < max_move <= 2.0:
        raise ValueError(
            f"max_move={shown(max_move)} must be a number above 0 and at most 2, the whole scene"
        )
    if look != "relative" and max_move != default:
        raise ValueError(
            f"max_move={shown(max_move)} is the longest move of look='relative'; with "
            f"look={shown(look)} it has no effect: give look='relative' too, or leave it out"
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
