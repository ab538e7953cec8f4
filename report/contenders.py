"""Models on one scale: who sees how much, what a scene costs each, and how fast each learned."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from glimpse_envs.evaluation.records import Record
from glimpse_envs.evaluation.statistics import (
    bootstrap_interval_from_counts,
    interquartile_mean,
    wilson_interval,
)
from report.groups import Group, group_records
from report.references.pictures import NEUTRAL_KWARGS, gaze_of

Family = Literal["hard", "between", "soft", "full"]

SEES: dict[Family, str] = {
    "hard": "one glimpse at a time",
    "between": "all tiles in training",
    "soft": "every pixel",
    "full": "every pixel",
}
"""What a model of each family is shown, from the least to the most."""

# How learners that are shown all tiles while they learn, and glimpses afterwards, name themselves.
TRAINED_ON_MORE = "trained on all tiles"

# Arguments that one comparison may vary: how scenes are looked at, not what they are.
MANNER_KWARGS = NEUTRAL_KWARGS | {"look", "max_move"}

THRESHOLDS = (50, 30, 20, 10, 5, 3, 2, 1)
"""Errors in percent, to each of which the training's core-seconds are told."""


@dataclass(frozen=True)
class Point:
    """Where a training stood; errors in percent, of the validation split."""

    core_seconds: float
    error: float
    low: float
    high: float
    """`low` and `high` bound the 95 % interval of `error`."""


@dataclass(frozen=True)
class Duration:
    """Core-seconds until an error was reached, infinite where it never was."""

    core_seconds: float
    low: float
    """Until the interval of the error held it."""
    high: float
    """Until the whole interval was at or under it."""

    @property
    def reached(self) -> bool:
        return math.isfinite(self.core_seconds)


@dataclass(frozen=True)
class Contender:
    """One model of a comparison: a group of runs and what they cost."""

    group: Group
    label: str
    """Its name, with what tells it from the others of the comparison."""

    @property
    def family(self) -> Family:
        return family_of(self.group.first.model)

    @property
    def error(self) -> float:
        return self.group.error_percent

    @property
    def interval(self) -> tuple[float, float]:
        return self.group.interval_percent

    @property
    def error_by_glimpse(self) -> list[float]:
        return self.group.error_by_glimpse

    @property
    def images(self) -> float:
        """Training images, a mean over the seeds."""
        return float(np.mean([run.images_seen for run in self.group.records]))

    @property
    def core_minutes(self) -> float:
        """Of training, a mean over the seeds."""
        return float(np.mean([run.seconds * run.cores / 60 for run in self.group.records]))

    def cost(self, name: str) -> float | None:
        """A cost of `Record.costs`, a mean over the seeds that know it; None where none does."""
        known = [run.costs[name] for run in self.group.records if name in run.costs]
        return float(np.mean(known)) if known else None

    def cost_by_glimpse(self, name: str) -> list[float] | None:
        """(glimpses,) a cost after each glimpse, or (1,) at the end alone; None where not known."""
        known = [
            run.costs_by_glimpse[name] for run in self.group.records if name in run.costs_by_glimpse
        ]
        if known:
            return np.mean(known, axis=0).tolist()
        total = self.cost(name)
        return None if total is None else [total]

    @cached_property
    def curve(self) -> list[Point]:
        """Error while it was trained, a mean over the seeds at as many points as all have."""
        curves = [run.curve for run in self.group.records if run.curve]
        return [_point(measured) for measured in zip(*curves, strict=False)]

    def time_to(self, error: float) -> Duration | None:
        """How long it took to an error in percent; None where its training was not followed."""
        if not self.curve:
            return None

        def until(bound: str) -> float:
            reached = (p.core_seconds for p in self.curve if getattr(p, bound) <= error)
            return next(reached, math.inf)

        return Duration(until("error"), until("low"), until("high"))


def family_of(model: str) -> Family:
    """Which family a model of this name belongs to."""
    gaze = gaze_of(model)
    if gaze in ("soft", "full"):
        return gaze
    return "between" if TRAINED_ON_MORE in model.lower() else "hard"


def find_contenders(records: Iterable[Record]) -> list[Contender]:
    """The models of test records, family by family, as `SEES` orders them, then by name."""
    groups = group_records(records)
    told = _telling_arguments([group.first for group in groups])
    contenders = [
        Contender(group, f"{group.model} ({', '.join(words)})" if words else group.model)
        for group, words in zip(groups, told, strict=True)
    ]
    order = list(SEES)
    return sorted(contenders, key=lambda c: (order.index(c.family), c.label))


def by_task(records: Iterable[Record]) -> list[tuple[str, dict[str, Any], list[Record]]]:
    """Records that may be compared, together: the id, what its scenes differ in, and the records.

    How scenes are looked at, and how often, may differ within a comparison.
    """
    tasks: dict[str, tuple[str, dict[str, Any], list[Record]]] = {}
    for record in records:
        scenes = {k: v for k, v in record.env_kwargs.items() if k not in MANNER_KWARGS}
        key = json.dumps([record.env_id, scenes], sort_keys=True)
        tasks.setdefault(key, (record.env_id, scenes, []))[2].append(record)
    return [tasks[key] for key in sorted(tasks)]


def _telling_arguments(records: Sequence[Record]) -> list[list[str]]:
    """The arguments of each record's environment, less the view, that not all of them share."""
    names = sorted({name for record in records for name in record.env_kwargs} - {"view"})
    missing = "its default"
    differing = [
        name
        for name in names
        if len({json.dumps(r.env_kwargs.get(name, missing)) for r in records}) > 1
    ]
    return [
        [f"{name}={r.env_kwargs[name]}" for name in differing if name in r.env_kwargs]
        for r in records
    ]


def _point(measured: Sequence[Sequence[float]]) -> Point:
    """The mean over seeds of [core-seconds, images, error in percent, scenes]."""
    errors = [error for _, _, error, _ in measured]
    scenes = int(min(count for *_, count in measured))
    wrong = [round(error / 100 * scenes) for error in errors]
    if len(wrong) == 1:
        low, high = wilson_interval(wrong[0], scenes)
    else:
        low, high = bootstrap_interval_from_counts(wrong, scenes)
    seconds = float(np.mean([second for second, *_ in measured]))
    return Point(seconds, interquartile_mean(errors), 100 * low, 100 * high)
