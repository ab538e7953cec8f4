"""An environment whose episodes never end is named, in place of being played for ever."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from agents.algorithms.actor_critic import ActorCriticConfig
from agents.policy.networks import NetworkConfig
from agents.train import train_agent
from glimpse_envs.evaluation import endless
from glimpse_envs.evaluation.protocol import evaluate

ENDLESS = "GlimpseTest/Endless-v0"
LIMITED = "GlimpseTest/Limited-v0"


class Endless(gym.Env[Any, Any]):
    observation_space = spaces.Box(0.0, 1.0, (1,), np.float32)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return np.zeros(1, np.float32), 1.0, False, False, {}


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(endless, "LONG", 20)
    monkeypatch.setattr(endless, "ENDLESS", 30)
    gym.register(ENDLESS, entry_point=f"{__name__}:Endless")
    gym.register(LIMITED, entry_point=f"{__name__}:Endless", max_episode_steps=40)
    yield
    for env_id in (ENDLESS, LIMITED):
        del gym.registry[env_id]


def likes_one(observation: Any) -> dict[str, Any]:
    return {"act": np.ones(len(observation["observation"]), np.int64)}


def test_an_endless_episode_is_not_scored_for_ever() -> None:
    with (
        pytest.warns(UserWarning, match=f"{ENDLESS} has not ended after 20 steps"),
        pytest.raises(ValueError, match=f"{ENDLESS} has not ended after 30 steps.*max_episode_ste"),
    ):
        evaluate(likes_one, ENDLESS, episodes=2)


def test_a_longer_time_limit_that_is_known_is_waited_for() -> None:
    assert evaluate(likes_one, LIMITED, episodes=2).returns.tolist() == [40.0, 40.0]


def test_an_endless_episode_is_not_trained_on_for_ever(tmp_path: Path) -> None:
    network = NetworkConfig(what_units=4, where_units=4, glimpse_units=4, core_units=4)
    config = ActorCriticConfig(
        env_id=ENDLESS, episodes=2, batch_size=2, network=network, answer_by="reward"
    )
    with (
        pytest.warns(UserWarning, match="has not ended after 20 steps"),
        pytest.raises(ValueError, match=f"{ENDLESS} has not ended after 30 steps"),
    ):
        train_agent("actor_critic", config, tmp_path / "run", progress_bar=False)
