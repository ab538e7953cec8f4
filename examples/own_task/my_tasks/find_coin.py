"""A coin lies in one of a few boxes: open some, then say where it is."""

from typing import Any

import numpy as np
from gymnasium import spaces

from glimpse_envs.core.fixed_splits import num_scenes_of
from glimpse_envs.rendering import Strip, TapePicture
from glimpse_envs.task import Component, Outcome, Reading, Task


class FindCoin(Task):
    """Each look opens one of `boxes` boxes; the last answer pays 1 if the coin is in that box."""

    fixed_steps = True
    reading = Reading(values=1, cells=1)
    ceiling = 1.0
    chance = property(lambda self: 1 / self.boxes)
    num_scenes = property(lambda self: num_scenes_of(self.split))

    def __init__(self, *, boxes: int, budget: int, split: str = "train") -> None:
        self.boxes, self.budget, self.split = boxes, budget, split
        box = spaces.Discrete(boxes)
        answer = Component(box, effect="scored", taught=True, entropy=False)
        self.components = {"look": Component(box, effect="continuing"), "answer": answer}
        parts = {"glimpse": 1, "location": boxes, "remaining": 1}
        shown = {name: spaces.Box(0.0, 1.0, (n,), np.float32) for name, n in parts.items()}
        self.observation_space = spaces.Dict(shown)

    def allocate(self, num_envs: int, copies: int, taken: Any) -> None:
        self.copies, self.budgets = copies, np.full(num_envs, self.budget)
        self.coins, self.opened, self.answers = np.zeros((3, num_envs), np.int64)

    def deal(self, groups: Any, keys: Any) -> None:
        for group in groups:
            rows = slice(group * self.copies, (group + 1) * self.copies)
            rng = keys.generator(group, "find coin")
            self.coins[rows], self.opened[rows] = rng.integers(self.boxes, size=2)
            self.answers[rows] = -1  # none yet

    def act(self, rows: Any, actions: Any, last: Any) -> Outcome:
        self.answers[rows] = actions["answer"][rows]
        right = self.answers[rows] == self.coins[rows]
        return Outcome((right & last).astype(np.float64), right, self.coins[rows], last)

    def look(self, rows: Any, actions: Any) -> None:
        self.opened[rows] = actions["look"][rows]

    def observe(self, rows: Any, remaining: Any) -> dict[str, Any]:
        found = (self.opened[rows] == self.coins[rows]).astype(np.float32)[:, None]
        places = np.eye(self.boxes, dtype=np.float32)[self.opened[rows]]
        return {"glimpse": found, "location": places, "remaining": remaining}

    def info(self, rows: Any) -> dict[str, Any]:
        return {}

    def oracle(self) -> dict[str, Any]:
        return {"look": self.coins, "answer": self.coins}

    def state_arrays(self) -> dict[str, Any]:
        return {"opened": self.opened, "answers": self.answers}

    def picture(self, row: int, caption: str) -> TapePicture:
        boxes = tuple("o" if box == self.coins[row] else "" for box in range(self.boxes))
        answer = None if self.answers[row] < 0 else str(self.answers[row])
        right = bool(self.answers[row] == self.coins[row])
        strips = (
            Strip("boxes", boxes, int(self.opened[row])),
            Strip("answer", (answer or "",), None, good=() if answer is None else (right,)),
        )
        target = None if right else str(self.coins[row])
        return TapePicture(strips, caption, answer, target)
