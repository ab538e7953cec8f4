"""Error while models were trained, and how long each took to a given error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from glimpse_envs.evaluation.record import Record, Validation
from glimpse_envs.evaluation.statistics import interquartile_mean
from report.groups import Group, interval_of


@dataclass(frozen=True)
class Point:
    """Where a training stood; errors in percent of validation episodes."""

    core_seconds: float
    error: float
    low: float
    high: float
    """`low` and `high` bound the 95 % interval of `error`."""


def curve_of(group: Group) -> list[Point]:
    """The mean over the seeds at as many validations as all have; empty where none was recorded.
    Curves are aligned at their first validation, or at their last where validations double in time
    and no run stops early, because one long first update may pass two of them."""
    curves = [
        [point for point in record.curve if point.success is not None]
        for record in group.records
        if record.curve
    ]
    if all(map(_ends_alike, group.records)):
        shortest = min(map(len, curves), default=0)
        curves = [curve[len(curve) - shortest :] for curve in curves]
    return [_point(measured) for measured in zip(*curves, strict=False)]


def _ends_alike(record: Record) -> bool:
    return record.config.get("validate_every") == 0 and record.config.get("stop_at") is None


def time_to(error: float, curve: Sequence[Point]) -> float:
    """Core-seconds to the first point at or under an error in percent; infinite where none is."""
    reached = (point for point in curve if round(point.error, 6) <= error)  # 1 - 0.95 > 0.05
    return next((point.core_seconds for point in reached), math.inf)


def _point(measured: Sequence[Validation]) -> Point:
    errors = [100 * (1 - point.success) for point in measured if point.success is not None]
    low, high = interval_of(errors, min(point.scored for point in measured))
    seconds = fmean(point.core_seconds for point in measured)
    return Point(seconds, interquartile_mean(errors), 100 * low, 100 * high)
