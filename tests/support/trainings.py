"""Trainings that are small enough for a test, and what the tests of learners share of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from agents.training.config import TrainingConfig
from agents.training.loop import train
from glimpse_envs.evaluation.runs import Run
from tests.support.episodes import CENTRED
from tests.support.tiny import SMALL

EASY: dict[str, Any] = {
    "env_id": CENTRED,
    "batch_size": 100,
    "learning_rate": 3e-3,
    "precision": "float32",
    "network": SMALL,
}
"""Built-in digits in the middle of a small scene."""
WHOLE: dict[str, Any] = {"glimpse_size": 28, "inside": True, "budget": 2}
"""One glimpse shows all of it."""
ONE_TILE: dict[str, Any] = {"glimpse_size": 10, "budget": 2, "look": "tiles"}
"""One look, at one of nine tiles."""


class Killed(BaseException):
    """Ends a training as abruptly as a test can within its own process."""


class Learning(Protocol):
    """What `learned_error` asks of a learner."""

    @property
    def config(self) -> TrainingConfig: ...

    def update(self, progress: float) -> dict[str, float]:
        """Learn from a batch."""

    def close(self) -> None:
        """Close the environment."""


def trained(
    make_learner: Callable[[Any], Any], config: TrainingConfig, folder: Path, **options: Any
) -> Run:
    """Train to the end without a progress bar."""
    return train(make_learner, config, folder, progress_bar=False, **options)


def errors_of(learner: Learning) -> list[float]:
    """Train to the end; the error of each batch."""
    updates = learner.config.episodes // learner.config.batch_size
    errors = [learner.update(update / updates)["error"] for update in range(updates)]
    learner.close()
    return errors


def learned_error(learner: Learning) -> float:
    """Train to the end; the mean error of the last tenth of it."""
    errors = errors_of(learner)
    return float(np.mean(errors[-len(errors) // 10 :]))
