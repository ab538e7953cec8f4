"""Long episodes cut into segments, for learners that play whole episodes."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from glimpse_envs.core.arguments import check_integers

CONTINUED = "continued"
"""Entry of the info of a reset after a cut."""


class Segments(gym.Wrapper, RecordConstructorArgs):
    """Truncates episodes every `segment` steps; the next episode continues from there.

    A reset straight after a cut continues, and returns copies of the last step's observation and
    info, with `info["continued"]` True, however often it is repeated: a batch resets its rows by
    itself, and then its learner resets all. Any other reset begins a new episode of `env`, as does
    one with a seed or options. A glimpse's wrapper around it goes on where it looked, with the
    frames that it saw.

    Args:
        env: any environment.
        segment: number of steps from one cut to the next.

    Raises:
        ValueError: `segment` is not a whole number of at least 1.
    """

    def __init__(self, env: gym.Env, segment: int) -> None:
        check_integers(1, segment=segment)
        RecordConstructorArgs.__init__(self, segment=int(segment))
        gym.Wrapper.__init__(self, env)
        self._segment, self._taken = int(segment), 0
        self._last: tuple[Any, dict[str, Any]] | None = None  # where the next segment begins

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        self._taken = 0
        if self._last is not None and seed is None and not options:
            observation, info = self._last
            return deepcopy(observation), {**info, CONTINUED: True}
        self._last = None
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self._last = None  # also where the step raises
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._taken += 1
        cut = self._taken == self._segment
        if cut and not (terminated or truncated):
            self._last = deepcopy(observation), dict(info)
        return observation, reward, terminated, truncated or cut, info


def training_segments(env: gym.Env, segment: int | None, split: str) -> gym.Env:
    """Return `env` in segments on the train split, and unchanged on the others.

    Raises:
        ValueError: `segment` is neither None nor a whole number of at least 1.
    """
    if segment is None:
        return env
    check_integers(1, segment=segment)
    return Segments(env, segment) if split == "train" else env
