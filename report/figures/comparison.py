"""Hard attention against soft: the picture of what each costs and what each buys.

A row of panels for each kind of model, and in the columns error against reading, arithmetic and
training, a mark a glimpse or a score. Building a scene is in none of the costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from report.curves import curve_of
from report.figures.models import MOST_LINES, styled
from report.figures.style import (
    LEAST_ERROR,
    LineStyle,
    add_legend,
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
    "human": "People: one glimpse at a time",
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
    bounds: tuple[float, float] | None
    """The 95 % interval of the last error; None where it is not drawn."""


@dataclass(frozen=True)
class Column:
    """What error is drawn against."""

    label: str
    curve: Callable[[Group], Curve | None]
    """None where it was not measured."""


def draw_comparison(groups: Sequence[Group], path: str | Path) -> None:
    """Draw error against reading, arithmetic and training, with intervals.

    All panels share the axis of errors, those of a column both. Groups without a cost, or whose
    training was not followed, are absent from the panels that need it; columns of which nothing
    was measured are left out.
    """
    rows = _rows(groups)
    lines = [[_lines(row, column) for row in rows] for column in COLUMNS]
    measured = [pair for pair in zip(COLUMNS, lines, strict=True) if any(pair[1])]
    size = max(1, len(rows)), max(1, len(measured))
    figure = new_figure(2.5 * size[1] + 2.2, 1.75 * size[0] + 0.3)
    axes = figure.subplots(*size, squeeze=False, sharex="col", sharey=True)
    curves = [curve for _, cells in measured for cell in cells for _, _, curve in cell]
    errors = [error for curve in curves for error in (*curve.errors, *(curve.bounds or ()))]
    for number, (column, cells) in enumerate(measured):
        for panel, cell in zip(axes[:, number], cells, strict=True):
            _draw_panel(panel, cell)
        places = [place for cell in cells for _, _, curve in cell for place in curve.places]
        scale_logarithmically(axes[-1, number].xaxis, min(places), max(places), most=4)
        axes[-1, number].set_xlabel(column.label)
    if errors:
        scale_logarithmically(axes[0, 0].yaxis, min(errors), min(max(errors), 100.0), most=6)
    for panels, row in zip(axes, rows, strict=False):
        panels[0].set_title(TITLES[row[0].kind], loc="left", fontweight="bold")
        panels[0].set_ylabel("error, %")
        _add_names(panels[-1], row)
    save_figure(figure, path)


def _rows(groups: Sequence[Group]) -> list[list[Group]]:
    """Groups that can be judged, kind by kind, at most `MOST_LINES` a row."""
    judged = [group for group in groups if group.has_success]
    rows = []
    for kind in TITLES:
        alike = [group for group in judged if group.kind == kind]
        rows += [alike[start : start + MOST_LINES] for start in range(0, len(alike), MOST_LINES)]
    return rows


def _lines(row: Sequence[Group], column: Column) -> list[tuple[str, LineStyle, Curve]]:
    """What a panel shows."""
    curves = [(group.label, style, column.curve(group)) for group, style in styled(row)]
    return [(name, style, curve) for name, style, curve in curves if curve is not None]


def _draw_panel(panel: Axes, lines: Sequence[tuple[str, LineStyle, Curve]]) -> None:
    for _, style, curve in lines:
        panel.plot(curve.places, curve.errors, **style.line())
        if curve.bounds is not None:
            low, high = curve.bounds
            panel.vlines(curve.places[-1], low, high, color=style.colour, linewidth=3.0, alpha=0.35)


def _add_names(panel: Axes, row: Sequence[Group]) -> None:
    """The names of a row's models at the right of its last panel."""
    for group, style in styled(row):
        panel.plot([], [], label=group.label, **style.line())
    add_legend(panel, below=False)


def _against(cost: str) -> Callable[[Group], Curve | None]:
    """Error after each glimpse against what it has cost until then, or at the end alone."""

    def curve(group: Group) -> Curve | None:
        places = group.cost_by_glimpse(cost)
        if not places or min(places) <= 0:
            return None
        errors = group.error_by_glimpse[-len(places) :] or [group.error]
        return _curve(places[-len(errors) :], errors, group.interval)

    return curve


def _against_training(group: Group) -> Curve | None:
    points = [point for point in curve_of(group) if point.core_seconds > 0]
    if not points:
        return None
    # The interval of a few validation scenes would hide those of the tests beside it.
    return _curve([point.core_seconds for point in points], [point.error for point in points], None)


def _curve(
    places: list[float], errors: Iterable[float], interval: tuple[float, float] | None
) -> Curve:
    """Errors as a logarithmic axis can show them."""
    bounds = None if interval is None else (max(interval[0], LEAST_ERROR), interval[1])
    return Curve(places, [max(error, LEAST_ERROR) for error in errors], bounds)


COLUMNS = (
    Column("values delivered a scene", _against("values_delivered")),
    Column("multiply-adds a scene", _against("multiply_adds")),
    Column("core-seconds of training (validation)", _against_training),
)
