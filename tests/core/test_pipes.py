"""A command whose reader ends first ends too, without a word."""

import subprocess
import sys

import pytest

from tests.support.marks import first_is_quick

COMMANDS = {
    "list": "from runpy import run_module; run_module('glimpse_envs', run_name='__main__')",
    "agents": (
        "from agents.training.command_line import run_command\n"
        "run_command(lambda: print('line\\n' * 100_000))"
    ),
}


@pytest.mark.parametrize("name", first_is_quick(COMMANDS))
def test_a_reader_that_ends_first_is_no_error(name: str) -> None:
    # It begins to write once nobody reads any more.
    command = f"import sys\nsys.stdin.read()\n{COMMANDS[name]}"
    process = subprocess.Popen(
        [sys.executable, "-c", command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.stdin.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 141
