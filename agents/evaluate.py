"""Evaluate a run: `python -m agents.evaluate RUN`, and write its record with `--record results`."""

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import gymnasium as gym
import torch
import tyro

import glimpse_envs  # noqa: F401  (registers the environments)
from agents.scoring.costs import measure_costs
from agents.scoring.films import film_episodes
from agents.scoring.scanners import SCANNERS, ScannedPolicy
from agents.training.command_line import run_command
from glimpse_envs.evaluation.memory_records import write_memory_record
from glimpse_envs.evaluation.protocol import Evaluation, evaluate
from glimpse_envs.evaluation.records import Record, pack_correct, write_record
from glimpse_envs.evaluation.runs import Run, RunError, git_revision, load_policy, open_run
from glimpse_envs.rendering import write_film


@dataclass(frozen=True)
class EvaluateConfig:
    """Play every scene of a split once with a run's policy, and score its answers."""

    run: Annotated[Path, tyro.conf.Positional]
    """The run's folder."""
    split: str = "test"
    """test or validation."""
    scenes: int | None = None
    """Play the first so many scenes; all where it is not given."""
    looks: str | None = None
    """Who looks: learned, random, raster or oracle; as it was trained where it is not given."""
    seed: int = 0
    """Of clutter, places and first glimpses."""
    batch_size: int = 1000
    """Scenes at once; the result does not depend on it."""
    record: Path | None = None
    """Write a record into this folder (the results that are published lie in results/)."""
    notes: str = ""
    """What differs from the reference's setting, for the reader of the table."""
    film: Path | None = None
    """Also film the first test scenes (.mp4 or .gif)."""
    film_scenes: int = 4
    """So many of them."""


def evaluate_run(
    run: Run,
    *,
    split: str = "test",
    scenes: int | None = None,
    looks: str | None = None,
    seed: int = 0,
    batch_size: int = 1000,
    progress: bool = False,
    **changes: Any,
) -> Evaluation:
    """Score the policy of a run on its own environment; mean looks, one trajectory a scene.

    Args:
        run: an open run.
        looks: "learned" or a scanner of `agents.scoring.scanners.SCANNERS`; None looks as the run
        trained. split, scenes, seed, batch_size, progress: see
        `glimpse_envs.evaluation.protocol.evaluate`. **changes: arguments of the environment that
        differ from those it was trained with.

    Raises:
        RunError: the run's policy or checkpoint cannot be read.
        ValueError: `looks` is not known.
    """
    config = run.config["config"]
    looks = looks or config.get("looks", "learned")
    if looks != "learned" and looks not in SCANNERS:
        raise ValueError(f"looks={looks!r} must be one of learned, {', '.join(SCANNERS)}")
    torch.set_num_threads(config.get("threads", 1))
    policy: Any = load_policy(run.folder)
    env_kwargs = {**config["env_kwargs"], **changes}
    if hasattr(policy, "env_kwargs"):
        env_kwargs = policy.env_kwargs(env_kwargs)
        if looks != "learned":
            raise ValueError(f"looks={looks!r}: a model of the full view looks at nothing in turn")
    if looks != "learned":
        env = gym.make(config["env_id"], **config["env_kwargs"])
        policy = ScannedPolicy(SCANNERS[looks](env, seed), policy)
    return evaluate(
        policy,
        config["env_id"],
        split=split,
        scenes=scenes,
        batch_size=batch_size,
        seed=seed,
        progress=progress,
        **env_kwargs,
    )


def film_run(run: Run, path: Path, scenes: int = 4) -> None:
    """Film the first test scenes, as .mp4 or .gif; where they have a length, those of the greatest.

    Raises:
        RunError: the run's policy or checkpoint cannot be read.
    """
    from agents.scoring.memory_evaluation import greatest_length

    config = run.config["config"]
    policy: Any = load_policy(run.folder)
    kwargs = config["env_kwargs"]
    if hasattr(policy, "env_kwargs"):
        kwargs = policy.env_kwargs(kwargs)
    length = greatest_length(run)
    if length is not None:
        kwargs = {**kwargs, "min_length": length}
    films, _ = film_episodes(policy, config["env_id"], range(scenes), **kwargs)
    write_film(chain.from_iterable(films), path)


def validate_run(run: Run, scenes: int = 2_000) -> dict[str, float]:
    """The score of a run on the first `scenes` of the validation split, as a line of metrics.

    Raises:
        RunError: the run's policy or checkpoint cannot be read.
    """
    evaluation = evaluate_run(run, split="validation", scenes=scenes)
    return {"validation_error": 1.0 - evaluation.accuracy, "validation_scenes": scenes}


def learning_curve(run: Run) -> list[list[float]]:
    """The scores of `validate_run` among a run's metrics, as `Record.curve` has them."""
    cores = run.config["config"]["threads"]
    return [
        [
            round(line["seconds"] * cores, 2),
            line["step"],
            round(100 * line["validation_error"], 4),
            line["validation_scenes"],
        ]
        for line in run.read_metrics()
        if "validation_error" in line
    ]


def make_record(run: Run, evaluation: Evaluation, notes: str = "") -> Record:
    """The record of a run and its evaluation, from which published numbers are drawn.

    Raises:
        RunError: the run's policy or checkpoint cannot be read.
    """
    config = run.config["config"]
    costs = measure_costs(load_policy(run.folder), evaluation)
    _, metadata = run.load_checkpoint()
    low, high = evaluation.error_interval_percent
    return Record(
        env_id=evaluation.env_id,
        env_kwargs=dict(evaluation.env_kwargs),
        model=model_name(run),
        seed=run.config["seed"],
        glimpses=len(evaluation.accuracy_by_glimpse),
        error_percent=round(evaluation.error_percent, 4),
        interval_percent=(round(low, 4), round(high, 4)),
        error_by_glimpse=tuple(round(100 * (1 - a), 4) for a in evaluation.accuracy_by_glimpse),
        images_seen=metadata["images"],
        seconds=round(metadata["seconds"], 1),
        hardware=run.config["hardware"],
        revision=git_revision() if run.config["revision"] == "unknown" else run.config["revision"],
        config=config,
        split=evaluation.split,
        scenes=evaluation.scenes,
        correct_hex=pack_correct(evaluation.correct),
        notes=notes,
        cores=config["threads"],
        costs=costs.per_scene,
        costs_by_glimpse=costs.by_glimpse,
        curve=learning_curve(run),
    )


def model_name(run: Run) -> str:
    """What tables call the run's model.

    Raises:
        RunError: the run is older than such names.
    """
    if "model" not in run.config:
        raise RunError(
            f"{run.folder}/config.json lacks 'model', which newer runs have: add the name that "
            'tables are to give it, such as "Reinforce LSTM", or train again'
        )
    return str(run.config["model"])


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    config = tyro.cli(EvaluateConfig, args=arguments, prog="python -m agents.evaluate")

    def command() -> None:
        run = open_run(config.run)
        if config.film is not None:
            film_run(run, config.film, config.film_scenes)
            print(f"filmed in {config.film}")
        from agents.scoring.memory_evaluation import greatest_length

        if greatest_length(run) is not None:
            _evaluate_lengths(run, config)
            return
        evaluation = evaluate_run(
            run,
            split=config.split,
            scenes=config.scenes,
            looks=config.looks,
            seed=config.seed,
            batch_size=config.batch_size,
            progress=True,
        )
        print(evaluation.summary())
        if config.record is not None:
            if config.looks not in (None, run.config["config"].get("looks", "learned")):
                raise ValueError("a record is of the looks that the run was trained with")
            path = write_record(make_record(run, evaluation, config.notes), config.record)
            print(f"recorded in {path}")

    run_command(command)


def _evaluate_lengths(run: Run, config: EvaluateConfig) -> None:
    """Score a run on tapes or tables."""
    from agents.scoring.memory_evaluation import evaluate_lengths, make_memory_record

    for name in ("split", "scenes", "looks", "seed"):
        if getattr(config, name) != getattr(EvaluateConfig, name):
            raise ValueError(
                f"{name}={getattr(config, name)!r}: a run on tapes or tables is scored on the "
                "same 1,000 test sequences of each length; leave it out"
            )
    for length, evaluation in evaluate_lengths(run).items():
        low, high = (100 * share for share in evaluation.interval)
        print(
            f"length {length}: {100 * evaluation.accuracy:.1f} % of {evaluation.scenes:,} test "
            f"sequences wholly right ({low:.1f} to {high:.1f}), return "
            f"{evaluation.mean_return:.3f}, {evaluation.mean_glimpses:.1f} steps"
        )
    if config.record is not None:
        path = write_memory_record(make_memory_record(run, config.notes), config.record)
        print(f"recorded in {path}")


if __name__ == "__main__":
    main()
