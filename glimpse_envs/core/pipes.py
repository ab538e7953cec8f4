"""Output of commands whose reader ends first, such as `head`, that have no output at all, or whose
terminal does not know some letters."""

import io
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO


def is_terminal(stream: TextIO | None) -> bool:
    """Whether `stream` is a terminal; None, a closed one, is not."""
    return stream is not None and stream.isatty()


@contextmanager
def output_of_command() -> Iterator[None]:
    """Run a command whose output may be closed, which loses it, or cannot show each letter, which
    escapes those letters. Exit without a word, as other programs do, where nobody reads the output
    any more. Other pipes that break, such as those to processes of a command, stay errors.

    Raises:
        SystemExit: with status 141, which stands for SIGPIPE.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed when the process began
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        if not _is_unread():
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # flushed at the exit again
        sys.exit(141)  # 128 + SIGPIPE


def _is_unread() -> bool:
    """Whether the reading end of the standard output is closed."""
    poll = select.poll()
    poll.register(sys.stdout, 0)  # errors are always told
    return bool(poll.poll(0))
