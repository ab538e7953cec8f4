"""What of the tables is recorded and what lacks, as lines to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents.training.precision import is_emulated
from benchmarks.tables.planning import PlannedRow
from glimpse_envs.evaluation.result import aligned
from report.groups import Group
from report.markdown import UNKNOWN, count, environment
from report.references.memory import MemoryReference
from report.references.pictures import Reference
from report.references.worlds import WorldReference
from report.runs import Run

HEADS = (
    "row", "priority", "environment", "algorithm", "budget", "error %", "reference", "recorded",
    "missing seeds", "core-hours",
)  # fmt: skip


def listing(rows: Sequence[PlannedRow], trained_here: bool = True) -> str:
    """A line for each row, in order of priority, and the sum of what lacks; with what this machine
    emulates, if it is to train."""
    missing = sum(len(row.missing) for row in rows)
    hours = sum((row.hours or 0.0) * len(row.missing) for row in rows)
    unknown = sum(len(row.missing) for row in rows if row.hours is None)
    lack = "1 run lacks" if missing == 1 else f"{missing} runs lack"
    total = f"{lack} a record: about {hours:.1f} core-hours"
    if unknown:
        total += f", and {unknown} of which nothing tells how long they take"
    lacking = [
        f"row {planned.row.name} is left out, its extra is not installed: {planned.row.lacks}"
        for planned in rows
        if planned.row.lacks is not None
    ]
    told = lines_on_emulation(rows) if trained_here else []
    return "\n".join([aligned([HEADS, *map(_cells, rows)]), "", total, *lacking, *told])


def lines_on_emulation(rows: Sequence[PlannedRow]) -> list[str]:
    """A line on the runs that lack and whose precision this machine emulates, if there are any."""
    number = sum(
        is_emulated(getattr(task.config, "precision", "auto"), task.config.device)
        for row in rows
        for task in row.missing
    )
    if not number:
        return []
    return [
        f"{number} of these runs multiply in bfloat16, which this processor emulates, many times "
        "as slowly as float32: leave them to one that has AVX-512 BF16, or to a GPU"
    ]


def listing_of_earlier(runs: Sequence[Run]) -> str:
    """The files of `runs` that no row would repeat."""
    files = "".join(f"\n  {run.file}" for run in runs)
    return f"Records that no row would repeat, of earlier settings:{files}"


def _cells(planned: PlannedRow) -> list[str]:
    row, config = planned.row, planned.config
    wanted = len(planned.recorded) + len(planned.missing)
    hours = planned.hours
    return [
        row.name,
        str(row.priority),
        environment(row.env_id, row.env_kwargs),
        config.algorithm,
        _budget(config),
        _error(planned),
        _reference(row.reference),
        f"{len(planned.recorded)} of {wanted}",
        " ".join(str(task.config.seed) for task in planned.missing)
        or (UNKNOWN if row.lacks is None else "not installed"),
        "?" if hours is None else f"{hours * len(planned.missing):.2f}",
    ]


def _budget(config: Any) -> str:
    if config.minutes is not None:
        return f"{config.minutes:g} min"
    return f"{count(config.episodes)} episodes"


def _error(planned: PlannedRow) -> str:
    if not planned.recorded:
        return UNKNOWN
    group = Group(planned.recorded, planned.row.name)
    return f"{group.error:.2f}" if group.has_success else UNKNOWN


def _reference(reference: Reference | MemoryReference | WorldReference | None) -> str:
    """The paper's error and the best public one, or what others solved or reached."""
    if reference is None:
        return UNKNOWN
    if isinstance(reference, WorldReference):
        return f"{reference.source}: {reference.score}"
    if isinstance(reference, MemoryReference):
        return f"{reference.source}: {reference.solved}"
    numbers = (reference.paper, reference.best_public)
    paper, best = (UNKNOWN if number is None else f"{number:.2f}" for number in numbers)
    return f"{paper}{reference.dagger} {best}"
