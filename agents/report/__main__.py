"""Report on runs: `python -m agents.report RUN ...` writes one HTML file that stands alone."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import torch
import tyro

from agents.report.analysis import analyse
from agents.report.page import make_page
from agents.scoring.run_groups import group_runs
from agents.training.command_line import read_options, run_command
from agents.training.resuming import setting_of
from glimpse_envs.core.files import check_writable, write_atomically
from glimpse_envs.evaluation.runs import open_run
from glimpse_envs.evaluation.trust import trust


@dataclass(frozen=True)
class ReportConfig:
    """Write a report of runs: learning curves, errors, gaze, mistakes, costs, configs."""

    runs: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Folders of runs; those that differ in their seed alone share a line with a band."""
    out: Path | None = None
    """File to write (.html); None: report.html in the first run's folder."""
    split: Literal["validation", "test"] = "validation"
    """Split to play; keep the test split for final results."""
    episodes: int = 2_000
    """Maximum number of episodes to play with each run. Where the task has lengths, this many are
    played at the scored length, this many over all trained lengths mixed, and this many at each
    greater length."""
    mistakes: int = 20
    """Number of failed episodes of each run to draw."""
    source: str | None = None
    """Place of the user's own pictures, such as folder:PATH, where they were moved since the
    training."""
    trust: tuple[str, ...] = ()
    """Third-party packages whose code the runs may import, such as my_tasks."""


def write_report(config: ReportConfig) -> Path:
    """Analyse the runs, and write the page; return its path.

    Raises:
        RunError: a run cannot be read.
        ValueError: there is no run, or an option does not fit.
    """
    trust(*config.trust)
    if not config.runs:
        raise ValueError("name at least one run, such as runs/mine")
    for name, least in (("episodes", 1), ("mistakes", 0)):
        if getattr(config, name) < least:
            raise ValueError(f"{name}={getattr(config, name)} must be at least {least}")
    if config.out is not None and config.out.suffix.lower() != ".html":
        raise ValueError(f"a report's path must end in .html; it is {config.out}")
    folders = list(dict.fromkeys(config.runs))
    out = config.out or folders[0] / "report.html"
    runs = [open_run(folder) for folder in folders]
    for run in runs:
        setting_of(run, "env_id", str)  # first of all, that there is a config to read
    runs = [run.with_pictures(config.source) for run in runs]
    check_writable("--out", out)
    groups = group_runs(runs)
    analyses = []
    for group in groups:
        for run in group.runs:
            print(f"playing {run.folder}", flush=True)
            analyses.append(
                analyse(
                    run,
                    split=config.split,
                    episodes=config.episodes,
                    mistakes=config.mistakes,
                )
            )
    write_atomically(out, make_page(groups, analyses).encode())
    return out


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    config = read_options(ReportConfig, arguments, prog="python -m agents.report")
    run_command(lambda: print(f"written to {write_report(config)}"))


if __name__ == "__main__":
    torch.set_flush_denormal(True)
    main()
