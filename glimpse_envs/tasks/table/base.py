"""Base of the table tasks: cells with addresses, one of which each look reads."""

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.arguments import check_slack
from glimpse_envs.core.arrays import Bools, Float32s, Ints
from glimpse_envs.core.fixed_splits import num_scenes_of
from glimpse_envs.core.keys import Keys
from glimpse_envs.core.memory import check_memory
from glimpse_envs.core.spaces import ordered
from glimpse_envs.task import Arrays, Component, ObservedPart, Outcome, Reading, Rows, Task, rows_of
from glimpse_envs.tasks.answering import answer_component, outcome_of_answers
from glimpse_envs.tasks.encoding import box
from glimpse_envs.tasks.table.arguments import TableArguments
from glimpse_envs.tasks.table.kernels import addresses_of, bits_of
from glimpse_envs.tasks.table.keyboard import table_keys
from glimpse_envs.tasks.table.pricing import Pricing

if TYPE_CHECKING:
    from glimpse_envs.rendering.tape_picture import TablePicture

# Pictures of larger tables show the relevant cells and those on the path.
_DRAWN_WHOLE = 64


class Table(Task):
    """Base of all tables: addresses, the head, answers and the budget.

    A table has N cells at the addresses 0 ... N - 1, one of which each look reads. The answer is
    0 (none yet) or a value, 1 ... V, which ends the episode; with `reward="final"` always a value.

    Attributes:
        cells, values: N and V.
        address_bits: b, the bits of an address.
    """

    levels: tuple[int, int]
    view_arguments: ClassVar[frozenset[str]] = Task.view_arguments | {"slack"}

    def __init__(self, arguments: TableArguments) -> None:
        self.cells, self.values = int(arguments.cells), int(arguments.values)
        self.address_bits = (self.cells - 1).bit_length()
        self.levels = (int(arguments.min_length), int(arguments.length))
        self.glimpse_cost = float(arguments.glimpse_cost)
        self._slack, self._full = float(arguments.slack), arguments.view == "full"
        self._answers_once = arguments.reward == "first"
        self._bitwise, self._split = arguments.look == "bits", arguments.split
        check_slack(self._slack, int(self._shortest(np.array([self.levels[1]]))[0]))
        (self.budget,) = self._budgets_of(np.array([self.levels[1]])).tolist()
        check_memory(8 * self.budget + self._row_bytes(), **self._sizes())
        self.components = self._make_components()
        self.observation_space = self._make_observation_space()
        if not self._full:
            shown = spaces.flatdim(self.observation_space["glimpse"])
            self.reading = Reading(values=shown, cells=1)

    @abstractmethod
    def _shortest(self, lengths: Ints) -> Ints:
        """Return the number of steps (m,) of the shortest solution for `lengths` (m,)."""

    @abstractmethod
    def _row_bytes(self) -> int:
        """Return approximately how many bytes a single row needs, without those of its path."""

    def _sizes(self) -> dict[str, int]:
        """Return the arguments, and the budget, on which `_row_bytes` depends."""
        cells, length = self.cells, self.levels[1]
        return dict(cells=cells, values=self.values, length=length, budget=self.budget)

    @abstractmethod
    def _parts(self) -> dict[str, spaces.Box]:
        """Return the spaces of an observation's parts, without `location` and `remaining`."""

    @abstractmethod
    def _whole_parts(self) -> dict[str, spaces.Box]:
        """Return the spaces of `scene` and `query` in the full view."""

    @abstractmethod
    def _draw(self, groups: Rows, keys: Keys) -> None:
        """Draw the tables of `groups` (m,), of the lengths `self._lengths`, from `keys`, and set
        `self._starts`, the addresses of their first glimpses, `self._right`, the cells or
        pairs with the right values, and `self._targets`, these values, 1 ... V; (groups,) each."""

    @abstractmethod
    def _show(self, rows: Rows) -> Arrays:
        """Return the observation's parts named in `_parts` of `rows` (m,), name -> (m, ...)."""

    @abstractmethod
    def _show_whole(self, groups: Rows) -> Arrays:
        """Return the full view of `groups` (m,), name -> (m, ...), as in `_whole_parts`."""

    @abstractmethod
    def _oracle(self) -> tuple[Ints, Bools]:
        """Return the address that the shortest solution looks at next, and whether it answers now
        instead, both (num_envs,)."""

    @abstractmethod
    def _cell_texts(self, row: int, addresses: Ints) -> list[str]:
        """Return short texts of `row`'s cells at `addresses` (m,), one per cell; "" if empty."""

    @abstractmethod
    def _query_text(self, row: int) -> str:
        """Return the query of `row` as text."""

    # --- spaces ------------------------------------------------------------------------------

    @property
    def num_scenes(self) -> int | None:
        return num_scenes_of(self._split)

    def _budgets_of(self, lengths: Ints) -> Ints:
        """Return the budgets (m,) of episodes of `lengths` (m,)."""
        if self._full:
            return np.ones(len(lengths), np.int64)
        # A product such as 1.1 * 10 must not be rounded up because of its last bit.
        return np.ceil(self._slack * self._shortest(lengths) - 1e-9).astype(np.int64)

    @property
    @abstractmethod
    def _value_at(self) -> int:
        """Index in a glimpse at which the one-hot of the value begins."""

    def _make_components(self) -> dict[str, Component]:
        # The one-hot of a value begins with its blank, which is the answer 0, "none yet".
        start = self._value_at + (not self._answers_once)
        shown = ObservedPart("glimpse", start, self._value_at + self.values + 1)
        names = tuple(map(str, range(1, self.values + 1)))
        answer = answer_component(names, self._answers_once, () if self._full else (shown,))
        if self._full:
            return {"answer": answer}
        address: spaces.Space = spaces.Discrete(self.cells)
        if self._bitwise:
            address = spaces.MultiBinary(self.address_bits)
        look = Component(address, effect="continuing", repeats=self._addresses_shown)
        return {"look": look, "answer": answer}

    @property
    def _addresses_shown(self) -> tuple[ObservedPart, ...]:
        """Parts of a glimpse that show an address in the encoding of a look."""
        return ()

    def _make_observation_space(self) -> spaces.Dict:
        if self._full:
            return ordered(self._whole_parts())
        shared = dict(location=box(self.address_bits), remaining=box(1))
        return ordered(self._parts() | shared)

    @property
    def chance(self) -> float:
        """Mean return of answering any one value as early as it can be right, if the length is
        known."""
        return self._pricing.chance

    @property
    def ceiling(self) -> float:
        """Mean return of the oracle: of the right value after the shortest solution, or with
        `reward="final"` after the whole budget; or of any value if that earns more."""
        return self._pricing.ceiling

    @property
    def _pricing(self) -> Pricing:
        return Pricing(
            self.values,
            0.0 if self._full else self.glimpse_cost,
            self.levels,
            self._mean_steps,
            self._first_answer,
            None if self._answers_once else self._budgets_of,
        )

    def _mean_steps(self, lengths: Ints) -> NDArray:
        """Return how many steps (m,) the shortest solution takes on average, for `lengths` (m,)."""
        return self._shortest(lengths)

    def _first_answer(self, lengths: Ints) -> Ints:
        """Return the first step (m,) at which tables of `lengths` (m,) may be answered."""
        return np.ones_like(lengths)

    # --- the episode -------------------------------------------------------------------------

    def allocate(self, num_envs: int, copies: int, taken: Ints) -> None:
        self._copies, self._taken = copies, taken
        groups = num_envs // copies
        self.budgets = np.full(num_envs, self.budget)
        self._lengths = np.ones(groups, np.int64)
        self._starts = np.zeros(groups, np.int64)
        self._right = np.zeros(groups, np.int64)  # index of the cell or pair with the right value
        self._targets = np.ones(groups, np.int64)
        self._heads = np.zeros(num_envs, np.int64)
        self._answers = np.zeros(num_envs, np.int64)
        self._path = np.zeros((num_envs, self.budget), np.int64)

    def deal(self, groups: Rows, keys: Keys) -> None:
        self._lengths[groups] = keys.levels[groups]
        self._draw(groups, keys)
        rows = rows_of(groups, self._copies)
        self.budgets[rows] = np.repeat(self._budgets_of(self._lengths[groups]), self._copies)
        self._heads[rows] = self._path[rows, 0] = np.repeat(self._starts[groups], self._copies)
        self._answers[rows] = 0

    def look(self, rows: Rows, actions: Arrays) -> None:
        addresses = actions["look"][rows]
        if self._bitwise:
            addresses = addresses_of(addresses)
        self._heads[rows] = self._path[rows, self._taken[rows] - 1] = addresses

    def act(self, rows: Rows, actions: Arrays, last: Bools) -> Outcome:
        answers = actions["answer"][rows] + (not self._answers_once)
        targets = self._targets[rows // self._copies]
        self._answers[rows] = answers
        return outcome_of_answers(
            answers, targets, self._answers_once, last, self._answerable(rows)
        )

    def _answerable(self, rows: Rows) -> Bools:
        """Return whether an answer of `rows` (m,) can already be right, (m,)."""
        return np.ones(len(rows), np.bool_)

    def observe(self, rows: Rows, remaining: Float32s) -> Arrays:
        if self._full:
            return self._show_whole(rows // self._copies)
        location = bits_of(self._heads[rows], self.address_bits)
        return self._show(rows) | {"location": location, "remaining": remaining}

    def info(self, rows: Rows) -> Arrays:
        lengths = self._lengths[rows // self._copies]
        return {"length": lengths, "target_cell": self._target_cells(rows)}

    def _target_cells(self, rows: Rows) -> Ints:
        """Return the addresses (m,) of the right values of `rows` (m,); -1 if in no cell."""
        return self._right[rows // self._copies]

    def keys_to_action(self) -> dict[tuple[int, ...], dict[str, Any]]:
        addresses = None if self._full or self._bitwise else self.cells
        bits = self.address_bits if self._bitwise and not self._full else None
        return table_keys(addresses, bits, self.values, int(self._answers_once))

    def oracle(self) -> Arrays:
        """Return the next actions of the shortest solution, name -> (num_envs, ...); where its
        glimpses cost more than it gains, of a blind answer."""
        answers = np.repeat(self._targets, self._copies)
        if not self._answers_once:
            answers = answers - 1
        if self._full:
            return {"answer": answers}
        looks, answering = self._oracle()
        if self._answers_once:
            answers = np.where(answering, answers, 0)
            after = np.repeat(self._pricing.guessed_after(self._lengths), self._copies)
            answers = np.where(after > 0, self._taken >= after, answers).astype(np.int64)
        if self._bitwise:
            looks = ((looks[:, None] >> np.arange(self.address_bits)) & 1).astype(np.int8)
        return {"look": looks, "answer": answers}

    # --- state and pictures ------------------------------------------------------------------

    def state_arrays(self) -> Arrays:
        return {"heads": self._heads, "answers": self._answers, "path": self._path}

    def state_bounds(self) -> dict[str, tuple[float, float]]:
        addresses = (0, (1 << self.address_bits) - 1)
        return {"heads": addresses, "path": addresses, "answers": (0, self.values)}

    def _written(self, row: int) -> frozenset[int]:
        """Return the addresses into which `row` has written."""
        return frozenset()

    def _relevant_cells(self, row: int) -> list[int]:
        """Return the addresses that a picture of a large table always shows."""
        return []

    def _cells_drawn(self, row: int) -> Ints:
        """Return the addresses (m,) drawn in `row`'s picture, m the same at every step."""
        count = 1 << self.address_bits if self._bitwise else self.cells
        if count <= _DRAWN_WHOLE:
            return np.arange(count)
        path = self._path[row, : self._taken[row]].tolist()
        first = range(min(count, self.levels[1] + 1 + self.budget))
        drawn = dict.fromkeys([*self._relevant_cells(row), *path, *first])
        return np.array(list(drawn)[: len(first)])

    def picture(self, row: int, caption: str) -> "TablePicture":
        from glimpse_envs.rendering.tape_picture import TablePicture

        rows = np.array([row])
        answer = int(self._answers[row])
        target_cell = int(self._target_cells(rows)[0])
        path = self._path[row, : 0 if self._full else self._taken[row]]
        addresses = self._cells_drawn(row)
        return TablePicture(
            cells=tuple(self._cell_texts(row, addresses)),
            addresses=tuple(addresses.tolist()),
            path=tuple(path.tolist()),
            written=self._written(row),
            query=self._query_text(row),
            caption=caption,
            answer=None if answer == 0 else str(answer),
            target=str(self._targets[row // self._copies]),
            relevant=frozenset({target_cell} - {-1}),
            whole=len(addresses) >= self.cells,
        )
