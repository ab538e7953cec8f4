"""The panels of the comparison's picture; each is given the contenders and how to draw them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from report.contenders import THRESHOLDS, Contender
from report.figures.style import LEAST_ERROR, Look, scale_logarithmically

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Drawn = Sequence[tuple[Contender, Look]]


def draw_error_against_glimpses(panel: Axes, drawn: Drawn) -> None:
    """Test error after each glimpse; what has no glimpse budget stands apart, at "whole"."""
    _dress(panel, "Error against glimpses", "glimpses")
    budgets = [c.group.first.glimpses for c, _ in drawn if c.family != "full"]
    most = max(budgets, default=1)
    whole = [pair for pair in drawn if pair[0].family == "full"]
    bounds: list[float] = []
    for contender, look in drawn:
        if contender.family != "full":
            places = range(1, contender.group.first.glimpses + 1)
            bounds += _draw_errors(panel, contender, look, list(places))
    for turn, (contender, look) in enumerate(whole):
        place = most + 1.5 + 0.3 * (turn - (len(whole) - 1) / 2)
        bounds += _draw_errors(panel, contender, look, [place])
    step = -(-most // 8)
    ticks = [*range(step, most + 1, step)] if budgets else []
    labels = [str(tick) for tick in ticks]
    if whole:
        panel.axvline(most + 0.75, color="grey", linewidth=0.8)
        ticks, labels = [*ticks, most + 1.5], [*labels, "whole"]
    panel.set_xlim(0.6, most + (2.25 if whole else 0.4))
    panel.set_xticks(ticks, labels)
    _finish_errors(panel, bounds)


def draw_error_against_cost(panel: Axes, drawn: Drawn, cost: str, label: str) -> None:
    """Test error against a cost of `Record.costs`, after each glimpse where that is known."""
    _dress(panel, f"Error against {label.removesuffix(' a scene')}", label)
    costs = [contender.cost_by_glimpse(cost) or [] for contender, _ in drawn]
    spent = [value for values in costs for value in values if value > 0]
    if not spent:
        _say_empty(panel)
        return
    bounds: list[float] = []
    for (contender, look), values, shift in zip(drawn, costs, _side_by_side(costs), strict=True):
        if values and min(values) > 0:
            places = [value * 1.012**shift for value in values]
            bounds += _draw_errors(panel, contender, look, places)
    scale_logarithmically(panel.xaxis, min(spent), max(spent))
    _finish_errors(panel, bounds)


def draw_curves(panel: Axes, drawn: Drawn) -> None:
    """Validation error against the core-seconds of training, with its interval as a band."""
    _dress(panel, "Error against training time", "core-seconds of training", "validation error, %")
    bounds: list[float] = []
    seconds: list[float] = []
    for contender, look in drawn:
        points = [p for p in contender.curve if p.core_seconds > 0]
        if not points:
            continue
        times = [p.core_seconds for p in points]
        low, high = _seen([p.low for p in points]), _seen([p.high for p in points])
        panel.plot(times, _seen([p.error for p in points]), **_with_line(look))
        panel.fill_between(times, low, high, color=look.colour, alpha=0.1, linewidth=0)
        bounds += [*low, *high]
        seconds += times
    if seconds:
        scale_logarithmically(panel.xaxis, min(seconds), max(seconds))
    _finish_errors(panel, bounds)


def draw_times(panel: Axes, drawn: Drawn) -> None:
    """Core-seconds to each of `THRESHOLDS`; who never got there ends in a band of its own."""
    _dress(panel, "Training time to a given error", "validation error, % (at or under)",
           "core-seconds of training")  # fmt: skip
    followed = [(c, look) for c, look in drawn if c.curve]
    seconds = [p.core_seconds for c, _ in followed for p in c.curve if p.core_seconds > 0]
    if not seconds:
        _say_empty(panel)
        return
    least, most = min(seconds), max(seconds)
    # In logarithms, so that the band is as high whatever the range.
    unit = max((most / least) ** 0.05, 1.1)
    band, top = most * unit**2.5, most * unit**4
    for turn, (contender, look) in enumerate(followed):
        shift = 0.7 * ((turn + 0.5) / len(followed) - 0.5)
        _draw_course(panel, contender, look, shift, band)
    scale_logarithmically(panel.yaxis, least / unit, most)
    panel.set_ylim(least / unit**1.5, top)
    panel.axhspan(most * unit, top, color="grey", alpha=0.15, linewidth=0)
    ticks = [*(tick for tick in panel.get_yticks() if least / unit <= tick <= most), band]
    plain = panel.yaxis.get_major_formatter()
    panel.set_yticks(ticks, [*(plain(tick) for tick in ticks[:-1]), "not\nreached"])
    for edge in np.arange(0.5, len(THRESHOLDS) - 1):
        panel.axvline(edge, color="grey", alpha=0.3, linewidth=0.6)
    panel.grid(visible=False, axis="x")
    panel.set_xlim(-0.5, len(THRESHOLDS) - 0.5)
    panel.set_xticks(range(len(THRESHOLDS)), [str(threshold) for threshold in THRESHOLDS])


def _side_by_side(costs: Sequence[Sequence[float]]) -> list[float]:
    """Steps of about a hundredth to the right for each contender, so that those whose cost is the
    same from the first glimpse to the last, which would hide each other, stand around it."""
    level = [values[0] if values and min(values) == max(values) else None for values in costs]
    shifts = []
    for turn, value in enumerate(level):
        alike = [other for other, cost in enumerate(level) if cost == value]
        shifts.append(0.0 if value is None else alike.index(turn) - (len(alike) - 1) / 2)
    return shifts


def _draw_course(panel: Axes, contender: Contender, look: Look, shift: float, band: float) -> None:
    """One contender's times, up to the first error that it did not reach."""
    places: list[float] = []
    times: list[float] = []
    for column, threshold in enumerate(THRESHOLDS):
        duration = contender.time_to(threshold)
        assert duration is not None  # only those whose training was followed are drawn
        place = column + shift
        places.append(place)
        times.append(min(duration.core_seconds, band))
        if not duration.reached:
            break
        panel.vlines(
            place, duration.low, min(duration.high, band),
            color=look.colour, alpha=0.45, linewidth=1.4,
        )  # fmt: skip
    panel.plot(places, times, **_with_line(look) | {"linewidth": 0.9})


def _with_line(look: Look) -> dict[str, Any]:
    """Arguments of `Axes.plot` where full views, of one point elsewhere, have a course too."""
    return look.line() | {"linestyle": look.style or (0, (5, 1))}


def _draw_errors(
    panel: Axes, contender: Contender, look: Look, places: Sequence[float]
) -> list[float]:
    """Draw the error after each glimpse at `places`, (glimpses,), or that of the last at a single
    place, and the last's interval; return the errors drawn."""
    low, high = _seen(contender.interval)
    errors = _seen(contender.error_by_glimpse)[-len(places) :]
    panel.plot(places, errors, **look.line())
    panel.vlines(places[-1], low, high, color=look.colour, linewidth=3.0, alpha=0.35)
    return [*errors, low, high]


def _seen(errors: Sequence[float]) -> list[float]:
    """Errors as a logarithmic axis can show them."""
    return [max(error, LEAST_ERROR) for error in errors]


def _dress(panel: Axes, title: str, x: str, y: str = "test error, %") -> None:
    panel.set_title(title)
    panel.set_xlabel(x)
    panel.set_ylabel(y)
    panel.grid(alpha=0.3)


def _finish_errors(panel: Axes, bounds: Sequence[float]) -> None:
    """Scale the axis of errors to what was drawn, or say that nothing was."""
    if bounds:
        scale_logarithmically(panel.yaxis, min(bounds), min(max(bounds), 100.0))
    else:
        _say_empty(panel)


def _say_empty(panel: Axes) -> None:
    panel.set_xticks([])
    panel.set_yticks([])
    panel.text(
        0.5, 0.5, "not measured yet", transform=panel.transAxes, ha="center", va="center",
        color="grey",
    )  # fmt: skip
