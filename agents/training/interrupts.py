"""Ctrl-C and SIGTERM that wait for the present update."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def finish_on_interrupt() -> Iterator[list[bool]]:
    """Give a list that is empty until Ctrl-C or SIGTERM; the next one raises `KeyboardInterrupt`,
    and later ones are ignored until that has been handled."""
    pressed: list[bool] = []

    def note(number: int, frame: Any) -> None:
        if pressed:
            for each in SIGNALS:
                signal.signal(each, signal.SIG_IGN)
            raise KeyboardInterrupt
        pressed.append(True)

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
