"""Output of commands to a reader that ends first, such as `head`."""

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_if_unread() -> Iterator[None]:
    """Exit without a word, as other programs do, where nobody reads the output any more. Other
    pipes that break, such as those to processes of a command, stay errors.

    Raises:
        SystemExit: with status 141, which stands for SIGPIPE.
    """
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
