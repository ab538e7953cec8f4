"""A run's command can be typed elsewhere."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import glimpse_envs
from glimpse_envs.evaluation.provenance import (
    NOTEBOOK,
    command_line,
    git_revision,
    hardware,
    versions,
)

CHECKOUT = Path(glimpse_envs.__file__).parents[1]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("/home/someone/runs/mine", "runs/mine"),
        ("--run=/scratch/mine/", "--run=runs/mine"),
        ("runs/mine", "runs/mine"),
        ("results/record.json", "results/record.json"),
        ("/scratch/results/memory/record.json", "results/memory/record.json"),
        ("--labels=/home/someone/labels.json", "--labels=runs/labels.json"),
        ("source=my_arrays:Disk?/home/someone/bars", "'source=my_arrays:Disk?bars'"),
        ("s3://bucket/run", "s3://bucket/run"),
        ("--init=tcp://10.0.0.1:29500", "--init=tcp://10.0.0.1:29500"),
        ("source=folder:pictures", "source=folder:pictures"),
        ("source=folder:/home/someone/pictures", "source=folder:pictures"),
        ("budget=4", "budget=4"),
    ],
)
def test_paths_of_one_machine_are_left_out(
    given: str, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["train.py", "reinforce", given])
    assert command_line().endswith(f" reinforce {kept}")


def test_a_notebook_and_a_script_are_told_without_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    monkeypatch.setattr(sys, "argv", ["/home/someone/own.py", "budget=4"])
    assert command_line() == "python own.py budget=4"
    monkeypatch.setattr(sys, "argv", ["examples/own.py"])
    assert command_line() == "python examples/own.py"
    monkeypatch.setattr(sys, "argv", ["/venv/ipykernel_launcher.py", "-f", "kernel.json"])
    assert command_line() == NOTEBOOK


def test_a_program_that_is_known_by_its_path_alone_is_named_as_a_module(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in a process that was spawned."""
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    program = CHECKOUT / "benchmarks" / "tables" / "__main__.py"
    monkeypatch.setattr(sys, "argv", [str(program), "memory", "--rows", "copy"])
    assert command_line() == "python -m benchmarks.tables memory --rows copy"


@pytest.mark.parametrize(
    ("told", "named"),
    [
        ("model name\t: Some CPU\nflags\t\t: fpu avx2\n", "Some CPU with avx2, 2 cores"),
        ("model name : Some CPU\nflags : avx2 avx512f avx512_bf16\n\nmodel name : Other\n",
         "Some CPU with avx512_bf16, 2 cores"),
        ("model name : Some CPU\nflags : avx512_bf16 amx_bf16 avx2\n",
         "Some CPU with amx_bf16, 2 cores"),
        ("model name : Some CPU\n", "Some CPU, 2 cores"),
    ],
)  # fmt: skip
def test_processors_of_one_name_differ_by_their_vector_extension(
    told: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpuinfo").write_text(told)
    monkeypatch.setattr("glimpse_envs.evaluation.provenance.CPU_INFO", tmp_path / "cpuinfo")
    assert hardware(2) == named


def test_versions_of_own_packages_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my_alone.py").touch()
    (tmp_path / "my_spaced").mkdir()
    found = versions(["numpy", "my_alone", "my_spaced", "my_gone", "no name"])
    assert found["numpy"] == np.__version__
    for name in ("my_alone", "my_spaced", "my_gone", "no name"):
        assert found[name] == "unknown", "without a version or a repository"
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    who = ["-c", "user.name=me", "-c", "user.email=me@example.com"]
    subprocess.run(["git", *who, "commit", "-qm", "mine"], cwd=tmp_path, check=True)
    assert versions(["my_alone"])["my_alone"] == git_revision(tmp_path)
    assert len(git_revision(tmp_path)) == 40
