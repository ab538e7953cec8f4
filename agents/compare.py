"""Compare models over their seeds: `python -m agents.compare RUN RUN ... --format latex`.

Runs that differ in their seeds alone are one model. All models are played on the same episodes, and
each is compared with the first (`agents.scoring.model_scores`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from agents.scoring.model_scores import ModelScore, score_models
from agents.scoring.run_groups import group_runs
from agents.scoring.score_tables import FORMATS
from agents.training.checks import check_device
from agents.training.command_line import read_options, run_command
from agents.training.host import keep_memory
from agents.training.resuming import setting_of
from glimpse_envs.core.files import check_writable, write_atomically
from glimpse_envs.evaluation.runs import open_run
from glimpse_envs.evaluation.trust import trust


@dataclass(frozen=True)
class CompareConfig:
    """Score models over their seeds on the same episodes, and their differences from the first."""

    runs: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Folders of runs of one environment; those that differ in their seeds alone are one model."""
    split: Literal["test", "validation"] = "test"
    """Split to play."""
    episodes: int | None = None
    """Number of episodes to play, in the split's order; None: the whole split, or 1,000 at the
    greatest trained length. Worlds without fixed scenes, such as games, need it."""
    format: Literal["markdown", "csv", "latex"] = "markdown"
    """Format of the table."""
    out: Path | None = None
    """File to write the table to; None: it is printed."""
    source: str | None = None
    """Place of the user's own pictures, such as folder:PATH, where they were moved since the
    training."""
    device: str = "cpu"
    """Torch device of the models, such as cpu, cuda or cuda:1."""
    trust: tuple[str, ...] = ()
    """Third-party packages whose code the runs may import, such as my_tasks."""


def compare_runs(config: CompareConfig) -> list[ModelScore]:
    """Score the models of the runs, in the order in which they first come.

    Raises:
        RunError: a run cannot be read.
        ValueError: there is no run, the runs are not of one environment and task, two runs of a
            model have the same seed, or an option does not fit.
    """
    trust(*config.trust)
    check_device(config.device)
    if not config.runs:
        raise ValueError("name at least one run, such as runs/mine")
    runs = [open_run(folder) for folder in dict.fromkeys(config.runs)]
    for run in runs:
        setting_of(run, "env_id", str)  # first of all, that there is a config to read
    runs = [run.with_pictures(config.source) for run in runs]
    groups = {group.name: group.runs for group in group_runs(runs)}
    return score_models(groups, config.split, config.episodes, config.device)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    given = None if arguments is None else list(arguments)
    config = read_options(CompareConfig, given, prog="python -m agents.compare")
    run_command(lambda: _compare(config))


def _compare(config: CompareConfig) -> None:
    keep_memory()
    if config.out is not None:
        check_writable("--out", config.out)
    text = FORMATS[config.format](compare_runs(config))
    if config.out is None:
        print(text)
    else:
        write_atomically(config.out, f"{text}\n".encode())
        print(f"written to {config.out}")


if __name__ == "__main__":
    main()
