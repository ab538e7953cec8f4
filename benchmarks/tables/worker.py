"""One run of a table from its start to its record, with its output in the run's folder."""

from __future__ import annotations

import os
import platform
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from agents.algorithms.algorithm import find_algorithm
from agents.scoring.run_record import make_record
from agents.scoring.run_scores import score_run
from agents.training.command_line import USER_ERRORS
from benchmarks.tables.planning import Task, record_of
from benchmarks.tables.table import ALGORITHMS
from benchmarks.whole_runs import train_to_end
from glimpse_envs.evaluation.records import write_record
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.run_lock import RunBusyError, writing
from glimpse_envs.evaluation.runs import Run

LOG = "log.txt"
"""In the run's folder."""

PATIENCE = 10.0
"""Seconds to wait for a run that another process writes, which may just be ending."""


def fill(task: Task) -> Path | None:
    """Train, score and record a run, or go on with it.

    Returns:
        the file of its record; None where another process has the run.

    Raises:
        RunError: it cannot be done, or was interrupted.
    """
    with logged_to(task.folder / LOG):
        started = datetime.now(UTC).isoformat(timespec="seconds")
        print(f"--- {task.name}: {started}, process {os.getpid()} on {platform.node()}")
        try:
            path = _fill(task)
        except RunBusyError as error:
            print(error)
            return None
        except USER_ERRORS as error:
            print(f"error: {error}")
            raise
        except Exception as error:  # whatever it is, the other runs go on
            traceback.print_exc()
            raise RunError(f"{type(error).__name__}: {error}") from error
        print(f"recorded in {path}")
        return path


def last_lines(task: Task, number: int = 10) -> list[str]:
    """Of the log of a run, no earlier than its last start."""
    path = task.folder / LOG
    if not path.exists():
        return []
    lines = path.read_text(errors="replace").splitlines()
    starts = [index for index, line in enumerate(lines) if line.startswith("--- ")]
    return lines[max([len(lines) - number, *(start + 1 for start in starts[-1:])]) :]


@contextmanager
def logged_to(path: Path) -> Iterator[None]:
    """Append what this process prints, its libraries included, to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    saved = os.dup(1), os.dup(2)
    with path.open("a", buffering=1) as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        try:
            with redirect_stdout(file), redirect_stderr(file):
                yield
        finally:
            for number, descriptor in zip((1, 2), saved, strict=True):
                os.dup2(descriptor, number)
                os.close(descriptor)


def _fill(task: Task) -> Path:
    if (found := record_of(task)) is not None:
        return found.file
    run = _trained(task)
    with writing(task.folder):
        # Another command may have scored it in between.
        if (found := record_of(task)) is not None:
            return found.file
        # The table's command trains more than this run; pages give the record itself instead.
        scores = score_run(run, episodes=task.scored)
        record = replace(make_record(run, scores, task.notes), command="")
        return write_record(record, task.records)


def _trained(task: Task) -> Run:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            algorithm = find_algorithm(task.config.algorithm, ALGORITHMS)
            return train_to_end(algorithm, task.config, task.folder)
        except RunBusyError:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)
