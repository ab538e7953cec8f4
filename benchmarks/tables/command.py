"""Train, score and record what a table of results lacks: `python -m benchmarks.tables pictures`.

`--list` shows what is recorded, what lacks and the core-hours that this will take. The same command
goes on with what was interrupted or killed, several at once share the work, and a run that fails
does not stop the others. A run is a folder; its log.txt has its output. On a cluster of machines
that share the checkout and the folders of runs and results: `--ray auto`.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import Annotated

import gymnasium
import torch
import tyro

from agents.training.checks import check_counts
from agents.training.command_line import read_options, run_command
from agents.training.config import TrainingConfig, check_config
from benchmarks.processes import Failure, side_by_side
from benchmarks.tables.listing import lines_on_emulation, listing, listing_of_earlier
from benchmarks.tables.planning import TABLES, PlannedRow, Task, earlier_runs, find_table, plan
from benchmarks.tables.ray_cluster import on_cluster
from benchmarks.tables.view import View
from benchmarks.tables.worker import LOG, fill, last_lines
from glimpse_envs.evaluation.provenance import allowed_cores
from glimpse_envs.evaluation.records import read_record
from glimpse_envs.evaluation.run_errors import RunError
from report.markdown import UNKNOWN, digits
from report.page import ROOT
from report.runs import read_runs


@dataclass(frozen=True)
class TablesConfig:
    """Train what tables of results lack, score and record it, and redraw the pages."""

    tables: tyro.conf.Positional[tuple[str, ...]] = tuple(TABLES)
    """Names of tables, or module:NAME of a table of your own."""
    list_only: Annotated[tyro.conf.FlagCreatePairsOff[bool], tyro.conf.arg(name="list")] = False
    """Only show what is recorded, what lacks and the core-hours of that, and, of whole tables,
    which records are of earlier settings."""
    rows: tuple[str, ...] = ()
    """Names of the rows to train; all where it is not given."""
    seeds: int | None = None
    """Train only the first so many seeds of each row; all of the row's where it is not given."""
    workers: int | None = None
    """Number of runs at a time, a core each; all cores where it is not given, or as many as the
    GPUs have shares. A Ray cluster that is there already has as many as it has CPUs."""
    ray: str | None = None
    """Address of a Ray cluster on which to train, such as auto; local starts one here."""
    gpu: float = 0.0
    """Share of a GPU for each run, which trains on it, such as 0.25; 0: on a CPU core."""
    runs: Path = Path("runs/tables")
    """Folder of the runs."""
    results: Path = ROOT / "results"
    """Folder of the records, as the report has it; made where it is not there."""


def fill_tables(config: TablesConfig) -> None:
    """Train, score and record what lacks, or list it.

    Raises:
        ValueError, OSError: a table, row or recipe is not there, or a row cannot be trained;
            nothing is trained.
        RunError: at the end, naming the runs that failed.
    """
    rows = _rows(config)
    if config.list_only:
        print(listing(rows, trained_here=config.ray is None))
        tables = [find_table(name) for name in dict.fromkeys(config.tables)]
        earlier = [] if config.rows else earlier_runs(tables, config.results)
        if earlier:
            print(f"\n{listing_of_earlier(earlier)}")
        return
    for row in rows:
        if row.row.lacks is not None:
            print(f"{row.row.name} is left out, its extra is not installed: {row.row.lacks}")
    _check(rows)
    if config.ray is None:
        for line in lines_on_emulation(rows):
            print(line)
    begun: set[str] = set()
    failed: list[str] = []
    while True:
        tasks = [task for row in rows for task in row.ready if task.name not in begun]
        if begun and not tasks:
            break
        hours = {task.name: row.hours for row in rows for task in row.missing}
        view = View(tasks, hours, sum(len(row.recorded) for row in rows))
        failed += _train(_placed(tasks, config), config, view)
        view.finish()
        if not tasks:
            break
        begun |= {task.name for task in tasks}
        rows = _planned(config)  # with what records of first seeds tell of further ones
    _redraw(config)
    if failed:
        raise RunError(f"{len(failed)} of {len(begun)} runs failed: {', '.join(failed)}")


def _rows(config: TablesConfig) -> list[PlannedRow]:
    for name in ("seeds", "workers"):
        if getattr(config, name) is not None:
            check_counts(config, name)
    if not 0 <= config.gpu <= 1:
        raise ValueError(f"gpu={config.gpu} must be a share from 0 to 1")
    if config.gpu and config.ray is None and not torch.cuda.is_available():
        raise ValueError(f"gpu={config.gpu}: torch finds no GPU here; leave it out")
    if config.results.exists() and not config.results.is_dir():
        raise ValueError(f"results={config.results} is a file: give a folder for the records")
    tables = [find_table(name) for name in dict.fromkeys(config.tables)]
    names = [row.name for table in tables for row in table.rows]
    for name in config.rows:
        if name not in names:
            raise ValueError(f"rows: {name!r} must be one of {', '.join(names)}")
    for folder in dict.fromkeys(config.results / table.folder for table in tables):
        for problem in read_runs(folder)[1]:
            print(f"left out: {problem}", file=sys.stderr)
    return _planned(config)


def _planned(config: TablesConfig) -> list[PlannedRow]:
    tables = [find_table(name) for name in dict.fromkeys(config.tables)]
    rows = plan(tables, config.results, config.runs)
    wanted = [row for row in rows if not config.rows or row.row.name in config.rows]
    return [row.of_first(config.seeds) for row in wanted]


def _check(rows: list[PlannedRow]) -> None:
    """Refuse rows that cannot be trained, before hours are spent on others."""
    for row in rows:
        if row.missing and isinstance(row.config, TrainingConfig):
            try:
                check_config(row.config)
            except (ValueError, gymnasium.error.Error) as error:
                raise ValueError(f"row {row.row.name}: {error}") from error


def _placed(tasks: list[Task], config: TablesConfig) -> list[Task]:
    """The tasks on their devices: of several GPUs here, in turn; Ray shows each task its own."""
    devices = ["cuda" if config.gpu else "cpu"]
    if config.gpu and config.ray is None and torch.cuda.device_count() > 1:
        devices = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    return [
        replace(task, config=replace(task.config, device=device))
        for task, device in zip(tasks, cycle(devices), strict=False)
    ]


def _workers(config: TablesConfig) -> int:
    """Number of runs at a time."""
    if config.workers is not None:
        return config.workers
    if config.gpu and config.ray is None:
        return min(allowed_cores(), max(1, int(torch.cuda.device_count() / config.gpu)))
    return allowed_cores()


def _train(tasks: list[Task], config: TablesConfig, view: View) -> list[str]:
    """Train all tasks; return the names of those that failed."""
    failed = []
    view.show()
    try:
        with closing(_outcomes(tasks, config, _workers(config), view)) as outcomes:
            for task, outcome in outcomes:
                if isinstance(outcome, Failure):
                    failed.append(task.name)
                    lines = [f"{task.name} failed: {outcome.reason}"]
                    lines += [f"  | {line}" for line in last_lines(task)]
                    view.end(task, "failed", "\n".join([*lines, f"  {task.folder / LOG}"]))
                elif outcome is None:
                    view.end(task, "elsewhere", f"{task.name}: another process trains it")
                else:
                    view.end(task, "recorded", f"{task.name}: {_summary(outcome)}")
    except KeyboardInterrupt:
        print("saved; the same command goes on")
        raise
    return failed


def _outcomes(
    tasks: list[Task], config: TablesConfig, workers: int, view: View
) -> Generator[tuple[Task, Path | Failure | None], None, None]:
    if config.ray is None:
        return side_by_side(fill, tasks, workers, idle=view.show)
    return on_cluster(fill, tasks, config.ray, workers, config.gpu, idle=view.show)


def _summary(path: Path) -> str:
    score = read_record(path).headline
    if score.success is None:
        found = UNKNOWN if score.mean_return is None else digits(score.mean_return)
        return f"return {found}, {path}"
    return f"error {100 * (1 - score.success):.2f} %, {path}"


def _redraw(config: TablesConfig) -> None:
    """Redraw the pages, where the records are the checkout's own."""
    from report.__main__ import main as report

    if config.results.resolve() == (ROOT / "results").resolve():
        report([])


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    # Schedulers end a job by SIGTERM, which is to save, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    config = read_options(
        TablesConfig, arguments, prog="python -m benchmarks.tables", description=__doc__
    )
    run_command(lambda: fill_tables(config))
