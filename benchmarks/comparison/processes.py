"""Tasks run by several processes at a time; a failure does not stop the others."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from agents.training.command_line import USER_ERRORS

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Failure:
    """The reason why a task has no result."""

    reason: str


def side_by_side(
    work: Callable[[Task], Result], tasks: Sequence[Task], processes: int
) -> Iterator[tuple[Task, Result | Failure]]:
    """Yield each task with the result of `work`, in the order in which they end.

    Each task has a fresh process. Ctrl-C reaches all of them, and no further task is started. They
    end when this process ends, for whatever reason.

    Args:
        work: a function of one task; it and the tasks can be pickled.
        tasks: in the order in which to start them.
        processes: number of tasks at a time.
    """
    pool = ThreadPoolExecutor(processes)  # each thread waits for one process
    try:
        futures = {pool.submit(_in_a_process, work, task): task for task in tasks}
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _in_a_process(work: Callable[[Any], Any], task: Any) -> Any:
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work_and_send, args=(work, task, sender), daemon=True)
    process.start()
    sender.close()  # so that `receiver` ends when the process ends
    try:
        outcome = receiver.recv()
    except EOFError:
        process.join()
        outcome = Failure(f"its process ended with exit status {process.exitcode}")
    process.join()
    return outcome


def _work_and_send(work: Callable[[Any], Any], task: Any, sender: Connection) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        outcome = work(task)
    except USER_ERRORS as error:
        outcome = Failure(str(error))
    except KeyboardInterrupt:
        outcome = Failure("interrupted")
    sender.send(outcome)


def _end_with_parent() -> None:
    """End this process with its parent: two must never write one run."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
