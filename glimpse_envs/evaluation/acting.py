"""How a policy plays an environment: its observations read, its actions made Dict actions."""

from collections.abc import Callable, Mapping
from numbers import Number
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from glimpse_envs.core.arguments import shown
from glimpse_envs.core.spaces import ordered
from glimpse_envs.episodes.actions import ActionChecker, as_array
from glimpse_envs.episodes.description import ACT, Description, describe
from glimpse_envs.evaluation.observing import form_for
from glimpse_envs.evaluation.policy import Action, Observation, Policy
from glimpse_envs.flat import FlatActions

Act = Callable[[Observation, Any, NDArray[np.bool_], dict[str, Any]], tuple[Action, Any]]
"""From (observation, state, episode_start, info) to the action and the next state."""


def as_act(policy: Policy, env: gym.Env | VectorEnv, deterministic: bool) -> Act:
    """Return the function that plays `policy` in `env`, single or batched; a privileged policy is
    given `info` too.

    Plain actions (see `glimpse_envs.flat.FlatActions`; joint ones where they have one axis) become
    Dict actions; where the environment's own are plain, they are passed on. A policy with
    an `observation_space` that is no Dict, as models of Stable-Baselines3 may have, is given the
    environment's own plain observations, or flat ones. The function raises a TypeError where
    `predict` returns something else.
    """
    description = describe(env)
    form = form_for(policy.observation_space, description)
    reader = _ActionReader(description)

    def act(
        observation: Observation, state: Any, start: NDArray[np.bool_], info: dict[str, Any]
    ) -> tuple[Action, Any]:
        extra: dict[str, Any] = {"info": info} if policy.privileged else {}
        chosen: Any = policy.predict(
            form.read(observation), state, episode_start=start, deterministic=deterministic, **extra
        )
        if not isinstance(chosen, tuple) or len(chosen) != 2:
            raise TypeError(
                "predict must return a tuple (action, state), whose state is None where there is "
                f"none; it returned {shown(chosen)}"
            )
        action, state = chosen
        return reader.read(action), state

    return act


class _ActionReader:
    """Reads what policies return, a Dict or plain, as Dict actions of one environment."""

    def __init__(self, description: Description) -> None:
        self._parts = {name: part.space for name, part in description.components.items()}
        self._real, self._plain = description.real_action, description.plain_action
        self._codecs: dict[bool, FlatActions] = {}

    def read(self, action: Any) -> Action:
        """Return an action, name -> (n, ...).

        Raises:
            TypeError: it is neither a Dict nor an array of numbers.
            ValueError: it has another shape than the environment's, or is not in its space.
        """
        if isinstance(action, Mapping):
            return dict(action)
        self._check_numbers(action)
        if self._real is not None:
            return self._read_real(action, self._real)
        if self._plain is not None:
            if isinstance(self._plain, spaces.Discrete) and np.shape(action)[1:] == (1,):
                action = np.asarray(action)[:, 0]
            if np.ndim(action) > 0 and np.shape(action)[1:] == self._plain.shape:
                return self._read_plain(action, self._plain)
        return self._codec(joint=np.ndim(action) == 1).decode(action)

    def _check_numbers(self, action: Any) -> None:
        parts = f"a dict of the parts {', '.join(self._parts)}, name -> (n, ...)"
        if isinstance(action, tuple) and not all(isinstance(one, Number) for one in action):
            raise TypeError(
                f"the policy's action is a tuple of {len(action)}; it must be {parts}: where it "
                "has a state too, give the policy itself, with its method predict"
            )
        if as_array(action, "the policy's action", ("n", "...")).dtype.kind not in "biuf":
            raise TypeError(
                f"the policy's action must be {parts}, or a plain array as flat=True has it; it is "
                f"{shown(action)}"
            )

    @staticmethod
    def _read_real(action: Any, space: spaces.Box) -> Action:
        """Return real numbers (n, *space.shape) as the only part of a Dict action."""
        if np.shape(action)[1:] != space.shape:
            raise ValueError(
                f"the policy's action has shape {np.shape(action)}; it must have shape "
                f"(n, *{space.shape})"
            )
        return {ACT: np.asarray(action)}

    @staticmethod
    def _read_plain(action: Any, space: spaces.Space) -> Action:
        """Return choices (n, *space.shape) as the only part of a Dict action."""
        if isinstance(space, spaces.MultiBinary) and np.isin(action, (0, 1)).all():
            action = np.asarray(action).astype(space.dtype)  # Stable-Baselines3's are floats
        checked = ActionChecker(spaces.Dict({ACT: space}), len(action))({ACT: action})
        return {ACT: checked[ACT].astype(space.dtype)}

    def _codec(self, joint: bool) -> FlatActions:
        if joint not in self._codecs:
            self._codecs[joint] = FlatActions(ordered(self._parts), joint)
        return self._codecs[joint]
