"""Models of Stable-Baselines3 are scored on what they were trained on."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecNormalize

from glimpse_envs.adapters.sb3 import make_sb3_env
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.testing import assert_same
from tests.support.choices import discrete
from tests.support.episodes import CENTRED, make_vector

WHOLE: dict[str, Any] = {"glimpse_size": 28, "inside": True, "budget": 2}


def _noted(model: Any) -> list[Any]:
    """The list to which each observation that `model` is given from now on is added."""
    given: list[Any] = []
    predict = model.predict

    def noting(observation: Any, *others: Any, **known: Any) -> Any:
        given.append(deepcopy(observation))
        return predict(observation, *others, **known)

    model.predict = noting
    return given


def test_a_model_is_scored_on_what_its_environment_normalises() -> None:
    venv = VecNormalize(make_sb3_env(CENTRED, 8, **WHOLE), norm_reward=False)
    model: Any = PPO("MultiInputPolicy", venv, n_steps=8, batch_size=64, seed=0, device="cpu")
    model.learn(64)
    means = {n: float(one.mean.mean()) for n, one in venv.obs_rms.items()}
    assert means["glimpse"] > 0.01, "there is something to take away"
    given = _noted(model)
    evaluate(model, CENTRED, episodes=20, **WHOLE)
    first, _ = make_vector(CENTRED, 20, split="test", **WHOLE).reset(
        seed=0, options={"scene": np.arange(20)}
    )
    assert_same(given[0], venv.normalize_obs(first))
    assert given[0]["glimpse"].min() < 0 <= first["glimpse"].min()


class _Brightness(gym.Env[NDArray[np.uint8], np.int64]):
    """Pictures that are dark or bright throughout, four an episode: telling which is paid 1."""

    observation_space = spaces.Box(0, 255, (36, 38, 3), np.uint8)
    action_space = spaces.Discrete(2)
    ID = "tests/Brightness-v0"

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._left = 4
        return self._picture(), {}

    def step(self, action: np.int64) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        reward = float(action == self._bright)
        self._left -= 1
        return self._picture(), reward, self._left == 0, False, {}

    def _picture(self) -> NDArray[np.uint8]:
        self._bright = int(self.np_random.integers(2))
        return np.full((36, 38, 3), 200 * self._bright, np.uint8)


@pytest.fixture
def brightness() -> Iterator[str]:
    gym.register(_Brightness.ID, _Brightness)  # type: ignore[arg-type]  # a class is a maker
    yield _Brightness.ID
    del gym.registry[_Brightness.ID]


def test_a_model_of_images_is_given_them_unchanged(brightness: str) -> None:
    model: Any = PPO(
        "CnnPolicy", gym.make(brightness), n_steps=64, batch_size=64, seed=0, device="cpu"
    )
    assert model.observation_space.shape == (3, 36, 38), "channels come first in it"
    model.learn(512)
    assert evaluate(model, brightness, split="train", episodes=20).mean_return == 4.0
    other: Any = PPO("CnnPolicy", gym.wrappers.ResizeObservation(gym.make(brightness), (40, 40)))
    with pytest.raises(ValueError, match=r"had shape \(3, 40, 40\), and has \(36, 38, 3\) here"):
        evaluate(other, brightness, split="train", episodes=20)


def test_a_model_of_flattened_images_is_given_flat_ones(brightness: str) -> None:
    flat = gym.wrappers.FlattenObservation(gym.make(brightness))
    model: Any = PPO("MlpPolicy", flat, n_steps=64, batch_size=64, seed=0, device="cpu")
    given = _noted(model)
    evaluate(model, brightness, split="train", episodes=5)
    assert given[0].shape == (5, 36 * 38 * 3)


@pytest.mark.parametrize("one_hot", [False, True])
def test_a_model_of_numbers_is_given_them(one_hot: bool) -> None:
    env: gym.Env = gym.make("FrozenLake-v1", is_slippery=False)
    if one_hot:
        env = gym.wrappers.FlattenObservation(env)
    model: Any = PPO("MlpPolicy", env, n_steps=16, batch_size=16, seed=0, device="cpu")
    given = _noted(model)
    evaluate(model, "FrozenLake-v1", split="train", episodes=5, is_slippery=False)
    begins = np.zeros(5, np.int64)  # in the first of 16 cells
    assert_same({"": given[0]}, {"": np.eye(16, dtype=np.int64)[begins] if one_hot else begins})


class _Choosing(gym.Env[NDArray[np.float32], Any]):
    """Pays the number that is chosen, or how many are; one step."""

    observation_space = spaces.Box(0, 1, (2,), np.float32)

    def __init__(self, action_space: spaces.Space) -> None:
        self.action_space = action_space

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        paid = sum(map(np.sum, action)) if isinstance(action, tuple) else np.sum(action)
        return np.zeros(2, np.float32), float(paid), True, False, {}


@contextmanager
def choosing(action_space: spaces.Space) -> Iterator[str]:
    env_id = "tests/Choosing-v0"
    gym.register(env_id, _Choosing, kwargs={"action_space": action_space})  # type: ignore[arg-type]
    yield env_id
    del gym.registry[env_id]


@pytest.mark.parametrize("kind", [np.int64, np.int32])
def test_plain_choices_are_the_environments_own_wherever_they_start(kind: Any) -> None:
    def always(number: int, *axis: int) -> Any:
        return lambda seen: np.full((len(seen["observation"]), *axis), number)

    with choosing(discrete(3, kind, start=5)) as env_id:
        for number in (5, 7):
            for act in (always(number), always(number, 1)):
                assert evaluate(act, env_id, split="train", episodes=4).mean_return == number
        for number in (0, 8):
            with pytest.raises(ValueError, match=r"is \d; it must lie between 5 and 7"):
                evaluate(always(number), env_id, split="train", episodes=4)


def test_tuples_of_choices_are_played() -> None:
    pair = spaces.Tuple([spaces.Discrete(3), spaces.Box(0, 1, (1,), np.float32)])

    def act(seen: Any) -> Any:
        rows = len(seen["observation"])
        return {"act": (np.full(rows, 2), np.full((rows, 1), 0.5, np.float32))}

    def too_few(seen: Any) -> Any:
        return {"act": (np.zeros(3), np.zeros((4, 1)))}

    with choosing(pair) as env_id:
        assert evaluate(act, env_id, split="train", episodes=4).mean_return == 2.5
        with pytest.raises(ValueError, match=r"the action 'act' has the shape \(3,\); its first"):
            evaluate(too_few, env_id, split="train", episodes=4)


def test_a_model_of_bits_is_scored_where_it_was_trained() -> None:
    with choosing(spaces.MultiBinary(3)) as env_id:
        model: Any = PPO("MlpPolicy", gym.make(env_id), n_steps=64, batch_size=64, seed=0)
        model.learn(64)
        chosen, _ = model.predict(np.zeros((1, 2), np.float32), deterministic=True)
        assert chosen.dtype == np.float32
        score = evaluate(model, env_id, split="train", episodes=4)
        assert score.mean_return == chosen.sum()
