"""The figure of what one read costs by the number of cells, drawn from curves of its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from report.figures.style import (
    COLOURS,
    MARKERS,
    Look,
    new_figure,
    save_figure,
    scale_logarithmically,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Curves = Mapping[str, Mapping[int, float]]
"""Microseconds a read by the number of cells, by what is called so in the legend."""

_ROWS = ("without gradients", "with gradients")


def draw_figure(whole: Sequence[Curves], apart: Sequence[Curves], path: Path) -> None:
    """Write the PNG: above without gradients, below with; whole reads on the left, choosing and
    reading apart on the right.

    Args:
        whole: whole reads, without gradients and with.
        apart: their parts, alike.
        path: of the PNG.
    """
    figure = new_figure(12.0, 8.4)
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    every = [curve for curves in (*whole, *apart) for curve in curves.values() if curve]
    for row, (left, right) in enumerate(panels):
        for panel, curves, what in (
            (left, whole[row], "Whole reads"),
            (right, apart[row], "Apart"),
        ):
            _draw(panel, curves)
            panel.set_title(f"{what}, {_ROWS[row]}")
        left.set_ylabel("microseconds of one core a read")
    for panel in panels[1]:
        panel.set_xlabel("cells")
    cells = [n for curve in every for n in curve]
    costs = [cost for curve in every for cost in curve.values()]
    scale_logarithmically(panels[0, 0].xaxis, min(cells), max(cells))
    scale_logarithmically(panels[0, 0].yaxis, min(costs), max(costs))
    save_figure(figure, path)


def _draw(panel: Axes, curves: Curves) -> None:
    for turn, (name, curve) in enumerate(curves.items()):
        look = Look(COLOURS[turn], MARKERS[turn], "-")
        panel.plot(list(curve), list(curve.values()), label=name, **look.line())
    panel.legend(fontsize=8, loc="upper left")
    panel.grid(alpha=0.25)
