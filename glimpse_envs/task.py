"""The task contract: hidden things, looks, actions and outcomes, for an array of rows."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.arguments import check_choice, keyword_parameters
from glimpse_envs.core.arrays import Bools, Float32s, Floats, Ints
from glimpse_envs.core.keys import Keys
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.core.spaces import ordered

if TYPE_CHECKING:
    from glimpse_envs.rendering import AnyPicture

Rows = Ints
Arrays = dict[str, NDArray]

COMPONENTS = ("look", "answer", "write", "act", "stop")
"""The parts of an action. A task's space has those that it needs, in this order."""

Effect = Literal["always", "continuing", "scored", "stoppable"]
"""When a choice has an effect: at every step; where the episode goes on after it, so that the look
is taken; where the answer is scored (`target_mask`); or until the budget is spent."""


class ObservedPart(NamedTuple):
    """Entries start to stop of one part of an observation, flattened."""

    key: str
    start: int
    stop: int


@dataclass(frozen=True)
class Component:
    """One part of the action.

    Args:
        space: of a single row.
        effect: when a choice has one.
        taught: whether it may be learned from `info["target"]`, and not by reward alone.
        entropy: whether learners that pay a bonus for entropy pay it for this component.
        optional: whether 0 means no choice; whether to answer is then always learned by reward.
        repeats: parts of the observation that show symbols, or an address's bits, as the component
            has them, for agents with direct access.
        names: of its choices, for display; empty where their numbers say enough.
        ending: of a taught choice between two, the one that ends the episode, if only this one is
            rewarded when it is right; None where every right choice is rewarded.
        classes: number of its first choices that name what is looked at, where the others are
            further words of a sentence; 0 where there are none.
        every: the number of steps from one scored answer to the next, where answers are scored at
            fixed steps; 0 where only the last step's is scored, or the agent says when.
    """

    space: spaces.Space
    effect: Effect = "always"
    taught: bool = False
    entropy: bool = True
    optional: bool = False
    repeats: tuple[ObservedPart, ...] = ()
    names: tuple[str, ...] = ()
    ending: int | None = None
    classes: int = 0
    every: int = 0

    def __post_init__(self) -> None:
        """Raise a ValueError unless `effect` is one of `Effect`."""
        check_choice("effect", self.effect, get_args(Effect))


class Outcome(NamedTuple):
    """Outcome of the actions of m rows."""

    reward: Floats  # (m,) before the price of glimpses is subtracted
    # (m,) whether all that was asked is done by now; None where the task does not define success.
    success: Bools | None = None
    # (m,) or (m, parts): the right answer, where something was asked; else None.
    target: Ints | None = None
    target_mask: Bools | None = None  # (m,) whether the answer was scored
    terminated: Bools | None = None  # (m,) whether the task is over; None: nowhere
    truncated: Bools | None = None  # (m,) whether time is over; None: nowhere

    def as_info(self, which: Any = None) -> Arrays:
        """Return the entries of `info`, of the rows that the index `which` selects; None: all."""
        info = {"target": self.target, "target_mask": self.target_mask, "success": self.success}
        if which is None:
            return {name: value for name, value in info.items() if value is not None}
        return {name: value[which] for name, value in info.items() if value is not None}


def rows_of(groups: Rows, copies: int) -> Rows:
    """Return the rows (m copies,) of `groups` (m,)."""
    if copies == 1:
        return groups
    return (groups[:, None] * copies + np.arange(copies)).ravel()


@dataclass(frozen=True)
class Reading:
    """Cost of reading one look.

    Args:
        values: numbers delivered to the agent.
        multiply_adds: operations spent on reading them.
        cells: cells of a tape or a table, or statements, that are read; 0 where pixels are read.
        context: numbers of a coarse view of the whole scene, delivered once, with the first look.
        context_multiply_adds: operations spent on reading it.
    """

    values: int
    multiply_adds: int = 0
    cells: int = 0
    context: int = 0
    context_multiply_adds: int = 0


class Task(ABC):
    """The rules of one environment, written for an array of rows.

    `glimpse_envs.env.GlimpseVectorEnv` handles time, seeds and resets, and calls the methods below.
    Tools make tasks with `split="train"`, "validation" or "test", so `__init__` must take `split`.
    Rows iM ... iM + M - 1 (M = `copies`) are group i and share its hidden thing.

    Attributes:
        components: the parts of the action, in the order of `COMPONENTS`.
        observation_space: of a single row (Dict).
        budget: glimpses in an episode, the first included; where episodes differ, the greatest.
        budgets: (num_envs,) budgets of the rows' present episodes. A task sets them, in `allocate`
            where all are equal, else in `deal`.
        fixed_steps: whether every episode takes exactly `budget` steps.
        budget_is_seen: whether the agent can see how much of its budget is left: a spent budget
            then terminates, else it truncates.
        glimpse_cost: paid for every glimpse after the first.
        answer_reward: earned by a right answer that is scored; where episodes differ, (num_envs,).
        levels: the least and the greatest length that is dealt; None where nothing has a length.
            Evaluation chooses a length by the arguments `min_length` and `length`.
        scores_mix_levels: whether a policy is scored on all lengths together (always so where a
            task has no such arguments), or else on the greatest alone, and on longer ones.
        question: what is asked, in words; "" where the task's description says all.
        how_to_play: what a person does to answer it, in words; "" where that is plain.
        picture_view: geometry of the picture; None where none is hidden, or all is seen.
        reading: cost of reading a look; None where all is seen at once, or unknown.
        view_arguments: names of arguments that change how the hidden thing is seen and what that
            costs, but neither what it is nor what is asked: models that differ in them may be
            compared.
        glimpse_arguments: those of them that `view="full"` refuses.
    """

    components: Mapping[str, Component]
    observation_space: spaces.Dict
    budget: int
    budgets: Ints
    fixed_steps: bool = False
    budget_is_seen: bool = True
    glimpse_cost: float = 0.0
    answer_reward: float | Floats = 1.0
    levels: tuple[int, int] | None = None
    scores_mix_levels: bool = False
    question: str = ""
    how_to_play: str = ""
    picture_view: PictureView | None = None
    reading: Reading | None = None
    view_arguments: ClassVar[frozenset[str]] = frozenset({"view", "look", "glimpse_cost"})
    glimpse_arguments: ClassVar[frozenset[str]] = frozenset({"glimpse_cost"})

    @classmethod
    def parts(cls, arguments: Mapping[str, Any]) -> tuple[type, ...]:
        """Return the classes that `arguments` name, such as a scene and a sensor. The task takes
        their arguments too, which are documented in their own docstrings."""
        return ()

    @classmethod
    def parameters(cls, arguments: Mapping[str, Any]) -> dict[str, inspect.Parameter]:
        """Return the parameters, name -> parameter, of the task that `arguments` ask for: its own,
        and those of its parts.

        Raises:
            ValueError: a part has an unknown name.
        """
        found = keyword_parameters(cls)
        for part in cls.parts(arguments):
            theirs = keyword_parameters(part).items()
            found |= {name: one for name, one in theirs if name not in found}
        return found

    @classmethod
    def in_full_view(cls, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return `arguments` with view="full", less those that only glimpses take."""
        kept = {
            name: value for name, value in arguments.items() if name not in cls.glimpse_arguments
        }
        return {**kept, "view": "full"}

    @classmethod
    def hint_of(cls, argument: str, arguments: Mapping[str, Any]) -> str:
        """Return a hint that names the part which has an `argument` that the part chosen by
        `arguments` lacks; "" where none has it."""
        return ""

    @property
    def action_space(self) -> spaces.Dict:
        """Space of a single row's action (Dict)."""
        return ordered({name: component.space for name, component in self.components.items()})

    @property
    @abstractmethod
    def chance(self) -> float:
        """Mean return of the best blind policy."""

    @property
    @abstractmethod
    def ceiling(self) -> float:
        """Best mean return, or an upper bound where it is not known."""

    @property
    @abstractmethod
    def num_scenes(self) -> int | None:
        """Number of hidden things in a fixed split, "validation" and "test"; None in "train", where
        new ones are drawn for ever."""

    @abstractmethod
    def allocate(self, num_envs: int, copies: int, taken: Ints) -> None:
        """Allocate arrays for `num_envs` rows in groups of `copies`; called once, before all else.

        Args:
            num_envs: rows.
            copies: rows in a group.
            taken: (num_envs,), how many glimpses each row has taken in its episode. The environment
                keeps it; the task reads it.
        """

    @abstractmethod
    def deal(self, groups: Rows, keys: Keys) -> None:
        """Draw the hidden things of `groups` (m,) anew from their keys, at the keys' levels, and
        take the first glimpse of their rows: at a uniform place drawn from the same keys, or where
        the task's heads begin. Set the rows' `budgets` where episodes differ in them. Do not
        read `taken`."""

    @abstractmethod
    def act(self, rows: Rows, actions: Arrays, last: Bools) -> Outcome:
        """Carry out the actions of `rows` (m,), except their looks.

        Args:
            rows: the rows that act.
            actions: of all rows, name -> (num_envs, ...), already checked.
            last: (m,), where the episode ends after this action, whatever it is: the budget is
                spent, or the agent stops.
        """

    @abstractmethod
    def look(self, rows: Rows, actions: Arrays) -> None:
        """Take the glimpses chosen in `actions`, name -> (num_envs, ...), of `rows` (m,), whose
        episodes go on; `taken` includes them already."""

    @abstractmethod
    def observe(self, rows: Rows, remaining: Float32s) -> Arrays:
        """Return the observations of `rows` (m,) as new arrays, name -> (m, ...).

        Args:
            rows: the rows observed, in rising order.
            remaining: (m, 1), glimpses left / budget.
        """

    @abstractmethod
    def info(self, rows: Rows) -> Arrays:
        """Return `info` of every step and reset, name -> (m, ...): target place, length. The
        environment adds `scene`, the scenes' numbers in a fixed split, a name that is its own."""

    @abstractmethod
    def oracle(self) -> Arrays:
        """Return the next action of every row, name -> (num_envs, ...). Rows that have followed the
        oracle so far, and go on to do so, collect the ceiling."""

    def keys_to_action(self) -> dict[tuple[int, ...], dict[str, Any]]:
        """Return the action of a single row for each set of key codes held together; see
        `glimpse_envs.episodes.keyboard`.

        Raises:
            ValueError: there are no keys for these actions.
        """
        raise ValueError("there are no keys for these actions: give play its keys_to_action")

    @abstractmethod
    def state_arrays(self) -> Arrays:
        """Return the arrays of unfinished episodes that `deal` does not restore; the task changes
        them in place."""

    def identity(self) -> Mapping[str, int | float | str]:
        """Return what the task depends on besides its arguments, such as a fingerprint of files,
        name -> value. A state is loaded only where this is the same."""
        return {}

    def state_bounds(self) -> Mapping[str, tuple[float, float]]:
        """Return the least and the greatest value of each of `state_arrays`, name -> (least,
        greatest). A saved state beyond them is refused. Needed for every array used as an index."""
        return {}

    def state_dict(self) -> Arrays:
        """Return copies of `state_arrays`."""
        return {name: array.copy() for name, array in self.state_arrays().items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore what `state_dict` returned, after all groups were dealt from their keys."""
        for name, array in self.state_arrays().items():
            array[:] = state[name]

    @abstractmethod
    def picture(self, row: int, caption: str) -> "AnyPicture":
        """Return the picture of `row` for a frame, `caption` included."""
