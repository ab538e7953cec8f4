"""Splitting a batch of rows over a few threads of our own.

Kernels run serially and release the GIL, so plain threads suffice; the pools of OpenMP would fight
with torch's for the same cores. One thread is the default: training runs one process a core.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

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


_threads = _threads_wanted()
_pool: ThreadPoolExecutor | None = None


def set_threads(threads: int) -> None:
    """Let each environment of this process use up to `threads` threads (default: the environment
    variable GLIMPSE_THREADS, else 1). Results do not depend on it.

    Raises:
        ValueError: `threads` is not an integer of at least 1.
    """
    global _threads, _pool
    check_integers(1, threads=threads)
    if _pool is not None:
        _pool.shutdown()
        _pool = None
    _threads = threads


def for_chunks(work: Callable[[Ints], None], indices: Ints, size: int = _CHUNK) -> None:
    """Call `work` on consecutive chunks of `indices` (n,), at most `size` long, on several threads
    where it pays."""
    if len(indices) <= size:
        if len(indices):
            work(indices)
        return
    chunks = [indices[i : i + size] for i in range(0, len(indices), size)]
    if _threads == 1:
        _work_through(work, chunks)
        return
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(_threads, thread_name_prefix="glimpse")
    shares = [chunks[i::_threads] for i in range(_threads)]
    for done in [_pool.submit(_work_through, work, share) for share in shares]:
        done.result()


def _work_through(work: Callable[[Ints], None], chunks: list[Ints]) -> None:
    for chunk in chunks:
        work(chunk)
