"""Associative recall: store key-value pairs in chosen cells, then look up the value of a key."""

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.arguments import check_integers
from glimpse_envs.core.arrays import Bools, Ints
from glimpse_envs.core.keys import Keys
from glimpse_envs.task import Arrays, Rows, rows_of
from glimpse_envs.tasks.encoding import box, one_hot
from glimpse_envs.tasks.table.arguments import TableArguments
from glimpse_envs.tasks.table.base import Table
from glimpse_envs.tasks.table.kernels import deal_pairs, show_recall


class AssociativeRecall(Table):
    """Store pairs of keys and values in cells of your choice; then find the value of one key.

    ## Description

    n pairs of a key and a value, whose keys differ, are shown one at a time. While a pair is shown,
    a look stores it: the head moves to the cell, and the pair overwrites what the cell held. After
    the last pair one of the keys is asked for, uniformly at random. From then on looks only read,
    and the agent answers with the value that was shown with that key. There are fewer cells than
    possible keys, so a key's own number cannot serve as its address.

    ## Action Space

    A `Dict`:

    - `look`: the address of the next glimpse and, while a pair is shown, of the cell in which it is
      stored. `Discrete(N)`, or with `look="bits"` `MultiBinary(b)`, its b = ceil(log2 N) bits,
      least significant first (at an address of N or more the cell is always empty, and a pair
      stored there is lost).
    - `answer`, `Discrete(V + 1)`: 0 for no answer yet, or a value; with `reward="final"`
      `Discrete(V)`, only the values.

    ## Observation Space

    A `Dict` of float32 in [0, 1]:

    - `glimpse` (K + 1 + V + 1,): the key and the value of the cell in view, one-hot, each with
      index 0 if the cell is empty.
    - `shown` (K + 1 + V + 1,): the pair that the next look stores; blank (index 0) after the last.
    - `query` (K + 1,): the key that is asked for; blank until then.
    - `location` (b,): the bits of the address of the cell in view.
    - `remaining` (1,): glimpses left / budget.

    With `view="full"` there are only `scene` (L, K + 1 + V + 1), the pairs in the order in which
    they are shown, blank after the n-th, where L is the greatest `length`; and `query` (K + 1,).

    ## Rewards

    1 for the right answer. An answer before the key is asked for is wrong. `glimpse_cost` is
    subtracted for every glimpse after the first. With `reward="final"` only the answer of the last
    step is rewarded.

    ## Episode End

    The first glimpse shows the cell at address 0, which is empty. An answer ends the episode, and
    so does a spent budget, without a reward; with `reward="final"` only the budget ends it. The
    shortest solution has n + 2 steps: it stores n pairs, reads one cell and answers (one step less
    if the last pair is asked for, which is in view). The budget is `slack` times n + 2, rounded up;
    with `slack=2` every stored pair can be read again. Episodes are never truncated.

    ## Information

    After a step:

    - `target`: the right answer.
    - `target_mask`: whether an answer was scored; never before the key is asked for.
    - `success`: whether it was right.

    Always:

    - `length`: n, the number of pairs.
    - `target_cell`: the address at which the pair is stored that is, or will be, asked for; -1 if
      it is not stored yet, or lost. With `view="full"` its row in `scene`.
    - `scene`, in a fixed split: the table's number.
    - `waiting`, with `copies` of more than 1: whether the row waits because its episode has ended
      and that of a copy has not.

    ## References

    Graves et al., Neural Turing Machines, 2014, section 4.3. There the items are sequences of bit
    vectors, and the item that followed another is asked for. Here, as in later key-value tasks, the
    value of a key is asked for, and the agent chooses the cells itself.

    ## Version History

    v0: initial version.

    Args:
        keys: K, the possible keys; more than `cells`.
        values: V, the number of values.
        cells: N, the number of cells.
        min_length: the fewest pairs.
        length: the most pairs, at most `cells`.
        slack: the budget as a multiple of the shortest solution, at least 1.
        look: "discrete" or "bits".
        reward: "first": the first answer other than 0 is rewarded. "final": the last step's answer
            is rewarded, there is no answer 0, and the values are answered as 0 ... V - 1.
        view: "glimpse", or "full" for all pairs in one step.
        split: "train" deals new pairs without end; "validation" and "test" have 10,000 each.
        glimpse_cost: price of a glimpse, >= 0.

    Raises:
        ValueError: an argument is out of its range or does not fit the others.
    """

    how_to_play = (
        "Look at a cell to store the pair that is shown above; once a key is asked for, look where "
        "its pair lies, and answer with the value, the number after v."
    )

    def __init__(
        self,
        *,
        keys: int = 20,
        values: int = 10,
        cells: int = 8,
        min_length: int = 1,
        length: int = 6,
        slack: float = 2.0,
        look: str = "discrete",
        reward: str = "first",
        view: str = "glimpse",
        split: str = "train",
        glimpse_cost: float = 0.0,
    ) -> None:
        check_integers(2, keys=keys, cells=cells)
        check_integers(1, length=length)
        if keys <= cells:
            raise ValueError(
                f"keys={keys} must be more than cells={cells}: else each key has a cell of its own"
            )
        if length > cells:
            raise ValueError(f"length={length} must be at most cells={cells}, which hold the pairs")
        self.keys = int(keys)
        arguments = TableArguments(
            cells=cells, values=values, min_length=min_length, length=length, slack=slack,
            look=look, reward=reward, view=view, split=split, glimpse_cost=glimpse_cost,
        )  # fmt: skip
        super().__init__(arguments)

    @property
    def _value_at(self) -> int:
        return self.keys + 1

    def _first_answer(self, lengths: Ints) -> Ints:
        return lengths + 1

    def _shortest(self, lengths: Ints) -> Ints:
        return lengths + 2

    def _mean_steps(self, lengths: Ints) -> NDArray:
        return lengths + 2 - 1 / lengths  # the last pair stored is in view

    @property
    def _pair_size(self) -> int:
        return self.keys + 1 + self.values + 1

    def _sizes(self) -> dict[str, int]:
        return {"keys": self.keys, **super()._sizes()}

    def _row_bytes(self) -> int:
        shown = 12 * self._pair_size * (self.levels[1] if self._full else 3)
        return shown + 8 * self.keys + 8 * self.cells + 16 * self.levels[1]

    def _parts(self) -> dict[str, spaces.Box]:
        pair = self._pair_size
        return dict(glimpse=box(pair), shown=box(pair), query=box(self.keys + 1))

    def _whole_parts(self) -> dict[str, spaces.Box]:
        return dict(scene=box(self.levels[1], self._pair_size), query=box(self.keys + 1))

    def allocate(self, num_envs: int, copies: int, taken: Ints) -> None:
        super().allocate(num_envs, copies, taken)
        self._pairs = np.zeros((num_envs // copies, self.levels[1], 2), np.int64)
        self._memory = np.full((num_envs, self.cells), -1)  # the pair in each cell; -1: none

    def _draw(self, groups: Rows, keys: Keys) -> None:
        tables = (self._lengths, self._pairs, self._right)
        deal_pairs(groups, keys.arrays, (self.keys, self.values), tables)
        self._targets[groups] = self._pairs[groups, self._right[groups], 1]
        self._memory[rows_of(groups, self._copies)] = -1

    def look(self, rows: Rows, actions: Arrays) -> None:
        stored = self._taken[rows] - 2  # the pair that was shown before this look
        super().look(rows, actions)
        heads = self._heads[rows]
        storing = (stored < self._lengths[rows // self._copies]) & (heads < self.cells)
        self._memory[rows[storing], heads[storing]] = stored[storing]

    def _answerable(self, rows: Rows) -> Bools:
        if self._full:
            return super()._answerable(rows)
        return self._taken[rows] > self._lengths[rows // self._copies]

    def _show(self, rows: Rows) -> Arrays:
        glimpse, shown, query = show_recall(
            rows,
            self._copies,
            self._heads,
            self._taken,
            self._lengths,
            self._pairs,
            self._right,
            self._memory,
            (self.keys, self.values),
        )
        return {"glimpse": glimpse, "shown": shown, "query": query}

    def _show_whole(self, groups: Rows) -> Arrays:
        pairs = self._pairs[groups]  # (m, L, 2)
        keys, values = (
            one_hot(pairs[..., 0], self.keys + 1),
            one_hot(pairs[..., 1], self.values + 1),
        )
        asked = pairs[np.arange(len(groups)), self._right[groups], 0]
        return {
            "scene": np.concatenate((keys, values), axis=-1),
            "query": one_hot(asked, self.keys + 1),
        }

    def _target_cells(self, rows: Rows) -> Ints:
        asked = super()._target_cells(rows)
        if self._full:
            return asked
        holds = self._memory[rows] == asked[:, None]  # (m, N), at most one per row
        return np.where(holds.any(axis=1), holds.argmax(axis=1), -1)

    def _oracle(self) -> tuple[Ints, Bools]:
        rows = np.arange(len(self._heads))
        asked, found = self._answerable(rows), self._target_cells(rows)
        # The i-th pair goes into cell i.
        return np.where(asked, found, self._taken - 1), asked & (self._heads == found)

    def state_arrays(self) -> Arrays:
        return super().state_arrays() | {"memory": self._memory}

    def state_bounds(self) -> dict[str, tuple[float, float]]:
        return super().state_bounds() | {"memory": (-1, self.levels[1] - 1)}

    def _written(self, row: int) -> frozenset[int]:
        return frozenset(np.flatnonzero(self._memory[row] >= 0).tolist())

    def _cells_drawn(self, row: int) -> Ints:
        return np.arange(self.levels[1]) if self._full else super()._cells_drawn(row)

    def _cell_texts(self, row: int, addresses: Ints) -> list[str]:
        pairs = self._pairs[row // self._copies]
        memory = np.full(1 << self.address_bits, -1)
        memory[: self.cells] = self._memory[row]
        held = np.arange(len(pairs)) if self._full else memory[addresses]
        texts = [f"k{key}:v{value}" if key else "" for key, value in pairs]
        return ["" if pair < 0 else texts[pair] for pair in held]

    def _query_text(self, row: int) -> str:
        pairs, stored = self._pairs[row // self._copies], self._taken[row] - 1
        if self._answerable(np.array([row]))[0]:
            return f"the value of k{pairs[self._right[row // self._copies], 0]}"
        return "to store: k{}:v{}".format(*pairs[stored])
