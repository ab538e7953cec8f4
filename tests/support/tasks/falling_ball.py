"""A world that moves and pays without an answer: catch the ball, seeing one column at a time."""

from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.fixed_splits import num_scenes_of
from glimpse_envs.core.keys import Keys
from glimpse_envs.core.randomness import keyed_block
from glimpse_envs.task import Arrays, Component, Outcome, Reading, Rows, Task

if TYPE_CHECKING:
    from glimpse_envs.rendering import TapePicture

COLUMNS, HEIGHT = 5, 8
_PURPOSES = 100, 102  # purposes of random words that no other task draws from


class FallingBall(Task):
    """A ball falls one row a step in one of five columns; each look shows one column's ball, or
    none. The paddle starts in the middle. It pays 1 to stand under the ball in the end.

    Args:
        split: "train", "validation" or "test".
    """

    budget = HEIGHT
    fixed_steps = True
    reading = Reading(values=1, cells=1)
    observation_space = spaces.Dict(
        glimpse=spaces.Box(0.0, 1.0, (1,), np.float32),
        location=spaces.Box(0.0, 1.0, (COLUMNS,), np.float32),
        paddle=spaces.Box(0.0, 1.0, (COLUMNS,), np.float32),
        remaining=spaces.Box(0.0, 1.0, (1,), np.float32),
    )

    def __init__(self, *, split: str = "train") -> None:
        self._split = split
        look = Component(spaces.Discrete(COLUMNS), effect="continuing")
        self.components = {"look": look, "act": Component(spaces.Discrete(3))}

    @property
    def chance(self) -> float:
        return 1 / COLUMNS

    @property
    def ceiling(self) -> float:
        return 1.0

    @property
    def num_scenes(self) -> int | None:
        return num_scenes_of(self._split)

    def allocate(self, num_envs: int, copies: int, taken: NDArray[np.int64]) -> None:
        self._copies = copies
        self.budgets = np.full(num_envs, HEIGHT)
        self._balls, self._eyes, self._paddles = np.zeros((3, num_envs), np.int64)

    def deal(self, groups: Rows, keys: Keys) -> None:
        streams = (keys.seeds, keys.streams, keys.episodes, keys.indices)
        for group in groups:
            words = keyed_block(0, group, streams, _PURPOSES)
            rows = slice(group * self._copies, (group + 1) * self._copies)
            self._balls[rows], self._eyes[rows] = words[0] % COLUMNS, words[1] % COLUMNS
            self._paddles[rows] = COLUMNS // 2

    def act(self, rows: Rows, actions: Arrays, last: NDArray[np.bool_]) -> Outcome:
        moved = self._paddles[rows] + actions["act"][rows] - 1
        self._paddles[rows] = np.clip(moved, 0, COLUMNS - 1)
        caught = last & (self._paddles[rows] == self._balls[rows])
        return Outcome(reward=caught.astype(np.float64))

    def look(self, rows: Rows, actions: Arrays) -> None:
        self._eyes[rows] = actions["look"][rows]

    def observe(self, rows: Rows, remaining: NDArray[np.float32]) -> Arrays:
        columns = np.eye(COLUMNS, dtype=np.float32)
        seen = (self._eyes[rows] == self._balls[rows]).astype(np.float32)
        return {
            "glimpse": seen[:, None],
            "location": columns[self._eyes[rows]],
            "paddle": columns[self._paddles[rows]],
            "remaining": remaining,
        }

    def info(self, rows: Rows) -> Arrays:
        return {"ball": self._balls[rows]}

    def oracle(self) -> Arrays:
        towards = np.sign(self._balls - self._paddles) + 1
        return {"look": self._balls, "act": towards}

    def state_arrays(self) -> Arrays:
        return {"eyes": self._eyes, "paddles": self._paddles}

    def picture(self, row: int, caption: str) -> "TapePicture":
        from glimpse_envs.rendering import Strip, TapePicture

        ball = tuple("o" if column == self._balls[row] else "" for column in range(COLUMNS))
        paddle = tuple("=" if column == self._paddles[row] else "" for column in range(COLUMNS))
        strips = (Strip("ball", ball, int(self._eyes[row])), Strip("paddle", paddle, None))
        return TapePicture(strips=strips, caption=caption, answer=None, target=None)
