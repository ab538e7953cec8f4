"""Levels of another package: the least and the greatest."""

from typing import Any

import numpy as np

from glimpse_envs.core.arrays import Bools, Ints, Words
from glimpse_envs.episodes.levels import LevelDistribution


class Extremes(LevelDistribution):
    """The least level or the greatest, which must lie apart; `ended` counts episodes."""

    name = "extremes"
    ended = 0

    def __init__(self, least: int, greatest: int) -> None:
        super().__init__(least, greatest)
        if greatest - least < 2:
            raise ValueError(f"{least} and {greatest} do not lie apart")

    def draw(self, words: Words) -> Ints:
        return np.where(words[:, 0] % 2 == 0, self.least, self.greatest)

    def record(self, levels: Ints, solved: Bools) -> None:
        self.ended += len(levels)

    def state_dict(self) -> dict[str, int]:
        return {"ended": self.ended}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.ended = state["ended"]
