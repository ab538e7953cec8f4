"""How long a run was trained, and whether to its end."""

import math
from dataclasses import dataclass

from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import Run


@dataclass(frozen=True)
class TrainingLength:
    """Episodes, seconds, which are NaN where they are unknown, and, of Stable-Baselines3's
    learners, timesteps."""

    episodes: int
    seconds: float
    timesteps: int | None = None


def training_length(run: Run) -> TrainingLength | None:
    """The length of the training behind the checkpoint, or, before the first one, up to the last
    line of metrics; None where there is neither.

    Raises:
        RunError: metrics or checkpoint cannot be read.
    """
    if run.checkpoint_path.exists():
        _, metadata = run.load_checkpoint()
        for name in ("episodes", "seconds"):
            if name not in metadata:
                raise RunError(
                    f"{run.checkpoint_path} does not say after how many {name} it was saved: give "
                    f"{name!r} in its metadata"
                )
        return TrainingLength(metadata["episodes"], metadata["seconds"], metadata.get("timesteps"))
    lines = run.read_metrics()
    if not lines:
        return None
    last, step = lines[-1], int(lines[-1]["step"])
    timesteps = step if "timesteps" in run.config.get("config", {}) else None
    return TrainingLength(int(last.get("episodes", step)), last.get("seconds", math.nan), timesteps)


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
    unit = "episodes" if length.timesteps is None else "timesteps"
    done = length.episodes if length.timesteps is None else length.timesteps
    total = config.get(unit) or 0
    return f"{done:,} of {total:,} {unit}" if done < total else None


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
