"""Charts of curves and scores, as SVG files in data URIs, so that their ids cannot clash."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from agents.scoring.run_groups import Curve, Group
from report.figures.style import LEAST_ERROR, LineStyle, add_legend, new_figure, plain, style_of
from report.figures.style import scale_logarithmically as logarithmic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (4.3, 2.7)
"""In inches: as wide as a phone's screen, so that letters are not scaled down there."""
MOST_LINES = 5


@dataclass(frozen=True)
class PageLines:
    """What all charts of a page share: how the line of each name is drawn, and whether there is a
    legend even where a chart has one line alone."""

    styles: Mapping[str, LineStyle]
    legend: bool


def page_lines(groups: Sequence[Group]) -> PageLines:
    """A style for each of all groups of a page; they come again after eight."""
    styles = {group.name: style_of(number) for number, group in enumerate(groups)}
    return PageLines(styles, legend=sum(len(group.runs) for group in groups) > 1)


def chart_of_curves(
    curves: Mapping[str, Curve], label: str, shared: PageLines, *, error: bool = False
) -> str:
    """Curves against the episodes of training, those of several seeds in a band from the least to
    the greatest; an `error`, in percent, on a logarithmic axis."""
    figure, panel = _new(label, "episodes of training")
    for name, curve in curves.items():
        style, floor = shared.styles[name], LEAST_ERROR if error else -np.inf
        named = f"{name} ({curve.seeds} seeds)" if curve.seeds > 1 else name
        few = len(curve.episodes) <= 20
        panel.plot(
            curve.episodes, np.maximum(curve.mean, floor), color=style.colour, linewidth=1.4,
            marker=style.marker if few else "", markersize=3.5, label=named,
        )  # fmt: skip
        if curve.seeds > 1:
            low, high = np.maximum(curve.low, floor), np.maximum(curve.high, floor)
            panel.fill_between(
                curve.episodes, low, high, color=style.colour, alpha=0.25, linewidth=0
            )
    panel.xaxis.set_major_formatter(lambda value, _: plain(value) if value else "0")
    if error:
        lows = [max(float(curve.low.min()), LEAST_ERROR) for curve in curves.values()]
        highs = [max(float(curve.high.max()), LEAST_ERROR) for curve in curves.values()]
        _scale_errors(panel, min(lows), max(highs))
    return _finished(figure, panel, shared.legend)


def chart_of_points(
    lines: Mapping[str, tuple[ArrayLike, Sequence[ArrayLike]]],
    labels: tuple[str, str],
    shared: PageLines,
    *,
    trained_to: float | None = None,
    positive: bool = False,
) -> str:
    """Values of several seeds at a few x positions: their mean, in a band from least to greatest.

    Args:
        lines: name -> places (n,), and for each seed the values (n,).
        labels: of the x axis and of the y axis.
        shared: by all charts of the page.
        trained_to: place up to which was trained, marked by a line.
        positive: whether the y axis is logarithmic; else it is of percent, from 0 to 100.
    """
    from matplotlib.ticker import MaxNLocator

    figure, panel = _new(labels[1], labels[0])
    everything = []
    for name, (places, seeds) in lines.items():
        style = shared.styles[name]
        values = np.asarray(seeds, np.float64)  # (S, n)
        if positive:
            values = np.maximum(values, LEAST_ERROR)
        everything.append(values)
        named = f"{name} ({len(values)} seeds)" if len(values) > 1 else name
        panel.plot(places, values.mean(0), **style.line(), label=named)
        if len(values) > 1:
            panel.fill_between(
                places, values.min(0), values.max(0), color=style.colour, alpha=0.25, linewidth=0
            )  # fmt: skip
    if trained_to is not None:
        panel.axvline(trained_to, color="#777777", linestyle=":", linewidth=1)
        panel.annotate(
            "trained", (trained_to, 0.02), xycoords=("data", "axes fraction"), fontsize=7.5,
            ha="right", rotation=90, va="bottom", textcoords="offset points", xytext=(-2, 2),
        )  # fmt: skip
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    if positive:
        low, high = min(v.min() for v in everything), max(v.max() for v in everything)
        _scale_errors(panel, float(low), float(high))
    else:
        panel.set_ylim(0, 103)
    return _finished(figure, panel, shared.legend)


def in_charts(groups: Sequence[Group]) -> Iterator[Sequence[Group]]:
    """The groups of one chart after another: never more than `MOST_LINES`."""
    for start in range(0, len(groups), MOST_LINES):
        yield groups[start : start + MOST_LINES]


def _new(title: str, below: str) -> tuple[Figure, Axes]:
    figure = new_figure(*SIZE)
    panel = figure.subplots()
    panel.set_title(title, loc="left")
    panel.set_xlabel(below)
    return figure, panel


def _scale_errors(panel: Axes, low: float, high: float) -> None:
    """A logarithmic axis of errors, whose least tick says that lesser ones are drawn there too."""
    logarithmic(panel.yaxis, low, high, most=6)
    panel.yaxis.set_major_formatter(lambda value, _: tick_of_error(value))


def tick_of_error(value: float) -> str:
    """The text of a tick, in percent."""
    return ("≤ " if np.isclose(value, LEAST_ERROR, rtol=1e-6) else "") + plain(value)


def _finished(figure: Figure, panel: Axes, legend: bool) -> str:
    if legend:
        count = len(panel.get_legend_handles_labels()[0])
        figure.set_size_inches(SIZE[0], SIZE[1] + 0.17 * count)
        add_legend(panel)
    image = io.BytesIO()
    figure.savefig(image, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(image.getvalue()).decode()
