"""What one environment hides and asks, read from its spaces and its task."""

from contextlib import closing
from dataclasses import dataclass
from typing import Any, Self

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

import glimpse_envs  # noqa: F401  (registers the environments)

# Arguments that the full view, of one step, refuses.
GLIMPSE_ONLY = frozenset({"history", "stop", "glimpse_cost"})


def full_view(env_kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments of the same environment with everything shown in one step."""
    kept = {name: value for name, value in env_kwargs.items() if name not in GLIMPSE_ONLY}
    return {**kept, "view": "full"}


@dataclass(frozen=True)
class PictureScene:
    """A hidden picture, and the glimpses that an agent would take of it."""

    scene_shape: tuple[int, int, int]  # (C, H, W)
    glimpse_space: spaces.Dict  # an agent's observations
    budget: int  # T, an agent's glimpses
    tile_locations: NDArray[np.float64]  # (n, 2) in [-1, 1], the centres (x, y) of the tiles
    window_sides: tuple[float, ...]  # in pixels, of a glimpse's K windows, finest first
    look_margin: float  # pixels along the scene's edges that looks in [-1, 1] leave out

    @property
    def glimpse_shape(self) -> tuple[int, ...]:
        """(K C, g, g) of one glimpse."""
        shape = self.glimpse_space["glimpse"].shape
        assert shape is not None
        return shape

    @property
    def glimpse_size(self) -> int:
        """g, the side of a glimpse in cells."""
        return self.glimpse_shape[-1]


@dataclass(frozen=True)
class SequenceScene:
    """The cells of a hidden tape or table."""

    cells: int  # N, of the longest tape or table that is dealt
    features: int  # F, numbers that show one cell
    query: int  # q, numbers of a question; 0 where none is asked
    outputs: int | None = None  # answers to the longest tape; None where one ends the episode
    outputs_per_cell: float = 0.0  # further answers for each further cell of a tape
    hops: int = 1  # steps of a model before it gives the one answer to a table

    def steps(self, cells: int) -> int:
        """Steps of a model that answers about a scene of `cells` cells."""
        if self.outputs is None:
            return self.hops
        return self.outputs + round((cells - self.cells) * self.outputs_per_cell)


@dataclass(frozen=True)
class Setting:
    """What one environment hides and asks."""

    env_id: str  # for error messages
    scene: PictureScene | SequenceScene
    num_answers: int  # n, how many there are to choose from
    every_answer_counts: bool = True  # each answer of an episode is paid, not only the last

    @property
    def picture(self) -> PictureScene:
        """The scene, of a picture.

        Raises:
            ValueError: the environment hides something else.
        """
        if not isinstance(self.scene, PictureScene):
            raise ValueError(f"{self.env_id} hides no picture (C, H, W)")
        return self.scene

    @property
    def sequence(self) -> SequenceScene:
        """The scene, of a tape or table.

        Raises:
            ValueError: the environment hides something else.
        """
        if not isinstance(self.scene, SequenceScene):
            raise ValueError(f"{self.env_id} hides neither tape nor table (cells, features)")
        return self.scene

    @property
    def answers_in_sequence(self) -> bool:
        """Whether one action holds T answers (B, T), as on tapes, and not a single one (B,)."""
        return isinstance(self.scene, SequenceScene) and self.scene.outputs is not None

    @classmethod
    def of(cls, env_id: str, env_kwargs: dict[str, Any]) -> Self:
        """The setting of an environment, whatever view `env_kwargs` ask for.

        Raises:
            ValueError: the environment hides neither a picture, nor a tape, nor a table.
        """
        seen, action, task = _spaces_and_task(env_id, full_view(env_kwargs))
        shape, answer = seen["scene"].shape, action["answer"]
        choices = answer.nvec[0] if isinstance(answer, spaces.MultiDiscrete) else answer.n  # type: ignore[attr-defined]  # Discrete
        match shape:
            case (channels, height, width):
                picture, dense = _picture(env_id, env_kwargs, (channels, height, width))
                return cls(env_id, picture, int(choices), every_answer_counts=dense)
            case (_, _) if task.levels is not None:
                return cls(env_id, _sequence(env_id, full_view(env_kwargs)), int(choices))
        raise ValueError(
            f"{env_id} hides neither a picture (C, H, W) nor a tape or table (cells, features): "
            f"its scene has shape {shape}"
        )


def _picture(
    env_id: str, env_kwargs: dict[str, Any], shape: tuple[int, int, int]
) -> tuple[PictureScene, bool]:
    """The picture of `shape` (C, H, W), and whether every answer about it is paid."""
    # The full view, of one step, has neither the agents' budget nor a dense reward.
    glimpses, _, task = _spaces_and_task(env_id, {**full_view(env_kwargs), "view": "glimpse"})
    picture = PictureScene(
        scene_shape=shape,
        glimpse_space=glimpses,
        budget=task.budget,
        tile_locations=task.tile_locations,
        window_sides=task.window_sides,
        look_margin=task.look_margin,
    )
    return picture, bool(task.answer_reward < 1.0)


def _sequence(env_id: str, env_kwargs: dict[str, Any]) -> SequenceScene:
    """The tape or table of an environment in the full view."""
    seen, action, task = _spaces_and_task(env_id, env_kwargs)
    cells, features = seen["scene"].shape or ()
    query = spaces.flatdim(seen) - cells * features
    longest = task.levels[1]
    if isinstance(action["answer"], spaces.Discrete):
        return SequenceScene(cells, features, query, hops=longest + 1)
    longer, more, _ = _spaces_and_task(env_id, {**env_kwargs, "length": longest + 1})
    outputs, further = (len(space["answer"].nvec) for space in (action, more))  # type: ignore[attr-defined]  # MultiDiscrete
    growth = (longer["scene"].shape or ())[0] - cells
    return SequenceScene(cells, features, query, outputs, (further - outputs) / growth)


def _spaces_and_task(
    env_id: str, env_kwargs: dict[str, Any]
) -> tuple[spaces.Dict, spaces.Dict, Any]:
    """Observation space, action space and task of an environment."""
    with closing(gym.make(env_id, **env_kwargs)) as env:
        seen, action = env.observation_space, env.action_space
        assert isinstance(seen, spaces.Dict)
        assert isinstance(action, spaces.Dict)
        return seen, action, env.unwrapped.task  # type: ignore[attr-defined]
