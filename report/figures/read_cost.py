"""The figure of what one read costs by the number of cells, drawn from curves of its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from report.figures.style import (
    draw_lines,
    new_figure,
    save_figure,
    scale_logarithmically,
    style_of,
)

Curves = Mapping[str, Mapping[int, float]]
"""Microseconds a read by the number of cells, by the name of the line."""

_KINDS = ("without gradients", "with gradients")


def draw_figure(columns: Mapping[str, Sequence[Curves]], path: Path) -> None:
    """Draw a panel for each set of curves and kind of gradients, the kinds side by side.

    Args:
        columns: title -> curves without gradients and with.
        path: of the file.
    """
    figure = new_figure(10.4, 3.2 * len(columns))
    panels = figure.subplots(len(columns), 2, squeeze=False)
    every = [c for rows in columns.values() for curves in rows for c in curves.values() if c]
    cells = [n for curve in every for n in curve]
    costs = [cost for curve in every for cost in curve.values()]
    for line, (title, rows) in enumerate(columns.items()):
        for kind, curves in enumerate(rows):
            panel = panels[line, kind]
            scale_logarithmically(panel.xaxis, min(cells), max(cells))
            scale_logarithmically(panel.yaxis, min(costs), max(costs))
            drawn = [(name, curve) for name, curve in curves.items() if curve]
            draw_lines(
                panel,
                {
                    # The title says "choosing" or "reading".
                    name.rpartition(": ")[2]: (list(curve), list(curve.values()), style_of(turn))
                    for turn, (name, curve) in enumerate(drawn)
                },
            )
            panel.set_title(f"{title}, {_KINDS[kind]}", loc="left")
            panel.set_xlabel("cells")
            panel.set_ylabel("µs of one core a read")
    save_figure(figure, path)
