"""Whether a policy was made for the environment in which it is to be scored."""

from __future__ import annotations

import gymnasium as gym
from gymnasium import spaces
from gymnasium.vector import VectorEnv

from glimpse_envs.core.misfits import difference_of
from glimpse_envs.core.spaces import ordered
from glimpse_envs.episodes.description import Description, describe
from glimpse_envs.episodes.lookup import spec_of
from glimpse_envs.evaluation.observing import form_for
from glimpse_envs.evaluation.policy import Policy
from glimpse_envs.flat import FlatActions


def check_id(env_id: str) -> None:
    """Raise a `ValueError` for an id with plain spaces: policies are given the task's own
    observations."""
    made = spec_of(env_id).kwargs
    if made.get("flat") or made.get("flat_observation"):
        raise ValueError(
            f"{env_id} has plain spaces, which are made by themselves where a policy needs them: "
            "give the id that it is made from, and its other arguments, such as history=True"
        )


def check_spaces(policy: Policy, env: gym.Env | VectorEnv, env_id: str) -> None:
    """Raise a ValueError unless the spaces that a policy declares, as models of Stable-Baselines3
    do, agree in parts, shapes and choices with the environment's (plain or flat if theirs are)."""
    seen, acts = policy.observation_space, policy.action_space
    if seen is None and acts is None:
        return
    given, difference = describe(env), None
    if seen is not None:
        difference = difference_of(seen, form_for(seen, given).space, "observation")
    if acts is not None and difference is None:
        difference = difference_of(acts, _actions_like(acts, given), "action")
    if difference is not None:
        raise ValueError(
            f"the policy was trained on other spaces than {env_id} has with these arguments: "
            f"{difference} here. Give the arguments that the model was trained with"
        )


def _actions_like(acts: spaces.Space, given: Description) -> spaces.Space:
    dicts = ordered({name: part.space for name, part in given.components.items()})
    if isinstance(acts, spaces.Dict):
        return dicts
    if given.plain_action is not None and type(acts) is type(given.plain_action):
        return given.plain_action
    if given.real_action is not None:
        return given.real_action
    flat = FlatActions(dicts)
    joint = isinstance(acts, spaces.Discrete) and not isinstance(flat.space, spaces.Box)
    return FlatActions(dicts, joint=True).space if joint else flat.space
