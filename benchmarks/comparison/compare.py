"""Compare hard attention with soft: `python -m benchmarks.comparison`, or `make compare`.

Each contender of `benchmarks.comparison.contenders` is trained for the same core-minutes, with the
settings listed there and controllers of the same sizes, validated as it learns, and scored on the
test split. Error and costs are printed as a table, written to OUT/comparison.md and drawn in
OUT/comparison.png. The same command resumes interrupted trainings and keeps finished ones.
"""

import sys
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import gymnasium as gym

from agents.scoring.run_record import make_record
from agents.scoring.run_scores import score_run
from agents.training.checks import check_counts, check_positive
from agents.training.command_line import KEY_VALUE_PAIRS, read_options, run_command
from agents.training.config import TrainingConfig, check_config
from agents.training.precision import fastest_precision
from benchmarks.comparison.contenders import A_FEW, CONTENDERS, contender_of
from benchmarks.processes import Failure, side_by_side
from benchmarks.whole_runs import train_to_end
from glimpse_envs.core.files import write_atomically
from glimpse_envs.episodes.description import task_of
from glimpse_envs.episodes.lookup import task_class_of
from glimpse_envs.evaluation.record import Record
from glimpse_envs.evaluation.records import write_record
from glimpse_envs.evaluation.run_errors import RunError


@dataclass(frozen=True)
class CompareConfig:
    """Train hard and soft attention on the same scenes, and draw error against cost."""

    env_id: str = "Glimpse/ClutteredGlyphs-v0"
    """Id of the environment."""
    env_kwargs: Annotated[dict[str, Any], KEY_VALUE_PAIRS] = field(default_factory=dict)
    """Arguments of the environment, such as budget=6."""
    models: tuple[str, ...] = A_FEW
    """Names of the models to compare, or the one word all; module:NAME is an algorithm of another
    package, by its own defaults."""
    seeds: tuple[int, ...] = (0,)
    """Random seeds of scenes, samples and initial weights; each model is trained once with each."""
    minutes: float = 1.0
    """Length of each training in minutes of CPU time on one core."""
    processes: int = 2
    """Number of trainings at a time, each on one core."""
    episodes: int | None = None
    """Number of test episodes to score on, from the first on; where it is not given, all."""
    validation_episodes: int = 2_000
    """Number of episodes of a validation, at each doubling of the training."""
    out: Path | None = None
    """Folder of the runs, the records and the picture; runs/compare-ENVIRONMENT where it is not
    given."""
    record: Path | None = None
    """Folder of the records; the folder "records" in that of --out where it is not given."""

    @property
    def place(self) -> Path:
        return self.out or Path("runs") / f"compare-{self.env_id.rpartition('/')[2]}"

    @property
    def records(self) -> Path:
        return self.record or self.place / "records"


@dataclass(frozen=True)
class Task:
    """The training and scoring of one contender with one seed."""

    contender: str
    config: TrainingConfig
    compare: CompareConfig

    @property
    def name(self) -> str:
        return f"{self.contender.replace(':', '.')}-{self.config.seed}"


def compare_models(config: CompareConfig) -> list[Record]:
    """Train, score and draw; return the records of the comparison, best first.

    Raises:
        ValueError, gymnasium.error.Error: the config has an invalid value; nothing is written.
        RunError: at the end, naming the contenders that failed.
    """
    tasks = plan(config)
    print(
        f"{len(tasks)} trainings of {config.minutes:g} minutes on {config.env_id}, "
        f"{config.processes} at a time; then each is scored. Runs: {config.place}"
    )
    failures = []
    try:
        with closing(side_by_side(train_and_score, tasks, config.processes)) as outcomes:
            for done, (task, outcome) in enumerate(outcomes, start=1):
                where = f"[{done}/{len(tasks)}] {task.name}"
                if isinstance(outcome, Failure):
                    print(f"{where} failed: {outcome.reason}", file=sys.stderr)
                    failures.append(task.name)
                else:
                    success = 100 * _success(outcome)
                    print(f"{where}: {outcome.model.name}, success {success:.2f} %", flush=True)
    except KeyboardInterrupt:
        raise RunError("interrupted; the same command goes on with what was begun") from None
    records = _draw(config)
    if failures:
        raise RunError(f"{len(failures)} of {len(tasks)} contenders failed: {', '.join(failures)}")
    return records


def plan(config: CompareConfig) -> list[Task]:
    """The tasks of a comparison.

    Raises:
        ValueError, gymnasium.error.Error: the config has an invalid value.
    """
    check_positive(config, "minutes")
    check_counts(config, "processes", "validation_episodes")
    if config.episodes is not None:
        check_counts(config, "episodes")
    names = tuple(CONTENDERS) if config.models == ("all",) else config.models
    if task_class_of(config.env_id) is None:
        raise ValueError(f"{config.env_id} is no environment of glimpses: it has no full view")
    if not names or not config.seeds or min(config.seeds) < 0:
        raise ValueError("give at least one of --models, and of --seeds, which are at least 0")
    chosen = {name: contender_of(name) for name in names}
    given: dict[str, Any] = {
        "minutes": config.minutes,
        "precision": fastest_precision(),
        "validation_episodes": config.validation_episodes,
    }
    tasks = [
        Task(name, contender.config(config.env_id, config.env_kwargs, seed=seed, **given), config)
        for seed in dict.fromkeys(config.seeds)
        for name, contender in chosen.items()
    ]
    check_config(tasks[0].config)
    scored_scenes(config)
    return tasks


def scored_scenes(config: CompareConfig) -> int:
    """The number of test scenes to score on.

    Raises:
        ValueError: the environment refuses its arguments, hides no picture or has too few scenes.
    """
    with closing(gym.make(config.env_id, split="test", **config.env_kwargs)) as env:
        task = task_of(env)
    if task is None or task.picture_view is None:
        raise ValueError(
            f"env_id={config.env_id!r} hides no picture, which all contenders look at; models of "
            "tapes and tables: python -m baselines.train --preset tapes"
        )
    available = task.num_scenes
    if available is None:
        raise ValueError(f"env_id={config.env_id!r} has no fixed test scenes to be compared on")
    if config.episodes is not None and config.episodes > available:
        raise ValueError(f"episodes={config.episodes}: the test split has {available}")
    return config.episodes or available


def train_and_score(task: Task) -> Record:
    """Train a contender, or go on with it, and write the record of its score.

    Raises:
        RunError: see `benchmarks.whole_runs.train_to_end`.
    """
    compare, contender = task.compare, contender_of(task.contender)
    run = train_to_end(contender.trainable, task.config, compare.place / task.name)
    record = make_record(run, score_run(run, episodes=compare.episodes), contender.notes)
    write_record(record, compare.records)
    return record


def comparable(record: Record, config: CompareConfig, episodes: int) -> bool:
    """Whether a record has the scenes and the core-minutes of this comparison, and was scored on
    `episodes` scenes."""
    task = task_class_of(config.env_id)
    assert task is not None
    view_arguments = task.view_arguments

    def scenes(env_kwargs: dict[str, Any]) -> dict[str, Any]:
        return {name: v for name, v in env_kwargs.items() if name not in view_arguments}

    return (
        (record.env_id, scenes(record.env_kwargs)) == (config.env_id, scenes(config.env_kwargs))
        and record.config.get("minutes") == config.minutes
        and record.headline.split == "test"
        and record.headline.episodes == episodes
    )


def _success(record: Record) -> float:
    success = record.headline.success
    assert success is not None
    return success


def _draw(config: CompareConfig) -> list[Record]:
    """Print and draw all comparable records."""
    from report.figures.comparison import draw_comparison
    from report.grouping import tasks_of
    from report.pages.comparison import comparison_table
    from report.runs import read_runs
    from report.scaling import FILE_NAME

    every, problems = read_runs(config.records, other=(FILE_NAME,))
    for problem in problems:
        print(f"left out: {problem}", file=sys.stderr)
    episodes = scored_scenes(config)
    runs = [run for run in every if comparable(run.record, config, episodes)]
    if not runs:
        return []
    picture, text = config.place / "comparison.png", config.place / "comparison.md"
    groups = [group for task in tasks_of(runs) for group in task.groups]
    draw_comparison(groups, picture)
    table = comparison_table(groups)
    write_atomically(text, f"{table}\n".encode())
    print(f"\n{table}\n\npicture: {picture}\ntable:   {text}")
    return sorted((run.record for run in runs), key=_success, reverse=True)


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    config = read_options(CompareConfig, arguments, prog="python -m benchmarks.comparison")
    run_command(lambda: compare_models(config))
