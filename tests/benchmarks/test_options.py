"""The commands of the benchmarks are called in their help as they are typed."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["benchmarks.variance", "benchmarks.speed.throughput"])
def test_the_help_has_the_command_as_it_is_typed(module: str) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", module, "--help"], capture_output=True, text=True, check=True
    )
    assert shown.stdout.startswith(f"usage: python -m {module} [-h]")
