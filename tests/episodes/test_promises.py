"""What a task of one's own returns wrongly is told by its class and method."""

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from glimpse_envs.env import GlimpseVectorEnv
from tests.support.tasks.falling_ball import FallingBall

ROWS = 3


class Changed(FallingBall):
    """Keeps all promises but one: what `change` names is replaced."""

    def __init__(self, *, split: str = "train", change: str = "") -> None:
        super().__init__(split=split)
        self._change = change
        if change == "components":
            self.components = {"act": spaces.Discrete(3)}  # type: ignore[dict-item]

    def allocate(self, num_envs: int, copies: int, taken: Any) -> None:
        super().allocate(num_envs, copies, taken)
        if self._change == "budgets":
            self.budgets = [8] * num_envs  # type: ignore[assignment]
        if self._change == "no budgets":
            del self.budgets
        if self._change == "one budget":
            self.budgets = np.array([8])

    def act(self, rows: Any, actions: Any, last: Any) -> Any:
        outcome = super().act(rows, actions, last)
        changed: dict[str, Any] = {
            "an array": outcome.reward,
            "column": outcome._replace(reward=outcome.reward[:, None]),
            "numbers": outcome._replace(reward=outcome.reward.tolist()),
            "success": outcome._replace(success=np.ones(1, np.bool_)),
        }
        return changed.get(self._change, outcome)

    def info(self, rows: Any) -> Any:
        return {"ball": 3} if self._change == "info" else super().info(rows)

    def observe(self, rows: Any, remaining: Any) -> Any:
        observed = super().observe(rows, remaining)
        if self._change == "observe":
            return observed | {"glimpse": observed["glimpse"][:1]}
        return list(observed) if self._change == "names" else observed


def played(change: str) -> None:
    env = GlimpseVectorEnv(num_envs=ROWS, task=f"{__name__}:Changed", change=change)
    env.reset(seed=0)
    env.step(env.action_space.sample())


class Paid(FallingBall):
    """Every act earns 3, from an array of integers that the task keeps; a glimpse costs 1/4."""

    glimpse_cost = 0.25

    def allocate(self, num_envs: int, copies: int, taken: Any) -> None:
        super().allocate(num_envs, copies, taken)
        self.wages = np.full(num_envs, 3)

    def act(self, rows: Any, actions: Any, last: Any) -> Any:
        return super().act(rows, actions, last)._replace(reward=self.wages)


def test_the_price_of_a_glimpse_leaves_the_tasks_own_array_alone() -> None:
    env = GlimpseVectorEnv(num_envs=ROWS, task=f"{__name__}:Paid")
    env.reset(seed=0)
    ended = np.zeros(ROWS, np.bool_)
    while not ended.any():
        _, reward, ended, *_ = env.step(env.action_space.sample())
        np.testing.assert_array_equal(reward, np.where(ended, 3.0, 2.75))


def test_a_task_that_keeps_them_is_played() -> None:
    played("")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("components", r"Changed.components\['act'\] is Discrete\(3\); it must be a Component"),
        ("budgets", r"Changed.budgets is \[8, 8, 8\]; it must be an array \(3,\)"),
        ("no budgets", "Changed sets no self.budgets, .*: set them in allocate, or in deal"),
        ("one budget", r"Changed.budgets has the shape \(1,\); it must be \(3,\)"),
        ("an array", "Changed.act returned array.*; it must return an Outcome"),
        ("column", r"Changed.act: its Outcome's reward has the shape \(3, 1\); it must be \(3,\)"),
        ("numbers", r"Changed.act: its Outcome's reward is \[.*\]; it must be an array \(3,\)"),
        ("success", r"Changed.act: its Outcome's success has the shape \(1,\)"),
        ("info", r"Changed.info: its 'ball' is 3; it must be an array \(3, ...\)"),
        (
            "observe",
            r"Changed.observe: its 'glimpse' has the shape \(1, 1\); it must be \(3,",
        ),
        ("names", "Changed.observe returned .*; it must return a dict of arrays"),
    ],
)
def test_a_broken_promise_is_named(change: str, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        played(change)
