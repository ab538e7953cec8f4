"""How long a run was trained, and whether to its end."""

import math
from dataclasses import dataclass

from glimpse_envs.evaluation.runs import Run


@dataclass(frozen=True)
class TrainingLength:
    """Episodes, and seconds, which are NaN where they are unknown."""

    episodes: int
    seconds: float


def training_length(run: Run) -> TrainingLength | None:
    """The length of the training behind the checkpoint, or, before the first one, up to the last
    line of metrics; None where there is neither.

    Raises:
        RunError: metrics or checkpoint cannot be read.
    """
    if run.checkpoint_path.exists():
        _, metadata = run.load_checkpoint()
        return TrainingLength(metadata["episodes"], metadata["seconds"])
    lines = run.read_metrics()
    if not lines:
        return None
    return TrainingLength(int(lines[-1]["step"]), lines[-1].get("seconds", math.nan))


def what_is_left(run: Run) -> str | None:
    """How much of a training is done, such as "30 of 100 episodes"; None where it is finished, by
    its budget or by its `stop_at`, or where its config does not tell.

    Raises:
        RunError: metrics or checkpoint cannot be read.
    """
    length, config = training_length(run), run.config.get("config", {})
    if length is None or _stopped_early(run, config.get("stop_at")):
        return None
    if (minutes := config.get("minutes")) is not None:
        lacks = length.seconds < 60 * minutes
        return f"{length.seconds / 60:.1f} of {minutes:g} minutes" if lacks else None
    episodes = config.get("episodes") or 0
    lacks = length.episodes < episodes
    return f"{length.episodes:,} of {episodes:,} episodes" if lacks else None


def _stopped_early(run: Run, stop_at: float | None) -> bool:
    """Whether validation reached `stop_at`; of exported weights, which have no metrics, it may
    have."""
    if stop_at is None:
        return False
    scores = [line.get("validation/success", 0.0) for line in run.read_metrics()]
    return has_weights_alone(run) or max(scores, default=0.0) >= stop_at


def has_weights_alone(run: Run) -> bool:
    """Whether a run was exported without what training needs."""
    return bool(run.config.get("weights_only"))
