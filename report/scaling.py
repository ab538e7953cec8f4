"""How cost grows with the scene's side: the record that `benchmarks.scale.__main__` writes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeGuard

from glimpse_envs.core.files import write_atomically
from glimpse_envs.evaluation.records import RecordError
from report.markdown import count, table

FILE_NAME = "scaling.json"

HEADER = (
    "side", "model", "error %", "95 % interval", "building", "reading", "choosing and answering",
    "update: building", "reading", "choosing and answering", "multiply-adds", "images",
)  # fmt: skip


@dataclass(frozen=True)
class Milliseconds:
    """Of one core, a scene."""

    building: float
    """Dealing the scene, and summing it where the sensor needs that."""
    reading: float
    """The sensor, or the filters and their products with the scene; 0 for a full view."""
    answering: float
    """Choosing and answering: the rest of the network; in an update also Adam's step."""

    @property
    def total(self) -> float:
        return self.building + self.reading + self.answering


@dataclass(frozen=True)
class ScalingPoint:
    """One model at one side: its cost, and the error that it buys."""

    side: int
    """Of the scene, in pixels."""
    model: str
    inference: Milliseconds
    update: Milliseconds
    multiply_adds: float | None
    """A scene's, at inference; None where they were not counted."""
    error_percent: float
    interval_percent: tuple[float, float]
    """95 % Wilson interval of `error_percent`."""
    scenes: int
    """Test scenes that it was scored on."""
    images: int
    """Training images."""
    core_seconds: float
    """Of training."""


@dataclass(frozen=True)
class Scaling:
    """All that was measured in one run."""

    env_id: str
    batch_size: int
    """Of inference and update."""
    minutes: float
    """Of one core that each model was trained for."""
    precision: str
    """Of matrix products."""
    hardware: str
    revision: str
    points: tuple[ScalingPoint, ...]

    @property
    def models(self) -> list[str]:
        return list(dict.fromkeys(point.model for point in self.points))

    def of(self, model: str) -> list[ScalingPoint]:
        """The points of one model, by the scene's side."""
        return sorted((p for p in self.points if p.model == model), key=lambda p: p.side)


def write_scaling(scaling: Scaling, folder: str | Path) -> Path:
    """Write `scaling.json` into `folder` and return its path."""
    path = Path(folder) / FILE_NAME
    text = json.dumps({"benchmark": "scaling", **asdict(scaling)}, indent=1, allow_nan=False)
    write_atomically(path, f"{text}\n".encode())
    return path


def read_scaling(folder: str | Path) -> Scaling | None:
    """The record in `folder`; None where there is none.

    Raises:
        RecordError: it is damaged; the message names the file.
    """
    path = Path(folder) / FILE_NAME
    if not path.exists():
        return None
    try:
        return _parse(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise RecordError(f"{path.name}: {error}") from error


def scaling_table(scaling: Scaling) -> str:
    """The Markdown table, in milliseconds of one core a scene, all models of a side together."""
    points = sorted(scaling.points, key=lambda point: point.side)  # models keep their order
    rows = []
    for point in points:
        low, high = point.interval_percent
        times = [
            getattr(of, part)
            for of in (point.inference, point.update)
            for part in ("building", "reading", "answering")
        ]
        adds = "—" if point.multiply_adds is None else count(point.multiply_adds)
        rows.append(
            [
                str(point.side),
                point.model,
                f"{point.error_percent:.2f}",
                f"{low:.2f} to {high:.2f}",
                *(f"{time:,.0f}" if time >= 100 else f"{time:.3g}" for time in times),
                adds,
                count(point.images),
            ]
        )
    return table(HEADER, rows)


def _parse(data: Any) -> Scaling:
    told = _checked(Scaling, data)
    if not isinstance(told["points"], list) or not told["points"]:
        raise RecordError("points must be a list of what was measured, of one point at least")
    return Scaling(**{**told, "points": tuple(_parse_point(entry) for entry in told["points"])})


def _parse_point(entry: object) -> ScalingPoint:
    told = _checked(ScalingPoint, entry)
    for name in ("inference", "update"):
        told[name] = Milliseconds(**_checked(Milliseconds, told[name]))
    bounds = told["interval_percent"]
    if not isinstance(bounds, list) or len(bounds) != 2 or not all(map(_is_amount, bounds)):
        raise RecordError(f"interval_percent is {bounds!r}; it must be two numbers in [0, 100]")
    low, high = told["interval_percent"] = tuple(bounds)
    if not low <= told["error_percent"] <= high <= 100:
        raise RecordError(
            f"interval_percent is {bounds}; it must hold error_percent {told['error_percent']}"
        )
    return ScalingPoint(**told)


def _checked(kind: type[Scaling | ScalingPoint | Milliseconds], data: object) -> dict[str, Any]:
    """The entries of `data` that `kind` has: none is missing, each plain one is of its type."""
    if not isinstance(data, dict):
        raise RecordError(f"holds a {type(data).__name__} where a {kind.__name__} should be")
    missing = [f.name for f in fields(kind) if f.name not in data]
    if missing:
        raise RecordError(f"a {kind.__name__} lacks {', '.join(missing)}")
    for name, of_type in ((f.name, str(f.type)) for f in fields(kind)):
        holds, right = _HOLDS.get(of_type, (_is_anything, ""))
        if not holds(data[name]):
            raise RecordError(f"{name} is {data[name]!r}; it must be {right}")
    return {f.name: data[f.name] for f in fields(kind)}


def _is_amount(value: object) -> TypeGuard[float]:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return math.isfinite(value) and value >= 0


def _is_anything(value: object) -> bool:
    return True


_HOLDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "int": (lambda value: type(value) is int and value >= 1, "a whole number of at least 1"),
    "float": (_is_amount, "a number of at least 0"),
    "float | None": (lambda value: value is None or _is_amount(value), "a number or null"),
    "str": (lambda value: isinstance(value, str), "text"),
}
