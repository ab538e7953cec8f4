"""Typed description of an environment, for agents and evaluation."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, fields
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import VectorEnv

from glimpse_envs.core.arrays import Floats
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.task import Component, Reading, Task

OBSERVATION, ACT = "observation", "act"
"""Names of a plain observation and a plain action as parts of Dicts."""


@dataclass(frozen=True)
class Description:
    """An environment as its task describes it, or by its spaces where it has no task of this kind.

    Args:
        observation_space: of a single row.
        components: the parts of the action.
        budget: glimpses in the longest episode; None where unknown.
        fixed_steps: whether every episode takes exactly `budget` steps.
        glimpse_cost: paid for every glimpse after the first.
        answer_reward: earned by a right, scored answer; None where episodes differ, or nothing is
            asked.
        levels: the least and the greatest length; None where nothing has a length.
        scores_mix_levels: whether a policy is scored on all lengths together.
        question: what is asked, in words; "" where unknown.
        picture_view: geometry of a picture; None where none is hidden, or all is seen.
        reading: cost of reading a look; None where all is seen at once, or unknown.
        chance, ceiling: mean returns of the best blind policy, if all classes of images are equally
            frequent, and of the best policy; NaN where unknown.
        plain_action: the space of the environment's own action, where it is plain; else None.
    """

    observation_space: spaces.Dict
    components: Mapping[str, Component]
    budget: int | None = None
    fixed_steps: bool = False
    glimpse_cost: float = 0.0
    answer_reward: float | None = None
    levels: tuple[int, int] | None = None
    scores_mix_levels: bool = False
    question: str = ""
    picture_view: PictureView | None = None
    reading: Reading | None = None
    chance: float = float("nan")
    ceiling: float = float("nan")
    plain_action: spaces.Space | None = None

    @property
    def taught(self) -> str | None:
        """Name of the component that may be learned from `info["target"]`; None without one."""
        return next((name for name, part in self.components.items() if part.taught), None)

    @property
    def real_action(self) -> spaces.Box | None:
        """Space of a plain action of real numbers; None where the action is another."""
        if list(self.components) != [ACT]:
            return None
        space = self.components[ACT].space
        return space if isinstance(space, spaces.Box) else None


def task_of(env: gym.Env | VectorEnv) -> Task | None:
    """Return the `Task` of an environment, single or batched, wrapped or not; None without one."""
    task: Any = getattr(env.unwrapped, "task", None)
    return task if isinstance(task, Task) else None


def describe(env: gym.Env | VectorEnv) -> Description:
    """Describe an environment, single or batched; a plain observation is called `OBSERVATION`, a
    plain action `ACT`."""
    task = task_of(env)
    if task is not None:
        shared = {field.name for field in fields(Description)} - {"answer_reward", "plain_action"}
        asks, same = "answer" in task.components, np.ndim(task.answer_reward) == 0
        return Description(
            **{name: getattr(task, name) for name in shared},
            answer_reward=float(task.answer_reward) if asks and same else None,
        )
    if isinstance(env, VectorEnv):
        seen, action = env.single_observation_space, env.single_action_space
    else:
        seen, action = env.observation_space, env.action_space
    seen, parts = named_parts(seen, OBSERVATION), named_parts(action, ACT)
    plain = parts[ACT] if action is not parts or getattr(env, "names_action", False) else None
    components = {name: Component(space) for name, space in parts.items()}
    return Description(seen, components, plain_action=plain)


def describe_id(env_id: str, env_kwargs: Mapping[str, Any]) -> Description:
    """Describe the environment `env_id`, which is made and closed again."""
    with closing(gym.make(env_id, **env_kwargs)) as env:
        return describe(env)


def named_parts(space: spaces.Space, name: str) -> spaces.Dict:
    """Return a Dict space as it is, and any other as a Dict with one part of that name."""
    return space if isinstance(space, spaces.Dict) else spaces.Dict([(name, space)])


def answer_rewards(env: VectorEnv) -> Floats:
    """Return the reward of a right, scored answer in each row's present episode, (n,)."""
    task = task_of(env)
    earned = 0.0 if task is None else task.answer_reward
    return np.broadcast_to(earned, env.num_envs).astype(np.float64)
