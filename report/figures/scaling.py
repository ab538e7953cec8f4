"""The picture of how cost grows with the scene's side, each cost beside its error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from report.figures.style import (
    COLOURS,
    LEAST_ERROR,
    MARKERS,
    Look,
    new_figure,
    save_figure,
    scale_logarithmically,
)
from report.scaling import Milliseconds, Scaling, ScalingPoint

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PARTS: tuple[tuple[str, Callable[[Milliseconds], float]], ...] = (
    ("Building the scene", lambda spent: spent.building),
    ("Reading", lambda spent: spent.reading),
    ("Choosing and answering", lambda spent: spent.answering),
    ("All together", lambda spent: spent.total),
)


def draw_scaling(scaling: Scaling, path: str | Path) -> None:
    """Write a PNG: above, the milliseconds of each part against the scene's side; below, the
    multiply-adds, and the error against side and against cost."""
    from matplotlib.lines import Line2D

    figure = new_figure(15.0, 9.0)
    upper, lower = figure.subfigures(2, 1, squeeze=False)[:, 0]
    looks = {model: _look(turn) for turn, model in enumerate(scaling.models)}
    panels = upper.subplots(1, len(_PARTS), sharey=True)
    for panel, (title, part) in zip(panels, _PARTS, strict=True):
        _draw_part(panel, scaling, looks, part)
        panel.set_title(title)
    panels[0].set_ylabel("milliseconds of one core a scene")
    spent = [spent for point in scaling.points for spent in (point.inference, point.update)]
    times = [part(each) for each in spent for _, part in _PARTS if part(each) > 0]
    scale_logarithmically(panels[0].yaxis, min(times), max(times))
    by_side, adds, by_cost = lower.subplots(1, 3)
    _draw_error_by_side(by_side, scaling, looks)
    _draw_multiply_adds(adds, scaling, looks)
    _draw_error_by_cost(by_cost, scaling, looks)
    lines = [Line2D([], [], label=model, **look.line()) for model, look in looks.items()]
    for label, style in (("inference", "-"), ("training update", "--")):
        lines.append(Line2D([], [], label=label, **Look("grey", "", style).line()))
    lower.legend(handles=lines, loc="outside lower center", ncols=len(lines), frameon=False)
    upper.suptitle(
        f"{scaling.minutes:g} core-minutes of training at each side, batches of "
        f"{scaling.batch_size}, {scaling.precision}, {scaling.hardware}",
        fontsize=10,
    )
    save_figure(figure, path)


def _draw_part(
    panel: Axes,
    scaling: Scaling,
    looks: dict[str, Look],
    part: Callable[[Milliseconds], float],
) -> None:
    for model, look in looks.items():
        points = scaling.of(model)
        for style, spent in (
            ("-", [part(point.inference) for point in points]),
            ("--", [part(point.update) for point in points]),
        ):
            if min(spent) > 0:  # a full view has no reading apart
                sides = [point.side for point in points]
                panel.plot(sides, spent, **look.line() | {"linestyle": style})
    _dress(panel, scaling)


def _draw_multiply_adds(panel: Axes, scaling: Scaling, looks: dict[str, Look]) -> None:
    drawn: list[float] = []
    for model, look in looks.items():
        counted = [(p.side, p.multiply_adds) for p in scaling.of(model) if p.multiply_adds]
        if counted:
            panel.plot(*zip(*counted, strict=True), **look.line())
            drawn += [adds for _, adds in counted]
    _dress(panel, scaling)
    panel.set_ylabel("multiply-adds a scene")
    panel.set_title("Multiply-adds, inference")
    if drawn:
        scale_logarithmically(panel.yaxis, min(drawn), max(drawn))
    else:
        panel.text(0.5, 0.5, "not counted", transform=panel.transAxes, ha="center", color="grey")


def _draw_error_by_side(panel: Axes, scaling: Scaling, looks: dict[str, Look]) -> None:
    bounds: list[float] = []
    for model, look in looks.items():
        points = scaling.of(model)
        sides = [point.side for point in points]
        errors, lows, highs = _errors(points)
        panel.plot(sides, errors, **look.line())
        panel.fill_between(sides, lows, highs, color=look.colour, alpha=0.15, linewidth=0)
        bounds += [*lows, *highs]
    _dress(panel, scaling)
    panel.set_title("Error")
    panel.set_ylabel("test error, %")
    scale_logarithmically(panel.yaxis, min(bounds), max(bounds))


def _draw_error_by_cost(panel: Axes, scaling: Scaling, looks: dict[str, Look]) -> None:
    bounds: list[float] = []
    times: list[float] = []
    for model, look in looks.items():
        points = scaling.of(model)
        spent = [point.inference.total for point in points]
        errors, lows, highs = _errors(points)
        panel.plot(spent, errors, color=look.colour, linestyle=":")
        panel.vlines(spent, lows, highs, color=look.colour, linewidth=3, alpha=0.35)
        sizes = np.linspace(20, 110, len(points))
        panel.scatter(spent, errors, s=sizes, color=look.colour, marker=look.marker)
        bounds += [*lows, *highs]
        times += spent
    panel.set_title("Error against cost (larger marks, larger scenes)")
    panel.set_xlabel("milliseconds of one core a scene, inference")
    panel.set_ylabel("test error, %")
    panel.grid(alpha=0.3)
    scale_logarithmically(panel.xaxis, min(times), max(times))
    scale_logarithmically(panel.yaxis, min(bounds), max(bounds))


def _errors(points: Sequence[ScalingPoint]) -> tuple[list[float], list[float], list[float]]:
    """Errors and the bounds of their intervals, as a logarithmic axis can show them."""
    columns = (
        [point.error_percent for point in points],
        [point.interval_percent[0] for point in points],
        [point.interval_percent[1] for point in points],
    )
    errors, lows, highs = ([max(value, LEAST_ERROR) for value in column] for column in columns)
    return errors, lows, highs


def _dress(panel: Axes, scaling: Scaling) -> None:
    """An axis of sides, each of which has its tick."""
    sides = sorted({point.side for point in scaling.points})
    scale_logarithmically(panel.xaxis, sides[0], sides[-1])
    panel.set_xticks(sides, [str(side) for side in sides])
    panel.set_xlabel("scene's side, pixels")
    panel.grid(alpha=0.3)


def _look(turn: int) -> Look:
    return Look(COLOURS[turn % len(COLOURS)], MARKERS[turn % len(MARKERS)], "-", size=6.0)
