"""What agents of the tape machine see and do: its spaces, and what stands where in them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from gymnasium import spaces

from glimpse_envs.task import Component, ObservedPart


@dataclass(frozen=True)
class TapeLayout:
    """The parts of actions and observations.

    Args:
        symbols: S.
        cells: of the longest input tape.
        outputs: the most symbols to be put out.
        memory_cells: 0 where there is no memory tape, or all is seen at once.
        absolute: whether a look is an address, or a move.
        forward: whether the input head can only stay and go right.
        sorting: whether symbols have priorities.
        full: whether all is seen at once.
    """

    symbols: int
    cells: int
    outputs: int
    memory_cells: int
    absolute: bool
    forward: bool
    sorting: bool
    full: bool

    @cached_property
    def num_symbols(self) -> int:
        """S + 1: the symbols and the blank, which as an answer says nothing."""
        return self.symbols + 1

    @cached_property
    def tapes(self) -> int:
        """How many tapes have a head: the input, and the memory where there is one."""
        return 2 if self.memory_cells else 1

    @cached_property
    def choices(self) -> list[int]:
        """How many moves or addresses the look of each head has."""
        if not self.absolute:
            return [2 if self.forward else 3, 3][: self.tapes]
        # With a blank cell beyond the end of the input.
        return [self.cells + 1, self.memory_cells][: self.tapes]

    @cached_property
    def address_bits(self) -> list[int]:
        """The bits of each head's address; none where heads move."""
        return [(n - 1).bit_length() for n in self.choices] if self.absolute else []

    @cached_property
    def shown_moves(self) -> tuple[int, int]:
        """How many moves of the input's and the memory's head `last_action` tells apart: a jump is
        seen in `location` instead."""
        if self.absolute:
            return (0, 0)
        return (self.choices[0], self.choices[1] if self.memory_cells else 0)

    @cached_property
    def last_action(self) -> int:
        """The size of `last_action`: the moves, what was put out, what was written."""
        return sum(self.shown_moves) + self.tapes * self.num_symbols

    def components(self) -> dict[str, Component]:
        """Return the parts of one row's actions."""
        if self.full:
            space = spaces.MultiDiscrete([self.num_symbols] * self.outputs)
            return {"answer": Component(space, effect="counted", taught=True, entropy=False)}
        symbol = spaces.Discrete(self.num_symbols)
        under_heads = tuple(
            ObservedPart("glimpse", tape * self.num_symbols, (tape + 1) * self.num_symbols)
            for tape in range(self.tapes)
        )
        answer = Component(
            symbol,
            effect="counted",
            taught=True,
            entropy=False,
            optional=True,
            repeats=under_heads,
        )
        if not self.memory_cells:
            look = Component(spaces.Discrete(self.choices[0]), effect="going_on")
            return {"look": look, "answer": answer}
        look = Component(spaces.MultiDiscrete(self.choices), effect="going_on")
        write = Component(symbol, effect="going_on", entropy=False, repeats=under_heads)
        return {"look": look, "answer": answer, "write": write}

    def observation_space(self) -> spaces.Dict:
        """Return the space of one row's observations, all numbers in [0, 1]."""
        if self.full:
            return spaces.Dict(scene=_box(self.cells, self.num_symbols + self.sorting))
        glimpse = _box(2, self.num_symbols) if self.memory_cells else _box(self.num_symbols)
        leaves = [("glimpse", glimpse)]
        if self.sorting:
            leaves.append(("priority", _box(1)))
        if self.absolute:
            leaves.append(("location", _box(sum(self.address_bits))))
        leaves += [("last_action", _box(self.last_action)), ("remaining", _box(1))]
        return spaces.Dict(leaves)  # pairs, because a dict would be sorted


def _box(*shape: int) -> spaces.Box:
    return spaces.Box(0.0, 1.0, shape, np.float32)
