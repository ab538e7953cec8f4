"""Geometry of a picture and its glimpses, and the places that an action's looks stand for."""

from dataclasses import dataclass

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Floats
from glimpse_envs.core.geometry import LookSpace, project_to_disc


@dataclass(frozen=True)
class PictureView:
    """Geometry of a picture and its glimpses, for scanners and readers that have no task.

    Args:
        scene_shape: (C, H, W) of the hidden scene, in pixels.
        look: "continuous" (a place), "tiles" (a number) or "relative" (a move).
        space: the places that can be looked at.
        tile_locations: (n, 2) in [-1, 1], (x, y) of the tiles' middles, row by row.
        max_move: the longest relative move, in look coordinates.
        outlines: polygons around what a glimpse shows, each as its corners (n, 2), (x, y) in
            pixels from the place looked at.
        window_sides: (K,) in pixels, of the square windows that a glimpse shows, finest first;
            empty where the sensor has no such windows.
        glimpse_size: g, the side of each window in cells; 0 where there are none.
    """

    scene_shape: tuple[int, int, int]
    look: str
    space: LookSpace
    tile_locations: Floats
    max_move: float
    outlines: tuple[Floats, ...]
    window_sides: tuple[float, ...]
    glimpse_size: int

    def windows(self) -> tuple[int, Floats]:
        """Return g and the sides (K,) of the square windows of a glimpse, for readers that make
        the same glimpses themselves.

        Raises:
            ValueError: the sensor has no such windows.
        """
        if not self.window_sides:
            raise ValueError(
                "this needs glimpses of square windows of g x g cells, as sensor='retina' has them"
            )
        return self.glimpse_size, np.array(self.window_sides)

    @property
    def action_space(self) -> spaces.Space:
        """Space of a single row's look."""
        if self.look == "tiles":
            return spaces.Discrete(len(self.tile_locations))
        return spaces.Box(-1.0, 1.0, (2,), np.float32)

    def first_places(self, starts: Floats) -> Floats:
        """Return where the first glimpses are taken, (n, 2) in [-1, 1], (x, y): at uniform `starts`
        (n, 2), or in the tiles that they choose."""
        if self.look != "tiles":
            return starts
        tiles = (starts[:, 0] + 1) / 2 * len(self.tile_locations)
        return self.tile_locations[tiles.astype(np.int64)]

    def places_of(self, looks: NDArray) -> Floats:
        """Return the places or moves (n, 2), (x, y), that `looks` (n, ...) stand for."""
        return self.tile_locations[looks] if self.look == "tiles" else looks

    def looks_at(self, places: Floats, locations: Floats) -> NDArray:
        """Return the looks (n, ...) that come nearest to `places` (n, 2) in [-1, 1], (x, y), from
        the gaze's present `locations` (n, 2)."""
        if self.look == "tiles":
            distances = ((places[:, None] - self.tile_locations[None]) ** 2).sum(axis=-1)
            return np.asarray(distances.argmin(axis=1))
        if self.look == "relative":
            places = project_to_disc((places - locations) / self.max_move)
        return places.astype(np.float32)
