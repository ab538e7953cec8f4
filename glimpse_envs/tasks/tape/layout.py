"""Action and observation spaces of the tape machine, and the layout of their entries."""

from dataclasses import dataclass
from functools import cached_property

from gymnasium import spaces

from glimpse_envs.core.spaces import ordered
from glimpse_envs.task import Component, ObservedPart
from glimpse_envs.tasks.encoding import box
from glimpse_envs.tasks.tape.arrays import Rules
from glimpse_envs.tasks.tape.programs import PROGRAMS, Sizes


@dataclass(frozen=True)
class TapeLayout:
    """Layout of actions and observations.

    Args:
        rules: of the machine.
        sizes: of the longest tape.
        memory_cells: cells of the memory tape; 0 without one or in the full view.
        full: whether the whole tape is observed at once.
    """

    rules: Rules
    sizes: Sizes
    memory_cells: int
    full: bool

    @cached_property
    def num_symbols(self) -> int:
        """S + 1: the symbols and the blank, which as an answer means none."""
        return self.rules.symbols + 1

    @cached_property
    def sorting(self) -> bool:
        """Whether symbols have priorities."""
        return PROGRAMS[self.rules.program] == "priority_sort"

    @cached_property
    def tapes(self) -> int:
        """Number of tapes with a head: the input, and the memory where there is one."""
        return 2 if self.memory_cells else 1

    @cached_property
    def choices(self) -> list[int]:
        """Number of moves or addresses in the look of each head."""
        if not self.rules.absolute:
            return [2 if self.rules.forward else 3, 3][: self.tapes]
        # The blank cell beyond the end of the input counts too.
        return [self.sizes.cells + 1, self.memory_cells][: self.tapes]

    @cached_property
    def address_bits(self) -> list[int]:
        """Bits of each head's address; empty where heads move."""
        return [(n - 1).bit_length() for n in self.choices] if self.rules.absolute else []

    @cached_property
    def shown_moves(self) -> tuple[int, int]:
        """Number of moves of the input and the memory head in `last_action`; 0 for heads that jump,
        whose cells are in `location`, and without a memory head."""
        if self.rules.absolute:
            return (0, 0)
        return (self.choices[0], self.choices[1] if self.memory_cells else 0)

    @cached_property
    def last_action(self) -> int:
        """Size of `last_action`: one-hot moves, symbol put out and symbol written."""
        return sum(self.shown_moves) + self.tapes * self.num_symbols

    def components(self) -> dict[str, Component]:
        """Return the components of one row's action."""
        if self.full:
            space = spaces.MultiDiscrete([self.num_symbols] * self.sizes.outputs)
            return {"answer": Component(space, effect="scored", taught=True, entropy=False)}
        symbol = spaces.Discrete(self.num_symbols)
        under_heads = tuple(
            ObservedPart("glimpse", tape * self.num_symbols, (tape + 1) * self.num_symbols)
            for tape in range(self.tapes)
        )
        answer = Component(
            symbol,
            effect="scored",
            taught=True,
            entropy=False,
            optional=True,
            repeats=under_heads,
        )
        if not self.memory_cells:
            look = Component(spaces.Discrete(self.choices[0]), effect="continuing")
            return {"look": look, "answer": answer}
        look = Component(spaces.MultiDiscrete(self.choices), effect="continuing")
        write = Component(symbol, effect="continuing", entropy=False, repeats=under_heads)
        return {"look": look, "answer": answer, "write": write}

    def observation_space(self) -> spaces.Dict:
        """Return the space of one row's observation; all entries are in [0, 1]."""
        if self.full:
            return spaces.Dict(scene=box(self.sizes.cells, self.num_symbols + self.sorting))
        glimpse = box(2, self.num_symbols) if self.memory_cells else box(self.num_symbols)
        parts = {"glimpse": glimpse}
        if self.sorting:
            parts["priority"] = box(1)
        if self.rules.absolute:
            parts["location"] = box(sum(self.address_bits))
        return ordered(parts | {"last_action": box(self.last_action), "remaining": box(1)})
