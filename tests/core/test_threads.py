"""Threads of our own: in forked children, and changed while others work."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs import set_threads
from glimpse_envs.core.threads import for_chunks

ROOT = Path(__file__).parents[2]
ROWS = np.arange(1000)

FORKING = """
import os, threading, time
import numpy as np
from glimpse_envs import set_threads
from glimpse_envs.core.threads import for_chunks

set_threads(2)
both = threading.Barrier(2)
for_chunks(lambda chunk: both.wait(), np.arange(1024))
time.sleep(0.2)  # so that both threads wait for work
child = os.fork()
if child:
    os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
done = []
for_chunks(lambda chunk: done.append(len(chunk)), np.arange(1000))
os._exit(sum(done) != 1000)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="nothing forks there")
def test_a_forked_child_has_threads_of_its_own() -> None:
    program = [sys.executable, "-W", "ignore", "-c", FORKING]
    assert subprocess.run(program, cwd=ROOT, timeout=30).returncode == 0


@pytest.mark.usefixtures("one_thread_after")
def test_an_error_in_one_thread_waits_for_the_others() -> None:
    set_threads(2)
    done: list[int] = []

    def work(chunk: NDArray[np.int64]) -> None:
        if chunk[0] == 0:
            raise ValueError("this one fails")
        time.sleep(0.05)
        done.append(int(chunk[0]))

    with pytest.raises(ValueError, match="this one fails"):
        for_chunks(work, np.arange(6), size=1)
    assert done == [1, 3, 5]


@pytest.mark.usefixtures("one_thread_after")
def test_threads_may_be_set_while_others_work() -> None:
    set_threads(2)
    working, changed, done = threading.Event(), threading.Event(), np.zeros(len(ROWS), np.int64)

    def work(chunk: np.ndarray) -> None:
        working.set()
        changed.wait(10)
        done[chunk] += 1

    failures: list[Exception] = []

    def work_twice() -> None:
        try:
            for _ in range(2):
                for_chunks(work, ROWS)
        except Exception as error:
            failures.append(error)

    worker = threading.Thread(target=work_twice)
    worker.start()
    working.wait(10)
    stopper = threading.Thread(target=set_threads, args=(3,))
    stopper.start()
    changed.set()
    stopper.join(10)
    worker.join(10)
    assert not failures
    assert (done == 2).all()
