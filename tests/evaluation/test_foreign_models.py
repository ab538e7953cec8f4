"""Models of Stable-Baselines3 are scored on what they were trained on."""

from typing import Any

import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecNormalize

from glimpse_envs.adapters.sb3 import make_sb3_env
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.testing import assert_same
from tests.support.episodes import CENTRED, make_vector

WHOLE: dict[str, Any] = {"glimpse_size": 28, "inside": True, "budget": 2}


def test_a_model_is_scored_on_what_its_environment_normalises() -> None:
    venv = VecNormalize(make_sb3_env(CENTRED, 8, **WHOLE), norm_reward=False)
    model: Any = PPO("MultiInputPolicy", venv, n_steps=8, batch_size=64, seed=0, device="cpu")
    model.learn(64)
    means = {n: float(one.mean.mean()) for n, one in venv.obs_rms.items()}
    assert means["glimpse"] > 0.01, "there is something to take away"
    given: list[Any] = []
    predict = model.predict

    def noting(observation: Any, *others: Any, **known: Any) -> Any:
        given.append(observation)
        return predict(observation, *others, **known)

    model.predict = noting
    evaluate(model, CENTRED, episodes=20, **WHOLE)
    first, _ = make_vector(CENTRED, 20, split="test", **WHOLE).reset(
        seed=0, options={"scene": np.arange(20)}
    )
    assert_same(given[0], venv.normalize_obs(first))
    assert given[0]["glimpse"].min() < 0 <= first["glimpse"].min()
