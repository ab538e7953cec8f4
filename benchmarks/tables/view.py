"""The progress of all runs: redrawn in place on a terminal, else a line now and then."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Mapping, Sequence

from benchmarks.tables.planning import Task
from benchmarks.tables.progress import progress_of, touched

FIRST_SECONDS = 20.0
PLAIN_SECONDS = 300.0
"""From one report to the next where there is no terminal, at most: the first ones come sooner."""


class View:
    """What is shown while runs are trained.

    Args:
        tasks: all that lack a record.
        hours: name of a task -> its estimated core-hours, where anything tells.
        recorded: number of runs that had a record before.
    """

    def __init__(
        self, tasks: Sequence[Task], hours: Mapping[str, float | None], recorded: int
    ) -> None:
        self.tasks, self.hours, self.recorded = tasks, hours, recorded
        self.ended: dict[str, str] = {}  # name of a task -> recorded, failed or elsewhere
        self.in_place = sys.stdout.isatty()
        self.began, self.next = time.time(), time.monotonic()
        self.height = 0  # lines of the present drawing

    def end(self, task: Task, state: str, text: str) -> None:
        """Note how a task ended, and print a line about it."""
        self.ended[task.name] = state
        self._erase()
        print(text, flush=True)
        self.show()

    def finish(self) -> None:
        """Draw for the last time."""
        self.next = 0.0
        self.show()

    def show(self) -> None:
        """Draw, if it is time."""
        if time.monotonic() < self.next and not self.in_place:
            return
        ago = max(0.0, time.time() - self.began)
        self.next = time.monotonic() + min(PLAIN_SECONDS, ago + FIRST_SECONDS)
        lines = self.lines()
        self._erase()
        if self.in_place:
            width, most = shutil.get_terminal_size()
            lines = [line[: width - 1] for line in lines[: most - 1]]
            self.height = len(lines)
        print("\n".join(lines), flush=True)

    def lines(self) -> list[str]:
        """One line in all, and one for each run that is being trained."""
        open_tasks = [task for task in self.tasks if task.name not in self.ended]
        running = [task for task in open_tasks if touched(task) > self.began]
        left = sum(self.hours.get(task.name) or 0.0 for task in open_tasks if task not in running)
        lines = []
        for task in running:
            now = progress_of(task)
            estimate = self.hours.get(task.name)
            seconds = now.seconds_left
            if seconds is None and estimate is not None:
                seconds = 3600 * estimate
            left += (seconds or 0.0) / 3600
            error = "" if now.error is None else f"error {100 * now.error:.2f} %"
            ends = "" if seconds is None else f"{duration(seconds)} left"
            doing = "scoring" if now.share >= 1 else f"{100 * now.share:.0f} %"
            lines.append(f"  {task.name:<36} {doing:>7}  {error:<13}  {ends}")
        states = list(self.ended.values())
        parts = [
            f"{self.recorded + states.count('recorded')} recorded",
            f"{len(running)} running",
            f"{len(open_tasks) - len(running)} waiting",
        ]
        for state in ("failed", "elsewhere"):
            if state in states:
                parts.append(f"{states.count(state)} {state}")
        return [f"{', '.join(parts)}; about {left:.1f} core-hours left", *lines]

    def _erase(self) -> None:
        if self.height:
            print(f"\x1b[{self.height}F\x1b[J", end="")
        self.height = 0


def duration(seconds: float) -> str:
    """For people: 40 s, 12 min, 3.5 h."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"
