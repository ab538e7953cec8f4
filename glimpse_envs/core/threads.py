"""Splitting a batch of rows over a few threads of our own.

Kernels run serially and release the GIL, so plain threads suffice; the pools of OpenMP would fight
with torch's for the same cores. One thread is the default: training runs one process per core.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

from glimpse_envs.core.arguments import check_integers
from glimpse_envs.core.arrays import Ints

# Scenes that fit into the second-level cache together while they are drawn and summed; a batch of
# fewer rows than two chunks is not split over threads.
_CHUNK = 64

_VARIABLE = "GLIMPSE_THREADS"


def _threads_wanted() -> int:
    """Return the number of threads set in the environment variable."""
    wanted = os.environ.get(_VARIABLE, "1")
    if not wanted.isdecimal() or int(wanted) < 1:
        raise ValueError(
            f"the environment variable {_VARIABLE}={wanted!r} must be an integer of at least 1"
        )
    return int(wanted)


def _workers_of(threads: int) -> tuple[int, ThreadPoolExecutor]:
    """Return `threads` and a pool of that many threads, which start when they first get work."""
    return threads, ThreadPoolExecutor(threads, thread_name_prefix="glimpse")


# One value, so that a call of `for_chunks` keeps the pool that it began with. The pool's threads
# end when nothing refers to it any more.
_workers = _workers_of(_threads_wanted())


def set_threads(threads: int) -> None:
    """Let each environment of this process use up to `threads` threads (default: the environment
    variable GLIMPSE_THREADS, else 1). Results do not depend on it.

    Raises:
        ValueError: `threads` is not an integer of at least 1.
    """
    global _workers
    check_integers(1, threads=threads)
    _workers = _workers_of(int(threads))


if hasattr(os, "register_at_fork"):  # a forked child has the pool, but none of its threads
    os.register_at_fork(after_in_child=lambda: set_threads(_workers[0]))


def for_chunks(work: Callable[[Ints], None], indices: Ints, size: int = _CHUNK) -> None:
    """Call `work` on consecutive chunks of `indices` (n,), at most `size` long, on several threads
    where it pays."""
    if len(indices) <= size:
        if len(indices):
            work(indices)
        return
    chunks = [indices[i : i + size] for i in range(0, len(indices), size)]
    threads, pool = _workers
    if threads == 1:
        _work_through(work, chunks)
        return
    shares = [chunks[i::threads] for i in range(threads)]
    parts = [pool.submit(_work_through, work, share) for share in shares]
    try:
        for part in parts:
            part.result()
    finally:
        wait(parts)  # after an error or Ctrl-C, too: no thread may go on in the arrays


def _work_through(work: Callable[[Ints], None], chunks: list[Ints]) -> None:
    for chunk in chunks:
        work(chunk)
