"""The episode that a row plays: a scene of a split, or a seed in a world without fixed scenes."""

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arguments import SPLITS
from glimpse_envs.evaluation.counting import scenes_of
from glimpse_envs.evaluation.policy import Observation


def deal(
    env: Any, split: str, seed: int, indices: NDArray[np.int64]
) -> tuple[Observation, dict[str, Any]]:
    """Deal scene `indices[i]`, (rows,), to row i. Without fixed scenes (on "train", and in worlds
    of other packages) scene k is the first episode of a seed of its own."""
    if scenes_of(env) is not None:
        return env.reset(seed=seed, options={"scene": indices})
    return env.reset(seed=[world_seed(split, seed, int(k)) for k in indices])


def deal_one(env: gym.Env, split: str, seed: int, index: int) -> tuple[Any, dict[str, Any]]:
    """Deal to a single environment what `deal` deals to a row of a batch."""
    if scenes_of(env) is not None:
        return env.reset(seed=seed, options={"scene": index})
    return env.reset(seed=world_seed(split, seed, index))


def world_seed(split: str, seed: int, episode: int) -> int:
    """Return the seed of an episode of a world without fixed scenes: below 2**31, as some worlds of
    other packages take no greater one."""
    of_split = () if split == "train" else (SPLITS.index(split),)
    stream = np.random.SeedSequence((seed, episode, *of_split))
    return int(stream.generate_state(1)[0] >> 1)
