"""The figures of memory: success by length, and the share of seeds that solve, by environment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from textwrap import fill
from typing import TYPE_CHECKING

from glimpse_envs.evaluation.statistics import wilson_interval
from report.figures.models import by_panel, numbered, style_of_model, styled
from report.figures.style import INK, add_legend, new_figure, save_figure
from report.grouping import Task
from report.groups import Group
from report.markdown import environment

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 3
NAME_WIDTH = 64
"""Characters of a line of a name beside a bar."""


def draw_success(tasks: Sequence[Task], path: str | Path) -> None:
    """Draw the share with success against length, a panel for each task that was scored at more
    than one, and more where it has more than five lines.

    Lines are means over seeds, each of which is a faint dot, and a grey line stands at the longest
    training length. Hard attention's lines are solid and its marks filled, soft attention's are
    dotted and open.
    """
    panels = [
        (task, groups)
        for task in tasks
        for groups in by_panel([g for g in task.groups if len(g.successes_by_level()) > 1])
        if groups
    ]
    lines = max(1, -(-len(panels) // COLUMNS))
    figure = new_figure(3.1 * COLUMNS, 2.9 * lines)
    axes = figure.subplots(lines, COLUMNS, squeeze=False).ravel()
    titles = numbered([_title(task) for task, _ in panels])
    for panel, (_, groups), title in zip(axes, panels, titles, strict=False):
        _draw_success(panel, title, groups)
    for panel in axes[len(panels) :]:
        panel.remove()
    save_figure(figure, path)


def draw_solved(tasks: Sequence[Task], path: str | Path) -> None:
    """Draw bars, the share of seeds that solved each of `tasks` (some), with its Wilson interval
    where there are several seeds; a bar that is not filled reads every cell."""
    rows = [(task, group) for task in tasks for group in task.groups]
    labels = [fill(_name(group), NAME_WIDTH) for _, group in rows]
    heights = [0.4 + 0.6 * (1 + label.count("\n")) for label in labels]
    figure = new_figure(9.0, 0.28 * (sum(heights) + len(tasks)) + 1.0)
    panel = figure.subplots()
    places: list[float] = []
    last = None
    place = 0.0
    for (task, group), height in zip(rows, heights, strict=True):
        if task is not last:
            place += 0.8
            panel.text(1.0, place - 0.1, _title(task), fontweight="bold", va="bottom")
            place, last = place - 0.1, task
        middle = place + height / 2
        _draw_bar(panel, middle, group)
        places.append(middle)
        place += height
    panel.set_yticks(places, labels, fontsize=8)
    panel.set_ylim(place, 0)
    panel.set_xlim(0, 112)
    panel.set_xticks(range(0, 101, 20))
    panel.set_xlabel("seeds that solved, %, with 95 % Wilson intervals")
    panel.grid(visible=False, axis="y")
    save_figure(figure, path)


def _draw_success(panel: Axes, title: str, groups: Sequence[Group]) -> None:
    from matplotlib.ticker import NullLocator, ScalarFormatter

    levels: set[int] = set()
    for group, style in styled(groups):
        measured = group.successes_by_level()
        levels.update(level for level, _ in measured)
        means = [100 * fmean(shares) for _, shares in measured]
        names = [_name(other) for other in groups if other.label == group.label]
        name = group.label if len(names) == 1 else _name(group)
        panel.plot([level for level, _ in measured], means, label=name, **style.line())
        for level, shares in measured if group.seeds > 1 else ():
            panel.scatter(
                [level] * group.seeds, [100 * share for share in shares],
                s=9, color=style.colour, alpha=0.35, linewidth=0,
            )  # fmt: skip
    trained = {group.first.levels[1] for group in groups if group.first.levels}
    for level in sorted(trained):
        label = "longest in training" if level == max(trained) else None
        panel.axvline(level, color=INK, linewidth=3.0, alpha=0.35, label=label)
    panel.set_xscale("log")
    panel.xaxis.set_major_formatter(ScalarFormatter())
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set_xticks(sorted(levels))
    panel.set_xlim(min(levels) / 1.15, max(levels) * 1.15)
    panel.set_ylim(-4, 104)
    panel.set_title(title, loc="left")
    panel.set_xlabel("length")
    panel.set_ylabel("success, %")
    add_legend(panel)


def _draw_bar(panel: Axes, place: float, group: Group) -> None:
    style = style_of_model(group.first.model)
    panel.barh(
        place, 100 * group.solved / group.seeds, height=0.7, linewidth=1.4,
        color=(style.colour, 0.45) if style.filled else "none", edgecolor=style.colour,
    )  # fmt: skip
    if group.seeds > 1:
        low, high = (100 * bound for bound in wilson_interval(group.solved, group.seeds))
        panel.hlines(place, low, high, color=INK, linewidth=2.0)
    panel.text(102, place, f"{group.solved} of {group.seeds}", fontsize=8, va="center")


def _name(group: Group) -> str:
    """Who it is, what its answers learn from and how its lengths were chosen."""
    by = f"by {group.first.model.learns_from}"
    return ", ".join([group.label, *([] if by in group.label else [by]), group.curriculum])


def _title(task: Task) -> str:
    return environment(task.env_id, task.env_kwargs)
