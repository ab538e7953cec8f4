"""Runs on tapes and tables, grouped over seeds, and what each kind of model sees of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, Literal

from glimpse_envs.evaluation.memory_records import MemoryRecord

from glimpse_envs.evaluation.records import digest, settings_of
from glimpse_envs.suite import SUITE
from report.contenders import MANNER_KWARGS
from report.references.pictures import words_of

MemoryFamily = Literal["hard", "addressed", "between", "soft", "full"]

MEMORY_SEES: dict[MemoryFamily, str] = {
    "hard": "one cell a step",
    "addressed": "every cell once, then one a read",
    "between": "every cell, one a read in the end",
    "soft": "every cell",
    "full": "every cell, no memory",
}
"""What a model of each family is shown, from the least to the most."""

# How a task is gone through and in which lengths it is learned, not what it asks.
_MANNER = MANNER_KWARGS | {"address", "addressing", "length", "min_length", "slack"}

# Entries of a config that stand in the record too.
_TOLD = frozenset({"env_id", "answer_by", "curriculum", "length"})


@dataclass(frozen=True)
class MemoryGroup:
    """Runs that differ in nothing but their seed: one row of a table, one line of a plot."""

    records: tuple[MemoryRecord, ...]
    """In the order of their seeds; at least one."""
    label: str
    """The model's name, with what tells it from others that look alike in the table."""

    @property
    def first(self) -> MemoryRecord:
        return self.records[0]

    @property
    def family(self) -> MemoryFamily:
        return memory_family(self.first)

    @property
    def seeds(self) -> int:
        return len(self.records)

    @property
    def solved(self) -> int:
        """How many of the seeds solved the task."""
        return sum(record.solved for record in self.records)

    @property
    def episodes_to_solve(self) -> float | None:
        """Median over the seeds that solved it; None where none did."""
        return self._over_solved(lambda record: record.episodes_to_solve)

    @property
    def minutes_to_solve(self) -> float | None:
        """Median over the seeds that solved it, of one core; None where none did."""
        return self._over_solved(lambda record: record.minutes_to_solve)

    @property
    def cells_read(self) -> float:
        """Of one episode at the training length, a mean over the seeds."""
        return fmean(record.cells_read for record in self.records)

    def accuracy(self, multiple: int) -> float | None:
        """Share in [0, 1] at `multiple` times the training length, a mean over the seeds that were
        tried there; None where none was."""
        return self._mean(lambda record: record.accuracy(multiple))

    def accuracies(self) -> list[tuple[int, list[float]]]:
        """(length, the seeds' shares in [0, 1]), at each length that all seeds were tried at."""
        shared = set.intersection(*(set(record.accuracy_by_length) for record in self.records))
        return [
            (int(length), [record.accuracy_by_length[length] for record in self.records])
            for length in sorted(shared, key=int)
        ]

    def cost(self, name: Literal["seconds_per_step", "multiply_adds"]) -> float | None:
        """A mean over the seeds that know it; None where none does."""
        return self._mean(lambda record: getattr(record, name))

    def _over_solved(self, value: Callable[[MemoryRecord], float | None]) -> float | None:
        known = [value(record) for record in self.records if record.solved]
        values = [v for v in known if v is not None]
        return median(values) if values else None

    def _mean(self, value: Callable[[MemoryRecord], float | None]) -> float | None:
        values = [v for v in map(value, self.records) if v is not None]
        return fmean(values) if values else None


@dataclass(frozen=True)
class MemoryTask:
    """The models that may be compared: one table, one panel."""

    env_id: str
    env_kwargs: dict[str, Any]
    """What is asked differently from the id's defaults."""
    groups: tuple[MemoryGroup, ...]
    """From those that see least to those that see most, then by name."""


def memory_family(record: MemoryRecord) -> MemoryFamily:
    """What the model of a record sees, by its name and its view."""
    words = words_of(record.model)
    if "full" in words:
        return "full"
    if "soft" in words:
        return "between" if "hard" in words else "soft"
    return "addressed" if record.env_kwargs.get("view") == "full" else "hard"


def memory_tasks(records: Iterable[MemoryRecord]) -> list[MemoryTask]:
    """The records by what is asked, in the suite's order; within, by model and settings."""
    tasks: dict[str, list[MemoryRecord]] = {}
    for record in records:
        asked = {k: v for k, v in record.env_kwargs.items() if k not in _MANNER}
        key = json.dumps([record.env_id, asked], sort_keys=True)
        tasks.setdefault(key, []).append(record)
    found = []
    for key, of_task in tasks.items():
        env_id, asked = json.loads(key)
        found.append(MemoryTask(env_id, asked, tuple(_groups(of_task))))
    known = list(SUITE)

    def place(task: MemoryTask) -> tuple[int, str, int, str]:
        index = known.index(task.env_id) if task.env_id in known else len(known)
        asked = json.dumps(task.env_kwargs, sort_keys=True)
        return index, task.env_id, len(task.env_kwargs), asked  # the id's defaults come first

    return sorted(found, key=place)


def _groups(records: Sequence[MemoryRecord]) -> list[MemoryGroup]:
    """Runs of one task that have all but the seed in common, together."""
    alike: dict[tuple[str, str, str, int], dict[str, list[MemoryRecord]]] = {}
    for record in records:
        row = (record.model, record.answer_by, record.curriculum, record.length)
        alike.setdefault(row, {}).setdefault(digest(_settings(record)), []).append(record)
    groups = []
    for (model, *_), variants in alike.items():
        runs = [variants[key] for key in sorted(variants)]
        told = _differences([_settings(same[0]) for same in runs])
        for same, words in zip(runs, told, strict=True):
            label = f"{model} ({words})" if words else model
            groups.append(MemoryGroup(tuple(sorted(same, key=lambda run: run.seed)), label))
    order = list(MEMORY_SEES)
    return sorted(
        groups,
        key=lambda g: (order.index(g.family), g.label, g.first.answer_by, g.first.curriculum),
    )


def _settings(record: MemoryRecord) -> dict[str, Any]:
    """What a record says of how its model was made and trained."""
    said = settings_of(record.config)
    new = {k: v for k, v in said.items() if k not in _TOLD and not k.startswith("env_kwargs.")}
    return record.env_kwargs | new


def _differences(settings: Sequence[dict[str, Any]]) -> list[str]:
    """What each has that is not in all of the others, "network.core=gru, slack=2"; defaults, which
    are not in it, are not named."""
    names = sorted(set().union(*settings))
    differing = [n for n in names if any(s.get(n) != settings[0].get(n) for s in settings)]
    return [", ".join(f"{name}={s[name]}" for name in differing if name in s) for s in settings]
