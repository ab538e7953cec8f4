"""One player's game: the episodes that they play, one after the other, in an environment."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agents.play.boards import Board, TaskBoard, make_board
from agents.play.controls import ActionError, Controls
from agents.play.frames import Json, frame_of
from glimpse_envs.evaluation.policy import Observation
from glimpse_envs.rendering import Seen
from glimpse_envs.wrappers.errors import WrappedEnvError


class GameError(ValueError):
    """The request is not possible in the game's present state."""


@dataclass(frozen=True)
class Setting:
    """What is played: an environment, its arguments and the seed of its fixed split."""

    env_id: str
    env_kwargs: dict[str, Any] = field(default_factory=dict)
    split: str = "test"
    seed: int = 0

    def make(self) -> Board:
        """Make the environment.

        Raises:
            ValueError: it cannot be played here.
        """
        board = make_board(self.env_id, self.env_kwargs, self.split, self.seed)
        if isinstance(board, TaskBoard) and (board.flat or "view" in self.env_kwargs):
            board.close()
            raise ValueError(f"{self.env_id} is played with its own actions, through glimpses")
        return board


@dataclass(frozen=True)
class Played:
    """An episode that a person played to its end."""

    scene: int
    actions: tuple[dict[str, Any], ...]
    success: bool | None
    total: float
    glimpses: int
    seconds: float


class Game:
    """A player's game. It is used by one thread at a time.

    Args:
        setting: what is played.
        next_scene: gives the number of the scene that is dealt next.
    """

    def __init__(self, setting: Setting, next_scene: Callable[[], int]) -> None:
        self.setting, self._next_scene = setting, next_scene
        self.board = setting.make()
        self.history: list[Played] = []
        try:
            self.deal()
        except BaseException:
            self.board.close()
            raise
        self.controls = Controls(self.board)

    def deal(self) -> None:
        """Begin the next episode.

        Raises:
            GameError: there is no scene to deal.
        """
        scene = self._next_scene()
        observation, _ = self.board.reset(scene)
        self.scene = scene
        self._begin(observation)

    def _begin(self, observation: dict[str, Any]) -> None:
        self._observation = observation
        self._seen, self._return = Seen(), 0.0
        self._actions: list[dict[str, Any]] = []
        self.ended = False
        self._success: bool | None = None
        self._started = time.monotonic()
        self._seen.add(self.board.picture())

    def step(self, message: dict[str, Any]) -> Played | None:
        """Act as a message of the page says, {"keys": [...]} or {"action": {...}}; return the
        episode if it has ended.

        Raises:
            ActionError, ValueError: it is not a valid action; nothing has changed.
            GameError: the episode has ended, or the world has failed, which ends it.
        """
        if self.ended:
            raise GameError("this episode has ended: go on to the next scene")
        if set(message) == {"keys"}:
            action = self.controls.from_keys(message["keys"])
        elif set(message) == {"action"}:
            action = self.controls.from_parts(message["action"], self._batch)
        else:
            raise ActionError(
                'a step must be {"keys": [...]} or {"action": {...}}; it has '
                f"{', '.join(sorted(map(repr, message)))[:80] or 'nothing'}"
            )
        try:
            observation, reward, terminated, truncated, info = self.board.env.step(action)
        except WrappedEnvError as error:
            self.ended = True
            raise GameError(f"{error}: go on to the next scene") from error
        self._observation = observation
        self._actions.append({name: np.asarray(part).tolist() for name, part in action.items()})
        self._return += float(reward)
        self._seen.add(self.board.picture())
        self.ended = bool(terminated or truncated)
        if not self.ended:
            return None
        success = info.get("is_success")
        self._success = None if success is None else bool(success)
        played = Played(
            scene=self.scene,
            actions=tuple(self._actions),
            success=self._success,
            total=self._return,
            glimpses=len(self._actions),
            seconds=time.monotonic() - self._started,
        )
        self.history.append(played)
        return played

    def view(self) -> Json:
        """Return the game as its player sees it, without anything that is still hidden."""
        picture, taken, budget = self.board.picture(), self._taken, self.board.budget
        shown = picture if self.ended else self._seen.reveal(picture, ended=False)
        successes = [played.success for played in self.history if played.success is not None]
        return {
            "scene": self.scene,
            "frame": frame_of(shown),
            "taken": taken,
            "budget": budget,
            "last": budget is not None and taken >= budget,
            "ended": self.ended,
            "success": self._success,
            "return": self._return,
            "controls": self.controls.as_json(),
            "score": {
                "played": len(self.history),
                "successes": sum(successes) if successes else None,
                "glimpses": sum(played.glimpses for played in self.history),
                "return": sum(played.total for played in self.history),
            },
        }

    @property
    def _batch(self) -> Observation:
        return {name: np.asarray(value)[None] for name, value in self._observation.items()}

    @property
    def _taken(self) -> int:
        return len(self._actions) + (not self.ended)
