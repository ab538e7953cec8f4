"""Programs of the tape machine: input tape, output and shortest solution of each.

Imported only by kernels and their task: this module needs Numba.
"""

from dataclasses import dataclass

import numpy as np

from glimpse_envs.core.arrays import Float32s, Ints, Words
from glimpse_envs.core.kernels import kernel
from glimpse_envs.core.randomness import below

PROGRAMS = (
    "copy",
    "reverse",
    "repeat_copy",
    "duplicated_input",
    "forward_reverse",
    "addition",
    "priority_sort",
)
_COPY, _REVERSE, _REPEAT_COPY, _DUPLICATED, _FORWARD_REVERSE, _ADDITION, _SORT = range(7)

QUESTIONS = {
    "copy": "Put out the symbols of the tape, one after the other.",
    "reverse": "Put out the symbols of the tape, the last first.",
    "repeat_copy": "The first symbol says how often: output the others so many times.",
    "duplicated_input": "Each symbol stands there several times: output each once.",
    "forward_reverse": "Put out the symbols of the tape, the last first; write them down, as the "
    "input head cannot go back.",
    "addition": "Two numbers stand there, digits in turn, lowest first: output their sum.",
    "priority_sort": "Put out the symbols of the tape, the one of the highest priority first.",
}
"""What each program asks, in words."""

# A visit: the cells of the heads, the symbol put out there (0: none), the input cell from which it
# is taken (-1: it is computed, or there is none), and the symbol written there (0: none).
INPUT, MEMORY, PUT_OUT, SOURCE, WRITTEN = range(5)
VISIT = 5

Int = int | np.int64


@dataclass(frozen=True)
class Sizes:
    """Sizes of the longest tape of a program.

    Args:
        cells: number of filled cells on the input tape.
        visits: number of visits of a shortest solution.
        outputs: number of symbols to put out.
        steps: number of steps of a shortest solution.
    """

    cells: int
    visits: int
    outputs: int
    steps: int


def longest(program: int, length: int, symbols: int, times: int, absolute: bool) -> Sizes:
    """Return the sizes of the tape of `length` whose shortest solution takes the most steps.

    Args:
        program: index into `PROGRAMS`.
        length: L, at least 1.
        symbols, times: as in `lay`.
        absolute: whether heads jump rather than move by one cell per step.
    """
    words = np.full(2 * length + 1, 2**32 - 1, np.uint32)
    if program == _SORT:  # alternating between the ends: no order takes more steps
        order = np.empty(length, np.int64)
        order[::2] = np.arange((length + 1) // 2)
        order[1::2] = length - 1 - np.arange(length // 2)
        words[length + order] = 2**32 - 1 - (np.arange(length) << 8)
    room = max(2, times) * length + 1
    tape, priorities = np.zeros(room, np.int64), np.zeros(room, np.float32)
    route = np.zeros((room, VISIT), np.int64)
    cells, visits = lay(program, length, symbols, times, words, tape, priorities, route)
    outputs = int((route[:visits, PUT_OUT] > 0).sum())
    return Sizes(int(cells), int(visits), outputs, int(steps_of(route, visits, absolute)))


def most_steps_of_sort(lengths: Ints, absolute: bool) -> Ints:
    """Return the steps (m,) of `longest` for sorts of `lengths` (m,), from 0: all cells are read
    from left to right, then put out alternating between the ends."""
    if absolute:
        return np.where(lengths == 1, 1, 2 * lengths)
    moves = np.maximum(lengths - 1, 0)
    return np.minimum(lengths, 1) + 2 * moves + lengths * moves // 2


@kernel
def words_needed(program: int, length: Int) -> Int:
    """Return how many random words the tape of `length` needs."""
    if program in (_ADDITION, _SORT):
        return 2 * length
    return length + 1 if program == _REPEAT_COPY else length


@kernel
def lay(
    program: int,
    length: Int,
    symbols: int,
    times: int,
    words: Words,
    tape: Ints,
    priorities: Float32s,
    route: Ints,
) -> tuple[Int, Int]:
    """Fill a tape and the visits of its shortest solution; return how many cells and visits.

    Args:
        program: index into `PROGRAMS`.
        length: L, at least 1.
        symbols: S; the base of addition.
        times: the greatest count of repeat copy, or how often duplicated input has each symbol.
        words: (`words_needed`,) random words; further ones are ignored.
        tape: (cells,), filled from 0 with symbols 1 to S.
        priorities: (cells,), filled where the program has them, in (0, 1].
        route: (visits, VISIT), filled in the order of time.
    """
    if program in (_COPY, _REVERSE, _DUPLICATED):
        duplicates = times if program == _DUPLICATED else 1
        return _copy(length, symbols, duplicates, program == _REVERSE, words, tape, route)
    if program == _REPEAT_COPY:
        return _repeat_copy(length, symbols, times, words, tape, route)
    if program == _FORWARD_REVERSE:
        return _forward_reverse(length, symbols, words, tape, route)
    if program == _ADDITION:
        return _addition(length, symbols, words, tape, route)
    return _priority_sort(length, symbols, words, tape, priorities, route)


@kernel
def steps_of(route: Ints, visits: Int, absolute: bool) -> Int:
    """Return how many steps lead from cell 0 of both tapes through all of `visits`."""
    steps: Int = 1
    for i in range(visits):
        steps += steps_to_visit(route, i, absolute)
    return steps


@kernel
def steps_to_visit(route: Ints, i: Int, absolute: bool) -> Int:
    """Return how many steps lead from visit i - 1, or from the start, to visit i."""
    if i == 0:
        return _distance(0, 0, route[0, INPUT], route[0, MEMORY], absolute)
    a, b = route[i - 1], route[i]
    return max(1, _distance(a[INPUT], a[MEMORY], b[INPUT], b[MEMORY], absolute))


@kernel(inline="always")
def _distance(a: int, b: int, c: int, d: int, absolute: bool) -> int:
    """Return the number of steps in which the heads get from (a, b) to (c, d)."""
    far = max(abs(a - c), abs(b - d))
    return min(far, 1) if absolute else far


@kernel(inline="always")
def _visit(
    route: Ints, i: Int, at: Int, memory: Int, put_out: Int, source: Int, write: Int
) -> None:
    route[i, INPUT], route[i, MEMORY], route[i, PUT_OUT] = at, memory, put_out
    route[i, SOURCE], route[i, WRITTEN] = source, write


@kernel
def _copy(
    length: Int, symbols: int, times: int, back: bool, words: Words, tape: Ints, route: Ints
) -> tuple[Int, Int]:
    """Each symbol stands `times` times in a row and is put out once; with `back` the last first."""
    for i in range(length):
        symbol, first = 1 + below(words[i], symbols), i * times
        for j in range(times):
            tape[first + j] = symbol
        _visit(route, length - 1 - i if back else i, first, 0, symbol, first, 0)
    return length * times, length


@kernel
def _repeat_copy(
    length: Int, symbols: int, repeats: int, words: Words, tape: Ints, route: Ints
) -> tuple[Int, Int]:
    """The count comes first, as a symbol; the rest is put out that often."""
    count = 1 if repeats == 1 else 2 + below(words[0], repeats - 1)
    tape[0] = count
    _visit(route, 0, 0, 0, 0, -1, 0)
    for i in range(length):
        tape[1 + i] = 1 + below(words[1 + i], symbols)
    for k in range(count * length):
        at = 1 + k % length
        _visit(route, 1 + k, at, 0, tape[at], at, 0)
    return 1 + length, 1 + count * length


@kernel
def _forward_reverse(
    length: Int, symbols: int, words: Words, tape: Ints, route: Ints
) -> tuple[Int, Int]:
    """All but the last symbol are written on the way; then the memory tape is read backwards."""
    end = length - 1
    for i in range(length):
        tape[i] = 1 + below(words[i], symbols)
        if i < end:
            _visit(route, i, i, i, 0, -1, tape[i])
            _visit(route, 2 * end - i, end, i, tape[i], i, 0)
    _visit(route, end, end, max(end - 1, 0), tape[end], end, 0)
    return length, 2 * end + 1


@kernel
def _addition(length: Int, base: int, words: Words, tape: Ints, route: Ints) -> tuple[Int, Int]:
    """Digit d is symbol d + 1; both numbers' lowest digits stand first, side by side."""
    carry = 0
    for i in range(length):
        one, other = below(words[2 * i], base), below(words[2 * i + 1], base)
        tape[2 * i], tape[2 * i + 1] = 1 + one, 1 + other
        total = one + other + carry
        digit, carry = (total, 0) if total < base else (total - base, 1)
        _visit(route, 2 * i, 2 * i, 0, 0, -1, 0)
        _visit(route, 2 * i + 1, 2 * i + 1, 0, 1 + digit, -1, 0)
    _visit(route, 2 * length, 2 * length, 0, 1 + carry, -1, 0)
    return 2 * length, 2 * length + 1


@kernel
def _priority_sort(
    length: Int, symbols: int, words: Words, tape: Ints, priorities: Float32s, route: Ints
) -> tuple[Int, Int]:
    """All cells are read before the first symbol is put out, because its priority must be known.
    Of equal priorities, as rare as one pair in 2**24, the left one comes first."""
    falling = np.empty(length, np.int64)
    for i in range(length):
        tape[i] = 1 + below(words[i], symbols)
        level = 1 + np.int64(words[length + i] >> np.uint32(8))
        priorities[i] = np.float32(level / 16777216.0)  # exact: 24 bits
        falling[i] = -level
    order = np.argsort(falling, kind="mergesort")
    visits = 0
    for i in range(length):
        if i < length - 1 or order[0] != i:
            _visit(route, visits, i, 0, 0, -1, 0)
            visits += 1
    for at in order:
        _visit(route, visits, at, 0, tape[at], at, 0)
        visits += 1
    return length, visits
