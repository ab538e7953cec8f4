"""Batched environments for training: ours, or any of Gymnasium's with plain or Dict spaces."""

from contextlib import closing
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from numpy.typing import NDArray

import glimpse_envs  # noqa: F401  (registers the environments)
from agents.training.config import TrainingConfig
from glimpse_envs.episodes.description import ACT, OBSERVATION, describe, named_parts, task_of


def make_training_env(config: TrainingConfig, **kwargs: Any) -> VectorEnv:
    """The environment of a config's batches, with further arguments `kwargs`.

    Rows that end early reset themselves in the same step; where all end together, none does.

    Raises:
        ValueError: copies of a scene in an environment that deals none to several rows.
    """
    near = {"first_glimpse": "near"} if config.curriculum == "distance" else {}
    arguments = {**config.env_kwargs, **near, **kwargs}
    with closing(gym.make(config.env_id, **arguments)) as env:
        ours = task_of(env) is not None
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
    envs = gym.make_vec(
        config.env_id,
        num_envs=config.batch_size,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
        **arguments,
    )
    return NamedParts(envs)


def make_parts(config: TrainingConfig, count: int | None) -> list[VectorEnv]:
    """The environments of `count` equal parts of a config's batches; None: 2 on a GPU, else 1.

    Raises:
        ValueError: the batch has no such parts with all copies of a scene together.
    """
    if count is None:
        count = 1 if config.device == "cpu" else 2
    if config.batch_size % (count * config.copies):
        raise ValueError(
            f"batch_size={config.batch_size} must be a multiple of {count * config.copies}: it has "
            f"parts={count}, and copies={config.copies}"
        )
    part = replace(config, batch_size=config.batch_size // count)
    return [make_training_env(part) for _ in range(count)]


class NamedParts(VectorWrapper):
    """Observations and actions as Dicts: a plain observation is the part "observation", a plain
    action the component "act"."""

    def __init__(self, envs: VectorEnv) -> None:
        super().__init__(envs)
        self._names_observation = not isinstance(envs.single_observation_space, spaces.Dict)
        self._names_action = not isinstance(envs.single_action_space, spaces.Dict)
        if self._names_observation:
            self.single_observation_space = named_parts(envs.single_observation_space, OBSERVATION)
            self.observation_space = named_parts(envs.observation_space, OBSERVATION)
        if self._names_action:
            self.single_action_space = named_parts(envs.single_action_space, ACT)
            self.action_space = named_parts(envs.action_space, ACT)

    def reset(self, **kwargs: Any) -> tuple[dict[str, NDArray], dict[str, Any]]:
        observation, info = self.env.reset(**kwargs)
        return self._named(observation), info

    def step(
        self, actions: dict[str, NDArray]
    ) -> tuple[dict[str, NDArray], Any, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        plain: Any = actions[ACT] if self._names_action else actions
        observation, reward, terminated, truncated, info = self.env.step(plain)
        if "final_obs" in info and self._names_observation:
            final = info["final_obs"]
            info["final_obs"] = np.empty(len(final), dtype=object)
            for row in np.flatnonzero(info["_final_obs"]):
                info["final_obs"][row] = {OBSERVATION: final[row]}
        return self._named(observation), reward, terminated, truncated, info

    def _named(self, observation: Any) -> dict[str, NDArray]:
        # A sync environment reuses its arrays.
        if self._names_observation:
            return {OBSERVATION: np.array(observation)}
        return {name: np.array(part) for name, part in observation.items()}
