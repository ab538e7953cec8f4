"""A picture with two answers in sequence: which digit, and then whether it is even."""

from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.keys import Keys
from glimpse_envs.task import Arrays, Component, Outcome, Rows, rows_of
from glimpse_envs.vision.picture_task import MAX_MOVE, PictureTask
from glimpse_envs.vision.scenes import make_scene
from glimpse_envs.vision.sensors import make_sensor

if TYPE_CHECKING:
    from glimpse_envs.rendering import Picture

BUDGET = 4


class TwoAnswers(PictureTask):
    """A centred digit. After two glimpses its class is asked for, after four whether it is even (1)
    or odd (0); each pays a half.

    Args:
        split: "train", "validation" or "test".
        look: "continuous", "tiles" or "relative".
        view: "glimpse" alone; the answers come one after the other.
    """

    answer_reward = 0.5
    question = "Which digit is it? Is it even?"

    def __init__(self, *, split: str = "train", look: str = "continuous") -> None:
        scene = make_scene("images", dict(source="glyphs", split=split, scene_size=28))
        sensor = make_sensor("retina", scene.shape, dict(glimpse_size=8, scales=2))
        max_move = 0.5 if look == "relative" else MAX_MOVE
        super().__init__(scene, sensor=sensor, look=look, max_move=max_move, budget=BUDGET)
        answer = Component(spaces.Discrete(10), effect="scored", taught=True, entropy=False)
        self.components = self.components_with(answer=answer)

    def allocate(self, num_envs: int, copies: int, taken: NDArray[np.int64]) -> None:
        super().allocate(num_envs, copies, taken)
        self._right = np.zeros(num_envs, np.int64)

    def deal(self, groups: Rows, keys: Keys) -> None:
        super().deal(groups, keys)
        self._right[rows_of(groups, self._copies)] = 0

    @property
    def chance(self) -> float:
        return 0.5 * 0.1 + 0.5 * 0.5

    @property
    def ceiling(self) -> float:
        return 1.0

    def _targets(self, rows: Rows) -> NDArray[np.int64]:
        labels = self._stage.labels[self._stage.scene_of[rows]]
        return np.where(self._taken[rows] <= BUDGET // 2, labels, 1 - labels % 2)

    def act(self, rows: Rows, actions: Arrays, last: NDArray[np.bool_]) -> Outcome:
        self._answers[rows] = actions["answer"][rows]
        target, counted = self._targets(rows), self._taken[rows] % (BUDGET // 2) == 0
        right = (self._answers[rows] == target) & counted
        self._right[rows] += right
        success = last & (self._right[rows] == 2)
        return Outcome(0.5 * right, success, target, counted)

    def oracle(self) -> Arrays:
        rows = np.arange(len(self._taken))
        return self._looks_at_target() | {"answer": self._targets(rows)}

    def state_arrays(self) -> Arrays:
        return super().state_arrays() | {"right": self._right}

    def picture(self, row: int, caption: str) -> "Picture":
        answer, (target,) = int(self._answers[row]), self._targets(np.array([row]))
        given = None if answer < 0 else str(answer)
        return self.picture_of(row, caption, answer=given, target=str(target))
