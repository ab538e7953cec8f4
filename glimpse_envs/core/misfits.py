"""Messages about a value that does not fit its space, and about what differs in two spaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from glimpse_envs.core.arguments import shown


def misfit_of(value: Any, space: spaces.Space, name: str) -> str | None:
    """Describe the first part of `value`, called `name`, that does not fit its `space`; None where
    all fit."""
    if isinstance(space, spaces.Dict):
        if not isinstance(value, Mapping):
            return f"{name} is {shown(value)}; its space promises a dict of {_names(space.spaces)}"
        if value.keys() != space.spaces.keys():
            promised = _names(space.spaces)
            return f"{name} has the parts {_names(value)}; its space promises {promised}"
        found = (misfit_of(value[part], leaf, f"{name}[{part!r}]") for part, leaf in space.items())
        return next((misfit for misfit in found if misfit is not None), None)
    if isinstance(space, spaces.Box) and isinstance(value, np.ndarray):
        return _misfit_of_array(value, space, name)
    if isinstance(space, spaces.MultiDiscrete) and _holds_no_integers(value):
        # Old versions of Gymnasium take them for choices.
        return f"{name} has dtype {value.dtype}; its space promises {space.dtype}"
    if isinstance(space, spaces.Box) or not space.contains(value):
        return f"{name} is {shown(value)}; its space promises {space}"
    return None


def _holds_no_integers(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind not in "iu"


def _misfit_of_array(value: np.ndarray, space: spaces.Box, name: str) -> str | None:
    if value.shape != space.shape:
        return f"{name} has shape {value.shape}; its space promises {space.shape}"
    if value.dtype != space.dtype:
        return f"{name} has dtype {value.dtype}; its space promises {space.dtype}"
    wrong = ~((value >= space.low) & (value <= space.high))  # NaN is wrong
    if not wrong.any():
        return None
    low, high = space.low[wrong].flat[0], space.high[wrong].flat[0]
    return f"{name} has a value {value[wrong].flat[0]}; its space promises {low} to {high}"


def check_batch(observation: Mapping[str, Any], space: spaces.Dict) -> None:
    """Raise a ValueError unless each part of `observation` is a batch of that part of `space`."""
    for name, leaf in space.items():
        if name not in observation:
            raise ValueError(f"the observation has no part {name!r}; it has {_names(observation)}")
        shape = np.shape(observation[name])
        if shape[1:] != leaf.shape:
            single = " of a single row: give {name: part[None]}" if shape == leaf.shape else ""
            raise ValueError(
                f"observation[{name!r}] must have the shape (B, *{leaf.shape}), and has "
                f"{shape}{single}"
            )


def difference_of(known: spaces.Space, given: spaces.Space, name: str) -> str | None:
    """Describe how the `given` space, called `name`, differs from the `known` one in parts, shapes
    or numbers of choices; bounds and dtypes may differ. None where nothing else does."""
    if isinstance(known, spaces.Dict) and isinstance(given, spaces.Dict):
        if known.spaces.keys() != given.spaces.keys():
            return f"{name} had the parts {_names(known.spaces)}, and has {_names(given.spaces)}"
        found = (
            difference_of(leaf, given[part], f"{name}[{part!r}]") for part, leaf in known.items()
        )
        return next((difference for difference in found if difference is not None), None)
    if isinstance(known, spaces.Box) and isinstance(given, spaces.Box):
        if known.shape == given.shape:
            return None
        return f"{name} had shape {known.shape}, and has {given.shape}"
    return None if known == given else f"{name} was {known}, and is {given}"


def _names(parts: Mapping[str, Any]) -> str:
    return ", ".join(parts)
