"""Work for other processes, in a module that they import fast."""

import os
import sys
import time
from pathlib import Path


def double(number: int) -> int:
    """Twice the number; below 0 an error that says what is wrong, and 13 ends the process."""
    if number < 0:
        raise ValueError(f"{number} is below 0")
    if number == 13:
        os._exit(7)
    return 2 * number


def stumble(number: int) -> int:
    """Fail as a mistake in the code does."""
    raise KeyError(number)


def rest(note: Path) -> None:
    """Write down this process's number, and stay for long."""
    note.with_suffix(".tmp").write_text(str(os.getpid()))
    note.with_suffix(".tmp").rename(note)
    time.sleep(120)


if __name__ == "__main__":
    from benchmarks.processes import side_by_side

    list(side_by_side(rest, [Path(sys.argv[1])], processes=1))
