"""How far a run is, read from its own files."""

from __future__ import annotations

from dataclasses import dataclass

from agents.training.schedules import share_done
from benchmarks.tables.planning import Task
from benchmarks.tables.worker import LOG
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import Run


@dataclass(frozen=True)
class Progress:
    """Where a training stands, at its last line of metrics."""

    share: float
    """Of the training that is done, in [0, 1]."""
    seconds: float
    """Of the training so far."""
    error: float | None
    """Of training, a share in [0, 1]; None where the task has no success."""

    @property
    def seconds_left(self) -> float | None:
        """To the end of the budget, at the pace so far; None before the first line."""
        return self.seconds * (1 / self.share - 1) if self.share else None


def progress_of(task: Task) -> Progress:
    """How far a run is; nothing is done where it has no metrics yet."""
    try:
        lines = Run(task.folder, {}).read_metrics()
    except (RunError, OSError):
        lines = []
    if not lines:
        return Progress(0.0, 0.0, None)
    step, seconds = lines[-1]["step"], lines[-1]["seconds"]
    errors = [line["error"] for line in lines if "error" in line]
    share = share_done(task.config, step, seconds)
    return Progress(share, seconds, errors[-1] if errors else None)


def touched(task: Task) -> float:
    """When a run was last started or wrote metrics, in seconds since the epoch; 0 if never."""
    files = (task.folder / LOG, Run(task.folder, {}).metrics_path)
    return max((path.stat().st_mtime for path in files if path.exists()), default=0.0)
