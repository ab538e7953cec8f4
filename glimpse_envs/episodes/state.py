"""Checks that a saved state fits an environment: number of rows, and arguments."""

import inspect
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any

import numpy as np

_DIGEST_BYTES = 6  # below 2**53, which every reader of JSON holds exactly


def digests_of(function: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, int]:
    """Return a number below 2**48 for each argument that `function(**arguments)` has, defaults
    included: name -> the same number wherever the values are equal.

    Checkpoints hold arrays and numbers: these stand for values of any kind.

    Raises:
        TypeError: `function` does not take `arguments`.
    """
    bound = inspect.signature(function).bind(**arguments)
    bound.apply_defaults()
    return {name: digest(value) for name, value in bound.arguments.items()}


def digest(value: Any) -> int:
    """Return a number below 2**48 for a value; 1, 1.0 and np.int64(1) are one value."""
    plain = float(value) if isinstance(value, int | float | np.number | np.bool_) else value
    return int.from_bytes(blake2b(repr(plain).encode(), digest_size=_DIGEST_BYTES).digest())


def check_state(state: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """Raise a ValueError unless `state` fits the environment whose own state is `own`."""
    rows, groups = (len(state[name]) for name in ("taken", "seeds"))
    own_rows, own_groups = (len(own[name]) for name in ("taken", "seeds"))
    if (rows, groups) != (own_rows, own_groups):
        raise ValueError(
            f"the state is of {rows} rows in {groups} groups; this environment has {own_rows} in "
            f"{own_groups}"
        )
    if "arguments" not in state:
        raise ValueError("the state does not say which arguments it is of: an older version's")
    theirs, ours = state["arguments"], own["arguments"]
    different = [name for name in ours | theirs if ours.get(name) != theirs.get(name)]
    if different:
        raise ValueError(
            "the state is of an environment with other arguments: it has another "
            + ", ".join(different)
        )
    kinds = [one["level_distribution"]["kind"] for one in (state, own)]
    if kinds[0] != kinds[1]:
        raise ValueError(
            "the state is of another kind of level_distribution: set one like it before loading"
        )
    shapes, own_shapes = (
        {name: np.shape(value) for name, value in one["task"].items()} for one in (state, own)
    )
    if shapes != own_shapes:
        raise ValueError(
            f"the state's arrays have the shapes {shapes}, this environment's {own_shapes}: its "
            "source has changed"
        )
