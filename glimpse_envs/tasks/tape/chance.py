"""Mean return of the best blind agent on tapes, which knows the program and the length.

It puts out a symbol at every step. Until the first mistake each is right with probability 1 / S,
and earns 1 / (symbols to put out).
"""

from glimpse_envs.tasks.tape.programs import PROGRAMS

_REPEAT_COPY, _ADDITION = PROGRAMS.index("repeat_copy"), PROGRAMS.index("addition")


def blind_return(program: int, levels: tuple[int, int], symbols: int, times: int) -> float:
    """Return the mean return, if all lengths are equally likely.

    Args:
        program: index into `PROGRAMS`.
        levels: the least and the greatest length.
        symbols: S; the base of addition.
        times: the greatest count of repeat copy.
    """
    least, greatest = levels
    total = run = 0.0
    for length in range(1, greatest + 1):
        whole = float(symbols) ** -length
        run += whole
        if length >= least:
            total += _at_length(program, length, run, whole, times)
    return total / (greatest - least + 1)


def _at_length(program: int, length: int, run: float, whole: float, times: int) -> float:
    """Return the mean return at one length.

    Args:
        program, length, times: as above.
        run: right guesses before a mistake, on average.
        whole: the probability that all are right.
    """
    if program == _ADDITION:
        # The greatest digit is only a sum without a carry, so the last digit is then 0.
        return (run + whole) / (length + 1)
    if program == _REPEAT_COPY:
        # The first repetition, once put out rightly, tells the others.
        counts = range(2, times + 1) if times > 1 else (1,)
        returns = ((run + whole * (count - 1) * length) / (count * length) for count in counts)
        return sum(returns) / len(counts)
    return run / length
