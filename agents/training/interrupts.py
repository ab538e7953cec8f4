"""Ctrl-C and SIGTERM that wait for the present update."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(Exception):
    """A training was interrupted by the signal `number`, and is saved."""

    def __init__(self, number: int) -> None:
        super().__init__(f"interrupted by {signal.Signals(number).name}")
        self.number = number


def ignore(number: int) -> None:
    """Do nothing about the signal `number`."""


def raise_interrupted(number: int) -> None:
    """Raise `Interrupted` for the signal `number`."""
    raise Interrupted(number)


@contextmanager
def finish_on_interrupt() -> Iterator[list[int]]:
    """Yield a list that is empty until Ctrl-C or SIGTERM, and then holds the signal's number; the
    next one raises `KeyboardInterrupt`, and later ones are ignored until that has been handled."""
    pressed: list[int] = []

    def note(number: int, frame: Any) -> None:
        if pressed:
            for each in SIGNALS:
                signal.signal(each, signal.SIG_IGN)
            raise KeyboardInterrupt
        pressed.append(number)

    try:
        previous = {number: signal.signal(number, note) for number in SIGNALS}
    except ValueError:  # not in the main thread, where signals do not arrive anyway
        yield pressed
        return
    try:
        yield pressed
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
