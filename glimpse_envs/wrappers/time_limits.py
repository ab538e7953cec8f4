"""The time limits of environments that are seen through a glimpse."""

from typing import Any

import gymnasium as gym
from gymnasium import wrappers
from gymnasium.wrappers import TimeLimit

from glimpse_envs.wrappers.one_life import OneLife
from glimpse_envs.wrappers.segments import Segments


def max_steps_of(env: Any) -> int | None:
    """Return the most steps of an episode, from the environment's time limits or its spec; None
    where it has none, or where it goes on in the next of `Segments` or after a lost life. A step
    that repeats its act counts as often as the act is played."""
    spec = getattr(env, "spec", None) or getattr(env.unwrapped, "spec", None)
    taken, limits = 1, []
    while isinstance(env, gym.Wrapper):
        if isinstance(env, TimeLimit):
            limits.append(-(-env._max_episode_steps // taken))
        elif isinstance(env, Segments | OneLife):
            return min(limits, default=None)
        taken *= _repeats(env)
        env = env.env
    if not limits and spec is not None and spec.max_episode_steps is not None:
        limits.append(-(-spec.max_episode_steps // taken))
    return min(limits, default=None)


_REPEATING = {
    "MaxAndSkipObservation": "_skip",
    "AtariPreprocessing": "frame_skip",
    "RepeatAction": "num_repeats",
}
"""Gymnasium's wrappers that play an act several times -> which of their attributes says how often;
older versions lack the last."""


def _repeats(env: gym.Wrapper) -> int:
    """How often a wrapper plays each act."""
    for name, attribute in _REPEATING.items():
        kind = getattr(wrappers, name, None)
        if kind is not None and isinstance(env, kind):
            return int(getattr(env, attribute))
    return 1
