"""Pointer chasing: follow k addresses from cell to cell, and answer with the last value."""

import numpy as np
from gymnasium import spaces

from glimpse_envs.core.arrays import Bools, Float32s, Ints, KeyArrays
from glimpse_envs.core.keys import Keys
from glimpse_envs.task import Arrays, ObservedPart, Rows
from glimpse_envs.tasks.encoding import box
from glimpse_envs.tasks.table.arguments import TableArguments
from glimpse_envs.tasks.table.base import Table
from glimpse_envs.tasks.table.kernels import bits_of, deal_chase, read_chase

_HOP_BITS = 16


class PointerChase(Table):
    """Follow k pointers from a given cell, and answer with the value in the last one.

    ## Description

    Each of N cells holds the address of a cell and a value, both uniformly random. The first
    glimpse shows the cell where the chase starts, at a uniformly random address. One hop is a look
    at the address that the cell in view holds. After k hops the value in view is the answer. The
    agent reads k + 1 of N cells. Soft attention reads all of them at every hop, and what it follows
    is a weighted average of addresses.

    Cells are drawn when they are read, so an episode over a million cells costs no more than one
    over ten.

    ## Action Space

    A `Dict`:

    - `look`: the address of the next glimpse. `MultiBinary(b)`, its b = ceil(log2 N) bits, least
      significant first (an address of N or more shows an empty cell), or with `look="discrete"`
      `Discrete(N)`.
    - `answer`, `Discrete(V + 1)`: 0 for no answer yet, or a value; with `reward="final"`
      `Discrete(V)`, only the values.

    ## Observation Space

    A `Dict` of float32 in [0, 1]:

    - `glimpse` (b + V + 1,): the bits of the address that the cell in view holds, then its value,
      one-hot, with index 0 for an empty cell.
    - `query` (16,): the bits of k, the hops of this episode, least significant first.
    - `location` (b,): the bits of the address of the cell in view.
    - `remaining` (1,): glimpses left / budget.

    No size depends on `length`, so a policy that was trained on short chains can be played on
    longer ones. With `view="full"` there are only `scene` (N, b + V + 1), all cells as `glimpse`
    shows one, and `query` (16 + b,), the bits of k and of the address where the chase starts.

    ## Rewards

    1 for the right answer. `glimpse_cost` is subtracted for every glimpse after the first. With
    `reward="final"` only the answer of the last step is rewarded.

    ## Episode End

    An answer ends the episode, and so does a spent budget, without a reward; with `reward="final"`
    only the budget ends it. The shortest solution of k hops has k + 1 steps: k looks and the
    answer. The budget is `slack` times as many, rounded up. Episodes are never truncated.

    ## Information

    After a step:

    - `target`: the right answer.
    - `target_mask`: whether an answer was scored.
    - `success`: whether it was right.

    Always:

    - `length`: k, the number of hops.
    - `target_cell`: the address of the last cell.
    - `scene`, in a fixed split: the table's number.
    - `waiting`, with `copies` of more than 1: whether the row waits because its episode has ended
      and that of a copy has not.

    ## References

    The name is that of the pointer-chasing problem in communication complexity (Papadimitriou &
    Sipser, 1984). Here the chain may run into a loop: pointers are drawn independently.

    ## Version History

    v0: initial version.

    Args:
        cells: N, the number of cells, from 2 to 2**31.
        values: V, the number of values.
        min_length: the fewest hops; with 0 hops the cell in view at the start holds the answer.
        length: the most hops, at most 65,535.
        slack: the budget as a multiple of the shortest solution, at least 1.
        look: "bits" or "discrete".
        reward: "first": the first answer other than 0 is rewarded. "final": the last step's answer
            is rewarded, there is no answer 0, and the values are answered as 0 ... V - 1.
        view: "glimpse", or "full" for the whole table in one step.
        split: "train" deals new tables without end; "validation" and "test" have 10,000 each.
        glimpse_cost: price of a glimpse, >= 0.

    Raises:
        ValueError: an argument is out of its range or does not fit the others.
    """

    how_to_play = (
        "Follow the arrow of the present cell as often as there are hops; then answer with the "
        "value there, the number after v."
    )

    def __init__(
        self,
        *,
        cells: int = 1000,
        values: int = 16,
        min_length: int = 1,
        length: int = 5,
        slack: float = 2.0,
        look: str = "bits",
        reward: str = "first",
        view: str = "glimpse",
        split: str = "train",
        glimpse_cost: float = 0.0,
    ) -> None:
        arguments = TableArguments(
            cells=cells, values=values, min_length=min_length, length=length, slack=slack,
            look=look, reward=reward, view=view, split=split, glimpse_cost=glimpse_cost,
            least_length=0,
        )  # fmt: skip
        most = (1 << _HOP_BITS) - 1
        if length > most:
            raise ValueError(f"length={length} must be at most {most:,}, in {_HOP_BITS} bits")
        super().__init__(arguments)

    @property
    def _value_at(self) -> int:
        return self.address_bits

    @property
    def _addresses_shown(self) -> tuple[ObservedPart, ...]:
        return (ObservedPart("glimpse", 0, self.address_bits),) if self._bitwise else ()

    def _shortest(self, lengths: Ints) -> Ints:
        return lengths + 1

    def _row_bytes(self) -> int:
        cell = self.address_bits + self.values + 1
        return 12 * (cell * (self.cells if self._full else 1) + _HOP_BITS)

    def _parts(self) -> dict[str, spaces.Box]:
        return dict(glimpse=box(self.address_bits + self.values + 1), query=box(_HOP_BITS))

    def _whole_parts(self) -> dict[str, spaces.Box]:
        scene = box(self.cells, self.address_bits + self.values + 1)
        return dict(scene=scene, query=box(_HOP_BITS + self.address_bits))

    def allocate(self, num_envs: int, copies: int, taken: Ints) -> None:
        super().allocate(num_envs, copies, taken)
        groups = num_envs // copies
        # Cells are drawn from these long after the deal, when the dealer's own keys have moved on.
        self._keys: KeyArrays = (
            np.zeros(groups, np.uint64),
            np.zeros(groups, np.int64),
            np.zeros(groups, np.int64),
            np.full(groups, -1, np.int64),
        )

    def _draw(self, groups: Rows, keys: Keys) -> None:
        for own, given in zip(self._keys, keys.arrays, strict=True):
            own[groups] = given[groups]
        tables = (self._lengths, self._starts, self._right, self._targets)
        sizes = (self.cells, self.values)
        deal_chase(groups, self._keys, sizes, tables)

    def _read(self, groups: Rows, addresses: Ints) -> tuple[Ints, Ints]:
        """Return the addresses and values that the cells of `groups` (m,) at `addresses` (m,) hold,
        (m,) each; zeros for an empty cell."""
        return read_chase(groups, self._keys, addresses, self.cells, self.values)

    def _contents(self, groups: Rows, addresses: Ints) -> Float32s:
        """Return glimpses (m, b + V + 1) of the cells of `groups` (m,) at `addresses` (m,)."""
        held, values = self._read(groups, addresses)
        b = self.address_bits
        contents = np.zeros((len(groups), b + self.values + 1), np.float32)
        contents[:, :b] = bits_of(held, b)
        contents[np.arange(len(groups)), b + values] = 1.0
        return contents

    def _show(self, rows: Rows) -> Arrays:
        groups = rows // self._copies
        glimpse = self._contents(groups, self._heads[rows])
        return {"glimpse": glimpse, "query": self._hops(groups)}

    def _hops(self, groups: Rows) -> Float32s:
        """Return the hops of `groups` (m,) in bits, (m, 16)."""
        return bits_of(self._lengths[groups], _HOP_BITS)

    def _show_whole(self, groups: Rows) -> Arrays:
        every = np.repeat(groups, self.cells)
        addresses = np.tile(np.arange(self.cells), len(groups))
        starts = bits_of(self._starts[groups], self.address_bits)
        query = np.concatenate([self._hops(groups), starts], axis=1)
        scene = self._contents(every, addresses).reshape(len(groups), self.cells, -1)
        return {"scene": scene, "query": query}

    def _oracle(self) -> tuple[Ints, Bools]:
        groups = np.arange(len(self._heads)) // self._copies
        held, _ = self._read(groups, self._heads)
        return held, self._taken > self._lengths[groups]

    def _relevant_cells(self, row: int) -> list[int]:
        group = np.array([row // self._copies])
        chain = [self._starts[group]]
        for _ in range(self._lengths[group[0]]):
            chain.append(self._read(group, chain[-1])[0])
        return np.concatenate(chain).tolist()

    def _cell_texts(self, row: int, addresses: Ints) -> list[str]:
        held, values = self._read(np.full(len(addresses), row // self._copies), addresses)
        return [f"->{to} v{v}" if v else "" for to, v in zip(held, values, strict=True)]

    def _query_text(self, row: int) -> str:
        group = row // self._copies
        hops = "hop" if self._lengths[group] == 1 else "hops"
        return f"{self._lengths[group]} {hops} from {self._starts[group]}"
