"""How long a run was trained."""

import math
from dataclasses import dataclass

from glimpse_envs.evaluation.runs import Run


@dataclass(frozen=True)
class TrainingLength:
    """Episodes, and seconds, which are NaN where they are unknown."""

    episodes: int
    seconds: float


def training_length(run: Run) -> TrainingLength | None:
    """By the last line of metrics; of weights alone, which keep none, by their checkpoint; None
    where neither tells.

    Raises:
        RunError: metrics or checkpoint cannot be read.
    """
    if lines := run.read_metrics():
        return TrainingLength(int(lines[-1]["step"]), lines[-1].get("seconds", math.nan))
    if not has_weights_alone(run):
        return None
    _, metadata = run.load_checkpoint()
    return TrainingLength(metadata["episodes"], metadata["seconds"])


def has_weights_alone(run: Run) -> bool:
    """Whether a run was exported without what training needs."""
    return bool(run.config.get("weights_only"))
