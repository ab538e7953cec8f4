"""Timing competitors fairly: turn by turn in one run, so that a busy machine slows them alike."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One competitor."""

    name: str
    burst: Callable[[], int]
    """Works for a moment and returns how many units of work it did."""
    threads: int = 1
    own_threads: bool = False
    """Whether it works in threads of its own as well, whose time then counts."""


def best_rates(cases: Sequence[Case], repeats: int) -> list[float]:
    """Units of work a second of each case, the best of `repeats` bursts each.

    A case of one thread is timed by the thread's CPU seconds, which is what a core of its own gives
    even where others share it (a competitor's prefetching does not stop when its turn ends); one
    with threads of its own by the process's; several threads by the clock on the wall.
    """
    for case in cases:
        case.burst()  # compiles, and fills the caches
    rates = [0.0] * len(cases)
    for _ in range(repeats):
        for i, case in enumerate(cases):
            now = time.process_time if case.own_threads else time.thread_time
            if case.threads > 1:
                now = time.perf_counter
            started = now()
            units = case.burst()
            rates[i] = max(rates[i], units / (now() - started))
    return rates
