"""What the rest of the error is: scenes that one run, or several of one recipe, get wrong.

    python -m benchmarks.mistakes runs/seed0 runs/seed1 ... [--record results/mistakes]

All runs play the same scenes. The record counts their mistakes by the number of looks at a target,
by the number of targets that were visited, where a scene has several, by the right answer and by
the clutter over the targets, and a sheet shows the scenes that most of them get wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import torch
import tyro

from agents.training.checks import check_counts
from agents.training.command_line import read_options, run_command
from benchmarks.mistakes.counting import check_runs, count_mistakes, play
from benchmarks.mistakes.scenes import draw_sheet
from glimpse_envs.evaluation.runs import open_run
from glimpse_envs.rendering import write_png
from report.mistakes import Mistakes, write_mistakes


@dataclass(frozen=True)
class MistakesConfig:
    """Find the scenes that one run, or several of one recipe, get wrong."""

    runs: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Folders of the runs, or of weights; they differ in their seeds alone."""
    split: Literal["validation", "test"] = "validation"
    """Split to play."""
    episodes: int | None = None
    """Number of the split's first scenes to play; all where it is not given."""
    hardest: int = 40
    """Number of scenes in the sheet, at most."""
    record: Path | None = None
    """Folder of the record and the sheet, results/mistakes for the published ones; nothing is
    written without it."""


def find_mistakes(config: MistakesConfig) -> Mistakes:
    """Play, count, print and record.

    Raises:
        RunError: a run cannot be read, or the runs cannot be compared.
        ValueError: an option cannot be.
    """
    check_counts(config, "hardest")
    if config.episodes is not None:
        check_counts(config, "episodes")
    folders = list(dict.fromkeys(folder.resolve() for folder in config.runs))
    if not folders:
        raise ValueError("give at least one run, such as runs/seed0")
    runs = [open_run(folder) for folder in folders]
    check_runs(runs)
    played = []
    for run in runs:
        print(f"playing {run.folder}", flush=True)
        played.append(play(run, config.split, config.episodes))
    mistakes = count_mistakes(played, config.hardest)
    for times, scenes in enumerate(mistakes.wrong_in):
        print(f"wrong in {times} of {len(played)} runs: {scenes:,} scenes")
    if config.record is not None:
        path = config.record / f"{record_name(mistakes)}.json"
        sheet = path.with_suffix(".png")
        sheet.unlink(missing_ok=True)  # of an earlier record, which must not stand beside this one
        write_mistakes(mistakes, path)
        if mistakes.hardest:
            write_png(draw_sheet(mistakes, played[0].evaluation), sheet)
    return mistakes


def record_name(mistakes: Mistakes) -> str:
    """The file of a record, without its ending: environment, arguments, model and split."""
    arguments = "".join(f"_{name}-{value}" for name, value in sorted(mistakes.env_kwargs.items()))
    words = f"{mistakes.env_id}{arguments}_{mistakes.model}_{mistakes.split}"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", words)


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    config = read_options(
        MistakesConfig, arguments, prog="python -m benchmarks.mistakes", description=__doc__
    )
    run_command(lambda: find_mistakes(config))


if __name__ == "__main__":
    torch.set_flush_denormal(True)
    main()
