"""Tasks worked at by several processes at a time, where one that fails does not stop the others."""

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
    """Why a task has no result."""

    reason: str


def side_by_side(
    work: Callable[[Task], Result], tasks: Sequence[Task], processes: int
) -> Iterator[tuple[Task, Result | Failure]]:
    """Yield each task with what `work` makes of it, as they end.

    Each has a fresh process of its own. Ctrl-C goes to all of them: those that run end as they do,
    and no further one is begun. They end when this process does, whatever ends it.

    Args:
        work: a function of a module, of one task; it and they can be pickled.
        tasks: in the order to begin them in.
        processes: how many at a time.
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
    process = context.Process(target=_work_and_tell, args=(work, task, sender), daemon=True)
    process.start()
    sender.close()  # so that the process alone holds it, and its end is seen
    try:
        outcome = receiver.recv()
    except EOFError:
        process.join()
        outcome = Failure(f"its process ended with exit status {process.exitcode}")
    process.join()
    return outcome


def _work_and_tell(work: Callable[[Any], Any], task: Any, sender: Connection) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        outcome = work(task)
    except USER_ERRORS as error:
        outcome = Failure(str(error))
    except KeyboardInterrupt:
        outcome = Failure("interrupted")
    sender.send(outcome)


def _end_with_parent() -> None:
    """End this process when its parent is gone: two must never write one run."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
