"""What one environment hides and asks, read from its description."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from gymnasium import spaces

from glimpse_envs.core.arguments import naming_environment
from glimpse_envs.core.arrays import Floats, Ints
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.episodes.description import Description, describe_id
from glimpse_envs.episodes.lookup import full_view

CELL = 8
"""Side in pixels of the cells of a picture that are pointed at."""
QUESTION = "question"
"""What is observed of a text beside its statements."""
TEXT_HOPS = 3
"""Steps of a model before it answers about a text, as in memory networks (Sukhbaatar et al. 2015).
"""


@dataclass(frozen=True)
class PictureScene:
    """A hidden picture, and the glimpses that an agent would take of it."""

    view: PictureView
    glimpse_space: spaces.Dict  # an agent's observations
    budget: int  # T, an agent's glimpses
    words: int = 0  # the most of a description, a word a step; 0 where none is asked for
    answers: int = 1  # the most that are given in turn, none of which is shown afterwards
    moves: bool = False  # another picture is shown at every step, and answered
    # Rows and columns of cells of which one is pointed at; None where an answer is given.
    grid: tuple[int, int] | None = None

    def middles(self) -> Floats:
        """The look coordinates (n, 2), (x, y), of the middles of the grid's cells, row by row."""
        assert self.grid is not None
        down, across = (CELL * (np.arange(count) + 0.5) for count in self.grid)
        pixels = np.stack(np.meshgrid(across, down), axis=-1).reshape(-1, 2)
        return self.view.space.to_locations(pixels)

    def cells_at(self, places: Floats) -> Ints:
        """The numbers (B,) of the grid's cells at look coordinates (B, 2), (x, y)."""
        assert self.grid is not None
        columns, rows = (self.view.space.to_pixels(places) // CELL).astype(np.int64).T
        last_row, last_column = self.grid[0] - 1, self.grid[1] - 1
        return rows.clip(0, last_row) * self.grid[1] + columns.clip(0, last_column)

    @property
    def glimpse_shape(self) -> tuple[int, ...]:
        """(K C, g, g) of one glimpse."""
        shape = self.glimpse_space["glimpse"].shape
        assert shape is not None
        return shape


@dataclass(frozen=True)
class SequenceScene:
    """The cells of a hidden tape or table, or the statements of a text."""

    cells: int  # N, of the longest tape, table or text that is dealt
    features: int  # F, numbers or words that show one cell
    query: int  # q, numbers or words of a question; 0 where none is asked
    outputs: int | None = None  # answers to the longest tape; None where one ends the episode
    outputs_per_cell: float = 0.0  # further answers for each further cell of a tape
    hops: int = 1  # steps of a model before it gives the one answer to a table or a text
    words: int = 0  # the size of the vocabulary, of a text; 0 where cells hold numbers

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
    classes: int = 0  # the first answers that name what is looked at, among words of a sentence

    @property
    def picture(self) -> PictureScene:
        """The scene, of a picture that is answered by classes.

        Raises:
            ValueError: the environment hides something else, or asks for a description.
        """
        if not isinstance(self.scene, PictureScene):
            raise ValueError(f"{self.env_id} hides no picture (C, H, W)")
        if self.scene.words:
            raise ValueError(
                f"{self.env_id} asks for a description, word by word; of the baselines captioner "
                "writes words, all others answer by classes"
            )
        if self.scene.grid is not None:
            raise ValueError(
                f"{self.env_id} asks for a place and no answer; of the baselines pointer points, "
                "all others answer by classes"
            )
        return self.scene

    @property
    def pointed(self) -> PictureScene:
        """The scene, of a picture in which the place of what is asked for is to be pointed at.

        Raises:
            ValueError: the environment asks for something else.
        """
        if not isinstance(self.scene, PictureScene) or self.scene.grid is None:
            raise ValueError(
                f"{self.env_id} does not ask for a place alone; Glimpse/Search-v0 does"
            )
        return self.scene

    @property
    def described(self) -> PictureScene:
        """The scene, of a picture that is described word by word.

        Raises:
            ValueError: the environment asks for no description of a picture.
        """
        if not isinstance(self.scene, PictureScene) or not self.scene.words:
            raise ValueError(
                f"{self.env_id} asks for no description of a picture, word by word; "
                "Glimpse/DescribeScene-v0 does"
            )
        return self.scene

    @property
    def in_turn(self) -> bool:
        """Whether several answers about one picture are asked for, one after another."""
        return isinstance(self.scene, PictureScene) and self.scene.answers > 1

    @property
    def points(self) -> bool:
        """Whether a place in a picture is asked for, and no answer."""
        return isinstance(self.scene, PictureScene) and self.scene.grid is not None

    @property
    def words(self) -> int:
        """The most words of a description; 0 where none is asked for."""
        return self.scene.words if isinstance(self.scene, PictureScene) else 0

    @property
    def sequence(self) -> SequenceScene:
        """The scene, of a tape, a table or a text.

        Raises:
            ValueError: the environment hides something else.
        """
        if not isinstance(self.scene, SequenceScene):
            raise ValueError(f"{self.env_id} hides no tape, table or text (cells, features)")
        return self.scene

    @property
    def answers_in_sequence(self) -> bool:
        """Whether one action holds T answers (B, T), as on tapes, and not a single one (B,)."""
        return isinstance(self.scene, SequenceScene) and self.scene.outputs is not None

    @classmethod
    def of(cls, env_id: str, env_kwargs: dict[str, Any]) -> Self:
        """The setting of an environment, whatever view `env_kwargs` ask for.

        Raises:
            ValueError: the environment hides neither a picture, nor a tape, a table or a text, or
                asks for no answer.
        """
        whole = _describe(env_id, full_view(env_id, env_kwargs))
        parts = whole.observation_space.spaces
        shape = parts["scene"].shape if "scene" in parts else None
        if [*whole.components] == ["look"] and shape is not None and len(shape) == 3:
            picture, _ = _picture(env_id, env_kwargs, whole)
            grid = -(-shape[1] // CELL), -(-shape[2] // CELL)
            return cls(env_id, replace(picture, grid=grid), grid[0] * grid[1], False)
        if "answer" not in whole.components:
            raise ValueError(
                f"{env_id} asks for no answer, which the baselines learn to give: its actions are "
                f"{', '.join(whole.components)}"
            )
        answer = whole.components["answer"].space
        assert isinstance(answer, spaces.Discrete | spaces.MultiDiscrete)
        choices = answer.n if isinstance(answer, spaces.Discrete) else answer.nvec[0]
        if shape is not None and len(shape) == 3:
            picture, every_counts = _picture(env_id, env_kwargs, whole)
            classes = whole.components["answer"].classes
            return cls(env_id, picture, int(choices), every_counts, classes)
        sequential = whole.levels is not None or QUESTION in parts
        if shape is not None and len(shape) == 2 and sequential:
            scene = _sequence(env_id, full_view(env_id, env_kwargs), whole)
            return cls(env_id, scene, int(choices))
        raise ValueError(
            f"{env_id} hides neither a picture (C, H, W) nor a tape, table or text (cells, "
            f"features): its scene has shape {shape}"
        )


def _picture(
    env_id: str, env_kwargs: dict[str, Any], whole: Description
) -> tuple[PictureScene, bool]:
    """The picture of an environment, `whole` in the full view, and whether each answer of an
    episode is paid."""
    # The full view, of one step, has neither the agents' budget nor a dense reward.
    seen = _describe(env_id, {**full_view(env_id, env_kwargs), "view": "glimpse"})
    assert seen.picture_view is not None
    assert seen.budget is not None
    steps = whole.budget or 1
    moves = steps > 1 and whole.fixed_steps
    in_turn = steps > 1 and not moves
    shows_last = "last_action" in whole.observation_space.spaces
    picture = PictureScene(
        seen.picture_view,
        seen.observation_space,
        seen.budget,
        words=steps if in_turn and shows_last else 0,
        answers=steps if in_turn and not shows_last else 1,
        moves=moves,
    )
    dense = seen.answer_reward is not None and seen.answer_reward < 1.0
    return picture, dense or picture.answers > 1


def _sequence(env_id: str, env_kwargs: dict[str, Any], whole: Description) -> SequenceScene:
    """The tape, table or text of an environment in the full view, of the greatest length."""
    parts = dict(whole.observation_space.spaces)
    scene = parts.pop("scene")
    cells, features = scene.shape or ()
    query = sum(int(np.prod(part.shape or ())) for part in parts.values())
    if QUESTION in parts:
        words = int(scene.nvec.max()) if isinstance(scene, spaces.MultiDiscrete) else 0
        return SequenceScene(cells, features, query, hops=TEXT_HOPS, words=words)
    assert whole.levels is not None
    longest = whole.levels[1]
    answer = whole.components["answer"].space
    if not isinstance(answer, spaces.MultiDiscrete):
        return SequenceScene(cells, features, query, hops=longest + 1)
    longer = _describe(env_id, {**env_kwargs, "length": longest + 1})
    growth = (longer.observation_space["scene"].shape or ())[0] - cells
    outputs = len(answer.nvec)
    further = (longer.components["answer"].space.shape or ())[0] - outputs
    return SequenceScene(cells, features, query, outputs, further / growth)


def _describe(env_id: str, env_kwargs: dict[str, Any]) -> Description:
    with naming_environment(env_id, env_kwargs):
        return describe_id(env_id, env_kwargs)
