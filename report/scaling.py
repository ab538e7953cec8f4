"""How cost grows with the scene's side: the record that `benchmarks.scale.__main__` writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from glimpse_envs.core.files import write_atomically
from glimpse_envs.evaluation.from_json import STRICT, Amount, Count, Number, from_json
from glimpse_envs.evaluation.records import RecordError
from report.chance import blind_error, mark_of_chance
from report.markdown import UNKNOWN, count, digits, table

FILE_NAME = "scaling.json"

ModelName = Literal["reinforce", "draw", "soft_retina", "full_deep", "full_shallow"]
"""Hard attention; soft attention by DRAW's window, and by windows as wide as the agent's retina; a
deep and a shallow network in the full view."""
IN_WORDS: dict[ModelName, str] = {
    "reinforce": "hard attention",
    "draw": "soft window",
    "soft_retina": "soft retina",
    "full_deep": "deep full view",
    "full_shallow": "shallow full view",
}
"""Its name for readers who do not know the models."""
Percent = Annotated[float, Field(ge=0, le=100)]

HEADER = (
    "side", "model", "error %", "95 % interval", "building", "reading", "choosing and answering",
    "update: building", "reading", "choosing and answering", "multiply-adds", "batch", "images",
)  # fmt: skip


@dataclass(frozen=True)
class Milliseconds:
    """Of one core, a scene."""

    __pydantic_config__ = STRICT

    building: Amount
    """Dealing the scene, summing it where the sensor needs that, and an agent's first glimpse."""
    reading: Amount
    """The sensor at all other glimpses, or the filters and their products with the scene; 0 for a
    full view."""
    answering: Amount
    """Choosing and answering: the rest of the network; in an update also the optimizer's step."""

    @property
    def total(self) -> float:
        return self.building + self.reading + self.answering


@dataclass(frozen=True)
class ScalingPoint:
    """One model at one side: its cost, and the error that it buys."""

    __pydantic_config__ = STRICT

    side: Number
    """Of the scene, in pixels."""
    key: ModelName
    model: str
    """Its published name."""
    revision: str | None
    """Of the code that it was trained by; None where that was not recorded."""
    inference: Milliseconds
    update: Milliseconds
    multiply_adds: Amount | None
    """A scene's, at inference; None where they were not counted."""
    error_percent: Percent
    interval_percent: tuple[Percent, Percent]
    """95 % Wilson interval of `error_percent`."""
    scenes: Number
    """Test scenes that it was scored on."""
    batch_size: Number
    """Of inference and update."""
    images: Number
    """Training images."""
    core_seconds: Amount
    """Of training."""
    settings: str | None = None
    """What tells its training's settings from others; None where that was not recorded."""


@dataclass(frozen=True)
class DenseSums:
    """What the agent's sensor would take to sum scenes that are nowhere black."""

    __pydantic_config__ = STRICT

    side: Number
    milliseconds: Amount
    """Of one core, a scene."""


@dataclass(frozen=True)
class Scaling:
    """All that was measured in one run."""

    __pydantic_config__ = STRICT

    env_id: str
    minutes: Amount
    """Of one core that each model was trained for."""
    seed: Count
    precision: str
    """Of matrix products."""
    hardware: str
    revision: str
    points: tuple[ScalingPoint, ...]
    dense_sums: tuple[DenseSums, ...] = ()
    notes: str = ""
    """What readers must know of these trainings alone: sentences."""

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
        raise RecordError(f"{path}: {error}") from error


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
        adds = UNKNOWN if point.multiply_adds is None else count(point.multiply_adds)
        rows.append(
            [
                str(point.side),
                point.model,
                f"{point.error_percent:.2f}",
                f"{low:.2f} to {high:.2f}",
                *(digits(time) for time in times),
                adds,
                str(point.batch_size),
                count(point.images),
            ]
        )
    return table(HEADER, rows)


def extremes_table(scaling: Scaling) -> str:
    """The Markdown table of the smallest, the middle and the largest side, a model a row: error and
    milliseconds of inference, and training images where they differ."""
    sides = sorted({point.side for point in scaling.points})
    shown = list(dict.fromkeys((sides[0], sides[len(sides) // 2], sides[-1])))
    blind = blind_error(scaling.env_id)
    columns: dict[str, Callable[[ScalingPoint], str]] = {
        "error %": lambda point: (
            f"{point.error_percent:.2f}{mark_of_chance(point.interval_percent[1], blind)}"
        ),
        "ms a scene": lambda point: digits(point.inference.total, 2),
    }
    if len({point.images for point in scaling.points}) > 1:
        columns["training images"] = lambda point: count(point.images)
    by_model = {
        point.key: {each.side: each for each in scaling.of(point.model)} for point in scaling.points
    }
    rows = [
        [
            IN_WORDS[model],
            *(
                told(points[side]) if side in points else UNKNOWN
                for told in columns.values()
                for side in shown
            ),
        ]
        for model, points in by_model.items()
    ]
    heads = [f"{name} at {side:,} px" for name in columns for side in shown]
    return table(["model", *heads], rows)


def _parse(data: Any) -> Scaling:
    if isinstance(data, dict):
        data.pop("benchmark", None)
    scaling = from_json(Scaling, data)
    if not scaling.points:
        raise RecordError("points must hold what was measured, of one point at least")
    for point in scaling.points:
        low, high = point.interval_percent
        if not low <= point.error_percent <= high:
            raise RecordError(
                f"interval_percent is {[low, high]}; it must hold error_percent "
                f"{point.error_percent}"
            )
    return scaling
