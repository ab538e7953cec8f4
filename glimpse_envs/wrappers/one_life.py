"""Games with several lives, each an episode."""

from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

_NOOP = 0


class OneLife(gym.Wrapper, RecordConstructorArgs):
    """Ends an episode when a life is lost; the next episode continues the game, unless the game is
    over or a seed asks for a new one (Mnih et al. 2015)."""

    def __init__(self, env: gym.Env) -> None:
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        self._lives, self._over = 0, True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        anew = self._over or seed is not None
        self._over = True  # unless what follows succeeds
        if anew:
            observation, info = self.env.reset(seed=seed, options=options)
        else:
            observation, _, terminated, truncated, info = self.env.step(_NOOP)
            if terminated or truncated:
                observation, info = self.env.reset(options=options)
        self._lives, self._over = info["lives"], False
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self._over = True  # unless the step succeeds
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._over = terminated or truncated
        lost = info["lives"] < self._lives
        self._lives = info["lives"]
        return observation, reward, terminated or lost, truncated, info
