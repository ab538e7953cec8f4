"""A run's command can be typed elsewhere."""

import sys

import pytest

from glimpse_envs.evaluation.provenance import command_line


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
