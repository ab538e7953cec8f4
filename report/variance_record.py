"""The record of `benchmarks.variance.__main__`, as its page and its figure read it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from report.benchmark_records import read_benchmark
from report.markdown import ReportError

FILE_NAME = "gradient_variance.json"

NAMES = {
    "none": "no baseline",
    "moving_average": "moving average",
    "learned": "learned baseline",
    "leave_one_out": "leave-one-out",
    "actor_critic": "actor-critic",
    "exact_next": "exact, next look",
    "exact": "exact, all paths",
    "straight_through_1": "straight-through, τ = 1",
    "straight_through_0.5": "straight-through, τ = 0.5",
}
"""What estimators are called, in the order in which they are shown."""


@dataclass(frozen=True)
class Slope:
    """An exponent and its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{_signed(self.value)} [{_signed(self.low)}, {_signed(self.high)}]"


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−") if abs(value) >= 0.005 else "0.00"


def ratio_to_signal(
    variance: float, signal: float | None, signal_error: float | None
) -> float | None:
    """A variance over the squared norm of the true gradient; None where the latter is not known
    within a half."""
    if signal is None or signal <= 2 * (signal_error or 0.0):
        return None
    return variance / signal


def known_everywhere(points: Iterable[tuple[float, float | None]]) -> dict[float, list[float]]:
    """x -> the values at it of all seeds, without the x at which that of any seed is not known:
    those that are known there would be the large ones."""
    values: dict[float, list[float | None]] = {}
    for x, value in points:
        values.setdefault(x, []).append(value)
    return {
        x: known
        for x, at_x in values.items()
        if len(known := [value for value in at_x if value is not None]) == len(at_x)
    }


@dataclass(frozen=True)
class VarianceRecord:
    """What was measured; `data` is the JSON as it stands."""

    data: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> "VarianceRecord":
        """Read the record at `path`.

        Raises:
            ReportError: there is none, or no JSON object; the message names the file.
        """
        found = read_benchmark(path)
        if found is None:
            raise ReportError(f"{path}: there is no such record")
        return cls(found)

    def slope(self, experiment: str, setting: str, estimator: str, measure: str) -> Slope | None:
        """The exponent that was fitted to all parameters, None where the measure was not known."""
        for series in self._series(experiment=experiment, setting=setting, estimator=estimator):
            if measure in series["slopes"]:
                return Slope(*series["slopes"][measure])
        return None

    def settings(self, experiment: str) -> list[str]:
        """Those of an experiment, in the order in which they were measured."""
        return list(dict.fromkeys(s["setting"] for s in self._series(experiment=experiment)))

    def seeds(self, experiment: str) -> int:
        """The number of policies, or of tasks, that were measured at each place."""
        rows = [row for series in self._series(experiment=experiment) for row in series["points"]]
        return len({row[self.data["columns"].index("seed")] for row in rows})

    def _series(self, **where: str) -> list[dict[str, Any]]:
        """The series of all parameters that have these values."""
        wanted = where | {"part": "all"}
        return [series for series in self.data["series"] if wanted.items() <= series.items()]

    def curve(
        self, experiment: str, setting: str, estimator: str, measure: str
    ) -> dict[float, float]:
        """The geometric mean over the seeds at each x of "variance", "noise_to_signal" or "reward",
        without the places where it is not known for all of them.

        Raises:
            ReportError: it was not measured, or more than once.
        """
        found = self._series(experiment=experiment, setting=setting, estimator=estimator)
        if len(found) != 1:
            raise ReportError(
                f"the record of variance has {len(found)} series of {experiment}, {setting}, "
                f"{estimator}, and not one: measure again"
            )
        points = [dict(zip(self.data["columns"], row, strict=True)) for row in found[0]["points"]]
        known = known_everywhere((point["x"], _measured(point, measure)) for point in points)
        return {x: geometric_mean(known[x]) for x in sorted(known)}

    def enumerable(self, estimator: str, part: str) -> list[dict[str, Any]]:
        """The results of an estimator where the gradient is known, by seed."""
        return [
            row
            for row in self.data["enumerable"]["results"]
            if row["estimator"] == estimator and row["part"] == part
        ]


def _measured(point: Mapping[str, Any], measure: str) -> float | None:
    if measure == "noise_to_signal":
        return ratio_to_signal(point["variance"], point["signal"], point["signal_error"])
    value: float = point[measure]
    return value


def geometric_mean(values: Iterable[float]) -> float:
    """Of values of which none is below 0; 0 where one is 0."""
    array = np.asarray(list(values), np.float64)
    return float(np.exp(np.log(array).mean())) if array.all() else 0.0
