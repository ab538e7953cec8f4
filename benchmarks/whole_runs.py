"""Runs that are trained to their end, whatever interrupted them."""

from pathlib import Path
from typing import Any

from agents.algorithms.algorithm import Trainable
from agents.training.training_length import what_is_left
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import Run

HOW = "the same command"


def train_to_end(algorithm: Trainable, config: Any, folder: Path) -> Run:
    """Train in `folder`, or go on with the run there, until the budget is spent or `stop_at` is
    reached.

    Raises:
        RunError: the run in `folder` has another config, or the training was interrupted.
    """
    run = algorithm.train(config, folder, resume=True, progress_bar=False, how_to_resume=HOW)
    if what_is_left(run):
        raise RunError(f"interrupted; {HOW} goes on with it")
    return run
