"""A tiny game with lives."""

from typing import Any

from tests.support.pixel_world import PixelWorld


class Lives(PixelWorld):
    """Loses one of two lives at every second step; each step pays -5 times the act.

    Attributes:
        acts: those of the present game.
    """

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        seen, _ = super().reset(seed=seed, options=options)
        self.lives, self.acts = 2, list[int]()
        return seen, {"lives": self.lives}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.acts.append(int(action))
        seen, reward, *_ = super().step(action)
        self.lives -= len(self.acts) % 2 == 0
        return seen, -5 * reward, self.lives == 0, False, {"lives": self.lives}

    def get_action_meanings(self) -> list[str]:
        """As `ale_py` tells them."""
        return ["NOOP", "FIRE", "LEFT"]
