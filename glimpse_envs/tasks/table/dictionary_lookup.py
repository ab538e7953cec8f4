"""Dictionary look-up: find the key most like a noisy query, reading one entry per step."""

import numpy as np
from gymnasium import spaces

from glimpse_envs.core.arguments import check_integers, check_numbers
from glimpse_envs.core.arrays import Bools, Ints
from glimpse_envs.core.keys import Keys
from glimpse_envs.task import Arrays, Rows
from glimpse_envs.tasks.encoding import one_hot
from glimpse_envs.tasks.table.arguments import TableArguments
from glimpse_envs.tasks.table.base import Table
from glimpse_envs.tasks.table.kernels import deal_dictionary


class DictionaryLookup(Table):
    """Answer with the value of the entry whose key is most like the query.

    ## Description

    The first n of N cells hold an entry each: a key, a vector of D numbers, uniform on the unit
    sphere, and a value, uniformly random. The query is one of the keys with noise added. The right
    value is that of the entry whose key has the greatest dot product with the query, nearly always
    the key that the noise was added to. Each look reads one entry, so all have to be read. Soft
    attention reads all of them at once, weighted by these dot products.

    ## Action Space

    A `Dict`:

    - `look`: the address of the next glimpse. `Discrete(N)`, or with `look="bits"`
      `MultiBinary(b)`, its b = ceil(log2 N) bits, least significant first.
    - `answer`, `Discrete(V + 1)`: 0 for no answer yet, or a value; with `reward="final"`
      `Discrete(V)`, only the values.

    ## Observation Space

    A `Dict` of float32:

    - `glimpse` (D + V + 1,): the key in the cell in view, in [-1, 1], then its value, one-hot. An
      empty cell shows a key of zeros and index 0 for the value.
    - `query` (D,), in [-1, 1]: of unit length.
    - `location` (b,): the bits of the address of the cell in view.
    - `remaining` (1,): glimpses left / budget.

    With `view="full"` there are only `scene` (N, D + V + 1), all cells as `glimpse` shows one, and
    `query`.

    ## Rewards

    1 for the right answer. `glimpse_cost` is subtracted for every glimpse after the first. With
    `reward="final"` only the answer of the last step is rewarded.

    ## Episode End

    The first glimpse shows a uniformly random entry. An answer ends the episode, and so does a
    spent budget, without a reward; with `reward="final"` only the budget ends it. The shortest
    solution has n steps: it reads every entry once, the first glimpse included, and answers in the
    last step. (A program that happens to read the right key earlier cannot know that no other key
    is more similar.) The budget is `slack` times n, rounded up. Episodes are never truncated.

    ## Information

    After a step:

    - `target`: the right answer.
    - `target_mask`: whether an answer was scored.
    - `success`: whether it was right.

    Always:

    - `length`: n, the number of entries.
    - `target_cell`: the address of the right entry.
    - `scene`, in a fixed split: the table's number.
    - `waiting`, with `copies` of more than 1: whether the row waits because its episode has ended
      and that of a copy has not.

    ## References

    Bahdanau et al., 2015, and Vaswani et al., 2017, for the soft look-up, of which this is the hard
    counterpart.

    ## Version History

    v0: initial version.

    Args:
        key_size: D, at least 2.
        noise: root mean square length of the noise added to a key of length 1, >= 0.
        values: V, the number of values.
        cells: N, the number of cells.
        min_length: the fewest entries.
        length: the most entries, at most `cells`.
        slack: the budget as a multiple of the shortest solution, at least 1.
        look: "discrete" or "bits".
        reward: "first": the first answer other than 0 is rewarded. "final": the last step's answer
            is rewarded, there is no answer 0, and the values are answered as 0 ... V - 1.
        view: "glimpse", or "full" for the whole dictionary in one step.
        split: "train" deals new entries without end; "validation" and "test" have 10,000 each.
        glimpse_cost: price of a glimpse, >= 0.

    Raises:
        ValueError: an argument is out of its range or does not fit the others.
    """

    how_to_play = (
        "Look at the cells one by one: each shows how much its key is like the query, from -1 to "
        "+1; answer with the value of the greatest, the number after v."
    )

    def __init__(
        self,
        *,
        key_size: int = 8,
        noise: float = 0.3,
        values: int = 10,
        cells: int = 16,
        min_length: int = 1,
        length: int = 8,
        slack: float = 2.0,
        look: str = "discrete",
        reward: str = "first",
        view: str = "glimpse",
        split: str = "train",
        glimpse_cost: float = 0.0,
    ) -> None:
        check_integers(2, key_size=key_size, cells=cells)
        check_integers(1, length=length)
        check_numbers(0, noise=noise)
        if length > cells:
            raise ValueError(
                f"length={length} must be at most cells={cells}, which hold the entries"
            )
        self.key_size, self._noise = int(key_size), float(noise)
        arguments = TableArguments(
            cells=cells, values=values, min_length=min_length, length=length, slack=slack,
            look=look, reward=reward, view=view, split=split, glimpse_cost=glimpse_cost,
        )  # fmt: skip
        super().__init__(arguments)

    @property
    def _value_at(self) -> int:
        return self.key_size

    def _shortest(self, lengths: Ints) -> Ints:
        return lengths

    def _sizes(self) -> dict[str, int]:
        return {"key_size": self.key_size, **super()._sizes()}

    def _row_bytes(self) -> int:
        entry = self.key_size + self.values + 1
        shown = 12 * entry * (self.cells if self._full else 1)
        return shown + 12 * self.key_size * self.cells + 12 * self.cells

    def _parts(self) -> dict[str, spaces.Box]:
        return dict(glimpse=self._entry_space(), query=self._query_space())

    def _whole_parts(self) -> dict[str, spaces.Box]:
        return dict(scene=self._entry_space(self.cells), query=self._query_space())

    def _entry_space(self, *shape: int) -> spaces.Box:
        low = np.zeros((*shape, self.key_size + self.values + 1), np.float32)
        low[..., : self.key_size] = -1.0
        return spaces.Box(low, np.ones_like(low), dtype=np.float32)

    def _query_space(self) -> spaces.Box:
        return spaces.Box(-1.0, 1.0, (self.key_size,), np.float32)

    def allocate(self, num_envs: int, copies: int, taken: Ints) -> None:
        super().allocate(num_envs, copies, taken)
        groups = num_envs // copies
        self._entries = np.zeros((groups, self.cells, self.key_size), np.float32)
        self._entry_values = np.zeros((groups, self.cells), np.int64)
        self._queries = np.zeros((groups, self.key_size), np.float32)

    def _draw(self, groups: Rows, keys: Keys) -> None:
        queries, right, starts = self._queries, self._right, self._starts
        tables = (self._lengths, self._entries, self._entry_values, queries, right, starts)
        deal_dictionary(groups, keys.arrays, self.values, self._noise, tables)
        self._targets[groups] = self._entry_values[groups, self._right[groups]]

    def _show(self, rows: Rows) -> Arrays:
        groups, heads = rows // self._copies, self._heads[rows]
        inside = heads < self.cells
        at = np.where(inside, heads, 0)
        keys = self._entries[groups, at] * inside[:, None]
        values = one_hot(self._entry_values[groups, at] * inside, self.values + 1)
        glimpse = np.concatenate((keys, values), axis=1)
        return {"glimpse": glimpse, "query": self._queries[groups]}

    def _show_whole(self, groups: Rows) -> Arrays:
        values = one_hot(self._entry_values[groups], self.values + 1)
        scene = np.concatenate((self._entries[groups], values), axis=-1)
        return {"scene": scene, "query": self._queries[groups]}

    def _oracle(self) -> tuple[Ints, Bools]:
        lengths = np.repeat(self._lengths, self._copies)
        return (self._heads + 1) % lengths, self._taken >= lengths

    def _cell_texts(self, row: int, addresses: Ints) -> list[str]:
        group = row // self._copies
        alike = self._entries[group] @ self._queries[group]
        values = self._entry_values[group]
        filled = [a < self.cells and values[a] > 0 for a in addresses]
        texts = zip(addresses, filled, strict=True)
        return [f"{alike[a]:+.2f} v{values[a]}" if full else "" for a, full in texts]

    def _query_text(self, row: int) -> str:
        return "the key most like the query (near +1)"
