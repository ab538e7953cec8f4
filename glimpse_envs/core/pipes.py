"""Output of commands to a reader that ends first, such as `head`."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_if_unread() -> Iterator[None]:
    """Exit without a word, as other programs do, where nobody reads the output any more."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # flushed at the exit again
        sys.exit(141)  # 128 + SIGPIPE
