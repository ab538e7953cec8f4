"""The gaze: where every row looks, moved in one pass over the rows.

Imported by tasks alone: this module needs Numba.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glimpse_envs.core.geometry import LookSpace, place_of, shortening


class Gaze:
    """Where each of n rows looks and has looked in its episode.

    Args:
        num_envs: n.
        budget: T, the most fixations of an episode.
        space: the places that can be looked at.
        max_move: the longest move, in look coordinates, where looks are moves; 0 where they are
            locations.

    Attributes:
        locations: (n, 2) float64 in [-1, 1], (x, y).
        centres: (n, 2) float64, the same in pixels.
        path: (n, T, 2) float32, all fixations of the episode in pixels.
        taken: (n,) int64, how many there were.
    """

    def __init__(self, num_envs: int, budget: int, space: LookSpace, max_move: float) -> None:
        self.locations = np.zeros((num_envs, 2))
        self.centres = np.zeros((num_envs, 2))
        self.path = np.zeros((num_envs, budget, 2), np.float32)
        self.taken = np.zeros(num_envs, np.int64)
        self._space, self._max_move = space, max_move

    def start(self, rows: NDArray[np.int64], locations: NDArray[np.float64], sharing: int) -> None:
        """Begin the episodes of `rows` (m,): row i looks at `locations[i // sharing]`, (x, y)."""
        self.taken[rows] = 0
        self._fixate(rows, locations, sharing, 0.0)

    def move(self, rows: NDArray[np.int64], looks: NDArray[np.float64]) -> None:
        """Take the looks of `rows` (m,) out of those of all rows (n, 2), (x, y) in [-1, 1]."""
        self._fixate(rows, looks, 1, self._max_move)

    def _fixate(
        self,
        rows: NDArray[np.int64],
        looks: NDArray[np.float64],
        sharing: int,
        max_move: float,
    ) -> None:
        space = (self._space.height, self._space.width, self._space.margin)
        state = (self.locations, self.centres, self.path, self.taken)
        _fixate(rows, looks, sharing, max_move, space, state)


@njit(cache=True, nogil=True)
def _fixate(
    rows: NDArray[np.int64],
    looks: NDArray[np.float64],
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
        path[row, taken[row], 0], path[row, taken[row], 1] = centres[row, 0], centres[row, 1]
        taken[row] += 1
