"""What agents of the tape machine see and do: its spaces, and what stands where in them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from gymnasium import spaces


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
    def said(self) -> int:
        """How many symbols there are with the blank, or with saying nothing."""
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
        return sum(self.shown_moves) + self.tapes * self.said

    @cached_property
    def readable(self) -> Mapping[str, tuple[tuple[str, int, int], ...]]:
        """What an action may repeat; see `glimpse_envs.task.Task`."""
        if self.full:
            return {}
        under_heads = tuple(
            ("glimpse", tape * self.said, (tape + 1) * self.said) for tape in range(self.tapes)
        )
        components = ("answer", "write") if self.memory_cells else ("answer",)
        return dict.fromkeys(components, under_heads)

    def action_space(self) -> spaces.Dict:
        """Return the space of one row's actions."""
        answer = spaces.Discrete(self.said)
        if self.full:
            return spaces.Dict(answer=spaces.MultiDiscrete([self.said] * self.outputs))
        if not self.memory_cells:
            return spaces.Dict(look=spaces.Discrete(self.choices[0]), answer=answer)
        look = spaces.MultiDiscrete(self.choices)
        return spaces.Dict(look=look, answer=answer, write=spaces.Discrete(self.said))

    def observation_space(self) -> spaces.Dict:
        """Return the space of one row's observations, all numbers in [0, 1]."""
        if self.full:
            return spaces.Dict(scene=_box(self.cells, self.said + self.sorting))
        glimpse = _box(2, self.said) if self.memory_cells else _box(self.said)
        leaves = [("glimpse", glimpse)]
        if self.sorting:
            leaves.append(("priority", _box(1)))
        if self.absolute:
            leaves.append(("location", _box(sum(self.address_bits))))
        leaves += [("last_action", _box(self.last_action)), ("remaining", _box(1))]
        return spaces.Dict(leaves)  # pairs, because a dict would be sorted


def _box(*shape: int) -> spaces.Box:
    return spaces.Box(0.0, 1.0, shape, np.float32)
