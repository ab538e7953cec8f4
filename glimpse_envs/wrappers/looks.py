"""The places that looks lead to, in frames of any environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arguments import check_move, is_number
from glimpse_envs.core.arrays import Floats
from glimpse_envs.core.geometry import project_to_disc
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.vision.gaze import view_through
from glimpse_envs.vision.sensors.sensor import Sensor

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
        view: the geometry of frames and looks.
        start: the first place (x, y) of an episode, in look coordinates. None: a uniform one; the
            middle for a static gaze, the first tile for a raster.
    """

    look: str
    view: PictureView
    start: tuple[float, float] | None

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
        places = self.view.tile_locations
        return places[step % len(places)] if self.look == "raster" else location

    def move(self, locations: Floats, looks: NDArray) -> Floats:
        """Return the locations (n, 2) after `looks` (n, ...), taken at `locations` (n, 2)."""
        if self.look == "relative":
            return np.clip(locations + self.view.max_move * project_to_disc(looks), -1.0, 1.0)
        return np.asarray(self.view.places_of(looks), np.float64)


def view_of(
    sensor: Sensor, shape: tuple[int, int, int], look: str, max_move: float, inside: bool
) -> PictureView:
    """Return the geometry of frames (C, H, W) and looks; corners are tiles of other places.

    Raises:
        ValueError: frames are too small for corners.
    """
    known = look if look in ("tiles", "relative") else "continuous"
    view = view_through(sensor, shape, "tiles" if look == "corners" else known, max_move, inside)
    if look != "corners":
        return view
    _, height, width = shape
    spare = min(height, width) - sensor.tile
    if spare < _CORNERS:
        raise ValueError(
            f"look='corners' needs frames {_CORNERS} pixels larger than the glimpse; they are "
            f"{height}x{width} and it is {sensor.tile}"
        )
    x, y = (
        np.arange(0, side - sensor.tile, (side - sensor.tile) // _CORNERS)[:_CORNERS]
        for side in (width, height)
    )
    corners = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    # With whole glimpses in the frame, a wide one keeps further from the borders.
    places = np.clip(view.space.to_locations(corners + sensor.tile / 2), -1.0, 1.0)
    return replace(view, tile_locations=places)


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
