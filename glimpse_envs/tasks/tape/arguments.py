"""Which arguments of the tape machine fit each other."""

import numpy as np

from glimpse_envs.core.arguments import check_choice, check_flags, check_integers, is_number
from glimpse_envs.sources import SPLITS
from glimpse_envs.tasks.tape.programs import PROGRAMS


def check_tape_arguments(
    *,
    program: str,
    split: str,
    min_length: int,
    length: int,
    symbols: int,
    repeats: int,
    duplicates: int,
    memory: bool | None,
    look: str,
    slack: float,
    view: str,
) -> None:
    """Check the arguments of `glimpse_envs.tasks.tape.machine.TapeMachine`.

    Raises:
        ValueError: an argument is not one of those, or does not fit the others.
    """
    check_choice("program", program, PROGRAMS)
    check_choice("split", split, SPLITS)
    check_choice("look", look, ("moves", "absolute"))
    check_choice("view", view, ("glimpse", "full"))
    check_integers(1, min_length=min_length, length=length, symbols=symbols)
    check_integers(1, repeats=repeats, duplicates=duplicates)
    if memory is not None:
        check_flags(memory=memory)
    if min_length > length:
        raise ValueError(f"min_length={min_length} must be at most length={length}")
    if program == "repeat_copy" and repeats > symbols:
        raise ValueError(
            f"repeats={repeats} must be at most symbols={symbols}: the count is a symbol"
        )
    if program == "addition" and symbols < 2:
        raise ValueError(f"symbols={symbols} must be at least 2: it is the base of addition")
    if program == "forward_reverse":
        _check_forward(memory, look)
    if not is_number(slack) or not 1.0 <= slack < np.inf:
        raise ValueError(f"slack={slack!r} must be a number of at least 1")


def _check_forward(memory: bool | None, look: str) -> None:
    if memory is False:
        raise ValueError("memory=False: forward_reverse cannot be solved without a memory tape")
    if look == "absolute":
        raise ValueError("look='absolute': the input head of forward_reverse can only go forward")
