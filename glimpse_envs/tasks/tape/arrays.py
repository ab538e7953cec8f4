"""Arrays of the tape machine: its rules as numbers, the hidden tapes and the state of each row."""

from typing import NamedTuple

import numpy as np

from glimpse_envs.core.arrays import Float32s, Ints, Records
from glimpse_envs.tasks.tape.programs import VISIT


class Rules(NamedTuple):
    """Rules that all rows share.

    Args:
        program: index into `glimpse_envs.tasks.tape.programs.PROGRAMS`.
        symbols, times: as in `glimpse_envs.tasks.tape.programs.lay`.
        length: the greatest length dealt.
        slack: the budget as a multiple of the steps of a shortest solution, or of `shared_steps`.
        absolute: whether a look is an address rather than a move.
        forward: whether the input head can only stay (0) and go right (1).
    """

    program: int
    symbols: int
    times: int
    length: int
    slack: float
    absolute: bool
    forward: bool


TAPE = np.dtype([(name, np.int64) for name in ("length", "filled", "visits", "count")])
"""Numbers of a tape: its length, the number of input cells that are not blank, of visits in a
shortest solution and of symbols to put out."""

MACHINE = np.dtype(
    [
        (name, np.int64)
        for names in ("head memory_head done wrong", "look memory_look answer write")
        for name in names.split()
    ]
)
"""State of a row: the cells under its heads, the number of right symbols put out, the wrong one put
out (0: none), and the last action (answer -1: none yet). Structured, because one array is passed to
a kernel faster than eight."""


class Tapes(NamedTuple):
    """Hidden tapes, one for each group of rows.

    Args:
        group_of: (num_envs,) int64, the group of each row.
        facts: (groups,) of `TAPE`.
        cells: (groups, cells) int64, the input tape: symbols 1 to S, 0 is blank.
        priorities: (groups, cells) float32, of the input cells, 0 where there is none.
        routes: (groups, visits, VISIT) int64, the visits of a shortest solution.
        outputs: (groups, outputs + 1) int64, the symbols to put out, then zeros.
        sources: (groups, outputs + 1) int64, the input cell of each of them, or -1.
    """

    group_of: Ints
    facts: Records
    cells: Ints
    priorities: Float32s
    routes: Ints
    outputs: Ints
    sources: Ints

    @classmethod
    def empty(cls, groups: int, copies: int, cells: int, visits: int, outputs: int) -> "Tapes":
        """Return blank tapes of these sizes, each shared by `copies` rows."""
        return cls(
            group_of=np.repeat(np.arange(groups), copies),
            facts=np.zeros(groups, TAPE),
            cells=np.zeros((groups, cells), np.int64),
            priorities=np.zeros((groups, cells), np.float32),
            routes=np.zeros((groups, visits, VISIT), np.int64),
            outputs=np.zeros((groups, outputs + 1), np.int64),
            sources=np.full((groups, outputs + 1), -1, np.int64),
        )
