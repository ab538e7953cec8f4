"""`make fresh-kernels`: compiled kernels older than the code are deleted, others are kept."""

import os
import subprocess
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parents[1] / "Makefile"
NEEDS_KERNELS = ("demo", "test", "quick", "compare", "report", "benchmark")

# Of each file, when it was written.
CODE = {"glimpse_envs/core/geometry.py": 20, "glimpse_envs/vision/gaze.py": 10}
KERNELS = {"glimpse_envs/sensors/__pycache__/gaze.py311.nbi": 30}


def make_fresh(root: Path, written: dict[str, int]) -> list[str]:
    """Run the target on files written at those times and return the kernels that stay."""
    for name, time in written.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (time, time))
    (root / "glimpse_envs").mkdir(exist_ok=True)
    subprocess.run(["make", "-s", "-f", MAKEFILE, "fresh-kernels"], cwd=root, check=True)
    return sorted(path.name for path in root.rglob("*.nb[ic]"))


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        ({}, True),
        ({"glimpse_envs/core/geometry.py": 40}, False),
        # One kernel compiled anew since does not make the others fresh.
        ({"glimpse_envs/core/geometry.py": 40, "glimpse_envs/__pycache__/a.nbc": 50}, False),
    ],
)
def test_kernels_older_than_the_code_are_deleted(
    tmp_path: Path, changes: dict[str, int], kept: bool
) -> None:
    left = make_fresh(tmp_path, {**CODE, **KERNELS, **changes})
    assert left == (["gaze.py311.nbi"] if kept else [])


def test_without_kernels_there_is_nothing_to_delete(tmp_path: Path) -> None:
    assert make_fresh(tmp_path, CODE) == []


@pytest.mark.parametrize("target", NEEDS_KERNELS)
def test_what_runs_kernels_freshens_them_first(target: str) -> None:
    planned = subprocess.run(
        ["make", "-n", target], cwd=MAKEFILE.parent, capture_output=True, text=True, check=True
    )
    assert "-name '*.nb[ic]' -delete" in planned.stdout
