"""A command whose reader ends first ends too, without a word."""

import os
import subprocess
import sys
from subprocess import PIPE

import pytest

from glimpse_envs.core.pipes import output_of_command
from tests.support.marks import first_is_quick

COMMANDS = {
    "list": "from runpy import run_module; run_module('glimpse_envs', run_name='__main__')",
    "describe": (
        "from runpy import run_module\n"
        "sys.argv[1:] = ['Glimpse/Copy-v0']\n"
        "sys.stdout.reconfigure(write_through=True)  # as with PYTHONUNBUFFERED\n"
        "run_module('glimpse_envs', run_name='__main__')"
    ),
    "agents": (
        "from agents.training.command_line import run_command\n"
        "run_command(lambda: print('line\\n' * 100_000))"
    ),
}


@pytest.mark.parametrize("name", first_is_quick(COMMANDS))
def test_a_reader_that_ends_first_is_no_error(name: str) -> None:
    # It begins to write once nobody reads any more.
    command = f"import sys\nsys.stdin.read()\n{COMMANDS[name]}"
    with subprocess.Popen(
        [sys.executable, "-c", command], stdin=PIPE, stdout=PIPE, stderr=PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_closed_output_is_no_error(closed: str) -> None:
    command = (
        f"import sys; sys.{closed} = None\n"
        "from agents.training.command_line import run_command\n"
        "from agents.training.progress_bar import ProgressBar\n"
        "run_command(lambda: print('line'))\n"
        f"sys.{closed} = None\n"
        f"ProgressBar(1, False, 1, 0, 0.0, shown={closed == 'stderr'}).close()\n"
    )
    ended = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == ("" if closed == "stdout" else "line\n")


def test_letters_that_the_output_does_not_know_are_escaped() -> None:
    command = (
        "from agents.training.command_line import run_command\n"
        "run_command(lambda: print('runs/n\u00e9'))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", command],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (ended.returncode, ended.stdout) == (0, b"runs/n\\xe9\n")


def test_other_pipes_that_break_are_errors() -> None:
    with pytest.raises(BrokenPipeError, match="of a worker"), output_of_command():
        raise BrokenPipeError("of a worker")
