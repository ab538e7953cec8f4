"""Environments of other packages, with plain observations and actions as parts of Dicts."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from numpy.typing import NDArray

from glimpse_envs.episodes.description import ACT, OBSERVATION, named_parts


def make_named(env_id: str, num_envs: int, **env_kwargs: Any) -> "NamedParts":
    """Return a batch of an environment of another package; rows reset themselves in the step in
    which they end."""
    envs = gym.make_vec(
        env_id,
        num_envs=num_envs,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
        **env_kwargs,
    )
    return NamedParts(envs)


class NamedParts(VectorWrapper):
    """Observations and actions as Dicts: a plain observation is the part "observation", a plain
    action the component "act".

    Attributes:
        names_action: whether the environment's own actions are plain.
    """

    def __init__(self, envs: VectorEnv) -> None:
        super().__init__(envs)
        self._names_observation = not isinstance(envs.single_observation_space, spaces.Dict)
        self.names_action = not isinstance(envs.single_action_space, spaces.Dict)
        if self._names_observation:
            self.single_observation_space = named_parts(envs.single_observation_space, OBSERVATION)
            self.observation_space = named_parts(envs.observation_space, OBSERVATION)
        if self.names_action:
            self.single_action_space = named_parts(envs.single_action_space, ACT)
            self.action_space = named_parts(envs.action_space, ACT)

    def reset(self, **kwargs: Any) -> tuple[dict[str, NDArray], dict[str, Any]]:
        observation, info = self.env.reset(**kwargs)
        return self._named(observation), info

    def step(
        self, actions: dict[str, NDArray]
    ) -> tuple[dict[str, NDArray], Any, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        self._check(actions)
        plain: Any = actions[ACT] if self.names_action else actions
        observation, reward, terminated, truncated, info = self.env.step(plain)
        if "final_obs" in info and self._names_observation:
            final = info["final_obs"]
            info["final_obs"] = np.empty(len(final), dtype=object)
            for row in np.flatnonzero(info["_final_obs"]):
                info["final_obs"][row] = {OBSERVATION: final[row]}
        return self._named(observation), reward, terminated, truncated, info

    def _check(self, actions: dict[str, NDArray]) -> None:
        """Raise for missing or unknown parts, or for a number of rows that is not the batch's."""
        assert isinstance(self.single_action_space, spaces.Dict)
        names = list(self.single_action_space.spaces)
        if sorted(actions) != sorted(names):
            raise TypeError(
                f"the action must be a dict with the keys {names}, not {list(actions)}: "
                f"{self.env.spec.id if self.env.spec else 'this environment'} has these parts"
            )
        for name in names:
            for leaf in _leaves(actions[name]):
                if np.shape(leaf)[:1] != (self.num_envs,):
                    raise ValueError(
                        f"the action {name!r} has the shape {np.shape(leaf)}; its first axis must "
                        f"have the {self.num_envs} rows of the batch"
                    )

    def _named(self, observation: Any) -> dict[str, Any]:
        kept = deepcopy(observation)  # a sync environment reuses its arrays
        return {OBSERVATION: kept} if self._names_observation else kept


def _leaves(part: Any) -> Iterator[Any]:
    """Arrays of a part, which may be a tuple or a dict of parts."""
    if isinstance(part, tuple | dict):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from _leaves(inner)
    else:
        yield part
