"""Time in the episodes of a batch: glimpses taken, and which episodes have ended."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from glimpse_envs.core.arrays import Bools, Float32s, Ints
from glimpse_envs.task import Arrays, Rows


class Clock:
    """The time of each row's episode. Before the first one all rows have ended.

    Attributes:
        taken: (n,), how many glimpses a row has taken; changed in place.
        ended: (n,), which rows have no episode under way.
        truncated: (n,), which of the ended rows ran out of time.
    """

    def __init__(self, num_envs: int) -> None:
        self.taken = np.zeros(num_envs, np.int64)
        self.ended = np.ones(num_envs, np.bool_)
        self.truncated = np.zeros(num_envs, np.bool_)

    def begin(self, rows: Rows) -> None:
        """Begin the episodes of `rows` (m,), with the first glimpse taken."""
        self.taken[rows] = 1
        self.ended[rows] = self.truncated[rows] = False

    def end(self, rows: Rows, truncated: Bools | None) -> None:
        """End the episodes of `rows` (m,); those in `truncated` (m,) ran out of time, None means
        none."""
        self.ended[rows] = True
        if truncated is not None:
            self.truncated[rows] = truncated

    def ends(self) -> tuple[Bools, Bools]:
        """Return which rows have terminated and which were truncated, (n,) each, as new arrays."""
        return self.ended & ~self.truncated, self.truncated.copy()

    def remaining(self, budgets: Ints) -> Float32s:
        """Return glimpses left / budget (n, 1), 0 where an episode has ended."""
        left = ((budgets - self.taken) / budgets).astype(np.float32)
        left[self.ended] = 0.0
        return left[:, None]

    def state_dict(self) -> Arrays:
        """Return copies of the attributes."""
        return {name: getattr(self, name).copy() for name in ("taken", "ended", "truncated")}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        for name in ("taken", "ended", "truncated"):
            getattr(self, name)[:] = state[name]
