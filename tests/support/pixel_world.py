"""A tiny world of random pixels, of any shape."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

SIDE = 24


class PixelWorld(gym.Env[Any, Any]):
    """Frames drawn anew at each step, with the last act in pixel (0, 0); the reward is the act.

    Args:
        shape, dtype: of the observations, uint8 or float32 in [0, 1].
        steps: of the shortest episode; the longest has twice as many.
        fault: "raise" or "shape", which happens in the second step.
    """

    def __init__(
        self,
        shape: tuple[int, ...] = (SIDE, SIDE),
        dtype: str = "uint8",
        steps: int = 3,
        fault: str = "",
    ) -> None:
        high = 255 if dtype == "uint8" else 1
        self.observation_space = spaces.Box(0, high, shape, np.dtype(dtype).type)
        self.action_space = spaces.Discrete(3)
        self._shape, self._dtype, self._steps, self._fault = shape, dtype, steps, fault

    def _frame(self, act: int) -> Any:
        pixels = self.np_random.integers(0, 256, self._shape).astype(np.uint8)
        pixels.reshape(-1)[0] = act
        return pixels if self._dtype == "uint8" else (pixels / 255).astype(self._dtype)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._left = int(self.np_random.integers(self._steps, 2 * self._steps + 1))
        self._taken = 0
        return self._frame(0), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._taken += 1
        frame = self._frame(int(action))
        if self._taken == 2 and self._fault:
            if self._fault == "raise":
                raise RuntimeError("the world broke")
            frame = frame[1:]
        return frame, float(action), self._taken == self._left, False, {}
