"""An environment whose infos can be compared by `==`."""

from typing import Any

import gymnasium as gym
import numpy as np


class WithoutNaN(gym.Env):
    """`env` with 0 for NaN in its infos: to Gymnasium's `check_env` NaN is unequal to itself, and
    infos are not deterministic where `target_box` is padded with it."""

    def __init__(self, env: gym.Env) -> None:
        self._env = env
        self.spec, self.metadata, self.render_mode = env.spec, env.metadata, env.render_mode
        self.observation_space, self.action_space = env.observation_space, env.action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset `env`."""
        observation, info = self._env.reset(seed=seed, options=options)
        self._np_random, self._np_random_seed = self._env._np_random, self._env._np_random_seed
        return observation, _without_nan(info)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step `env`."""
        *outcome, info = self._env.step(action)
        observation, reward, terminated, truncated = outcome
        return observation, reward, terminated, truncated, _without_nan(info)


def _without_nan(value: Any) -> Any:
    """Return `value` with 0 for NaN in nested dicts; arrays without NaN remain the same objects."""
    if isinstance(value, dict):
        return {name: _without_nan(one) for name, one in value.items()}
    real = isinstance(value, float | np.floating) or (
        isinstance(value, np.ndarray) and value.dtype.kind == "f"
    )
    return np.where(np.isnan(value), 0, value) if real and np.isnan(value).any() else value
