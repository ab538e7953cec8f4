"""Recorded runs and the files that they stand in."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from glimpse_envs.evaluation.record import Record
from glimpse_envs.evaluation.records import read_files
from report.page import Places


@dataclass(frozen=True)
class Run:
    """A record and its file."""

    record: Record
    file: Path


def read_runs(folder: Path, other: Collection[str] = ()) -> tuple[list[Run], list[str]]:
    """All records of `folder`, by file name, and the problems of files that were left out.

    A run recorded twice counts once; people's records of too few episodes and scores of another
    split than the test's are left out; a folder that is not there holds none.

    Args:
        folder: of `*.json` files.
        other: names of files in it that hold something else.
    """
    paths = [path for path in sorted(folder.glob("*.json")) if path.name not in other]
    found, problems = read_files(paths, wanted=lambda record: record.is_shown)
    others = {path for path, record in found.items() if record.headline.split != "test"}
    problems += [
        f"{path}: it is a score of {found[path].headline.split} episodes, and pages show those of "
        "the test split"
        for path in sorted(others)
    ]
    return [Run(record, path) for path, record in found.items() if path not in others], problems


def record_links(runs: Iterable[Run], places: Places, page: str) -> str:
    """Links from `page` to the record of each run, which are called by their seeds."""
    return " ".join(f"[{run.record.seed}]({places.link(run.file, page)})" for run in runs)
