"""All glimpses of an episode, for learners without memory."""

import numpy as np

from glimpse_envs.core.arrays import Float32s, Floats, Ints
from glimpse_envs.task import Arrays, Rows


class History:
    """The glimpses that each row has taken, in their order, then zeros.

    Args:
        num_envs: n, rows.
        budget: T, glimpses in an episode.
        glimpse_shape: shape of one glimpse.

    Attributes:
        glimpses: (n, T, *glimpse_shape).
        seen_from: (n, T, 2), where each was taken.
    """

    def __init__(self, num_envs: int, budget: int, glimpse_shape: tuple[int, ...]) -> None:
        self.glimpses: Float32s = np.zeros((num_envs, budget, *glimpse_shape), np.float32)
        self.seen_from: Float32s = np.zeros((num_envs, budget, 2), np.float32)

    def begin(self, rows: Rows) -> None:
        """Forget the glimpses of `rows` (m,)."""
        self.glimpses[rows] = 0.0
        self.seen_from[rows] = 0.0

    def add(self, rows: Rows, steps: Ints, glimpses: Float32s, locations: Floats) -> None:
        """Store `glimpses` (m, *glimpse_shape), seen from `locations` (m, 2), at the indices
        `steps` (m,) of `rows` (m,)."""
        self.glimpses[rows, steps] = glimpses
        self.seen_from[rows, steps] = locations

    def observed(self, rows: Rows) -> Arrays:
        """Return this part of the observations of `rows` (m,), name -> (m, T, ...)."""
        return {"glimpse": self.glimpses[rows], "location": self.seen_from[rows]}

    def state_arrays(self) -> Arrays:
        """Return the attributes."""
        return {"glimpses": self.glimpses, "seen_from": self.seen_from}
