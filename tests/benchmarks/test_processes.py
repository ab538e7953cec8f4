"""Tasks side by side: what fails says why, and the others go on."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from benchmarks.processes import Failure, _interrupt, _interrupts_wait, side_by_side
from tests.support.chores import double, stumble

ROOT = Path(__file__).parents[2]


@pytest.mark.learning
def test_each_task_has_its_result_and_one_that_fails_says_why() -> None:
    outcomes = dict(side_by_side(double, [1, -2, 13, 4], processes=2))
    assert outcomes == {
        1: 2,
        -2: Failure("-2 is below 0"),
        13: Failure("its process ended with exit status 7"),
        4: 8,
    }


def test_a_mistake_in_the_code_is_told_too(capfd: pytest.CaptureFixture[str]) -> None:
    ((_, outcome),) = side_by_side(stumble, [5], processes=1)
    assert outcome == Failure("its process ended with exit status 1")
    assert "KeyError: 5" in capfd.readouterr().err


def test_what_has_ended_is_not_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its number may be that of another process by now."""
    process = multiprocessing.get_context("spawn").Process(target=double, args=(1,))
    process.start()
    process.join()
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("it was interrupted"))
    _interrupt(process)


def is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.learning
def test_processes_end_with_the_one_that_began_them(tmp_path: Path) -> None:
    note = tmp_path / "process"
    command = [sys.executable, "-m", "tests.support.chores", str(note)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    parent = subprocess.Popen(command, env=environment)
    deadline = time.monotonic() + 60
    while not note.exists():
        assert parent.poll() is None, "it ended before its task began"
        assert time.monotonic() < deadline
        time.sleep(0.05)
    child = int(note.read_text())
    assert not is_gone(child)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    while not is_gone(child):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_an_interrupt_waits_until_a_process_that_starts_is_known() -> None:
    """Also where another thread takes the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job's is ignored
    known: list[bool] = []
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()  # without the mask

    def start() -> None:
        with _interrupts_wait():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
            known.append(True)

    try:
        with pytest.raises(KeyboardInterrupt):
            start()
        assert known
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        done.set()
        other.join()
        signal.signal(signal.SIGINT, before)
