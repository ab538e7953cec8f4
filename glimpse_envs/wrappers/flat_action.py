"""Plain actions for wrapped worlds, whose actions are a Dict."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from glimpse_envs.core.arguments import check_flags
from glimpse_envs.flat import FlatActions


class FlatAction(gym.ActionWrapper, RecordConstructorArgs):
    """An environment with one array in place of its Dict of actions, for learners without Dicts.

    Environments of the suite have this built in, as `flat=True` and `flat="discrete"`; it is for
    `GlimpseWrapper`, `Glimpse/Atari-v0` and `Glimpse/MiniGrid-v0`. With looks that are places the
    action is one Box, which is a handicap to the acts (see `glimpse_envs.flat.FlatActions`); with
    `look="tiles"` all parts are choices.

    Args:
        env: its actions are a Dict of Discrete, MultiDiscrete, MultiBinary, and Box from -1 to 1.
        joint: whether all choices are one Discrete.

    Raises:
        ValueError: the actions are not such a Dict, or cannot be one Discrete; or `joint` is no
            flag.
    """

    def __init__(self, env: gym.Env, joint: bool = False) -> None:
        check_flags(joint=joint)
        RecordConstructorArgs.__init__(self, joint=bool(joint))
        gym.ActionWrapper.__init__(self, env)
        try:
            self._flat = FlatActions(env.action_space, joint)
        except ValueError as error:  # in the words of the suite's own environments
            said = str(error).replace("flat='discrete'", "joint=True")
            raise ValueError(said.replace("flat=True", "joint=False")) from error
        self.action_space = self._flat.space

    def action(self, action: Any) -> dict[str, NDArray]:
        """Return the Dict action, name -> (...), of a flat one, in `action_space`.

        Raises:
            ValueError: the shape or dtype is wrong, or a number is NaN or out of range.
        """
        return self._flat.decode_one(action)
