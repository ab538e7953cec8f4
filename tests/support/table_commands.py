"""The command of the tables as a process, and what it leaves."""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from glimpse_envs.evaluation.record import Record
from glimpse_envs.evaluation.records import read_records

ROOT = Path(__file__).parents[2]


def begun(folder: Path, *options: str, table: str = "LONG") -> subprocess.Popen[str]:
    """The command, in a process group of its own, as a terminal begins it."""
    command = [
        *(sys.executable, "-m", "benchmarks.tables", f"tests.support.tables:{table}"),
        *("--runs", str(folder / "runs"), "--results", str(folder / "results"), *options),
    ]
    return subprocess.Popen(
        command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        process_group=0,
    )  # fmt: skip


def wait_until(holds: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 300
    while not holds():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            pytest.fail(f"not within five minutes: {process.communicate()}")
        time.sleep(0.02)


def trained(folder: Path, *seeds: int) -> bool:
    """Whether all the runs have a checkpoint and a line of metrics."""
    runs = [folder / "runs" / f"long-seed{seed}" for seed in seeds]
    names = ("checkpoint.safetensors", "metrics.jsonl")
    return all((run / name).exists() for run in runs for name in names)


def timeless(record: Record) -> Record:
    """A record without what is measured anew or tells when."""
    scores = tuple(
        replace(score, costs={n: v for n, v in score.costs.items() if n != "seconds"})
        for score in record.scores
    )
    curve = tuple(replace(point, core_seconds=0.0) for point in record.curve)
    return replace(record, seconds=0.0, scores=scores, curve=curve, hardware="", revision="")


def records_of(folder: Path) -> list[Record]:
    records, problems = read_records(folder / "results")
    assert problems == []
    return [timeless(record) for record in records]
