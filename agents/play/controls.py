"""How people act in an environment: its action's components for the page, and actions from it."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from agents.play.boards import Board
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.episodes.description import ACT
from glimpse_envs.evaluation.policy import Observation
from glimpse_envs.evaluation.scanpaths import latest_location
from glimpse_envs.task import Component

MOST_KEYS = 16
"""Maximum number of keys held together."""
IDLE = ("stay", "noop")
"""Names of acts that do nothing; MiniGrid's "done" ends some of its worlds."""


class ActionError(ValueError):
    """The message received is not an action; the text says what is wrong and what would be
    right."""


class Controls:
    """The controls of one environment, whatever its family.

    Args:
        board: says what can be chosen.
    """

    def __init__(self, board: Board) -> None:
        self.components, self.view = board.components, board.view
        self._keys, self._is_table = board.keys, board.is_table

    def as_json(self) -> dict[str, Any]:
        """Return the components, and whether keys held together are actions (`chords`)."""
        parts = [self._part(name, part) for name, part in self.components.items()]
        return {"components": parts, "chords": self._keys is not None}

    def _part(self, name: str, part: Component) -> dict[str, Any]:
        names = names_of(name, part)
        # Every choice is a part of the whole answer, such as a word.
        written = name == "answer" and part.effect == "always" and not part.optional
        found: dict[str, Any] = {
            "name": name,
            "optional": part.optional,
            "names": names,
            "idle": name != ACT or idle_act(part) is not None,  # may be left out
            "written": written,
            "every": 1 if written else part.every,
        }
        if name == "look" and self.view is not None:
            reach = None
            if self.view.look == "relative":
                reach = self.view.max_move * min(self.view.space.width, self.view.space.height) / 2
            return found | {"kind": "place", "reach": reach}
        space = part.space
        if isinstance(space, spaces.MultiBinary):
            return found | {
                "kind": "address",
                "choices": 1 << space.shape[0],
                "bits": space.shape[0],
            }
        if isinstance(space, spaces.MultiDiscrete):
            return found | {"kind": "several", "sizes": space.nvec.tolist()}
        assert isinstance(space, spaces.Discrete), f"{name} has the space {space}"
        # Moves from one line of a text to the next have names; addresses have none.
        kind = "address" if name == "look" and self._is_table and not names else "choice"
        return found | {"kind": kind, "choices": int(space.n)}

    # --- from the page -----------------------------------------------------------------------

    def from_keys(self, keys: Any) -> dict[str, Any]:
        """Return the action of keys held together, codes as in `glimpse_envs.episodes.keyboard`.

        Raises:
            ActionError: they are not key codes, or mean nothing here.
        """
        if not isinstance(keys, list) or not 0 < len(keys) <= MOST_KEYS:
            raise ActionError(
                f"keys must be a list of 1 to {MOST_KEYS} key codes; it is {keys!r:.80}"
            )
        if not all(type(key) is int for key in keys):
            raise ActionError(f"each key must be a whole number; they are {keys!r:.80}")
        if self._keys is None:
            raise ActionError("this environment has no keys of its own: send an action")
        action = self._keys.get(tuple(sorted(set(keys))))
        if action is None:
            raise ActionError("these keys mean nothing here together")
        return dict(action)

    def from_parts(self, parts: Any, observation: Observation) -> dict[str, Any]:
        """Return the action of `parts`, name -> choice; what is left out chooses nothing.

        A look at a picture is {"x": ..., "y": ...}, in shares of the scene's sides.

        Args:
            parts: as the page sent it.
            observation: the present one, name -> (1, ...).

        Raises:
            ActionError: a name is unknown, or a place is invalid. The environment itself checks
                everything else.
        """
        if not isinstance(parts, Mapping):
            raise ActionError(f"an action must be an object; it is {parts!r:.80}")
        unknown = sorted(set(parts) - set(self.components))
        if unknown:
            raise ActionError(
                f"the action has no part {', '.join(map(repr, unknown))[:80]}; its parts are "
                f"{', '.join(self.components)}"
            )
        action = {}
        for name, part in self.components.items():
            value = parts.get(name)
            if name == "look" and self.view is not None:
                action[name] = _look(self.view, value, observation)
            elif value is None:
                action[name] = self._idle(name, part)
            elif isinstance(part.space, spaces.MultiBinary) and type(value) is int:
                (bits,) = part.space.shape
                if not 0 <= value < 1 << bits:
                    raise ActionError(f"an address must lie from 0 to {(1 << bits) - 1}")
                action[name] = (value >> np.arange(bits)) & 1
            else:
                action[name] = value
        return action

    def _idle(self, name: str, part: Component) -> Any:
        """The choice of a part that was left out."""
        if self._keys is not None:
            nothing = next(iter(self._keys.values()))  # of the space bar
            return nothing[name]
        if name == ACT:
            idle = idle_act(part)
            if idle is None:
                raise ActionError("say which act: none of this world's does nothing")
            return idle
        zero = np.zeros(part.space.shape or (), np.int64)
        return zero if part.space.shape else 0


def idle_act(part: Component) -> int | None:
    """The choice of a component of acts that does nothing; None where there is none."""
    return next((part.names.index(name) for name in IDLE if name in part.names), None)


def names_of(name: str, part: Component) -> list[str]:
    """The names of a component's choices, for people; none where it is no choice of one."""
    if part.names:
        return list(part.names)
    if name == "stop":
        return ["go on", "stop"]
    if name == "look" or not isinstance(part.space, spaces.Discrete):
        return []
    return [str(choice) for choice in range(int(part.space.n))]


def _look(view: PictureView, place: Any, observation: Observation) -> Any:
    """The look at a place, in shares of the scene's sides; None: where the gaze is."""
    here = latest_location(observation)
    if place is None:
        target = np.zeros(2) if here is None else here[0].astype(np.float64)
    else:
        target = np.clip(view.space.to_locations(_pixels(view, place)), -1.0, 1.0)
    if view.look == "relative" and here is None:
        raise ActionError("a move needs an observation with a 'location' to go from")
    gaze = target[None] if here is None else here.astype(np.float64)
    (look,) = view.looks_at(target[None], gaze)
    return int(look) if view.look == "tiles" else look.astype(np.float32)


def _pixels(view: PictureView, place: Any) -> np.ndarray:
    wanted = 'a look must be {"x": ..., "y": ...} with numbers from 0 to 1'
    if not isinstance(place, Mapping) or set(place) != {"x", "y"}:
        raise ActionError(f"{wanted}; it is {place!r:.80}")
    for value in place.values():
        if type(value) not in (int, float) or not math.isfinite(value) or not 0 <= value <= 1:
            raise ActionError(f"{wanted}; it is {place!r:.80}")
    return np.array([place["x"] * view.space.width, place["y"] * view.space.height])
