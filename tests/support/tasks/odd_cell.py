"""A table as another package would bring it: all cells but one hold the same value."""

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.keys import Keys
from glimpse_envs.task import Arrays, Rows
from glimpse_envs.tasks.encoding import box, one_hot
from glimpse_envs.tasks.table.arguments import TableArguments
from glimpse_envs.tasks.table.base import Table


class OddCell(Table):
    """Which value is in one cell alone, of the first `length` cells? The others are empty.

    Args:
        values: V.
        cells: N.
        min_length, length: the fewest and the most cells that hold a value, at most `cells`.
        look: "discrete" or "bits".
        view: "glimpse", or "full" for the whole table in one step.
        split: "train", "validation" or "test".
    """

    def __init__(
        self,
        *,
        values: int = 4,
        cells: int = 8,
        min_length: int = 3,
        length: int = 5,
        look: str = "discrete",
        view: str = "glimpse",
        split: str = "train",
    ) -> None:
        if length > cells:
            raise ValueError(f"length={length} must be at most cells={cells}")
        arguments = TableArguments(
            cells=cells, values=values, min_length=min_length, length=length, slack=1.0, look=look,
            reward="final", view=view, split=split, glimpse_cost=0.0, least_length=3,
        )  # fmt: skip
        super().__init__(arguments)

    @property
    def _value_at(self) -> int:
        return 0

    def _shortest(self, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        return lengths

    def _row_bytes(self) -> int:
        return 8 * self.cells

    def _parts(self) -> dict[str, spaces.Box]:
        return {"glimpse": box(self.values + 1)}

    def _whole_parts(self) -> dict[str, spaces.Box]:
        return {"scene": box(self.cells, self.values + 1)}

    def allocate(self, num_envs: int, copies: int, taken: NDArray[np.int64]) -> None:
        super().allocate(num_envs, copies, taken)
        self._held = np.zeros((num_envs // copies, self.cells), np.int64)

    def _draw(self, groups: Rows, keys: Keys) -> None:
        for group in groups:
            rng, length = keys.generator(group, "odd cell"), self._lengths[group]
            usual, odd = rng.choice(self.values, size=2, replace=False) + 1
            self._right[group], self._targets[group] = rng.integers(length), odd
            self._held[group], self._held[group, :length] = 0, usual
            self._held[group, self._right[group]] = odd
            self._starts[group] = 0

    def _contents(self, groups: Rows, addresses: NDArray[np.int64]) -> NDArray[np.int64]:
        """The values (m,) in the cells of `groups` (m,) at `addresses` (m,); 0 where empty."""
        inside = addresses < self.cells  # bits may name cells that are not there
        return np.where(inside, self._held[groups, np.where(inside, addresses, 0)], 0)

    def _show(self, rows: Rows) -> Arrays:
        held = self._contents(rows // self._copies, self._heads[rows])
        return {"glimpse": one_hot(held, self.values + 1)}

    def _show_whole(self, groups: Rows) -> Arrays:
        return {"scene": one_hot(self._held[groups], self.values + 1)}

    def _oracle(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        lengths = np.repeat(self._lengths, self._copies)
        return (self._heads + 1) % lengths, self._taken >= lengths

    def _cell_texts(self, row: int, addresses: NDArray[np.int64]) -> list[str]:
        held = self._contents(np.full(len(addresses), row // self._copies), addresses)
        return [f"v{value}" if value else "" for value in held]

    def _query_text(self, row: int) -> str:
        return "the value of one cell alone"
