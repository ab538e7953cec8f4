"""Holding runs against each other, to the bit."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from agents.training.learner import Learner
from glimpse_envs.evaluation.runs import Run
from tests.support.tiny import UPDATES
from tests.support.trainings import trained


def metrics_of(run: Run) -> list[dict[str, float]]:
    """Every line of metrics, less the clock."""
    lines = run.read_metrics()
    assert all(line.pop("seconds") >= 0 for line in lines)
    return lines


def assert_same_run(actual: Run, expected: Run) -> None:
    """Hold the whole of two checkpoints equal to the bit, and their metrics but for the clock."""
    assert metrics_of(actual) == metrics_of(expected)
    (tensors, metadata), (others, wanted) = actual.load_checkpoint(), expected.load_checkpoint()
    assert tensors.keys() == others.keys()
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(tensor, others[name], err_msg=name, strict=True)
    assert {**metadata, "seconds": 0} == {**wanted, "seconds": 0}


def assert_repeats_and_resumes(
    make_learner: Callable[[Any], Learner], config: Any, folder: Path
) -> None:
    """Equal seeds give equal runs, others do not, and a run resumed is the unbroken run; of a
    `SHORT` config."""

    one, two = (trained(make_learner, config, folder / name) for name in ("one", "two"))
    assert_same_run(one, two)
    assert [line["step"] for line in one.read_metrics()] == [24, 48, 72, 96]
    for stop_after in (0, 5, 7, None):
        broken = trained(
            make_learner, config, folder / "broken", resume=True, stop_after=stop_after
        )
        updates = UPDATES if stop_after is None else stop_after
        assert broken.load_checkpoint()[1]["updates"] == updates
    assert_same_run(broken, one)
    other = trained(make_learner, replace(config, seed=1), folder / "other")
    assert metrics_of(other) != metrics_of(one)
