"""Figure of cost against the scene's side, with the error at each cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from report.figures.models import style_named
from report.figures.style import (
    LEAST_ERROR,
    EndLabel,
    LineStyle,
    draw_lines,
    label_ends,
    new_figure,
    save_figure,
    scale_logarithmically,
)
from report.scaling import IN_WORDS, Milliseconds, Scaling, ScalingPoint

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Styles = Mapping[str, LineStyle]
"""Model -> how it is drawn."""

_PARTS: tuple[tuple[str, Callable[[Milliseconds], float]], ...] = (
    ("Building the scene", lambda spent: spent.building),
    ("Reading", lambda spent: spent.reading),
    ("Choosing and answering", lambda spent: spent.answering),
    ("All together", lambda spent: spent.total),
)


def draw_scaling(scaling: Scaling, path: str | Path) -> None:
    """Draw the milliseconds of each part of inference and of a training update against the scene's
    side; below, the multiply-adds, and the error against side and against cost."""
    figure = new_figure(10.5, 16.0)
    above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=(2, 1))[:, 0]
    styles = {model: style_named(model) for model in scaling.models}
    spent = [spent for point in scaling.points for spent in (point.inference, point.update)]
    times = [part(each) for each in spent for _, part in _PARTS if part(each) > 0]
    rows = above.subplots(len(_PARTS), 2, sharey=True)
    for row, (title, part) in zip(rows, _PARTS, strict=True):
        for panel, name in zip(row, ("inference", "update"), strict=True):
            _dress(panel, scaling, f"{title}, {name}")
            scale_logarithmically(panel.yaxis, min(times), max(times))
            lines = {}
            for model, style in styles.items():
                points = scaling.of(model)
                taken = [part(getattr(point, name)) for point in points]
                if min(taken) > 0:  # a full view has no reading apart
                    lines[model] = ([float(p.side) for p in points], taken, style)
            draw_lines(panel, lines)
        row[0].set_ylabel("ms of one core a scene")
    (by_side, by_cost), (adds, empty) = below.subplots(2, 2)
    _draw_error_by_side(by_side, scaling, styles)
    _draw_multiply_adds(adds, scaling, styles)
    _draw_error_by_cost(by_cost, scaling, styles)
    empty.set_visible(False)
    above.suptitle(
        f"{scaling.minutes:g} core-minutes of training at each side, "
        f"{scaling.precision}, {scaling.hardware}",
        fontsize=10,
    )
    save_figure(figure, path)


def draw_scaling_in_short(scaling: Scaling, path: str | Path) -> None:
    """Draw the error and the milliseconds of inference, all together, against the scene's side;
    models are named in words."""
    figure = new_figure(11.0, 3.4)
    by_side, cost = figure.subplots(1, 2)
    styles = {IN_WORDS[point.key]: style_named(point.model) for point in scaling.points}
    renamed = (replace(point, model=IN_WORDS[point.key]) for point in scaling.points)
    scaling = replace(scaling, points=tuple(renamed))
    _draw_error_by_side(by_side, scaling, styles)
    by_side.set_title(f"Error after {scaling.minutes:g} core-minutes of training", loc="left")
    lines = {
        model: (
            [float(point.side) for point in scaling.of(model)],
            [point.inference.total for point in scaling.of(model)],
            style,
        )
        for model, style in styles.items()
    }
    _dress(cost, scaling, "Cost of a scene")
    every = [spent for _, y, _ in lines.values() for spent in y]
    scale_logarithmically(cost.yaxis, min(every), max(every))
    cost.set_ylabel("milliseconds of one core")
    draw_lines(cost, lines)
    save_figure(figure, path)


def _draw_multiply_adds(panel: Axes, scaling: Scaling, styles: Styles) -> None:
    lines = {}
    for model, style in styles.items():
        measured = [(p.side, p.multiply_adds) for p in scaling.of(model) if p.multiply_adds]
        if measured:
            sides, adds = zip(*measured, strict=True)
            lines[model] = (sides, adds, style)
    if not lines:
        panel.set_visible(False)
        return
    _dress(panel, scaling, "Multiply-adds, inference")
    every = [adds for _, y, _ in lines.values() for adds in y]
    scale_logarithmically(panel.yaxis, min(every), max(every))
    panel.set_ylabel("multiply-adds a scene")
    draw_lines(panel, lines)


def _draw_error_by_side(panel: Axes, scaling: Scaling, styles: Styles) -> None:
    _dress(panel, scaling, "Error")
    lines, bounds = {}, []
    for model, style in styles.items():
        points = scaling.of(model)
        sides = [float(point.side) for point in points]
        errors, lows, highs = _errors(points)
        panel.fill_between(sides, lows, highs, color=style.colour, alpha=0.15, linewidth=0)
        bounds += [*lows, *highs]
        lines[model] = (sides, errors, style)
    panel.set_ylabel("test error, %")
    scale_logarithmically(panel.yaxis, min(bounds), max(bounds))
    draw_lines(panel, lines)


def _draw_error_by_cost(panel: Axes, scaling: Scaling, styles: Styles) -> None:
    ends, bounds, times = [], [], []
    sides = sorted({point.side for point in scaling.points})
    mark_sizes = np.linspace(15, 90, len(sides))
    for model, style in styles.items():
        points = scaling.of(model)
        spent = [point.inference.total for point in points]
        errors, lows, highs = _errors(points)
        panel.plot(spent, errors, color=style.colour, linestyle=":")
        panel.vlines(spent, lows, highs, color=style.colour, linewidth=3, alpha=0.35)
        sizes = [mark_sizes[sides.index(point.side)] for point in points]
        panel.scatter(spent, errors, s=sizes, color=style.colour, marker=style.marker)
        bounds += [*lows, *highs]
        times += spent
        ends.append(EndLabel(spent[-1], errors[-1], model, style.colour))
    panel.set_title("Error against cost", loc="left")
    panel.set_xlabel("ms of one core a scene, inference")
    panel.set_ylabel("test error, %")
    scale_logarithmically(panel.xaxis, min(times), max(times))
    scale_logarithmically(panel.yaxis, min(bounds), max(bounds))
    label_ends(panel, ends)


def _errors(points: Sequence[ScalingPoint]) -> tuple[list[float], list[float], list[float]]:
    """Errors and the bounds of their intervals, as a logarithmic axis can show them."""
    columns = (
        [point.error_percent for point in points],
        [point.interval_percent[0] for point in points],
        [point.interval_percent[1] for point in points],
    )
    errors, lows, highs = ([max(value, LEAST_ERROR) for value in column] for column in columns)
    return errors, lows, highs


def _dress(panel: Axes, scaling: Scaling, title: str) -> None:
    """An axis of sides, each of which has its tick."""
    sides = sorted({point.side for point in scaling.points})
    scale_logarithmically(panel.xaxis, sides[0], sides[-1])
    panel.set_xticks(sides, [str(side) for side in sides])
    panel.set_xlabel("scene's side, pixels")
    panel.set_title(title, loc="left")
