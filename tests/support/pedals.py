"""An environment that nobody described, with Dict spaces or plain ones."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

DICTS, PLAIN = "GlimpseTest/Pedals-v0", "GlimpseTest/PlainPedals-v0"
PEDALS, STEPS = 3, 2


class Pedals(gym.Env[Any, Any]):
    """Pays 1 for each press of the pedal that is shown; two pedals, of which one does nothing."""

    def __init__(self, plain: bool = False) -> None:
        glimpse, pedal = spaces.Box(0.0, 1.0, (PEDALS,)), spaces.Discrete(PEDALS)
        self.plain = plain
        self.observation_space = glimpse if plain else spaces.Dict(glimpse=glimpse)
        other = spaces.Box(-1.0, 1.0, (2,))
        self.action_space = pedal if plain else spaces.Dict(pedal=pedal, other=other)

    def _show(self) -> Any:
        self.shown = int(self.np_random.integers(PEDALS))
        glimpse = np.eye(PEDALS, dtype=np.float32)[self.shown]
        return glimpse if self.plain else {"glimpse": glimpse}

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        return self._show(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        pressed = action if self.plain else action["pedal"]
        paid = float(pressed == self.shown)
        self.steps += 1
        return self._show(), paid, self.steps == STEPS, False, {}


@contextmanager
def pedals() -> Iterator[None]:
    """Both kinds are registered within the block."""
    gym.register(DICTS, entry_point=f"{__name__}:Pedals")
    gym.register(PLAIN, entry_point=f"{__name__}:Pedals", kwargs={"plain": True})
    yield
    for env_id in (DICTS, PLAIN):
        gym.registry.pop(env_id)
