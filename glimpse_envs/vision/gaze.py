"""The gaze: the fixations of all rows, moved in one pass over the rows.

Imported only by tasks and wrappers: this module needs Numba.
"""

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Floats, Ints
from glimpse_envs.core.geometry import LookSpace, place_of, shortening
from glimpse_envs.core.kernels import kernel
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.vision.sensors.sensor import Sensor

for _function in (place_of, shortening):
    register_jitable(_function)  # for the kernel below; geometry is read without Numba


def view_through(
    sensor: Sensor, shape: tuple[int, int, int], look: str, max_move: float, inside: bool
) -> PictureView:
    """Return the geometry of scenes (C, H, W) that are seen through a sensor; with `inside` the
    whole glimpse stays in the scene."""
    outlines, sides = sensor.outlines, sensor.window_sides
    reach = max(float(np.abs(outline).max()) for outline in outlines)
    space = LookSpace(*shape[1:], reach if inside else 0.0)
    return PictureView(
        scene_shape=shape,
        look=look,
        space=space,
        tile_locations=space.tile_centres(sensor.tile),
        max_move=max_move,
        outlines=tuple(outlines),
        window_sides=sides,
        glimpse_size=sensor.glimpse_shape[-1] if sides else 0,
    )


class Gaze:
    """Fixations of n rows: the present ones and the paths of their episodes.

    Args:
        budget: T, the most fixations of an episode.
        space: the places that can be looked at.
        max_move: the longest move, in look coordinates, if looks are moves; 0 if they are
            locations.
        taken: (n,) int64, the number of fixations in each episode, kept by the environment.

    Attributes:
        locations: (n, 2) float64 in [-1, 1], (x, y).
        centres: (n, 2) float64, the same places in pixels.
        path: (n, T, 2) float32, all fixations of the episode in pixels.
    """

    def __init__(self, budget: int, space: LookSpace, max_move: float, taken: Ints) -> None:
        num_envs = len(taken)
        self.locations = np.zeros((num_envs, 2))
        self.centres = np.zeros((num_envs, 2))
        self.path = np.zeros((num_envs, budget, 2), np.float32)
        self._space, self._max_move, self._taken = space, max_move, taken
        self._first = np.ones_like(taken)

    def start(self, rows: Ints, locations: Floats, sharing: int) -> None:
        """Begin the episodes of `rows` (m,): row i looks at `locations[i // sharing]`, (x, y)."""
        self._fixate(rows, locations, sharing, 0.0, self._first)

    def move(self, rows: Ints, looks: Floats) -> None:
        """Carry out the looks of `rows` (m,), given as those of all rows (n, 2), (x, y) in [-1, 1];
        `taken` already counts them."""
        self._fixate(rows, looks, 1, self._max_move, self._taken)

    def _fixate(
        self, rows: Ints, looks: Floats, sharing: int, max_move: float, taken: Ints
    ) -> None:
        space = (self._space.height, self._space.width, self._space.margin)
        state = (self.locations, self.centres, self.path, taken)
        _fixate(rows, looks, sharing, max_move, space, state)


@kernel
def _fixate(
    rows: Ints,
    looks: Floats,
    sharing: int,
    max_move: float,
    space: tuple[int, int, float],
    state: tuple[NDArray, NDArray, NDArray, NDArray],
) -> None:
    height, width, margin = space
    locations, centres, path, taken = state
    for row in rows:
        x, y = looks[row // sharing, 0], looks[row // sharing, 1]
        if max_move > 0.0:
            length = shortening(x, y)
            x = min(max(locations[row, 0] + x / length * max_move, -1.0), 1.0)
            y = min(max(locations[row, 1] + y / length * max_move, -1.0), 1.0)
        locations[row, 0], locations[row, 1] = x, y
        centres[row, 0], centres[row, 1] = place_of(x, width, margin), place_of(y, height, margin)
        latest = taken[row] - 1
        path[row, latest, 0], path[row, latest, 1] = centres[row, 0], centres[row, 1]
