"""Rows of a foreign batch that have ended wait for the learner, and begin where they were reset."""

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from agents.algorithms.actor_critic import ActorCritic, ActorCriticConfig
from agents.episodes.environments import make_training_env
from tests.support.tiny import SMALL

ENV_ID = "GlimpseTest/Lives-v0"


class Lives(gym.Env[Any, Any]):
    """A game of ever longer lives, of 1, 2, ... steps, that goes on after each; the observation is
    how many steps there were in all, and how many lives were lost."""

    observation_space = spaces.Box(0, 1000, (2,), np.float32)
    action_space = spaces.Discrete(2)
    games: ClassVar[list["Lives"]] = []

    def __init__(self) -> None:
        self.steps, self.lost, self.left = 0, 0, 0
        Lives.games.append(self)

    def _seen(self) -> Any:
        return np.array([self.steps, self.lost], np.float32)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:
            self.lost = seed % 3
        self.left = self.lost + 1
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps, self.left = self.steps + 1, self.left - 1
        self.lost += self.left == 0
        return self._seen(), 1.0, self.left == 0, False, {}


@pytest.fixture(autouse=True)
def _game() -> Any:
    gym.register(ENV_ID, entry_point=f"{__name__}:{Lives.__name__}", disable_env_checker=True)
    yield
    gym.registry.pop(ENV_ID)
    Lives.games.clear()


def make_config(rows: int) -> ActorCriticConfig:
    return ActorCriticConfig(env_id=ENV_ID, network=SMALL, batch_size=rows, answer_by="reward")


def test_rows_that_have_ended_are_not_stepped_and_begin_where_they_were_reset() -> None:
    env = make_training_env(make_config(3))
    games = Lives.games[-3:]
    env.reset(seed=0)
    for lives in ([0, 1, 2], [1, 2, 3]):
        before = [game.steps for game in games]
        ends = np.array(lives) + 1
        for step in range(1, ends.max() + 1):
            _, reward, terminated, *_ = env.step({"act": np.zeros(3, np.int64)})
            assert (terminated == (ends == step)).all()
            assert (reward == (step <= ends)).all()
        after = [game.steps for game in games]
        assert (np.subtract(after, before) == ends).all()
        observation, _ = env.reset()
        assert (observation["observation"] == np.stack([after, ends], axis=1)).all()


def test_a_seed_begins_anew_where_a_row_waits() -> None:
    env = make_training_env(make_config(2))
    env.reset(seed=0)
    env.step({"act": np.zeros(2, np.int64)})
    observation, _ = env.reset(seed=2)
    assert observation["observation"][:, 1].tolist() == [2, 0]


def test_a_learner_takes_no_steps_but_those_of_its_episodes() -> None:
    learner = ActorCritic(make_config(4))
    games = Lives.games[-4:]
    for _ in range(2):
        before = sum(game.steps for game in games)
        metrics = learner.learn(0.0)
        assert 4 * metrics["return"] == sum(game.steps for game in games) - before
    learner.close()
