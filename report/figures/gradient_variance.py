"""The figure of gradient variance, drawn from its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from report.figures.style import (
    COLOURS,
    INK,
    EndLabel,
    LineStyle,
    draw_lines,
    label_ends,
    new_figure,
    save_figure,
    scale_logarithmically,
    style_of,
)
from report.variance_record import NAMES, VarianceRecord, geometric_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Side = Literal["left", "right"]

GUIDE: dict[str, Any] = {"color": INK, "linewidth": 1.0, "linestyle": (0, (1, 1.5)), "zorder": 0}
RATIO = "noise_to_signal"
MEASURES = {"variance": "variance", RATIO: "noise-to-signal"}
ESTIMATORS = {
    name: style_of(turn)
    for turn, name in enumerate(
        ("none", "moving_average", "learned", "leave_one_out", "actor_critic")
    )
}


def draw_figure(record: VarianceRecord, path: Path) -> None:
    """Draw a panel for each experiment."""
    figure = new_figure(11.0, 12.5)
    (width, ratio), (layer, decisions), (batch, offset), (known, spare) = figure.subplots(4, 2)
    for panel, measure in ((width, "variance"), (ratio, RATIO)):
        curves = {
            setting.replace(", reward by ", ", "): record.curve(
                "width", setting, "learned", measure
            )
            for setting in record.settings("width")
        }
        _draw_relative(panel, curves, at=64)
        panel.set_xlabel("hidden units")
        panel.set_ylabel(f"{MEASURES[measure]}, relative to 64 units")
        panel.set_title(f"Width of a policy: {MEASURES[measure]}", loc="left")
    _draw_layer(layer, record)
    _draw_decisions(decisions, record)
    _draw_batch(batch, record)
    _draw_offset(offset, record)
    _draw_known(known, record)
    spare.remove()
    save_figure(figure, path)


def _draw_layer(panel: Axes, record: VarianceRecord) -> None:
    """Relative to 64 units: one hidden layer with and without sampled units."""
    curves = {
        f"{name}, {setting} units": record.curve("units", setting, "learned", measure)
        for setting in record.settings("units")
        for measure, name in MEASURES.items()
    }
    _draw_relative(panel, curves, at=64)
    panel.set_xlabel("hidden units")
    panel.set_ylabel("relative to 64 units")
    panel.set_title("Units of one hidden layer", loc="left")


def _draw_decisions(panel: Axes, record: VarianceRecord) -> None:
    """Relative to 2 decisions: looks, and the dimensions of one."""
    curves = {
        f"{experiment}: {setting}": record.curve(experiment, setting, "learned", RATIO)
        for experiment in ("looks", "dimensions")
        for setting in record.settings(experiment)
    }
    _draw_relative(panel, curves, at=2)
    panel.set_xlabel("sampled decisions")
    panel.set_ylabel("noise-to-signal, relative to 2")
    panel.set_title("Sampled decisions: noise-to-signal", loc="left")


def _draw_relative(panel: Axes, curves: Mapping[str, Mapping[float, float]], at: float) -> None:
    """Curves over their value at `at`, and a guide of exponent 1."""
    places = sorted({x for curve in curves.values() for x in curve})
    lines = {}
    for turn, (name, curve) in enumerate(curves.items()):
        if at in curve:
            lines[name] = (list(curve), [y / curve[at] for y in curve.values()], style_of(turn))
    _scale_axes(panel, places, [1.0, *(value for _, y, _ in lines.values() for value in y)])
    panel.plot(places, [x / at for x in places], **GUIDE)
    _name_guide(panel, at * 2, 2.0, "exponent 1")
    draw_lines(panel, lines)


def _draw_batch(panel: Axes, record: VarianceRecord) -> None:
    (setting,) = record.settings("batch")
    lines = {}
    for name, style in ESTIMATORS.items():
        curve = record.curve("batch", setting, name, "variance")
        lines[NAMES[name]] = (list(curve), list(curve.values()), style)
    places, first, _ = next(iter(lines.values()))
    _scale_axes(panel, places, [value for _, y, _ in lines.values() for value in y])
    panel.plot(places, [first[0] * places[0] / x for x in places], **GUIDE)
    _name_guide(panel, places[-3], first[0] * places[0] / places[-3], "exponent −1", "left")
    draw_lines(panel, lines)
    panel.set_xlabel("episodes an update")
    panel.set_ylabel("variance")
    panel.set_title("Episodes", loc="left")


def _draw_offset(panel: Axes, record: VarianceRecord) -> None:
    """By place in a row, as the first takes the mean away and the second is 0."""
    (setting,) = record.settings("offset")
    lines: dict[str, tuple[list[float], list[float], LineStyle]] = {}
    for name, style in ESTIMATORS.items():
        curve = record.curve("offset", setting, name, "variance")
        centred = geometric_mean(value for x, value in curve.items() if x < 0)
        row = [centred, *(value for x, value in curve.items() if x >= 0)]
        lines[NAMES[name]] = ([float(place) for place in range(len(row))], row, style)
    labels = ["mean\n0", *(f"+{x:g}" if x else "as\nit is" for x in curve if x >= 0)]
    panel.set_xticks(range(len(labels)), labels, fontsize=8)
    values = [value for _, y, _ in lines.values() for value in y]
    scale_logarithmically(panel.yaxis, min(values), max(values))
    draw_lines(panel, lines)
    panel.set_xlabel("constant added to the reward")
    panel.set_ylabel("variance")
    panel.set_title("A constant added to the reward", loc="left")


def _draw_known(panel: Axes, record: VarianceRecord) -> None:
    """Bars of noise-to-signal and marks of the squared bias, of the look's head."""
    names = list(NAMES)
    least, noise_colour, bias_colour = 1e-3, COLOURS[5], COLOURS[1]
    marks: list[tuple[float, int]] = []
    for place, name in enumerate(names):
        rows = record.enumerable(name, "look")
        noise = geometric_mean(row["variance"] / row["signal"] for row in rows)
        square = float(np.mean([row["squared_bias"] for row in rows]))
        error = float(np.sqrt(sum(row["squared_bias_error"] ** 2 for row in rows))) / len(rows)
        panel.barh(place, max(noise - least, 0), left=least, color=noise_colour, height=0.62)
        if noise == 0:
            panel.text(least * 1.2, place, "no noise, no bias", va="center", fontsize=8)
        elif square > 2 * error:
            marks.append((square, place))
    for square, place in marks:
        panel.plot(square, place, marker="D", color=bias_colour, linestyle="")
    panel.set_yticks(range(len(names)), [NAMES[name] for name in names], fontsize=8)
    panel.set_ylim(len(names) - 0.3, -0.7)  # from above
    scale_logarithmically(panel.xaxis, least, 100.0)
    panel.set_xlim(left=least)
    panel.set_xlabel("relative to the gradient (the look's head)")
    panel.set_title("Where the gradient is known", loc="left")
    panel.grid(visible=False, axis="y")
    ends = [EndLabel(least * 1.5, 0, "noise-to-signal of an update", noise_colour)]
    if marks:
        ends.append(EndLabel(*marks[-1], "squared bias, where there is any", bias_colour))
    label_ends(panel, ends)


def _name_guide(panel: Axes, x: float, y: float, name: str, side: Side = "right") -> None:
    """Write the name above the guide, ending or beginning at a place on it."""
    shift = (-4 if side == "right" else 4, 4)
    panel.annotate(name, (x, y), shift, textcoords="offset points", fontsize=7, ha=side)


def _scale_axes(panel: Axes, places: Sequence[float], values: Sequence[float]) -> None:
    """Both logarithmic; ticks below at powers of 2, where measurements are."""
    from matplotlib.ticker import FixedLocator

    scale_logarithmically(panel.xaxis, min(places), max(places))
    scale_logarithmically(panel.yaxis, min(values), max(values))
    panel.xaxis.set_major_locator(FixedLocator([2.0**k for k in range(11)]))
