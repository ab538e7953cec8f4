"""Names of ours in the infos and observations of others may mean anything there."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from agents.algorithms.actor_critic import ActorCritic, ActorCriticConfig
from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.episodes.rollout import play_episodes
from agents.scoring.run_scores import evaluate_run
from agents.train import train_agent
from glimpse_envs.evaluation.protocol import evaluate
from tests.support.pedals import PEDALS, STEPS, Pedals
from tests.support.tiny import SMALL


class Talking(Pedals):
    """Pedals whose infos and observations have names of ours with other meanings."""

    def __init__(self) -> None:
        super().__init__()
        glimpse = spaces.Box(0.0, 1.0, (PEDALS,))
        self.observation_space = spaces.Dict(glimpse=glimpse, remaining=spaces.Discrete(5))

    def _show(self) -> Any:
        return super()._show() | {"remaining": 0}

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        seen, _ = super().reset(seed=seed)
        return seen, {"length": "long"}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        info = {"success": 0.25, "target": np.zeros(2), "target_mask": "none", "length": "long"}
        return *super().step(action)[:4], info


@pytest.fixture
def talking() -> Any:
    gym.register("GlimpseTest/Talking-v0", entry_point=f"{__name__}:Talking")
    yield "GlimpseTest/Talking-v0"
    gym.registry.pop("GlimpseTest/Talking-v0")


def test_infos_of_others_are_not_taken_for_answers(talking: str) -> None:
    changes: dict[str, Any] = {"env_id": talking, "network": SMALL, "batch_size": 8}
    learners = (
        Reinforce(ReinforceConfig(**changes)),
        ActorCritic(ActorCriticConfig(**changes)),
    )
    for learner in learners:
        played = play_episodes(learner.env, learner.policy, learner.choose)
        assert played.targets is None
        assert not played.levels.any()
        assert learner.update(0.5)["loss/answer"] == 0.0
        learner.close()


def test_success_of_others_is_not_taken_for_ours(talking: str, tmp_path: Path) -> None:
    config = ActorCriticConfig(
        env_id=talking, answer_by="reward", episodes=64, batch_size=16, network=SMALL
    )
    run = train_agent("actor_critic", config, tmp_path / "run", progress_bar=False)
    assert not any("error" in line for line in run.read_metrics())
    score = evaluate_run(run, episodes=8)
    assert score.success is None
    assert 0 <= score.mean_return <= STEPS


class Telling(Pedals):
    """Episodes of unlike lengths; infos hold parts, and tell of success alone or at the end."""

    def __init__(self, tells: str, truth: type = bool) -> None:
        super().__init__()
        self.tells, self.truth = tells, truth

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        seen, info = super().reset(seed=seed)
        self.length = int(self.np_random.integers(2, 5))
        return seen, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        seen, paid, *_ = super().step(action)
        ended, info = self.steps == self.length, {"inventory": {"health": self.steps}}
        if ended and (self.tells == "the end" or paid):
            return seen, paid, ended, False, {**info, "success": self.truth(paid)}
        return seen, paid, ended, False, info


@pytest.mark.parametrize("tells", ["success", "the end"])
@pytest.mark.parametrize("truth", [bool, np.bool_])
@pytest.mark.parametrize("size", [1, 3, 8])
def test_success_that_is_told_at_the_end_is_the_same_in_any_batch(
    tells: str, truth: type, size: int
) -> None:
    env_id = "GlimpseTest/Telling-v0"
    kwargs = {"tells": tells, "truth": truth}
    gym.register(env_id, entry_point=f"{__name__}:Telling", kwargs=kwargs)
    try:
        score = evaluate(always_the_first, env_id, episodes=20, batch_size=size)
    finally:
        gym.registry.pop(env_id)
    assert score.success_by_glimpse is not None
    assert score.successes is not None
    assert 0 < score.successes.sum() < 20
    by_glimpse = [
        (score.successes & (score.glimpses <= step)).mean() for step in range(1, 5)
    ]  # an episode is a success from its end on
    np.testing.assert_allclose(score.success_by_glimpse, by_glimpse[: score.glimpses.max()])


class Reaching(Pedals):
    """Tells of success once, at a step of its own, and plays on to its end; takes 32-bit seeds
    alone."""

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        if seed is not None:
            np.random.RandomState(seed)
        seen, _ = super().reset(seed=seed)
        self.goal = int(self.np_random.integers(1, 8))
        return seen, {"success": False}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        seen, *_ = super().step(action)
        reached = self.steps == self.goal
        return seen, float(reached), False, self.steps == 5, {"success": True} if reached else {}


def test_success_that_is_told_on_the_way_stays() -> None:
    env_id = "GlimpseTest/Reaching-v0"
    gym.register(env_id, entry_point=f"{__name__}:Reaching")
    try:
        for size in (1, 3, 8):
            score = evaluate(always_the_first, env_id, episodes=20, batch_size=size)
            assert 0 < score.mean_return < 1
            assert score.success == score.mean_return
        config = ActorCriticConfig(env_id=env_id, answer_by="reward", batch_size=16, network=SMALL)
        with closing(ActorCritic(config)) as learner:
            metrics = learner.update(0.0)
        assert metrics["error"] == pytest.approx(1 - metrics["return"])
    finally:
        gym.registry.pop(env_id)


@pytest.fixture
def telling_of_success() -> Any:
    """A world that tells of success only where there is any."""
    env_id = "GlimpseTest/Successes-v0"
    gym.register(env_id, entry_point=f"{__name__}:Telling", kwargs={"tells": "success"})
    yield env_id
    gym.registry.pop(env_id)


def test_episodes_of_a_batch_without_any_success_have_failed(
    telling_of_success: str, tmp_path: Path
) -> None:
    """In one part of a batch, or in all; and a line of metrics is the mean of those updates in
    which a success had been told of."""
    config = ActorCriticConfig(
        env_id=telling_of_success, answer_by="reward", batch_size=2, parts=2, network=SMALL
    )
    options: dict[str, Any] = {"progress_bar": False}
    each = replace(config, episodes=60, log_every=1)
    run = train_agent("actor_critic", each, tmp_path / "each", **options)
    errors = [line.get("error") for line in run.read_metrics()]
    begun = next(number for number, error in enumerate(errors) if error is not None)
    assert None not in errors[begun:]
    assert set(errors[begun:]) >= {0.5, 1.0}
    run = train_agent("actor_critic", replace(each, log_every=30), tmp_path / "all", **options)
    (line,) = run.read_metrics()
    assert line["error"] == pytest.approx(np.mean(np.array(errors[begun:], np.float64)))


def always_the_first(seen: dict[str, Any]) -> dict[str, Any]:
    rows = len(seen["glimpse"])
    return {"pedal": np.zeros(rows, np.int64), "other": np.zeros((rows, 2))}


class _Saying(Pedals):
    """Two steps an episode; infos are what `say` tells of the end."""

    def __init__(self, say: Any) -> None:
        super().__init__()
        self.say = say

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        seen, paid, *_ = super().step(action)
        ended = self.steps == 2 + int(self.np_random.integers(2)) or self.steps == 3
        return seen, paid, ended, False, self.say(ended)


@pytest.mark.parametrize(
    "say",
    [
        lambda ended: {"success": None},
        lambda ended: {0: 1.0},
        lambda ended: {"map": np.zeros((2 + ended, 3))},
        lambda ended: {"stats": {"a": 1} if ended else 2.0},
        lambda ended: {"stats": 2.0 if ended else {"a": 1}},
    ],
    ids=["none", "number", "shape", "dict at the end", "dict before"],
)
def test_infos_of_any_kind_do_not_stop_an_evaluation(say: Any) -> None:
    env_id = "GlimpseTest/Saying-v0"
    gym.register(env_id, entry_point=f"{__name__}:_Saying", kwargs={"say": say})
    try:
        score = evaluate(always_the_first, env_id, episodes=12, batch_size=6)
    finally:
        gym.registry.pop(env_id)
    assert score.success is None
    assert score.glimpses.max() == 3
