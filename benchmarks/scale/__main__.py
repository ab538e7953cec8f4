"""How cost grows with the scene's side: `python -m benchmarks.scale --record results/comparison`.

Hard attention, two kinds of soft attention and two networks in the full view (`MODELS`) at scenes
of 60 to 1,920 pixels a side: the cost of a scene, part by part, and the error after the same time
of training. All that take glimpses have a controller of the same sizes. With each doubling of the
side the retina, hard or soft, gains a scale, so that its coarsest window shows nearly all of the
scene from any place, and the pieces of clutter double. In the training of the hard agent first
glimpses move away from the target with success (the curriculum "distance"). Batches are those of
the presets, less where their scenes or activations need too much memory. A second run keeps what is
trained and scored; with a record, `--models` and `--sides` select what is measured anew: the other
points of the record keep their errors, and all are timed.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, get_args

import torch

from agents.scoring.run_record import make_record
from agents.scoring.run_scores import score_run
from agents.training.checks import check_counts, check_positive
from agents.training.command_line import read_options, run_command
from agents.training.config import TrainingConfig
from agents.training.host import settle_host
from agents.training.precision import UsedPrecision, autocast, fastest_precision
from benchmarks.comparison.contenders import ALGORITHMS, CONTENDERS, Contender
from benchmarks.scale.part_times import TimedModel, best_times, make_timed, time_dense_sums
from benchmarks.tables.scenes import FAR_GAZE
from benchmarks.whole_runs import train_to_end
from glimpse_envs.episodes.lookup import spec_of
from glimpse_envs.evaluation.provenance import git_revision, hardware
from glimpse_envs.evaluation.record import Record
from glimpse_envs.evaluation.records import read_records, write_record
from glimpse_envs.evaluation.run_identity import digest
from glimpse_envs.vision.sensors.retina import far_scales
from report.figures.scaling import draw_scaling
from report.scaling import (
    DenseSums,
    Milliseconds,
    ModelName,
    Scaling,
    ScalingPoint,
    read_scaling,
    scaling_table,
    write_scaling,
)


class ScaledModel(NamedTuple):
    """A model, and the most pixels that a batch of its scenes may have."""

    contender: Contender
    most_pixels: int


MODELS: dict[ModelName, ScaledModel] = {
    "reinforce": ScaledModel(Contender("reinforce", {**FAR_GAZE, "batch_size": 512}), 2**30),
    # Windows learned no more by smaller batches where they were tried, at 480 pixels.
    "draw": ScaledModel(CONTENDERS["draw"], 2**27),
    "soft_retina": ScaledModel(CONTENDERS["soft_retina"], 2**27),
    # Few scenes are learned from: small batches, for enough updates.
    "full_deep": ScaledModel(Contender("full_view"), 2**23),
    "full_shallow": ScaledModel(Contender("full_view", {"kind": "conv"}), 2**23),
}
DENSE_SCENES = 16
"""Scenes without a black pixel that are summed at once."""
MODEL_NAMES: tuple[ModelName, ...] = get_args(ModelName)
Case = tuple[int, ModelName]
"""A side in pixels, and the model at it."""


@dataclass(frozen=True)
class ScalingConfig:
    """Measure cost and error against the scene's side."""

    sides: tuple[int, ...] = (60, 120, 240, 480, 960, 1920)
    """Sides of the scenes in pixels."""
    models: tuple[ModelName, ...] = MODEL_NAMES
    """Models to train at each side."""
    minutes: float = 10.0
    """Length of each training in minutes of CPU time on one core."""
    episodes: int = 2_000
    """Number of test episodes to score on."""
    batch_size: int | None = None
    """Number of episodes played at once, where it is less than that of the presets."""
    repeats: int = 6
    """Number of timed bursts of each model, of which the fastest of each part is recorded."""
    env_id: str = "Glimpse/ClutteredGlyphs-v0"
    """Id of the environment."""
    precision: UsedPrecision = field(default_factory=fastest_precision)
    """Precision of matrix products: by default the one in which the processor is fastest."""
    seed: int = 0
    """Random seed of scenes, samples and initial weights."""
    out: Path = Path("runs/scaling")
    """Folder of the runs, their scores and the picture; finished runs are kept."""
    record: Path | None = None
    """Folder of the record scaling.json, results/comparison for the published one; none is written
    where it is not given."""


def scene_arguments(side: int) -> dict[str, Any]:
    """The environment's arguments at a side in pixels."""
    return {
        "scene_size": side,
        "clutter": round(4 * side / 60),
        "scales": far_scales(side, 12),
    }


def training_config(scaling: ScalingConfig, model: ModelName, side: int) -> TrainingConfig:
    """The training of a model at a side in pixels."""
    contender, most_pixels = MODELS[model]
    config = contender.config(
        scaling.env_id,
        scene_arguments(side),
        minutes=scaling.minutes,
        precision=scaling.precision,
        seed=scaling.seed,
        # An update of a big scene takes seconds, and a validation longer than the training.
        checkpoint_every=20,
        validation_episodes=0,
    )
    wanted = min(config.batch_size, scaling.batch_size or config.batch_size)
    most = max(1, min(wanted, most_pixels // side**2))
    return replace(config, batch_size=wanted if most == wanted else 2 ** int(math.log2(most)))


def settings_of(scaling: ScalingConfig, model: ModelName, side: int) -> str:
    """What tells one training's settings from another's."""
    return digest(asdict(training_config(scaling, model, side)))


def time_models(
    scaling: ScalingConfig, cases: Sequence[Case]
) -> list[tuple[Milliseconds, Milliseconds]]:
    """Milliseconds a scene of inference and of an update, of each case. All take turns."""
    settle_host(1)
    timed: list[TimedModel] = []
    try:
        for side, model in cases:
            config = training_config(scaling, model, side)
            timed.append(make_timed(MODELS[model].contender.algorithm, config))
        return best_times(timed, scaling.repeats)
    finally:
        for each in timed:
            each.close()


def train_and_score(scaling: ScalingConfig, model: ModelName, side: int) -> Record:
    """Train and score `model` at a side, or read its score.

    Raises:
        RunError: see `benchmarks.whole_runs.train_to_end`.
    """
    folder = scaling.out / f"{model}-{side}"
    config = training_config(scaling, model, side)
    run = train_to_end(ALGORITHMS[MODELS[model].contender.algorithm], config, folder)
    if (folder / "score").is_dir():
        for record in read_records(folder / "score")[0]:
            trained_on = record.episodes == run.load_checkpoint()[1]["episodes"]
            if trained_on and record.headline.episodes == scaling.episodes:
                return record
    # Batches of the training's size: blocks of memory above a limit are cleared at every use. In
    # the precision that is timed; a large scene takes a full view a second in float32.
    with autocast(torch.device("cpu"), config.torch_precision):
        scores = score_run(
            run, episodes=scaling.episodes, batch_size=config.batch_size, progress=True
        )
    record = make_record(
        run,
        scores,
        "by its preset, with the changes of benchmarks.scale, on scenes of another size",
    )
    write_record(record, folder / "score")
    return record


def measure(scaling: ScalingConfig) -> Scaling:
    """Train and score each model that is asked for, then time all models.

    Timing wants a quiet machine and is not kept by a run that is interrupted, so it comes last.

    Raises:
        RecordError: the record is damaged.
        RunError: see `train_and_score`.
        ValueError: a setting is invalid, or is not the record's.
    """
    _check(scaling)
    asked = [(side, model) for side in scaling.sides for model in scaling.models]
    found = None if scaling.record is None else read_scaling(scaling.record)
    points = {} if found is None else _kept(scaling, found, asked)
    notes = found.notes if found is not None and points else ""
    for case in asked:
        points[case] = _trained_point(scaling, *case)
    cases = sorted(points, key=lambda case: (case[0], MODEL_NAMES.index(case[1])))
    print("timing inference and updates, by turns ...")
    times = time_models(scaling, cases)
    sides = sorted({side for side, _ in cases})
    return Scaling(
        env_id=scaling.env_id,
        minutes=scaling.minutes,
        seed=scaling.seed,
        precision=scaling.precision,
        hardware=hardware(1),
        revision=git_revision(),
        points=tuple(
            replace(points[case], inference=inference, update=update)
            for case, (inference, update) in zip(cases, times, strict=True)
        ),
        dense_sums=tuple(
            DenseSums(side, time_dense_sums(side, DENSE_SCENES, scaling.repeats)) for side in sides
        ),
        notes=notes,
    )


def _trained_point(scaling: ScalingConfig, side: int, model: ModelName) -> ScalingPoint:
    print(f"{model} at {side} pixels: training for {scaling.minutes:g} minutes, or loading")
    record = train_and_score(scaling, model, side)
    score = record.headline
    assert score.success is not None
    assert score.success_interval is not None
    low, high = score.success_interval
    untimed = Milliseconds(0.0, 0.0, 0.0)
    return ScalingPoint(
        side=side,
        key=model,
        model=record.model.name,
        revision=record.revision,
        inference=untimed,
        update=untimed,
        multiply_adds=score.costs.get("multiply_adds"),
        error_percent=round(100 * (1 - score.success), 4),
        interval_percent=(round(100 * (1 - high), 4), round(100 * (1 - low), 4)),
        scenes=score.episodes,
        batch_size=training_config(scaling, model, side).batch_size,
        images=record.episodes,
        core_seconds=record.seconds * record.cores,
        settings=settings_of(scaling, model, side),
    )


def _kept(
    scaling: ScalingConfig, found: Scaling, asked: Sequence[Case]
) -> dict[Case, ScalingPoint]:
    """The points of a record that are not asked for anew, which must be of the same settings."""
    kept = {(p.side, p.key): p for p in found.points if (p.side, p.key) not in asked}
    if not kept:
        return {}
    here = replace(
        found,
        env_id=scaling.env_id,
        minutes=scaling.minutes,
        seed=scaling.seed,
        precision=scaling.precision,
        hardware=hardware(1),
    )
    for name, value in vars(here).items():
        if value != getattr(found, name):
            raise ValueError(
                f"{name}={value!r}, but the record in {scaling.record} is of "
                f"{getattr(found, name)!r}; points of both cannot be compared: write to another "
                "folder, or remove that record"
            )
    for (side, model), point in kept.items():
        problem = None
        if point.scenes != scaling.episodes:
            problem = f"was scored on {point.scenes} scenes and not {scaling.episodes}"
        elif point.settings is None:
            problem = "has no settings in that record"
        elif point.settings != settings_of(scaling, model, side):
            problem = "was trained by other settings"
        if problem:
            raise ValueError(
                f"{point.model} at {side} pixels {problem}: measure it anew too, write to another "
                "folder, or remove that record"
            )
    return kept


def _check(scaling: ScalingConfig) -> None:
    if not scaling.models or len(set(scaling.models)) < len(scaling.models):
        raise ValueError(f"models={scaling.models} must be names of models, each given once")
    if not scaling.sides or min(scaling.sides) < 1 or len(set(scaling.sides)) < len(scaling.sides):
        raise ValueError(f"sides={scaling.sides} must be counts of pixels, each given once")
    check_positive(scaling, "minutes")
    check_counts(scaling, "episodes", "repeats")
    if scaling.batch_size is not None:
        check_counts(scaling, "batch_size")
    spec_of(scaling.env_id)  # that there is such an environment


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    scaling = read_options(ScalingConfig, arguments, prog="python -m benchmarks.scale")

    def command() -> None:
        measured = measure(scaling)
        print(scaling_table(measured))
        picture = scaling.out / "scaling.png"
        draw_scaling(measured, picture)
        print(f"drawn in {picture}")
        if scaling.record is not None:
            print(f"recorded in {write_scaling(measured, scaling.record)}")

    run_command(command)


if __name__ == "__main__":
    main()
