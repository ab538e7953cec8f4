"""Batches of one split, of this package's environments and of others."""

from typing import Any

import gymnasium as gym
from gymnasium.vector import VectorEnv

from glimpse_envs.adapters.named_parts import make_named
from glimpse_envs.core.arguments import naming_environment
from glimpse_envs.episodes.lookup import has_splits
from glimpse_envs.single import GlimpseEnv


def make_batch(env_id: str, num_envs: int, split: str, **env_kwargs: Any) -> VectorEnv:
    """Return a batch whose rows reset themselves in the step in which they end. Environments of
    other packages have no split; their plain observations and actions become parts of Dicts.

    Raises:
        gymnasium.error.Error: there is no such id.
        ValueError: an argument does not fit the environment, or the environment wraps one of this
            package that plays another split.
    """
    with naming_environment(env_id, env_kwargs):
        if has_splits(env_id):
            return gym.make_vec(
                env_id, num_envs=num_envs, split=split, autoreset_mode="SameStep", **env_kwargs
            )
        envs = make_named(env_id, num_envs, **env_kwargs)
        _check_split(envs.env, split)
        return envs


def _check_split(envs: VectorEnv, split: str) -> None:
    """Refuse rows that hide an environment of this package, whose split they do not pass on."""
    for row in getattr(envs, "envs", ()):
        hidden = row.unwrapped
        if isinstance(hidden, GlimpseEnv) and hidden.batch.split != split:
            envs.close()
            raise ValueError(
                f"the split {split!r} is asked for, and its single environments play "
                f"{hidden.batch.split!r}: only environments with a vector_entry_point are given a "
                "split. Register a task of your own (glimpse_envs.register), or wrap the policy in "
                "place of the environment"
            )
