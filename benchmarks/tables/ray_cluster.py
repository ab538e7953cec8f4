"""Tasks run by the machines of a Ray cluster, which share the folders of runs and records."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, TypeVar

from benchmarks.processes import IDLE_SECONDS, Failure, attempt, do_nothing

Task = TypeVar("Task")
Result = TypeVar("Result")

LOCAL = "local"
"""The address of a cluster that is started on this machine, and ends with the command."""

SAVING_SECONDS = 120.0
"""For interrupted runs to save, before they are killed."""


def on_cluster(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    address: str,
    workers: int,
    gpu: float = 0.0,
    idle: Callable[[], None] = do_nothing,
) -> Generator[tuple[Task, Result | Failure], None, None]:
    """`benchmarks.processes.side_by_side` on a cluster: each task has one CPU, or a share of a GPU.

    A task whose machine dies is started again on another one, by Ray. The project, at the same
    path on every machine, is imported from this process's folders.

    Args:
        work, tasks, idle: as there.
        address: of the cluster, such as "auto" or "10.0.0.1:6379", or "local".
        workers: number of CPUs of a local cluster.
        gpu: share of a GPU for each task; 0 for a CPU.

    Raises:
        ValueError: Ray is not installed.
        ConnectionError: there is no cluster at `address`.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise ValueError("--ray needs Ray: pip install -e . --group cluster") from error
    where: dict[str, Any] = {"address": address}
    if address == LOCAL:
        where = {"address": LOCAL, "num_cpus": workers, "include_dashboard": False}
    ray.init(**where, log_to_driver=False, logging_level=logging.WARNING)
    demand = {"num_gpus": gpu, "num_cpus": 0} if gpu else {"num_cpus": 1}
    # Each task has a fresh process, as there.
    remote = ray.remote(**demand, max_calls=1)(_attempt_there)
    pending: dict[Any, Task] = {}
    try:
        for task in tasks:
            reference = remote.remote(work, task, sys.path, _environment(), os.getcwd())
            pending[reference] = task
        while pending:
            ended, _ = ray.wait(list(pending), timeout=IDLE_SECONDS)
            for reference in ended:
                task = pending.pop(reference)
                try:
                    outcome = ray.get(reference)
                except ray.exceptions.RayError as error:
                    outcome = Failure(" ".join(str(error).split())[:500])
                yield task, outcome
            idle()
    finally:
        for reference in pending:
            ray.cancel(reference)
        if pending:
            ray.wait(list(pending), num_returns=len(pending), timeout=SAVING_SECONDS)
        ray.shutdown()


def _attempt_there(
    work: Callable[[Any], Any],
    task: Any,
    path: Sequence[str],
    environment: Mapping[str, str],
    folder: str,
) -> Any:
    os.environ.update(environment)
    os.chdir(folder)
    sys.path[:] = list(dict.fromkeys([*path, *sys.path]))
    return attempt(work, task)


def _environment() -> dict[str, str]:
    """The variables that change what a run does."""
    return {name: value for name, value in os.environ.items() if name.startswith("GLIMPSE_")}
