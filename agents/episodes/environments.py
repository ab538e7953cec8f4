"""Batched environments for training: ours, or any of Gymnasium's with plain or Dict spaces."""

from contextlib import closing
from dataclasses import replace
from typing import Any

import gymnasium as gym
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv, VectorEnv

from agents.episodes.waiting import Waiting
from agents.training.config import TrainingConfig
from glimpse_envs.adapters.named_parts import make_named
from glimpse_envs.core.arguments import naming_environment
from glimpse_envs.episodes.description import describe, task_of
from glimpse_envs.episodes.lookup import has_splits


def make_training_env(config: TrainingConfig, **kwargs: Any) -> VectorEnv:
    """The environment of a config's batches, with further arguments `kwargs`.

    Rows that end early reset themselves in the same step, and those of foreign environments then
    wait for the others (see `Waiting`); where all rows end together, no row resets itself.

    Raises:
        ValueError: copies of a scene are asked of an environment that cannot deal one scene to
            several rows; one of our environments has plain spaces, or is wrapped; or the
            environment does not take an argument or its value.
    """
    near = {"first_glimpse": "near"} if config.curriculum == "distance" else {}
    arguments = {**config.env_kwargs, **near, **kwargs}
    with naming_environment(config.env_id, arguments):
        single = gym.make(config.env_id, **arguments)
    with closing(single) as env:
        ours = task_of(env) is not None
        if ours and not has_splits(config.env_id):
            raise ValueError(
                f"{config.env_id} wraps a single environment of this package, whose batches agents "
                "train on: train on the id that is wrapped, or register a task of your own "
                "(glimpse_envs.register)"
            )
        if ours and not isinstance(env.observation_space, spaces.Dict):
            raise ValueError(
                f"{config.env_id} has plain spaces, for agents of other libraries: train on the id "
                "that it is made from, and without flat or flat_observation"
            )
        fixed_steps = ours and describe(env).fixed_steps
    if ours:
        return gym.make_vec(
            config.env_id,
            num_envs=config.batch_size,
            split="train",
            copies=config.copies,
            autoreset_mode="Disabled" if fixed_steps else "SameStep",
            **arguments,
        )
    if config.copies > 1:
        raise ValueError(f"copies={config.copies}: {config.env_id} deals no scene to several rows")
    batch = make_named(config.env_id, config.batch_size, **arguments)
    rows = batch.unwrapped
    if isinstance(rows, SyncVectorEnv):
        rows.envs = [Waiting(env) for env in rows.envs]
    return batch


def make_parts(config: TrainingConfig, count: int | None) -> list[VectorEnv]:
    """The environments of `count` equal parts of a config's batches; None: 1.

    Raises:
        ValueError: the batch has no such parts with all copies of a scene together.
    """
    count = 1 if count is None else count
    if config.batch_size % (count * config.copies):
        raise ValueError(
            f"batch_size={config.batch_size} must be a multiple of {count * config.copies}: it has "
            f"parts={count}, and copies={config.copies}"
        )
    part = replace(config, batch_size=config.batch_size // count)
    return [make_training_env(part) for _ in range(count)]
