"""What a task is: something hidden, a sensor, a question and a reward, for an array of rows."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.scenes.scene import Keys

if TYPE_CHECKING:
    from glimpse_envs.rendering import Picture

Rows = NDArray[np.int64]
Arrays = dict[str, NDArray]


class Judgement(NamedTuple):
    """What a task says of the answers of m rows."""

    reward: NDArray[np.float64]  # (m,)
    target: NDArray[np.int64]  # (m,), what would have been right
    counted: NDArray[np.bool_]  # (m,), whether the answer counted

    def said(self, which: Any) -> Arrays:
        """What `info` says of the rows that the index `which` takes."""
        return {"target": self.target[which], "target_mask": self.counted[which]}


class Task(ABC):
    """The rules of one environment, written for an array of rows.

    `glimpse_envs.env.GlimpseVectorEnv` keeps time, seeds and resets, and calls what is here. Rows
    iM ... iM + M - 1 (M = `copies`) share the hidden thing i, their group's.

    A task whose looks are places also has what looking without learning reads (the scanners of
    `agents`): `look_kind`, `tile_locations` and `max_move`, as in
    `glimpse_envs.tasks.classification.ImageClassification`.

    Attributes:
        observation_space, action_space: of a single row (Dict).
        budget: glimpses in an episode, the first included.
        glimpse_cost: paid for every glimpse after the first.
        answer_reward: earned by a right answer that counts.
    """

    observation_space: spaces.Dict
    action_space: spaces.Dict
    budget: int
    glimpse_cost: float
    answer_reward: float

    @property
    @abstractmethod
    def num_scenes(self) -> int | None:
        """How many hidden things a fixed split has; None where they are drawn for ever."""

    @abstractmethod
    def allocate(self, num_envs: int, copies: int) -> None:
        """Make room for `num_envs` rows in groups of `copies`; called once, before all else."""

    @abstractmethod
    def deal(self, groups: Rows, keys: Keys) -> None:
        """Draw the hidden things of `groups` (m,) anew from their keys, and take their rows' first
        glimpse at a uniform place drawn from the same keys."""

    @abstractmethod
    def look(self, rows: Rows, actions: Arrays, taken: NDArray[np.int64]) -> None:
        """Take the glimpse that each of `rows` (m,) asks for.

        Args:
            rows: the rows that look.
            actions: of all rows, name -> (num_envs, ...), already checked.
            taken: (num_envs,) glimpses taken so far, this one included.
        """

    @abstractmethod
    def judge(self, rows: Rows, actions: Arrays, last: NDArray[np.bool_]) -> Judgement:
        """Judge the answers of `rows` (m,); `last` (m,) is True where the episode ends with it."""

    @abstractmethod
    def observe(self, rows: Rows, remaining: NDArray[np.float32]) -> Arrays:
        """Return the observations of `rows` (m,) as new arrays, name -> (m, ...).

        Args:
            rows: the rows observed.
            remaining: (m, 1), glimpses left / budget.
        """

    @abstractmethod
    def evidence(self, rows: Rows) -> Arrays:
        """Return what `info` says at every step of where the evidence lies, name -> (m, ...)."""

    @abstractmethod
    def state_dict(self) -> dict[str, Any]:
        """Return what `deal` does not bring back of unfinished episodes."""

    @abstractmethod
    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned, after all groups were dealt from their keys."""

    @abstractmethod
    def picture(self, row: int, caption: str) -> "Picture":
        """Return what a frame shows of `row`."""
