"""Observations in the form in which a policy reads them: as Dicts, as they are, or flat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gymnasium import spaces

from glimpse_envs.core.misfits import difference_of
from glimpse_envs.episodes.description import OBSERVATION, Description
from glimpse_envs.flat import FlatObservations


@dataclass(frozen=True)
class Form:
    """What a policy is given.

    Args:
        space: of a row, in the policy's own order of axes.
        read: from observations, name -> (n, ...), to those in this form.
    """

    space: spaces.Space
    read: Callable[[Any], Any]


def form_for(seen: spaces.Space | None, given: Description) -> Form:
    """Return the form of an environment's observations that is nearest to the space `seen` that a
    policy declares; a Dict, as it is, where it declares none."""
    dicts = given.observation_space
    if seen is None or isinstance(seen, spaces.Dict):
        return Form(dicts if seen is None else _turned(seen, dicts), lambda parts: parts)
    plain = _turned(seen, dicts[OBSERVATION]) if list(dicts) == [OBSERVATION] else None
    one_axis = isinstance(seen, spaces.Box) and len(seen.shape) == 1
    if plain is not None and (not one_axis or difference_of(seen, plain, "") is None):
        return Form(plain, lambda parts: parts[OBSERVATION])
    if not isinstance(seen, spaces.Box):
        return Form(dicts, lambda parts: parts)
    flat = FlatObservations(dicts)
    return Form(flat.space, flat)


def _turned(seen: spaces.Space, given: spaces.Space) -> spaces.Space:
    """Return `given`, with the channels of images first where `seen` has them so: models of
    Stable-Baselines3 declare such a space, and turn the images that they are given themselves."""
    if isinstance(seen, spaces.Dict) and isinstance(given, spaces.Dict):
        if seen.spaces.keys() != given.spaces.keys():
            return given
        return spaces.Dict([(name, _turned(seen[name], leaf)) for name, leaf in given.items()])
    if isinstance(seen, spaces.Box) and isinstance(given, spaces.Box) and len(given.shape) == 3:
        height, width, channels = given.shape
        if seen.shape == (channels, height, width):
            return seen
    return given
