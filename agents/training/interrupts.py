"""Ctrl-C that waits for the present update."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def finish_on_interrupt() -> Iterator[list[bool]]:
    """Give a list that is empty until Ctrl-C; a second Ctrl-C interrupts as usual."""
    pressed: list[bool] = []

    def note(number: int, frame: Any) -> None:
        if pressed:
            raise KeyboardInterrupt
        pressed.append(True)

    try:
        previous = signal.signal(signal.SIGINT, note)
    except ValueError:  # not in the main thread, where signals do not arrive anyway
        yield pressed
        return
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, previous)
