"""No kernel leaves its arrays, whatever the arguments: all are compiled with checks once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from glimpse_envs.suite import SUITE

ROOT = Path(__file__).parents[2]
BUILT_IN = (None, "glyphs")
"""Sources that need no files."""


@pytest.mark.learning
def test_no_kernel_leaves_its_arrays(tmp_path: Path) -> None:
    checked = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.random_configurations", "4"],
        cwd=ROOT,
        env=os.environ | checked,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    played = dict(line.split() for line in done.stdout.splitlines())
    assert set(played) == set(SUITE)
    built_in = [name for name, row in SUITE.items() if row.kwargs.get("source") in BUILT_IN]
    assert all(played[name] == "4" for name in built_in), played
