"""Holding runs against each other, to the bit."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from agents.training.loop import Learner, train
from glimpse_envs.evaluation.runs import Run


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
    """Equal seeds give equal runs, others do not, and a run resumed is the unbroken run."""

    def trained(config: Any, name: str, **options: Any) -> Run:
        return train(make_learner, config, folder / name, progress_bar=False, **options)

    one, two = trained(config, "one"), trained(config, "two")
    assert_same_run(one, two)
    for stop_after in (0, 5, 7, None):
        broken = trained(config, "broken", resume=True, stop_after=stop_after)
    assert_same_run(broken, one)
    assert metrics_of(trained(replace(config, seed=1), "other")) != metrics_of(one)
