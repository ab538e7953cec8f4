"""`check_task` finds a chance that is wrong, and tasks that need no glimpse."""

import numpy as np
import pytest
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.keys import Keys
from glimpse_envs.suite import register
from glimpse_envs.task import Arrays, Component, Outcome, Rows, Task
from glimpse_envs.testing.returns import check_constant_answers
from tests.support.refusals import refused
from tests.support.tasks.falling_ball import COLUMNS, FallingBall


class WhereIsTheBall(FallingBall):
    """The last answer says in which column the ball is."""

    stated = 1 / COLUMNS
    shown: tuple[str, ...] = ("glimpse", "location", "remaining")

    def __init__(self, *, split: str = "train") -> None:
        super().__init__(split=split)
        answer = Component(spaces.Discrete(COLUMNS), effect="scored", taught=True)
        self.components = {"look": self.components["look"], "answer": answer}
        parts = self.observation_space.spaces
        self.observation_space = spaces.Dict({name: parts[name] for name in self.shown})

    @property
    def chance(self) -> float:
        return self.stated

    def act(self, rows: Rows, actions: Arrays, last: NDArray[np.bool_]) -> Outcome:
        right = actions["answer"][rows] == self._balls[rows]
        return Outcome((right & last).astype(np.float64), right, self._balls[rows], last)

    def observe(self, rows: Rows, remaining: NDArray[np.float32]) -> Arrays:
        seen = super().observe(rows, remaining)
        return {name: seen[name] for name in self.shown}

    def oracle(self) -> Arrays:
        return {"look": self._balls, "answer": self._balls}


class AlwaysThree(WhereIsTheBall):
    """The ball is always in the same column."""

    def deal(self, groups: Rows, keys: Keys) -> None:
        super().deal(groups, keys)
        self._balls[groups * self._copies] = 3


class MostlyThree(WhereIsTheBall):
    """The ball is in one column far oftener than its chance says."""

    def deal(self, groups: Rows, keys: Keys) -> None:
        super().deal(groups, keys)
        self._balls[self._balls < 3] = 3


class HalfByLuck(WhereIsTheBall):
    """States a chance that no blind policy has."""

    stated = 0.5


class HalfByQuestion(WhereIsTheBall):
    """Has something to ask, of which a blind policy may make use."""

    stated = 0.5
    shown = ("glimpse", "location", "paddle", "remaining")


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (AlwaysThree, "answer 3 at every step returns 1.0000 on average, whatever is hidden"),
        (MostlyThree, "MostlyThree.chance is 0.2000; it must be the mean return of the best blind"),
        (HalfByLuck, "HalfByLuck.chance is 0.5000; it must be the mean return of the best blind"),
    ],
)
def test_a_chance_that_constant_answers_contradict_is_named(task: type[Task], message: str) -> None:
    assert message in refused(task)


@pytest.mark.parametrize("task", [WhereIsTheBall, HalfByQuestion])
def test_an_honest_chance_passes(task: type[Task]) -> None:
    env_id = f"Tiny/{task.__name__}-v0"
    register(env_id, task=f"{__name__}:{task.__name__}")
    check_constant_answers(env_id, {})
