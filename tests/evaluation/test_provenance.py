"""A run's command can be typed elsewhere."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

import glimpse_envs
from glimpse_envs.evaluation.provenance import command_line

CHECKOUT = Path(glimpse_envs.__file__).parents[1]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("/home/someone/runs/mine", "runs/mine"),
        ("--run=/scratch/mine/", "--run=runs/mine"),
        ("runs/mine", "runs/mine"),
        ("results/record.json", "results/record.json"),
        ("source=folder:pictures", "source=folder:pictures"),
        ("budget=4", "budget=4"),
    ],
)
def test_paths_of_one_machine_are_left_out(
    given: str, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["train.py", "reinforce", given])
    assert command_line().endswith(f" reinforce {kept}")


def test_a_program_that_is_known_by_its_path_alone_is_named_as_a_module(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in a process that was spawned."""
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    program = CHECKOUT / "benchmarks" / "tables" / "__main__.py"
    monkeypatch.setattr(sys, "argv", [str(program), "memory", "--rows", "copy"])
    assert command_line() == "python -m benchmarks.tables memory --rows copy"
