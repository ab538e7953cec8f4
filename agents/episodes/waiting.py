"""Rows of a foreign batch that have ended, until the batch of episodes is over."""

from typing import Any

import gymnasium as gym


class Waiting(gym.Wrapper):
    """An environment that resets itself at the end of an episode, as rows of a batch do, and waits
    for the learner's reset there: meanwhile steps change nothing.

    Without it a row that ends early would be stepped until the last one ends, by actions that
    nobody chose, and its next episode would begin wherever they led: in a game that goes on after a
    lost life, to the loss of further ones.
    """

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        self._ended = False
        self._start: tuple[Any, dict[str, Any]] | None = None  # where it waits

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        start, self._start = self._start, None
        if start is not None and seed is None and not options:
            return start
        start = self.env.reset(seed=seed, options=options)
        if self._ended:
            self._start = start
        self._ended = False
        return start

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        if self._start is not None:
            observation, info = self._start
            return observation, 0.0, False, False, info
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._ended = terminated or truncated
        return observation, reward, terminated, truncated, info
