"""What a task is: something hidden, a sensor, a question and a reward, for an array of rows."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.keys import Keys

if TYPE_CHECKING:
    from glimpse_envs.rendering import AnyPicture

Rows = NDArray[np.int64]
Arrays = dict[str, NDArray]


class Judgement(NamedTuple):
    """What a task says of the answers of m rows."""

    reward: NDArray[np.float64]  # (m,)
    target: NDArray[np.int64]  # (m,) or, where the answer has parts, (m, parts): what was right
    counted: NDArray[np.bool_]  # (m,), whether the answer counted
    ended: NDArray[np.bool_] | None = None  # (m,), whether the answer ends the episode; None: never
    # (m,), whether all that was asked has been answered rightly; None: where answer == target.
    solved: NDArray[np.bool_] | None = None

    def said(self, which: Any) -> Arrays:
        """What `info` says of the rows that the index `which` takes."""
        said: Arrays = {"target": self.target[which], "target_mask": self.counted[which]}
        return said if self.solved is None else said | {"solved": self.solved[which]}


class Task(ABC):
    """The rules of one environment, written for an array of rows.

    `glimpse_envs.env.GlimpseVectorEnv` keeps time, seeds and resets, and calls what is here. Rows
    iM ... iM + M - 1 (M = `copies`) share the hidden thing i, their group's.

    A task whose looks are places also has what looking without learning reads (the scanners of
    `agents`): `look_kind`, `tile_locations` and `max_move`, as in
    `glimpse_envs.tasks.pictures.classification.ImageClassification`.

    Attributes:
        observation_space, action_space: of a single row (Dict).
        budget: glimpses in an episode, the first included; where episodes differ, the greatest.
        budgets: (num_envs,) those of the rows' present episodes, since `allocate`.
        glimpse_cost: paid for every glimpse after the first.
        answer_reward: earned by a right answer that counts; where episodes differ, (num_envs,).
        levels: the least and the greatest length that is dealt; None where nothing has a length.
        may_pass: whether the answer 0 says nothing; the target is then 1 or more.
        readable: where an action may repeat what is read: component -> the parts of the observation
            that show symbols, or an address's bits, as the component has them, each by key, start
            and stop of its flat indices, for agents with direct access.
    """

    observation_space: spaces.Dict
    action_space: spaces.Dict
    budget: int
    budgets: NDArray[np.int64]
    glimpse_cost: float
    answer_reward: float | NDArray[np.float64]
    levels: tuple[int, int] | None = None
    may_pass: bool = False
    readable: Mapping[str, tuple[tuple[str, int, int], ...]] = MappingProxyType({})

    @property
    @abstractmethod
    def num_scenes(self) -> int | None:
        """How many hidden things a fixed split has; None where they are drawn for ever."""

    @abstractmethod
    def allocate(self, num_envs: int, copies: int) -> None:
        """Make room for `num_envs` rows in groups of `copies`; called once, before all else."""

    @abstractmethod
    def deal(self, groups: Rows, keys: Keys) -> None:
        """Draw the hidden things of `groups` (m,) anew from their keys, of the keys' levels, and
        take their rows' first glimpse: at a uniform place drawn from the same keys, or where the
        task has its heads begin. Sets the rows' `budgets`."""

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
        """Judge the answers of `rows` (m,); `last` (m,) is True where the episode ends with it
        whatever it is: the budget is spent, or the agent stops."""

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
    def picture(self, row: int, caption: str) -> "AnyPicture":
        """Return what a frame shows of `row`."""
