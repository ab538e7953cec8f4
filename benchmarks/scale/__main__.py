"""How cost grows with the scene's side: `python -m benchmarks.scale --record results/comparison`.

One model of each kind, hard, soft and full view, at scenes of 60 to 960 pixels a side: what a scene
costs each, part by part, and beside it the error that it has after the same time of training. The
retina has a scale more for each doubling, so that its coarsest window shows the like share of the
scene; the pieces of clutter grow with the side. Run again, what is trained and scored is kept.
"""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import tyro

from agents.scoring.run_record import make_record
from agents.scoring.run_scores import score_run
from agents.training.checks import check_counts, check_positive
from agents.training.command_line import run_command
from agents.training.config import TrainingConfig
from agents.training.loop import train
from agents.training.precision import Precision, fastest_precision
from agents.training.resuming import check_same
from agents.training.schedules import share_done
from benchmarks.comparison.contenders import ALGORITHMS, CONTENDERS
from benchmarks.scale.part_times import TimedModel, best_times, make_timed
from glimpse_envs.evaluation.record import Record
from glimpse_envs.evaluation.records import read_records, write_record
from glimpse_envs.evaluation.runs import Run, RunError, git_revision, hardware, open_run
from report.figures.scaling import draw_scaling
from report.scaling import (
    Milliseconds,
    Scaling,
    ScalingPoint,
    scaling_table,
    write_scaling,
)

MODELS = ("reinforce", "draw", "full_strong")
"""Names in `benchmarks.comparison.contenders.CONTENDERS`: hard, soft and full view."""


@dataclass(frozen=True)
class ScalingConfig:
    """Measure how cost, and the error that it buys, grow with the scene's side."""

    sides: tuple[int, ...] = (60, 120, 240, 480, 960)
    """Of the scenes, in pixels."""
    minutes: float = 2.0
    """Of one core, that each model is trained for at each side."""
    scenes: int = 2_000
    """Test scenes that each is scored on."""
    batch_size: int = 32
    """Of inference, training and scoring."""
    repeats: int = 6
    """Bursts of each model; the best of each part counts."""
    env_id: str = "Glimpse/ClutteredGlyphs-v0"
    """The environment."""
    precision: Precision = field(default_factory=fastest_precision)
    """Of matrix products."""
    seed: int = 0
    """Of the training."""
    folder: Path = Path("runs/scaling")
    """Where runs, their scores and the picture go; what is there and finished is kept."""
    record: Path | None = None
    """Write scaling.json into this folder (the one that is published lies in
    results/comparison)."""


def scene_arguments(side: int) -> dict[str, Any]:
    """The environment's arguments at a side in pixels."""
    return {
        "scene_size": side,
        "clutter": round(4 * side / 60),
        "scales": max(1, 3 + round(math.log2(side / 60))),
    }


def training_config(scaling: ScalingConfig, model: str, side: int) -> TrainingConfig:
    """The training of `model`, a name in `MODELS`, at a side in pixels."""
    return CONTENDERS[model].config(
        scaling.env_id,
        scene_arguments(side),
        minutes=scaling.minutes,
        batch_size=scaling.batch_size,
        precision=scaling.precision,
        seed=scaling.seed,
        # An update of a big scene takes seconds.
        checkpoint_every=20,
    )


def time_models(scaling: ScalingConfig) -> dict[tuple[int, str], tuple[Milliseconds, Milliseconds]]:
    """Inference and update, (side, model) -> milliseconds a scene; all take turns in one run."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    cases = [(side, model) for side in scaling.sides for model in MODELS]
    timed: list[TimedModel] = []
    try:
        for side, model in cases:
            config = training_config(scaling, model, side)
            timed.append(make_timed(CONTENDERS[model].algorithm, config))
        return dict(zip(cases, best_times(timed, scaling.repeats), strict=True))
    finally:
        for each in timed:
            each.close()


def train_and_score(scaling: ScalingConfig, model: str, side: int) -> Record:
    """Train `model` at a side, or go on where it was left, and score it, or read its score.

    Raises:
        RunError: it was interrupted, or the run in its folder has another config.
    """
    config = training_config(scaling, model, side)
    folder = scaling.folder / f"{model}-{side}"
    run = _finished(folder, config) or train(
        ALGORITHMS[CONTENDERS[model].algorithm].make,
        config,
        folder,
        resume=True,
        how_to_resume="the same command",
    )
    if not _is_finished(run, config):
        raise RunError(f"{folder} is not trained to its end: give the same command to go on")
    if (folder / "score").is_dir():
        scored, _ = read_records(folder / "score")
        known = [record for record in scored if record.headline.episodes == scaling.scenes]
        if known:
            return known[0]
    evaluations = score_run(
        run, episodes=scaling.scenes, batch_size=scaling.batch_size, progress=True
    )
    record = make_record(run, evaluations)
    write_record(record, folder / "score")
    return record


def _finished(folder: Path, config: TrainingConfig) -> Run | None:
    """The run in `folder`, if it is there and trained to its end."""
    if not (folder / "config.json").exists():
        return None
    run = open_run(folder)
    check_same(run, config)
    return run if _is_finished(run, config) else None


def _is_finished(run: Run, config: TrainingConfig) -> bool:
    if not run.has_checkpoint:
        return False
    _, metadata = run.load_checkpoint()
    return share_done(config, metadata["episodes"], metadata["seconds"]) >= 1.0


def measure(scaling: ScalingConfig) -> Scaling:
    """Time all models, then train and score each at each side.

    Raises:
        RunError: see `train_and_score`.
        ValueError: a setting cannot be.
    """
    _check(scaling)
    print("timing inference and updates, by turns ...")
    times = time_models(scaling)
    points = []
    for (side, model), (inference, update) in times.items():
        print(f"{model} at {side} pixels: training for {scaling.minutes:g} minutes, or loading")
        record = train_and_score(scaling, model, side)
        score = record.headline
        assert score.success is not None
        assert score.success_interval is not None
        low, high = score.success_interval
        points.append(
            ScalingPoint(
                side=side,
                model=record.model.name,
                inference=inference,
                update=update,
                multiply_adds=score.costs.get("multiply_adds"),
                error_percent=round(100 * (1 - score.success), 4),
                interval_percent=(round(100 * (1 - high), 4), round(100 * (1 - low), 4)),
                scenes=score.episodes,
                images=record.episodes,
                core_seconds=record.seconds * record.cores,
            )
        )
    return Scaling(
        env_id=scaling.env_id,
        batch_size=scaling.batch_size,
        minutes=scaling.minutes,
        precision=scaling.precision,
        hardware=hardware(1),
        revision=git_revision(),
        points=tuple(points),
    )


def _check(scaling: ScalingConfig) -> None:
    if not scaling.sides or min(scaling.sides) < 1 or len(set(scaling.sides)) < len(scaling.sides):
        raise ValueError(f"sides={scaling.sides} must be counts of pixels, each given once")
    check_positive(scaling, "minutes")
    check_counts(scaling, "scenes", "batch_size", "repeats")


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    scaling = tyro.cli(ScalingConfig, args=arguments, prog="python -m benchmarks.scale")

    def command() -> None:
        measured = measure(scaling)
        print(scaling_table(measured))
        picture = scaling.folder / "scaling.png"
        draw_scaling(measured, picture)
        print(f"drawn in {picture}")
        if scaling.record is not None:
            print(f"recorded in {write_scaling(measured, scaling.record)}")

    run_command(command)


if __name__ == "__main__":
    main()
