"""Which runs of a table are recorded, which lack, and what these will cost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from agents.training.config import RunConfig
from agents.training.resuming import has_run, settled
from benchmarks.tables.glyphs import GLYPHS
from benchmarks.tables.leaderboard import LEADERBOARD
from benchmarks.tables.memory import MEMORY
from benchmarks.tables.pictures import PICTURES
from benchmarks.tables.scenes import SCENES
from benchmarks.tables.table import Row, Table
from benchmarks.tables.texts import TEXTS
from benchmarks.tables.worlds import WORLDS
from glimpse_envs.core.classes import find_instance
from glimpse_envs.evaluation.record import NTM_COPY, Record
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.run_identity import settings_of, settings_of_all
from glimpse_envs.evaluation.runs import open_run
from glimpse_envs.evaluation.trust import trust_package_of
from report.page import ROOT
from report.runs import Run, read_runs

# The one list of tables; a new one is a file and a row.
TABLES: dict[str, Table] = {
    t.name: t for t in (PICTURES, MEMORY, TEXTS, SCENES, GLYPHS, WORLDS, LEADERBOARD)
}


@dataclass(frozen=True)
class Task:
    """One run of a row, and the folders that it reads and writes."""

    config: Any
    """Of the training, a `RunConfig` with the fields of its algorithm."""
    folder: Path
    """Of the run."""
    records: Path
    """Folder of its record."""
    notes: str = ""
    scored: int | None = None
    """Episodes of its scores; None: the whole test split."""

    @property
    def name(self) -> str:
        return self.folder.name

    def fits(self, record: Record) -> bool:
        """Whether a record is of this run."""
        return record.seed == self.config.seed and self.of_row(record)

    def of_row(self, record: Record) -> bool:
        """Whether a record is of this row: all but the seed is the same."""
        config = self.config
        if (record.algorithm, record.env_id) != (config.algorithm, config.env_id):
            return False
        planned = replace(
            record, config=_as_recorded(config), defaults=_as_recorded(type(config)())
        )
        ours, theirs = settings_of_all([planned, record])
        return ours == theirs


def _as_recorded(config: RunConfig) -> Any:
    """A config as a record holds it: in JSON, which has lists alone."""
    return json.loads(json.dumps(asdict(settled(config))))


@dataclass(frozen=True)
class PlannedRow:
    """A row with what is recorded of it and what lacks."""

    row: Row
    config: RunConfig
    """With seed 0."""
    recorded: tuple[Run, ...]
    """In the order of their seeds."""
    missing: tuple[Task, ...]
    """Empty where its extra is not installed."""
    hours: float | None
    """Estimated core-hours of each missing run; None where nothing tells."""

    @property
    def ready(self) -> tuple[Task, ...]:
        """Those missing runs that can begin. Of a row that `repeats` episodes only the first can,
        until a record tells how many they are."""
        by_minutes = getattr(self.config, "minutes", None) is not None
        waits = self.row.repeats == "episodes" and by_minutes and not _timed(self.recorded)
        return self.missing[:1] if waits else self.missing

    def of_first(self, seeds: int | None) -> PlannedRow:
        """With only those missing runs that are of the first `seeds` seeds; all where None."""
        if seeds is None:
            return self
        kept = (task for task in self.missing if task.config.seed < seeds)
        return replace(self, missing=tuple(kept))


def find_table(name: str) -> Table:
    """A table of `TABLES`, or another as "module:NAME", whose package is trusted from then on.

    Raises:
        ValueError: there is no such table.
    """
    table = find_instance("table", name, Table, TABLES)
    if name not in TABLES:
        trust_package_of(name)
    return table


def plan(tables: Sequence[Table], results: Path, runs: Path) -> list[PlannedRow]:
    """All rows of the tables in order of priority.

    Args:
        tables: of which.
        results: the folder that holds the folders of records.
        runs: the folder that holds the runs' folders.

    Raises:
        ValueError, OSError, RecordError: a row's recipe is not there, or a row has no seeds; the
            message names it.
    """
    planned = []
    for table in tables:
        folder = (results / table.folder).resolve()
        known = _runs_in(folder)
        planned += [_planned(row, table, folder, known, runs.resolve()) for row in table.rows]
    names = [each.row.name for each in planned]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"two rows are called {', '.join(twice)}: their runs would share a folder")
    return sorted(planned, key=lambda each: each.row.priority)


def earlier_runs(tables: Sequence[Table], results: Path) -> list[Run]:
    """Recorded runs that no row of their table would repeat: of its earlier settings, mostly. Those
    of the neural Turing machine's copy task are left out: a command of their own makes them.

    Args:
        tables: of which.
        results: the folder that holds the folders of records.

    Raises:
        ValueError, OSError, RecordError: a row's recipe is not there.
    """
    earlier = []
    for table in tables:
        folder = (results / table.folder).resolve()
        known = _runs_in(folder)
        configs = [(row, row.config(folder, ROOT / "results" / table.folder)) for row in table.rows]
        repeated = {run.file for row, config in configs for run in _runs_of(row, config, known)}
        earlier += [
            run for run in known if run.file not in repeated and run.record.env_id != NTM_COPY
        ]
    return earlier


def record_of(task: Task) -> Run | None:
    """The record of a run; None where there is none."""
    return next((run for run in _runs_in(task.records) if task.fits(run.record)), None)


def _runs_in(records: Path) -> list[Run]:
    return read_runs(records)[0]


def _planned(row: Row, table: Table, records: Path, known: Sequence[Run], runs: Path) -> PlannedRow:
    """A row of `table`, of whose folder `records` all runs are `known`."""
    wanted = table.seeds if row.seeds is None else row.seeds
    if wanted < 1:
        raise ValueError(f"row {row.name!r}: seeds={wanted} must be at least 1")
    config = row.config(records, ROOT / "results" / table.folder)
    of_row = {run.record.seed: run for run in _runs_of(row, config, known)}
    further, *_ = _further(row, config, of_row.values())
    tasks = []
    for seed in range(wanted):
        folder = runs / f"{row.name}-seed{seed}"
        own = config if further != config and _is_begun_by(config, folder) else further
        task = Task(replace(own, seed=seed), folder, records, row.notes, row.scored)
        tasks.append(task)
    seeds = [task.config.seed for task in tasks]
    return PlannedRow(
        row=row,
        config=config,
        recorded=tuple(of_row[seed] for seed in seeds if seed in of_row),
        missing=tuple(
            task for task in tasks if task.config.seed not in of_row and row.lacks is None
        ),
        hours=_core_hours(config, [run.record for run in of_row.values()], known),
    )


def _runs_of(row: Row, config: Any, known: Sequence[Run]) -> list[Run]:
    """Those of the `known` runs that are of a row: of its `config`, and those that repeat them."""

    def found(config: Any) -> list[Run]:
        task = Task(config, folder=Path(), records=Path())
        return [run for run in known if task.of_row(run.record)]

    first = found(config)
    further = [found(other) for other in _further(row, config, first) if other != config]
    return [run for runs in further for run in runs] + first


def _further(row: Row, config: Any, recorded: Iterable[Run]) -> list[Any]:
    """The configs that further seeds of a row may have; new seeds take the first. It is the row's
    own, but for a row that repeats episodes: there it has the number of episodes that the lowest
    recorded seed saw in the row's minutes. The numbers of other seeds that were trained by minutes
    follow, since earlier runs may have repeated those."""
    timed = _timed(recorded)
    if row.repeats == "minutes" or config.minutes is None or not timed:
        return [config]
    timed.sort(key=lambda record: record.seed)
    episodes = dict.fromkeys(record.episodes for record in timed)
    return [replace(config, minutes=None, episodes=number) for number in episodes]


def _timed(recorded: Iterable[Run]) -> list[Record]:
    """The records of runs that were trained for minutes."""
    records = [run.record for run in recorded]
    return [record for record in records if record.config.get("minutes") is not None]


def _is_begun_by(config: Any, folder: Path) -> bool:
    """Whether there is a run in `folder` that was begun for the minutes of `config`: it goes on by
    these."""
    if not has_run(folder):
        return False
    try:
        begun: dict[str, Any] = open_run(folder).config.get("config", {})
    except RunError:
        return False  # it fails by itself, and no other run with it
    return begun.get("minutes") == config.minutes


def _core_hours(config: Any, of_row: Sequence[Record], known: Sequence[Run]) -> float | None:
    """Estimated core-hours of one run: as its row's records; by its minutes; or at the pace of the
    record whose settings are the most alike, of the same algorithm."""
    on_cores = [record for record in of_row if not record.on_gpu]
    if on_cores:
        return fmean(record.seconds * record.cores for record in on_cores) / 3600
    if config.minutes is not None:
        return config.minutes / 60
    alike = [run.record for run in known if run.record.algorithm == config.algorithm]
    records = [record for record in alike if not record.on_gpu]
    if not records:
        return None
    settings = settings_of(asdict(config)).items()
    nearest = max(
        records, key=lambda record: sum(settings_of(record.config).get(n) == v for n, v in settings)
    )
    return nearest.seconds * nearest.cores / nearest.episodes * config.episodes / 3600
