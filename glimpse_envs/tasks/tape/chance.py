"""Mean return of the best blind agent on tapes, which knows the program and the length.

It puts out a symbol at every step. Until the first mistake each is right with probability 1 / S,
and earns 1 / (symbols to put out).
"""

from glimpse_envs.tasks.tape.programs import PROGRAMS

_REPEAT_COPY, _ADDITION = PROGRAMS.index("repeat_copy"), PROGRAMS.index("addition")


def blind_return(
    program: int, levels: tuple[int, int], symbols: int, times: int, at_once: bool = False
) -> float:
    """Return the mean return, if all lengths are equally likely.

    Args:
        program: index into `PROGRAMS`.
        levels: the least and the greatest length.
        symbols: S; the base of addition.
        times: the greatest count of repeat copy.
        at_once: whether the whole output is one answer, whose last right symbol counts as wrong if
            anything follows it.
    """
    least, greatest = levels
    total = run = 0.0
    for length in range(1, greatest + 1):
        whole = float(symbols) ** -length
        run += whole
        if length >= least:
            total += _at_length(program, length, run, whole, times, at_once)
    return total / (greatest - least + 1)


def _at_length(
    program: int, length: int, run: float, whole: float, times: int, at_once: bool
) -> float:
    """Return the mean return at one length.

    Args:
        program, length, times, at_once: as above.
        run: right guesses before a mistake, on average.
        whole: the probability that all are right.
    """
    if program == _ADDITION:
        # The greatest digit is only a sum without a carry, so the last digit is then 0.
        return (run + whole) / (length + 1)
    if program == _REPEAT_COPY:
        # The first repetition, once put out rightly, tells the others.
        counts = range(2, times + 1) if times > 1 else (1,)
        put_out = counts if at_once else (counts[-1],)
        return max(
            sum(_repeated(count, copies, length, run, whole, at_once) for count in counts)
            for copies in put_out
        ) / len(counts)
    return run / length


def _repeated(
    count: int, copies: int, length: int, run: float, whole: float, at_once: bool
) -> float:
    """Return the mean return of putting out `copies` repetitions where `count` are right."""
    right = run + whole * (min(count, copies) - 1) * length
    followed = at_once and copies > count
    return (right - whole * followed) / (count * length)
