"""The plot of results: error against glimpses, an environment a panel, with what others report."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from glimpse_envs.evaluation.statistics import CLAIM_SEEDS
from report.figures.models import by_panel, numbered, styled
from report.figures.style import (
    INK,
    LEAST_ERROR,
    LineStyle,
    add_legend,
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

COLUMNS = 3
PAPER, PUBLIC = "x", "*"
PUBLISHED = {PAPER: "paper, in its model's colour", PUBLIC: "best public, likewise"}
"""Mark of a published error -> its name."""


def draw_results(groups: Sequence[Group], path: str | Path) -> None:
    """Draw error against glimpses, and what others report as marks in the colour of the model that
    they are to be compared with.

    Each environment has a panel, and more where it has more than five lines. A model that sees the
    whole scene at once is a level line, for it has no glimpses. Of a model in several settings the
    longest training is drawn.
    """
    panels = _panels(groups)
    lines = max(1, -(-len(panels) // COLUMNS))
    figure = new_figure(3.1 * COLUMNS, 3.3 * lines)
    axes = figure.subplots(lines, COLUMNS, squeeze=False).ravel()
    titles = numbered([short(members[0].first.env_id) for members in panels])
    for panel, members, title in zip(axes, panels, titles, strict=False):
        _draw_panel(panel, members, title)
    for panel in axes[len(panels) :]:
        panel.remove()
    save_figure(figure, path)


def _panels(groups: Sequence[Group]) -> list[list[Group]]:
    """The groups of each panel: environments in the order of their references, then the others."""
    judged = [group for group in groups if group.error_by_glimpse]
    known = list(dict.fromkeys(reference.env_id for reference in REFERENCES))
    measured = {group.first.env_id for group in judged}
    ids = [env_id for env_id in known if env_id in measured] + sorted(measured.difference(known))
    panels = []
    for env_id in ids:
        of_env = _longest(group for group in judged if group.first.env_id == env_id)
        of_env.sort(key=lambda group: (KINDS.index(group.kind), -group.first.budget))
        panels += list(by_panel(of_env))
    return panels


def _longest(groups: Iterable[Group]) -> list[Group]:
    """Of the same model with the same arguments, the one that was trained on most episodes; those
    with at least `CLAIM_SEEDS` seeds come before the others."""
    found: dict[str, Group] = {}
    for group in groups:
        first = group.first
        key = json.dumps([first.model.name, first.env_kwargs, first.budget], sort_keys=True)
        if key not in found or _weight(group) > _weight(found[key]):
            found[key] = group
    return list(found.values())


def _weight(group: Group) -> tuple[bool, int]:
    return group.seeds >= CLAIM_SEEDS, group.first.episodes


def _draw_panel(panel: Axes, groups: Sequence[Group], title: str) -> None:
    longest = max(group.first.budget for group in groups)
    bounds: list[float] = []
    marks: dict[str, str] = {}
    for group, style in styled(groups):
        bounds += _draw_group(panel, group, style, longest)
        for reference in (r for r in REFERENCES if r.fits(group.first)):
            for mark, error in _draw_reference(panel, reference, style, longest).items():
                marks[mark] = PUBLISHED[mark]
                bounds.append(error)
    for mark, name in sorted(marks.items(), reverse=True):
        panel.plot([], [], color=INK, linestyle="", marker=mark, label=name)
    scale_logarithmically(panel.yaxis, min(bounds), max(bounds))
    panel.set_xlim(0.6, longest + 0.4)
    panel.set_title(title, loc="left")
    panel.set_xlabel("glimpses")
    panel.set_ylabel("test error, %")
    step = -(-longest // 8)
    panel.set_xticks(range(step, longest + 1, step))
    add_legend(panel)


def _draw_group(panel: Axes, group: Group, style: LineStyle, longest: int) -> list[float]:
    """Draw one group and return the errors drawn."""
    low, high = (max(bound, LEAST_ERROR) for bound in group.interval)
    name = _name(group)
    if group.kind == "full":
        error = max(group.error, LEAST_ERROR)
        level = style.line() | {"marker": ""}
        panel.plot([0.6, longest + 0.4], [error, error], label=name, **level)
        panel.axhspan(low, high, color=style.colour, alpha=0.12, linewidth=0)
        return [low, error, high]
    errors = [max(error, LEAST_ERROR) for error in group.error_by_glimpse]
    panel.plot(range(1, len(errors) + 1), errors, label=name, **style.line())
    panel.vlines(len(errors), low, high, color=style.colour, linewidth=3, alpha=0.4)
    return [*errors, low, high]


def _draw_reference(
    panel: Axes, reference: Reference, style: LineStyle, longest: int
) -> dict[str, float]:
    """Draw the marks of one reference; return mark -> error."""
    place = longest if reference.kind == "full" else reference.glimpses
    numbers = {PAPER: reference.paper, PUBLIC: reference.best_public}
    drawn = {mark: number for mark, number in numbers.items() if number is not None}
    for mark, number in drawn.items():
        panel.plot(
            [place], [number], color=style.colour, linestyle="", marker=mark, markersize=8,
            markeredgewidth=1.6 if mark == PAPER else 0.6, zorder=3,
        )  # fmt: skip
    return drawn


def _name(group: Group) -> str:
    record = group.first
    kwargs = environment("", {k: v for k, v in record.env_kwargs.items() if k != "budget"})
    budget = "" if group.kind == "full" else f", {record.budget} glimpses"
    seeds = f", {group.seeds} seeds" if group.seeds > 1 else ""
    return f"{record.model.name}{kwargs}{budget}{seeds}"
