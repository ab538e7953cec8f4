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
    """The length in the last line of metrics, or, for exported weights, which have no metrics, in
    their checkpoint; None where neither has it.

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
