"""Hard attention against soft: the picture of what each costs and what each buys.

A row of panels for each kind of model, and in the columns error against glimpses, reading,
arithmetic and training. Building a scene touches every pixel for all models alike and is in none of
the costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from report.curves import curve_of
from report.figures.models import MOST_LINES, styled
from report.figures.style import (
    LEAST_ERROR,
    EndLabel,
    LineStyle,
    label_ends,
    new_figure,
    save_figure,
    scale_logarithmically,
)
from report.groups import Group
from report.kinds import Kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLES: dict[Kind, str] = {
    "hard": "Hard: one glimpse at a time",
    "privileged": "Privileged: all tiles in training",
    "addressed": "Addressed: every pixel once, then one place a read",
    "soft_to_hard": "Soft to hard: one place a read in the end",
    "soft": "Soft: every pixel, at every glimpse",
    "full": "Full view: every pixel at once",
}


@dataclass(frozen=True)
class Curve:
    """One line of a panel; errors and their bounds are in percent."""

    places: list[float]
    errors: list[float]
    bounds: tuple[float, float]
    """The 95 % interval of the last error."""


@dataclass(frozen=True)
class Column:
    """What error is drawn against."""

    label: str
    curve: Callable[[Group], Curve | None]
    """None where it was not measured."""
    logarithmic: bool = True


def draw_comparison(groups: Sequence[Group], path: str | Path) -> None:
    """Draw error against glimpses, reading, arithmetic and training, with intervals.

    The panels of a column share both axes, all panels that of errors. Groups without a cost, or
    whose training was not followed, are absent from the panels that need it; panels of a single
    point, or of none, are left out.
    """
    rows = _rows(groups)
    figure = new_figure(3.0 * len(COLUMNS) + 1.6, 2.5 * max(1, len(rows)))
    axes = figure.subplots(max(1, len(rows)), len(COLUMNS), squeeze=False)
    for panel in axes.ravel():
        panel.set_visible(False)
    columns = [[_lines(row, column) for row in rows] for column in COLUMNS]
    errors = [
        error
        for lines in chain.from_iterable(columns)
        for _, curve in lines
        for error in (*curve.errors, *curve.bounds)
    ]
    for number, (column, cells) in enumerate(zip(COLUMNS, columns, strict=True)):
        places = [place for lines in cells for _, curve in lines for place in curve.places]
        for panel, lines in zip(axes[:, number], cells, strict=False):
            if lines:
                _draw_panel(panel, column, lines)
                scale_logarithmically(panel.yaxis, min(errors), min(max(errors), 100.0))
                if column.logarithmic:
                    scale_logarithmically(panel.xaxis, min(places), max(places), most=4)
                else:
                    step = -(-int(max(places)) // 8)
                    panel.set_xticks(range(step, int(max(places)) + 1, step))
    for panels, row in zip(axes, rows, strict=False):
        visible = [panel for panel in panels if panel.get_visible()]
        if visible:
            visible[0].set_title(TITLES[row[0].kind], loc="left", fontweight="bold")
            visible[0].set_ylabel("error, %")
            label_ends(visible[-1], _ends(row, COLUMNS[list(panels).index(visible[-1])]))
    save_figure(figure, path)


def _rows(groups: Sequence[Group]) -> list[list[Group]]:
    """Groups that can be judged, kind by kind, at most `MOST_LINES` a row."""
    judged = [group for group in groups if group.has_success]
    rows = []
    for kind in TITLES:
        alike = [group for group in judged if group.kind == kind]
        rows += [alike[start : start + MOST_LINES] for start in range(0, len(alike), MOST_LINES)]
    return rows


def _lines(row: Sequence[Group], column: Column) -> list[tuple[LineStyle, Curve]]:
    """What a panel shows; nothing where that would be a single point."""
    curves = [(style, column.curve(group)) for group, style in styled(row)]
    lines = [(style, curve) for style, curve in curves if curve is not None]
    return lines if sum(len(curve.places) for _, curve in lines) > 1 else []


def _draw_panel(panel: Axes, column: Column, lines: Sequence[tuple[LineStyle, Curve]]) -> None:
    panel.set_visible(True)
    for style, curve in lines:
        panel.plot(curve.places, curve.errors, **style.line())
        low, high = curve.bounds
        panel.vlines(curve.places[-1], low, high, color=style.colour, linewidth=3.0, alpha=0.35)
    panel.set_xlabel(column.label)


def _ends(row: Sequence[Group], column: Column) -> list[EndLabel]:
    """The names of a row's models, at the ends of their lines in its last column."""
    ends = []
    for group, style in styled(row):
        curve = column.curve(group)
        if curve is not None:
            place, error = curve.places[-1], curve.errors[-1]
            ends.append(EndLabel(place, error, group.label, style.colour))
    return ends


def _against_glimpses(group: Group) -> Curve | None:
    if group.kind == "full" or not group.error_by_glimpse:
        return None
    places = [float(glimpse) for glimpse in range(1, len(group.error_by_glimpse) + 1)]
    return _curve(places, group.error_by_glimpse, group.interval)


def _against(cost: str) -> Callable[[Group], Curve | None]:
    """Error after each glimpse against what it has cost until then, or at the end alone."""

    def curve(group: Group) -> Curve | None:
        places = group.cost_by_glimpse(cost)
        if not places or min(places) <= 0:
            return None
        errors = group.error_by_glimpse[-len(places) :] or [group.error]
        return _curve(places, errors, group.interval)

    return curve


def _against_training(group: Group) -> Curve | None:
    points = [point for point in curve_of(group) if point.core_seconds > 0]
    if not points:
        return None
    errors = [point.error for point in points]
    last = points[-1]
    return _curve([point.core_seconds for point in points], errors, (last.low, last.high))


def _curve(places: list[float], errors: Iterable[float], interval: tuple[float, float]) -> Curve:
    """Errors as a logarithmic axis can show them."""
    low, high = (max(bound, LEAST_ERROR) for bound in interval)
    return Curve(places, [max(error, LEAST_ERROR) for error in errors], (low, high))


COLUMNS = (
    Column("glimpses", _against_glimpses, logarithmic=False),
    Column("values delivered a scene", _against("values_delivered")),
    Column("pixels covered a scene", _against("pixels_covered")),
    Column("multiply-adds a scene", _against("multiply_adds")),
    Column("core-seconds of training (validation)", _against_training),
)
