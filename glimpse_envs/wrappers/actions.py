"""Checks of looks and of the acts of an environment under a wrapper, before they are played."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.episodes.actions import ActionChecker

_CHOICES = (spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


class LookAndAct:
    """Splits actions into looks and acts.

    Acts that are choices are checked, and passed on in their space's dtype; others are passed on
    unchanged, because environments treat their bounds in different ways.

    Args:
        space: Dict of `act` and, unless the gaze follows a rule, `look`.
        num_envs: n, rows in a batch; None for the actions of a single environment.
    """

    def __init__(self, space: spaces.Dict, num_envs: int | None) -> None:
        self._names, self._single = list(space), num_envs is None
        checked = [(n, part) for n, part in space.items() if n == "look" or _is_choice(part)]
        self._checker = ActionChecker(spaces.Dict(checked), num_envs)
        self._checked = [name for name, _ in checked]
        self._act_dtype = space["act"].dtype

    def __call__(self, action: Any) -> tuple[NDArray | None, Any]:
        """Return looks (n, ...), n = 1 for a single environment, None without looks; and acts.

        Raises:
            ValueError: a part is missing, unknown, or not in its space; the message names it.
        """
        if not isinstance(action, Mapping) or set(action) != set(self._names):
            given = list(action) if isinstance(action, Mapping) else type(action).__name__
            raise ValueError(
                f"an action must be a dict with the keys {self._names}; this one is {given}"
            )
        found = self._checker({name: action[name] for name in self._checked})
        act = action["act"]
        if "act" in found:
            acts = found["act"].astype(self._act_dtype, copy=False)
            act = acts[0] if self._single else acts
        return found.get("look"), act


def _is_choice(space: spaces.Space) -> bool:
    return isinstance(space, _CHOICES) and np.ndim(np.empty(space.shape or ())) <= 1
