"""Score runs on a whole set of tasks: `python -m agents.suite RUN RUN ... --tasks memory`.

Runs of one environment are training seeds of it; together they should be of one learner. Each is
played on its environment at the standard budget, and the inter-quartile mean of all normalised
scores is printed with its interval (`glimpse_envs.evaluation.suite`).
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import gymnasium as gym
import tyro

from agents.scoring.run_groups import check_seeds
from agents.scoring.run_scores import evaluate_run
from agents.training.checkpoints import leaves_of
from agents.training.checks import check_device
from agents.training.command_line import read_options, run_command
from agents.training.resuming import FREE, setting_of
from glimpse_envs.episodes.lookup import spec_of
from glimpse_envs.evaluation.runs import Run, open_run
from glimpse_envs.evaluation.suite import (
    TASK_SETS,
    SuiteScore,
    check_split,
    check_standard,
    combine,
    task_set,
)
from glimpse_envs.evaluation.trust import trust

_OF_A_SEED = FREE | {"seed", "precision"}
"""Options in which the training seeds of one learner may differ."""


@dataclass(frozen=True)
class SuiteConfig:
    """Score the runs of one learner on every task of a set."""

    runs: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Folders of runs, at least one for each task of the set."""
    tasks: tuple[str, ...] = ("all",)
    """Set of tasks (pictures, memory or all), or ids."""
    split: str = "test"
    """Split to play: test or validation."""
    episodes: int = 1000
    """Number of episodes of each task, from the split's first on; at most as many as it has."""
    seed: int = 0
    """Random seed of clutter, places and first glimpses."""
    batch_size: int = 1000
    """Number of episodes played at once; the result does not depend on it."""
    device: str = "cpu"
    """Device of the models: cpu, cuda, cuda:1, ..."""
    trust: tuple[str, ...] = ()
    """Third-party packages whose code the runs may import, such as my_tasks."""


def score_runs(config: SuiteConfig) -> SuiteScore:
    """Score the runs; a folder that is named twice counts once, and that is printed.

    Raises:
        RunError: a run cannot be read.
        ValueError: no run is named, a name of `tasks` is neither a set nor an id, a task of the set
            has no run, a run is of no task of the set or of a changed one, two runs of a task
            differ in more than their seeds or not even in these, or an option does not fit.
    """
    check_split(config.split)
    if config.episodes < 2:
        raise ValueError(
            f"episodes={config.episodes} must be at least 2: an interval needs two results"
        )
    if not config.runs:
        raise ValueError("name at least one run")
    ids = _ids_of(config.tasks)
    runs: dict[str, list[Run]] = defaultdict(list)
    for folder in _each_once(config.runs):
        run = open_run(folder)
        env_id = setting_of(run, "env_id", str)
        if env_id not in ids:
            raise ValueError(f"{folder} is a run on {env_id}, which is none of {', '.join(ids)}")
        check_standard(env_id, setting_of(run, "env_kwargs", dict))
        runs[env_id].append(run)
    missing = [env_id for env_id in ids if env_id not in runs]
    if missing:
        raise ValueError(
            f"no run on {', '.join(missing)}: train one on each, or name fewer --tasks"
        )
    for found in runs.values():
        _check_seeds(found)
    return combine(
        {
            env_id: [
                evaluate_run(
                    run,
                    split=config.split,
                    episodes=config.episodes,
                    seed=config.seed,
                    batch_size=config.batch_size,
                    device=config.device,
                )
                for run in runs[env_id]
            ]
            for env_id in ids
        }
    )


def _ids_of(tasks: tuple[str, ...]) -> tuple[str, ...]:
    """The ids of the one set that is named, or those that are listed.

    Raises:
        ValueError: a name is neither that of a set nor an id, or an id is listed twice.
    """
    if len(tasks) == 1 and tasks[0] in TASK_SETS:
        return task_set(tasks[0])
    for name in tasks:
        try:
            spec_of(name)
        except gym.error.Error as error:
            raise ValueError(
                f"tasks: {name!r} is neither a set ({', '.join(TASK_SETS)}), which is named alone, "
                f"nor an id: {error}"
            ) from error
    return task_set(tasks)


def _each_once(folders: Sequence[Path]) -> list[Path]:
    """`folders` without those that are named again, each of which is printed."""
    found: dict[Path, Path] = {}
    for folder in folders:
        if folder.resolve() in found:
            print(f"the run {folder} is named more than once; it counts once")
        found.setdefault(folder.resolve(), folder)
    return list(found.values())


def _check_seeds(runs: Sequence[Run]) -> None:
    """Raise a `ValueError` unless the runs, of one task, are of one recipe and different seeds."""
    trained = [run for run in runs if "seed" in run.config["config"]]  # not a policy of others
    for run in trained:
        first = trained[0]
        differing = _differing(_recipe_of(first), _recipe_of(run))
        if differing:
            raise ValueError(
                f"{first.folder} and {run.folder} differ in {', '.join(differing)}: they are two "
                "learners, of which each has a score of its own"
            )
    check_seeds(trained)


def _recipe_of(run: Run) -> dict[str, Any]:
    """Option -> value, of those that tell one learner from another."""
    config = {k: v for k, v in run.config["config"].items() if k not in _OF_A_SEED}
    return {"algorithm": run.config.get("algorithm"), **leaves_of(config, ".")}


def _differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """The names of at most five options that are not equal, the algorithm first."""
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    return names[:5]


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    config = read_options(SuiteConfig, arguments, prog="python -m agents.suite")

    def score() -> None:
        trust(*config.trust)
        check_device(config.device)
        print(score_runs(config).summary())

    run_command(score)


if __name__ == "__main__":
    main()
