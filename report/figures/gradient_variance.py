"""The figure of gradient variance: six panels, drawn from the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from report.figures.style import (
    COLOURS,
    MARKERS,
    new_figure,
    save_figure,
    scale_logarithmically,
)
from report.variance_record import NAMES, VarianceRecord, geometric_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GUIDE: dict[str, Any] = {"color": "0.6", "linewidth": 1.0, "linestyle": (0, (1, 1.5)), "zorder": 0}
RATIO = "noise_to_signal"
FAMILY = ("none", "moving_average", "learned", "leave_one_out", "actor_critic")
STYLE = {name: (COLOURS[i], MARKERS[i]) for i, name in enumerate(FAMILY)}


def draw_figure(record: VarianceRecord, path: Path) -> None:
    """Write the PNG."""
    figure = new_figure(13.5, 8.2)
    (width, ratio, decisions), (batch, offset, known) = figure.subplots(2, 3)
    _draw_hidden_units(width, record, "variance", "variance")
    width.get_legend().remove()
    width.text(
        0.03, 0.97, "colours as on the right", va="top", fontsize=8, transform=width.transAxes
    )
    _draw_hidden_units(ratio, record, RATIO, "noise-to-signal")
    _draw_decisions(decisions, record)
    _draw_batch(batch, record)
    _draw_offset(offset, record)
    _draw_known(known, record)
    save_figure(figure, path)


def _draw_hidden_units(panel: Axes, record: VarianceRecord, measure: str, of_what: str) -> None:
    """Relative to 64 units: policies, and the toy with and without sampled units."""
    series = [
        (setting.replace(", reward by ", ", "), record.curve("width", setting, "learned", measure))
        for setting in record.settings("width")
    ]
    series += [
        (f"one layer, {setting} units", record.curve("units", setting, "learned", measure))
        for setting in record.settings("units")
    ]
    _draw_relative(panel, series, at=64)
    panel.set_xlabel("hidden units")
    panel.set_ylabel(f"{of_what}, relative to 64 units")
    panel.set_title(f"Hidden units: {of_what}")


def _draw_decisions(panel: Axes, record: VarianceRecord) -> None:
    """Relative to 2 decisions: looks, and the dimensions of one."""
    series = [
        (f"{experiment}: {setting}", record.curve(experiment, setting, "learned", RATIO))
        for experiment in ("looks", "dimensions")
        for setting in record.settings(experiment)
    ]
    _draw_relative(panel, series, at=2)
    panel.set_xlabel("sampled decisions")
    panel.set_ylabel("noise-to-signal, relative to 2 decisions")
    panel.set_title("Sampled decisions: noise-to-signal")


def _draw_relative(
    panel: Axes, series: Sequence[tuple[str, Mapping[float, float]]], at: float
) -> None:
    """Curves over their value at `at`, and a guide of exponent 1."""
    places = sorted({x for _, curve in series for x in curve})
    values = [1.0]
    for index, (label, curve) in enumerate(series):
        if at not in curve:
            continue
        y = [value / curve[at] for value in curve.values()]
        values += y
        panel.plot(
            list(curve), y, color=COLOURS[index], marker=MARKERS[index], markersize=5, label=label
        )
    panel.plot(places, [x / at for x in places], label="exponent 1", **GUIDE)
    _scale_axes(panel, places, values)
    panel.legend(fontsize=7)


def _scale_axes(panel: Axes, places: Sequence[float], values: Sequence[float]) -> None:
    """Both logarithmic; ticks below at powers of 2, where measurements are."""
    from matplotlib.ticker import FixedLocator

    scale_logarithmically(panel.xaxis, min(places), max(places))
    scale_logarithmically(panel.yaxis, min(values), max(values))
    panel.xaxis.set_major_locator(FixedLocator([2.0**k for k in range(11)]))
    panel.grid(alpha=0.25)


def _draw_batch(panel: Axes, record: VarianceRecord) -> None:
    (setting,) = record.settings("batch")
    values: list[float] = []
    for name in FAMILY:
        colour, marker = STYLE[name]
        curve = record.curve("batch", setting, name, "variance")
        values += curve.values()
        panel.plot(
            list(curve), list(curve.values()), color=colour, marker=marker, label=NAMES[name]
        )
    places = list(curve)
    guide = [values[0] * places[0] / x for x in places]
    panel.plot(places, guide, label="exponent −1", **GUIDE)
    _scale_axes(panel, places, values)
    panel.set_xlabel("episodes an update")
    panel.set_ylabel("variance")
    panel.set_title("Episodes")
    panel.legend(fontsize=7)


def _draw_offset(panel: Axes, record: VarianceRecord) -> None:
    """By place in a row, as the first takes the mean away and the second is 0."""
    (setting,) = record.settings("offset")
    values: list[float] = []
    for name in FAMILY:
        colour, marker = STYLE[name]
        curve = record.curve("offset", setting, name, "variance")
        centred = geometric_mean(value for x, value in curve.items() if x < 0)
        row = [centred, *(value for x, value in curve.items() if x >= 0)]
        values += row
        panel.plot(range(len(row)), row, color=colour, marker=marker, label=NAMES[name])
    labels = ["mean 0", *(f"+{x:g}" if x else "as it is" for x in curve if x >= 0)]
    panel.set_xticks(range(len(labels)), labels, fontsize=8)
    scale_logarithmically(panel.yaxis, min(values), max(values))
    panel.set_xlabel("constant added to the reward")
    panel.set_ylabel("variance")
    panel.set_title("A constant added to the reward")
    panel.legend(fontsize=7)
    panel.grid(alpha=0.25)


def _draw_known(panel: Axes, record: VarianceRecord) -> None:
    """Bars of noise-to-signal and marks of the squared bias, of the look's head."""
    names = list(NAMES)
    least = 1e-3
    for place, name in enumerate(names):
        rows = record.enumerable(name, "look")
        noise = geometric_mean(row["variance"] / row["signal"] for row in rows)
        square = float(np.mean([row["squared_bias"] for row in rows]))
        error = float(np.sqrt(sum(row["squared_bias_error"] ** 2 for row in rows))) / len(rows)
        panel.barh(
            place, max(noise - least, 0), left=least, color=COLOURS[5], height=0.62,
            label="noise-to-signal of an update" if place == 0 else None,
        )  # fmt: skip
        if noise == 0:
            panel.text(least * 1.2, place, "no noise, no bias", va="center", fontsize=8)
        elif square > 2 * error:
            panel.plot(square, place, marker="D", color=COLOURS[1], linestyle="")
    panel.plot(
        [], [], marker="D", color=COLOURS[1], linestyle="", label="squared bias, where there is any"
    )
    panel.set_yticks(range(len(names)), [NAMES[name] for name in names], fontsize=8)
    panel.set_ylim(len(names) + 0.7, -0.7)  # from above, with room for the legend
    scale_logarithmically(panel.xaxis, least, 100.0)
    panel.set_xlim(left=least)
    panel.set_xlabel("relative to the gradient (the look's head)")
    panel.set_title("Where the gradient is known")
    panel.legend(fontsize=7, loc="lower right")
    panel.grid(alpha=0.25, axis="x")
