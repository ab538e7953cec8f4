"""A tiny task with a clock that its agent cannot see: its time being over truncates."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.keys import Keys
from glimpse_envs.core.randomness import draw_starts
from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.task import Arrays, Component, Outcome, Rows, Task

TASK = "tests.support.hidden_clock:HiddenClock"
CELLS = 3


class HiddenClock(Task):
    """One of three cells holds a lamp; each step that begins at the lamp's cell pays 1.

    Args:
        budget: steps, of which nothing is observed.
        limit: after how many steps the task itself says that time is over; None: never.
        leave: whether looking at the last cell terminates the episode.
    """

    budget_is_seen = False

    def __init__(self, *, budget: int = 4, limit: int | None = None, leave: bool = False) -> None:
        self.budget, self._limit, self._leave = budget, limit, leave
        self.components = {
            "look": Component(spaces.Discrete(CELLS)),
            "stop": Component(spaces.Discrete(2), effect="stoppable"),
        }
        self.observation_space = spaces.Dict(glimpse=spaces.Box(0.0, 1.0, (2 * CELLS,)))

    @property
    def chance(self) -> float:
        return self.budget / CELLS

    @property
    def ceiling(self) -> float:
        return self.budget - 1 + 1 / CELLS

    @property
    def num_scenes(self) -> int | None:
        return None

    def allocate(self, num_envs: int, copies: int, taken: NDArray[np.int64]) -> None:
        self._taken, self._copies = taken, copies
        self.budgets = np.full(num_envs, self.budget)
        self._draws = np.zeros((num_envs // copies, 2))
        self._heads = np.zeros(num_envs, np.int64)

    def deal(self, groups: Rows, keys: Keys) -> None:
        streams = (keys.seeds, keys.streams, keys.episodes, keys.indices)
        draw_starts(groups, streams, self._draws)
        rows = (groups[:, None] * self._copies + np.arange(self._copies)).ravel()
        self._heads[rows] = self._cells(0)[rows]

    def _cells(self, which: int) -> NDArray[np.int64]:
        """Of every row: where it first looked (0), and where its lamp is (1)."""
        cells = ((self._draws[:, which] + 1) / 2 * CELLS).astype(np.int64)
        return np.repeat(cells, self._copies)

    def act(self, rows: Rows, actions: Arrays, last: NDArray[np.bool_]) -> Outcome:
        at_lamp = self._heads[rows] == self._cells(1)[rows]
        left = actions["look"][rows] == CELLS - 1 if self._leave else None
        over = None if self._limit is None else self._taken[rows] >= self._limit
        return Outcome(at_lamp.astype(np.float64), at_lamp, terminated=left, truncated=over)

    def look(self, rows: Rows, actions: Arrays) -> None:
        self._heads[rows] = actions["look"][rows]

    def observe(self, rows: Rows, remaining: NDArray[np.float32]) -> Arrays:
        eye = np.eye(CELLS, dtype=np.float32)
        shown = np.concatenate([eye[self._heads[rows]], eye[self._cells(1)[rows]]], axis=1)
        return {"glimpse": shown}

    def info(self, rows: Rows) -> Arrays:
        return {"target_cell": self._cells(1)[rows]}

    def oracle(self) -> Arrays:
        return {"look": self._cells(1), "stop": np.zeros_like(self._heads)}

    def state_arrays(self) -> Arrays:
        return {"heads": self._heads}

    def picture(self, row: int, caption: str) -> Any:
        raise NotImplementedError


class SilentClock(HiddenClock):
    """The same, which tells no success."""

    def act(self, rows: Rows, actions: Arrays, last: NDArray[np.bool_]) -> Outcome:
        return super().act(rows, actions, last)._replace(success=None)


def make_clock(num_envs: int, **kwargs: Any) -> GlimpseVectorEnv:
    """The batched environment."""
    return GlimpseVectorEnv(num_envs, task=TASK, **kwargs)


def staying(num_envs: int, stop: Any = 0) -> Arrays:
    """Looks at cell 0 in all rows; those stop where `stop` is 1."""
    stops = np.broadcast_to(np.asarray(stop), num_envs).astype(np.int64)
    return {"look": np.zeros(num_envs, np.int64), "stop": stops}
