"""The checked arguments of the tape machine, and the sizes and rules that follow from them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from glimpse_envs.core.arguments import (
    check_choice,
    check_flags,
    check_integers,
    check_lengths,
    check_numbers,
    check_slack,
)
from glimpse_envs.core.arrays import Ints
from glimpse_envs.core.memory import check_memory
from glimpse_envs.sources import SPLITS
from glimpse_envs.tasks.tape.arrays import Rules
from glimpse_envs.tasks.tape.kernels import budget_of
from glimpse_envs.tasks.tape.programs import PROGRAMS, Sizes, longest, most_steps_of_sort

_TIMES = {"repeat_copy": "repeats", "duplicated_input": "duplicates"}
"""Program -> the argument that says how often."""


@dataclass(frozen=True, kw_only=True)
class TapeArguments:
    """Arguments of `glimpse_envs.tasks.tape.machine.TapeMachine`, which documents them.

    Raises:
        ValueError: an argument is out of range, or does not fit the others.
    """

    program: str
    split: str
    min_length: int
    length: int
    symbols: int
    repeats: int
    duplicates: int
    memory: bool | None
    look: str
    slack: float
    view: str

    def __post_init__(self) -> None:
        check_choice("program", self.program, PROGRAMS)
        check_choice("look", self.look, ("moves", "absolute"))
        check_choice("split", self.split, SPLITS)
        check_choice("view", self.view, ("glimpse", "full"))
        check_lengths(1, self.min_length, self.length)
        check_integers(1, symbols=self.symbols, repeats=self.repeats, duplicates=self.duplicates)
        check_numbers(1, slack=self.slack)
        if self.memory is not None:
            check_flags(memory=self.memory)
        if self.program == "repeat_copy" and self.repeats > self.symbols:
            raise ValueError(
                f"repeats={self.repeats} must be at most symbols={self.symbols}: the count is a "
                "symbol"
            )
        if self.program == "addition" and self.symbols < 2:
            raise ValueError(
                f"symbols={self.symbols} must be at least 2: it is the base of addition"
            )
        if self.program == "forward_reverse" and self.memory is False:
            raise ValueError("memory=False: forward_reverse cannot be solved without a memory tape")
        if self.program == "forward_reverse" and self.look == "absolute":
            raise ValueError(
                "look='absolute': the input head of forward_reverse can only go forward"
            )

        # Cells, priorities, routes, outputs and their sources; one-hots, and bounds of spaces.
        cells = max(2, self.rules.times) * self.length
        shown = 12 * self.symbols * (cells if self.full else 1)
        names = ("length", "symbols", *([_TIMES[self.program]] if self.program in _TIMES else []))
        check_memory(76 * cells + shown, **{name: getattr(self, name) for name in names})
        if not self.full:
            check_slack(self.slack, self.sizes.steps)
            check_memory(8 * self.memory_cells, budget=self.budget)

    @cached_property
    def rules(self) -> Rules:
        """The rules as numbers, for kernels."""
        times = _TIMES.get(self.program)
        return Rules(
            program=PROGRAMS.index(self.program),
            symbols=int(self.symbols),
            times=int(getattr(self, times)) if times else 1,
            length=int(self.length),
            slack=float(self.slack),
            absolute=self.look == "absolute",
            forward=self.program == "forward_reverse",
        )

    @cached_property
    def sizes(self) -> Sizes:
        """Sizes of the tape whose shortest solution takes the most steps."""
        rules = self.rules
        return longest(rules.program, rules.length, rules.symbols, rules.times, rules.absolute)

    @cached_property
    def shared_steps(self) -> Ints:
        """(L + 1,) the steps of the tape of a length whose shortest solution takes the most, where
        the steps of its own would tell what is hidden; else 0."""
        lengths = np.arange(self.rules.length + 1)
        if self.program != "priority_sort":
            return np.zeros_like(lengths)
        return most_steps_of_sort(lengths, self.rules.absolute)

    @property
    def full(self) -> bool:
        """Whether the whole tape is observed at once."""
        return self.view == "full"

    @property
    def budget(self) -> int:
        """Steps of the longest episode."""
        return 1 if self.full else int(budget_of(self.rules.slack, self.sizes.steps))

    @property
    def memory_cells(self) -> int:
        """Cells of the memory tape, one per step; 0 without a memory tape or in the full view."""
        with_memory = self.rules.forward if self.memory is None else self.memory
        return self.budget if with_memory and not self.full else 0
