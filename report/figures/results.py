"""The plot of results: error against glimpses, an environment a panel, with what others report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from report.figures.models import by_panel, styled
from report.figures.style import (
    INK,
    LEAST_ERROR,
    EndLabel,
    LineStyle,
    label_ends,
    new_figure,
    save_figure,
    scale_logarithmically,
)
from report.groups import Group
from report.kinds import KINDS
from report.markdown import environment, short
from report.references.pictures import REFERENCES, Reference

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 2


def draw_results(groups: Sequence[Group], path: str | Path) -> None:
    """Draw error against glimpses, and what others report as marks.

    Each environment has a panel, and more where it has more than five lines. A model that sees the
    whole scene at once is a level line, for it has no glimpses.
    """
    panels = _panels(groups)
    lines = max(1, -(-len(panels) // COLUMNS))
    figure = new_figure(6.5 * COLUMNS, 3.2 * lines)
    axes = figure.subplots(lines, COLUMNS, squeeze=False).ravel()
    for panel, members in zip(axes, panels, strict=False):
        _draw_panel(panel, members)
    for panel in axes[len(panels) :]:
        panel.remove()
    save_figure(figure, path)


def _panels(groups: Sequence[Group]) -> list[list[Group]]:
    """The groups of each panel: environments in the order of their references, then the others."""
    judged = [group for group in groups if group.first.headline.success_by_glimpse]
    known = list(dict.fromkeys(reference.env_id for reference in REFERENCES))
    measured = {group.first.env_id for group in judged}
    ids = [env_id for env_id in known if env_id in measured] + sorted(measured.difference(known))
    panels = []
    for env_id in ids:
        of_env = [group for group in judged if group.first.env_id == env_id]
        of_env.sort(key=lambda group: (KINDS.index(group.kind), -group.first.budget))
        panels += list(by_panel(of_env))
    return panels


def _draw_panel(panel: Axes, groups: Sequence[Group]) -> None:
    env_id = groups[0].first.env_id
    longest = max(group.first.budget for group in groups)
    ends: list[EndLabel] = []
    bounds: list[float] = []
    for group, style in styled(groups):
        bounds += _draw_group(panel, group, style, longest)
        error = max(group.error, LEAST_ERROR)
        place = longest if group.kind == "full" else group.first.budget
        ends.append(EndLabel(place, error, _name(group), style.colour))
    for reference in (r for r in REFERENCES if r.env_id == env_id and _belongs(r, groups)):
        marks = _draw_reference(panel, reference, longest)
        bounds += [mark.y for mark in marks]
        ends += marks
    scale_logarithmically(panel.yaxis, min(bounds), max(bounds))
    panel.set_xlim(0.6, longest + 0.4)
    panel.set_title(short(env_id), loc="left")
    panel.set_xlabel("glimpses")
    panel.set_ylabel("test error, %")
    step = -(-longest // 8)
    panel.set_xticks(range(step, longest + 1, step))
    label_ends(panel, ends)


def _draw_group(panel: Axes, group: Group, style: LineStyle, longest: int) -> list[float]:
    """Draw one group and return the errors drawn."""
    low, high = (max(bound, LEAST_ERROR) for bound in group.interval)
    if group.kind == "full":
        error = max(group.error, LEAST_ERROR)
        panel.plot([0.6, longest + 0.4], [error, error], **style.line() | {"marker": ""})
        panel.axhspan(low, high, color=style.colour, alpha=0.12, linewidth=0)
        return [low, error, high]
    errors = [max(error, LEAST_ERROR) for error in group.error_by_glimpse]
    panel.plot(range(1, len(errors) + 1), errors, **style.line())
    panel.vlines(len(errors), low, high, color=style.colour, linewidth=3, alpha=0.4)
    return [*errors, low, high]


def _belongs(reference: Reference, groups: Sequence[Group]) -> bool:
    """Whether the panel shows a published error: those of hard attention in all panels that have
    hard attention, others where their own kind of model is shown."""
    if reference.kind == "hard":
        return any(group.kind == "hard" for group in groups)
    return any(reference.fits_model(group.first.model) for group in groups)


def _draw_reference(panel: Axes, reference: Reference, longest: int) -> list[EndLabel]:
    """Draw the marks of one reference and return their names."""
    name, marks = reference.model.name, []
    of = "" if name == "learned glimpses" else f", {name}"
    numbers = (
        (f"paper{of}", reference.paper, reference.dagger, "x"),
        (f"best public{of}", reference.best_public, "", "*"),
    )
    place = longest if reference.kind == "full" else reference.glimpses
    for label, number, dagger, marker in numbers:
        if number is not None:
            panel.plot([place], [number], color=INK, linestyle="", marker=marker, markersize=6)
            marks.append(EndLabel(place, number, f"{label} {number:.2f}{dagger}"))
    return marks


def _name(group: Group) -> str:
    record = group.first
    kwargs = environment("", {k: v for k, v in record.env_kwargs.items() if k != "budget"})
    budget = "" if group.kind == "full" else f", {record.budget} glimpses"
    seeds = f", {group.seeds} seeds" if group.seeds > 1 else ""
    return f"{group.label}{kwargs}{budget}{seeds}"
