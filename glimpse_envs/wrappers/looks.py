"""The places that looks lead to, in frames of any environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.arguments import check_choice, check_move, is_number
from glimpse_envs.core.arrays import Floats
from glimpse_envs.core.geometry import LookSpace, project_to_disc

LOOKS = ("continuous", "tiles", "corners", "relative", "static", "random", "raster")
RULES = ("static", "random", "raster")
"""Gazes that follow a rule, so that actions have no look."""
_CORNERS = 4  # along each axis
_MAX_MOVE = 0.2


@dataclass(frozen=True)
class Looks:
    """The looks that an agent can choose, or the rule that replaces them.

    Args:
        look: one of `LOOKS`.
        space: the places that can be looked at.
        tile: the glimpse's side in pixels.
        max_move: the longest relative move, in look coordinates.
        start: the first place (x, y) of an episode, in look coordinates. None: a uniform one; the
            middle for a static gaze, the first tile for a raster.

    Raises:
        ValueError: an unknown look, or frames too small for corners.
    """

    look: str
    space: LookSpace
    tile: int
    max_move: float
    start: tuple[float, float] | None

    def __post_init__(self) -> None:
        check_choice("look", self.look, LOOKS)
        if self.look == "corners":
            spare = min(self.space.height, self.space.width) - self.tile
            if spare < _CORNERS:
                raise ValueError(
                    f"look='corners' needs frames {_CORNERS} pixels larger than the glimpse; they "
                    f"are {self.space.height}x{self.space.width} and it is {self.tile}"
                )

    @property
    def component(self) -> spaces.Space | None:
        """The space of the action's `look`; None where the gaze follows a rule."""
        if self.look in RULES:
            return None
        places = self.places
        if places is not None:
            return spaces.Discrete(len(places))
        return spaces.Box(-1.0, 1.0, (2,), np.float32)

    @property
    def places(self) -> Floats | None:
        """The listed locations (n, 2) of looks, row by row; None where looks have no list."""
        if self.look in ("tiles", "raster"):
            return self.space.tile_centres(self.tile)
        if self.look == "corners":
            x, y = (
                np.arange(0, side - self.tile, (side - self.tile) // _CORNERS)[:_CORNERS]
                for side in (self.space.width, self.space.height)
            )
            corners = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
            # With whole glimpses in the frame, a wide one keeps further from the borders.
            return np.clip(self.space.to_locations(corners + self.tile / 2), -1.0, 1.0)
        return None

    def first(self, random: np.random.Generator) -> Floats:
        """Return the place (2,) where an episode begins."""
        if self.start is not None:
            return np.asarray(self.start, np.float64)
        if self.look in ("static", "raster"):
            return self.by_rule(np.zeros(2), 0, random)
        return random.uniform(-1.0, 1.0, 2)

    def by_rule(self, location: Floats, step: int, random: np.random.Generator) -> Floats:
        """Return the place (2,) after `step` steps, the last one having been `location` (2,)."""
        if self.look == "random":
            return random.uniform(-1.0, 1.0, 2)
        places = self.places
        return location if places is None else places[step % len(places)]

    def move(self, locations: Floats, looks: NDArray) -> Floats:
        """Return the locations (n, 2) after `looks` (n, ...), taken at `locations` (n, 2)."""
        if self.look == "relative":
            return np.clip(locations + self.max_move * project_to_disc(looks), -1.0, 1.0)
        places = self.places
        return np.asarray(looks, np.float64) if places is None else places[looks]


def checked_move(look: str, max_move: float | None) -> float:
    """Return the longest relative move, 0.2 where none is given.

    Raises:
        ValueError: it is not such a length, or is given where looks are not moves.
    """
    if max_move is None:
        return _MAX_MOVE
    check_move(look, max_move)
    return float(max_move)


def checked_start(start: Any) -> tuple[float, float] | None:
    """Return `start` as a pair of floats.

    Raises:
        ValueError: it is neither None nor a place (x, y) in [-1, 1].
    """
    if start is None:
        return None
    pair = isinstance(start, Sequence | np.ndarray) and np.shape(start) == (2,)
    if not pair or not all(is_number(at) and -1.0 <= at <= 1.0 for at in start):
        raise ValueError(f"start={start!r} must be None or a place (x, y) with both in [-1, 1]")
    return float(start[0]), float(start[1])
