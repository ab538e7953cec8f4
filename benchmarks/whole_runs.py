"""Runs that are trained to their end, whatever interrupted them."""

from pathlib import Path
from typing import Any

from agents.algorithms.algorithm import Trainable
from agents.training.schedules import share_done
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import Run

HOW = "the same command"


def train_to_end(algorithm: Trainable, config: Any, folder: Path) -> Run:
    """Train in `folder`, or go on with the run there, until the budget is spent or `stop_at` is
    reached; a config of Stable-Baselines3's learners must have minutes.

    Raises:
        RunError: the run in `folder` has another config, or the training was interrupted.
    """
    run = algorithm.train(config, folder, resume=True, progress_bar=False, how_to_resume=HOW)
    _, metadata = run.load_checkpoint()
    spent = share_done(config, metadata["episodes"], metadata["seconds"]) >= 1.0
    if not spent and not _reached(getattr(config, "stop_at", None), run):
        raise RunError(f"interrupted; {HOW} goes on with it")
    return run


def _reached(wanted: float | None, run: Run) -> bool:
    if wanted is None:
        return False
    scores = (line.get("validation/success", 0.0) for line in run.read_metrics())
    return max(scores, default=0.0) >= wanted
