"""Batches of a task under test, their random actions and returns."""

import math
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.env import GlimpseVectorEnv, batch_of

Actions = dict[str, NDArray]

MOST_PIXELS = 2**28  # of all rows' scenes together, so that they fit into memory


def make_batch(
    env_id: str, num_envs: int, mode: str = "NextStep", **kwargs: Any
) -> GlimpseVectorEnv:
    """Make a batch of a glimpse task, with its type known to type checkers.

    Raises:
        TypeError: the environment is not one of a glimpse task.
    """
    batch = batch_of(gym.make_vec(env_id, num_envs=num_envs, autoreset_mode=mode, **kwargs))
    if batch is None:
        raise TypeError(f"{env_id} is no environment of a glimpse task")
    return batch


def rows_that_fit(env_id: str, most: int, **kwargs: Any) -> int:
    """Return how many rows, up to `most`, a test may make: fewer where pictures are large."""
    view = make_batch(env_id, 1, **kwargs).task.picture_view
    return most if view is None else min(most, max(2, MOST_PIXELS // math.prod(view.scene_shape)))


def random_actions(envs: GlimpseVectorEnv, rng: np.random.Generator) -> Actions:
    """Draw uniform actions of all rows, name -> (num_envs, ...)."""
    actions: Actions = {}
    for name, space in envs.task.action_space.spaces.items():
        if isinstance(space, spaces.Box):
            actions[name] = rng.uniform(-1.0, 1.0, (envs.num_envs, *space.shape))
        elif isinstance(space, spaces.MultiDiscrete):
            actions[name] = rng.integers(space.nvec, size=(envs.num_envs, *space.shape))
        elif isinstance(space, spaces.MultiBinary):
            actions[name] = rng.integers(2, size=(envs.num_envs, *space.shape))
        else:
            assert isinstance(space, spaces.Discrete)
            actions[name] = rng.integers(int(space.n), size=envs.num_envs)
    return actions


def first_returns(envs: GlimpseVectorEnv, act: Callable[[], Actions]) -> NDArray[np.float64]:
    """Return the returns (n,) of the rows' first episodes, all played to their ends."""
    returns, playing = np.zeros(envs.num_envs), np.ones(envs.num_envs, np.bool_)
    while playing.any():
        _, reward, terminated, truncated, _ = envs.step(act())
        returns += reward * playing
        playing &= ~(terminated | truncated)
    return returns
