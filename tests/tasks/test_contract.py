"""What the contract promises of any task: the suite's, and tiny ones of other packages."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from glimpse_envs.core.keys import Keys
from glimpse_envs.episodes.description import describe, task_of
from glimpse_envs.suite import register
from glimpse_envs.task import Arrays, Component, Rows, Task
from glimpse_envs.testing import CHECKS, check_task
from glimpse_envs.testing.contract import check_splits
from glimpse_envs.testing.returns import check_oracle
from tests.support.episodes import make_vector
from tests.support.refusals import refused
from tests.support.tasks import ODD_CELL, ROWS
from tests.support.tasks.falling_ball import FallingBall


@pytest.fixture(params=[*ROWS, ODD_CELL.id])
def tiny_id(request: pytest.FixtureRequest) -> str:
    return request.param


def task(env: gym.Env | VectorEnv) -> Task:
    found = task_of(env)
    assert found is not None
    return found


@pytest.mark.learning
@pytest.mark.parametrize("check", CHECKS)
def test_promises_of_the_suite_are_kept(check: Callable[..., None], env_id: str) -> None:
    check(env_id, {})


@pytest.mark.learning
def test_promises_of_other_families_are_kept(tiny_id: str) -> None:
    check_task(tiny_id)


@pytest.mark.parametrize(
    ("env_id", "kwargs"),
    [
        ("Glimpse/PointerChase-v0", {"glimpse_cost": 0.03, "min_length": 0}),
        ("Glimpse/SearchGlyphs-v0", {"budget": 3, "images": 2, "glimpse_cost": 0.3}),
    ],
)
def test_a_ceiling_is_a_mean_over_lengths_and_first_glimpses(
    env_id: str, kwargs: dict[str, Any]
) -> None:
    check_oracle(env_id, kwargs)


class Stumbling(FallingBall):
    """An oracle that misses one ball in ten."""

    def oracle(self) -> Arrays:
        right = super().oracle()
        missed = np.arange(len(self._balls)) % 10 == 0
        return {name: np.where(missed, 0, values) for name, values in right.items()}


class OfDoubles(FallingBall):
    """An oracle whose actions are of another dtype than their space."""

    def oracle(self) -> Arrays:
        return {name: values.astype(np.float64) for name, values in super().oracle().items()}


def test_an_oracle_outside_the_action_space_is_found() -> None:
    assert ".oracle()['look'] has dtype float64; its space promises int64" in refused(OfDoubles)


def test_an_oracle_that_stumbles_is_found() -> None:
    register("Tiny/Stumbling-v0", task=f"{__name__}:Stumbling")
    with pytest.raises(AssertionError, match=r"the oracle's mean return is .*; ceiling is 1"):
        check_oracle("Tiny/Stumbling-v0", {})


def test_a_frame_is_drawn_at_every_step(tiny_id: str) -> None:
    env = gym.make(tiny_id, render_mode="rgb_array").unwrapped
    env.reset(seed=0)
    shapes, ended = set(), False
    while not ended:
        frame: Any = env.render()
        shapes.add(frame.shape)
        action = {name: value[0] for name, value in task(env).oracle().items()}
        _, _, terminated, truncated, _ = env.step(action)
        ended = terminated or truncated
    assert len(shapes) == 1


def test_infos_say_what_was_asked_and_nothing_else() -> None:
    """A world without an answer has neither target nor success; two answers count in their turn."""
    ball = gym.make_vec("Tiny/FallingBall-v0", num_envs=2, autoreset_mode="Disabled")
    ball.reset(seed=0)
    info = ball.step(task(ball).oracle())[-1]
    assert not {"target", "target_mask", "success"} & info.keys()

    pair = gym.make_vec("Tiny/TwoAnswers-v0", num_envs=2, autoreset_mode="Disabled")
    pair.reset(seed=0)
    infos = [pair.step(task(pair).oracle())[-1] for _ in range(4)]
    assert [info["target_mask"].tolist() for info in infos] == [[False] * 2, [True] * 2] * 2
    assert [info["success"].tolist() for info in infos] == [[False] * 2] * 3 + [[True] * 2]
    assert (infos[3]["target"] == 1 - infos[1]["target"] % 2).all()


class Forgetful(FallingBall):
    """Leaves out of its state what the next look overwrites."""

    def state_arrays(self) -> Arrays:
        return {"paddles": self._paddles}


def test_a_forgotten_state_array_is_found() -> None:
    assert "after step 1: does state_arrays name all" in refused(Forgetful)


class LongerThanItSays(FallingBall):
    """Has episodes above its greatest budget."""

    def allocate(self, num_envs: int, copies: int, taken: NDArray[np.int64]) -> None:
        super().allocate(num_envs, copies, taken)
        self.budgets = self.budgets + 1


class WithoutSplits(FallingBall):
    """Has one world for all uses."""

    def __init__(self) -> None:
        super().__init__()


class AlwaysFixed(FallingBall):
    """Counts scenes where they are drawn for ever."""

    num_scenes = 10


class NeverFixed(FallingBall):
    """Counts no scenes anywhere."""

    num_scenes = None


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (LongerThanItSays, "integers from 1 to budget, 8"),
        (WithoutSplits, "WithoutSplits.__init__ takes no keyword split"),
        (AlwaysFixed, "AlwaysFixed.num_scenes is 10 in split='train'"),
        (NeverFixed, "NeverFixed.num_scenes is None in split='validation'"),
    ],
)
def test_duties_that_are_left_undone_are_named(task: type[Task], message: str) -> None:
    assert message in refused(task)


class OneWorld(FallingBall):
    """Deals the same worlds in all splits and with all seeds."""

    def deal(self, groups: Rows, keys: Keys) -> None:
        super().deal(groups, replace(keys, seeds=np.zeros_like(keys.seeds)))


def test_splits_of_the_same_scenes_are_found() -> None:
    assert "'validation' and 'test' have the same scenes" in refused(OneWorld)


class AnyLength(FallingBall):
    """Takes lengths that it has no room for."""

    def __init__(self, *, length: int = 2, min_length: int = 1, split: str = "train") -> None:
        super().__init__(split=split)
        self.levels = (min_length, length)

    def deal(self, groups: Rows, keys: Keys) -> None:
        super().deal(groups, keys)
        np.zeros(4)[keys.levels[groups]]


class OneLength(AnyLength):
    """Deals other lengths than it is asked for."""

    def __init__(self, *, length: int = 2, min_length: int = 1, split: str = "train") -> None:
        super().__init__(split=split)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (AnyLength, "AnyLength cannot deal length=12, at which policies are scored too: let"),
        (OneLength, "OneLength.levels is (1, 2) with length=2 and min_length=2"),
    ],
)
def test_lengths_that_are_taken_and_not_dealt_are_found(task: type[Task], message: str) -> None:
    assert message in refused(task)


class Unpromised(FallingBall):
    """Shows other observations than its space promises."""

    def changed(self, seen: Arrays) -> Arrays:
        raise NotImplementedError

    def observe(self, rows: Rows, remaining: NDArray[np.float32]) -> Arrays:
        seen = super().observe(rows, remaining)
        return seen | self.changed(seen)


class Wider(Unpromised):
    def changed(self, seen: Arrays) -> Arrays:
        return {"paddle": seen["paddle"].repeat(2, axis=1)}


class Doubled(Unpromised):
    def changed(self, seen: Arrays) -> Arrays:
        return {"paddle": seen["paddle"].astype(np.float64)}


class Brighter(Unpromised):
    def changed(self, seen: Arrays) -> Arrays:
        return {"glimpse": seen["glimpse"] + np.float32(1.5)}


class Talkative(Unpromised):
    def changed(self, seen: Arrays) -> Arrays:
        return {"ball": seen["glimpse"]}


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (Wider, "observation['paddle'] has shape (10,); its space promises (5,)"),
        (Doubled, "observation['paddle'] has dtype float64; its space promises float32"),
        (Brighter, "observation['glimpse'] has a value 1.5; its space promises 0.0 to 1.0"),
        (Talkative, "remaining, ball; its space promises glimpse, location, paddle, remaining"),
    ],
)
def test_a_part_that_is_not_as_its_space_promises_is_named(task: type[Task], message: str) -> None:
    assert message in refused(task)


def test_an_unknown_effect_is_refused() -> None:
    with pytest.raises(
        ValueError, match="effect='sometimes' must be one of 'always', 'continuing'"
    ):
        Component(spaces.Discrete(2), effect="sometimes")  # type: ignore[arg-type]


def test_a_reward_that_is_a_whole_number_is_described_as_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env = gym.make("Tiny/TwoAnswers-v0")
    monkeypatch.setattr(task(env), "answer_reward", 2)
    assert describe(env).answer_reward == 2.0


@pytest.mark.parametrize("kwargs", [{"length": 1}, {"repeats": 2, "min_length": 4, "length": 4}])
def test_scenes_that_begin_alike_may_differ_later(kwargs: dict[str, int]) -> None:
    check_splits("Glimpse/RepeatCopy-v0", kwargs)


@pytest.mark.parametrize("env_id", ROWS)
def test_the_scene_is_told_of_any_task(env_id: str) -> None:
    envs = make_vector(env_id, 3, split="test")
    found = envs.reset(seed=0, options={"scene": np.array([4, 0, 2])})[1]["scene"]
    assert found.tolist() == [4, 0, 2]
    assert "scene" not in make_vector(env_id, 3).reset(seed=0)[1]
