"""Tasks run by several processes at a time; a failure does not stop the others."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, TypeVar

from agents.training.command_line import USER_ERRORS

Task = TypeVar("Task")
Result = TypeVar("Result")

IDLE_SECONDS = 1.0
"""From one call of `idle` to the next, at most."""


@dataclass(frozen=True)
class Failure:
    """The reason why a task has no result."""

    reason: str


def do_nothing() -> None:
    """The default of `idle`."""


def side_by_side(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    processes: int,
    idle: Callable[[], None] = do_nothing,
) -> Generator[tuple[Task, Result | Failure], None, None]:
    """Yield each task with the result of `work`, in the order in which they end.

    Each task has a fresh process in a process group of its own. When the iterator is closed, or
    Ctrl-C is pressed, all running processes are interrupted and awaited, and no further task is
    started. They end when this process ends, for whatever reason.

    Args:
        work: a function of one task; it and the tasks can be pickled.
        tasks: in the order in which to start them.
        processes: number of tasks at a time.
        idle: called about every second.
    """
    waiting = deque(tasks)
    running: dict[Connection, tuple[Task, SpawnProcess]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                with _interrupts_wait():
                    receiver, process = _start(work, waiting[0])
                    running[receiver] = waiting.popleft(), process
            for receiver in _ready(list(running)):
                task, process = running[receiver]
                outcome = _outcome(receiver, process)
                del running[receiver]
                yield task, outcome
            idle()
    finally:
        for _, process in running.values():
            _interrupt(process)
        for receiver, (_, process) in running.items():
            _outcome(receiver, process)


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Ctrl-C waits: here until a process that starts is known, and in it, as it inherits the mask,
    until it has imported what it needs. A mask is of one thread, and another may take the signal,
    so the main thread, which alone handles it, puts it off as well."""
    came: list[int] = []
    in_main = threading.current_thread() is threading.main_thread()
    before = (
        signal.signal(signal.SIGINT, lambda number, _: came.append(number)) if in_main else None
    )
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if in_main:
            signal.signal(signal.SIGINT, before)
    if came:
        signal.raise_signal(signal.SIGINT)


def _start(work: Callable[[Any], Any], task: Any) -> tuple[Connection, SpawnProcess]:
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work_and_send, args=(work, task, sender), daemon=True)
    process.start()
    sender.close()  # so that `receiver` ends when the process ends
    return receiver, process


def _interrupt(process: SpawnProcess) -> None:
    """Pass Ctrl-C on, unless the process has ended: its number may be another's by now."""
    if process.exitcode is None:
        assert process.pid is not None
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGINT)


def _ready(receivers: list[Connection]) -> list[Connection]:
    """Those that have something, or whose process has ended; after a second, perhaps none."""
    ready = wait(receivers, IDLE_SECONDS)
    return [receiver for receiver in receivers if receiver in ready]


def _outcome(receiver: Connection, process: SpawnProcess) -> Any:
    try:
        outcome = receiver.recv()
    except (EOFError, OSError):
        process.join()
        outcome = Failure(f"its process ended with exit status {process.exitcode}")
    process.join()
    receiver.close()
    return outcome


def attempt(work: Callable[[Task], Result], task: Task) -> Result | Failure:
    """The result of `work`, or what kept it from one."""
    try:
        return work(task)
    except USER_ERRORS as error:
        return Failure(str(error))
    except KeyboardInterrupt:
        return Failure("interrupted")


def _work_and_send(work: Callable[[Any], Any], task: Any, sender: Connection) -> None:
    # Ctrl-C in a terminal reaches its whole process group; the parent alone is to pass it on, or it
    # would count twice.
    os.setpgrp()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    sender.send(attempt(_unmasked(work), task))


def _unmasked(work: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`work` with Ctrl-C let through; one that waited arrives at once."""

    def unmask_and_work(task: Any) -> Any:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        return work(task)

    return unmask_and_work


def _end_with_parent() -> None:
    """End this process with its parent: two must never write one run."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
