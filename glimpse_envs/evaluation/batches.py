"""Batches of one split, of this package's environments and of others."""

from typing import Any

import gymnasium as gym
from gymnasium.vector import VectorEnv

from glimpse_envs.adapters.named_parts import make_named
from glimpse_envs.core.arguments import naming_environment
from glimpse_envs.episodes.lookup import has_splits


def make_batch(env_id: str, num_envs: int, split: str, **env_kwargs: Any) -> VectorEnv:
    """Return a batch whose rows reset themselves in the step in which they end. Environments of
    other packages have no split; their plain observations and actions become parts of Dicts.

    Raises:
        gymnasium.error.Error: there is no such id.
        ValueError: an argument does not fit the environment.
    """
    with naming_environment(env_id):
        if has_splits(env_id):
            return gym.make_vec(
                env_id, num_envs=num_envs, split=split, autoreset_mode="SameStep", **env_kwargs
            )
        return make_named(env_id, num_envs, **env_kwargs)
