"""The pictures of memory: accuracy by length, and the share of seeds that solve, by environment."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from glimpse_envs.evaluation.statistics import wilson_interval
from report.figures.style import COLOURS, MARKERS, Look, new_figure, save_figure
from report.markdown import environment
from report.memory_groups import MemoryFamily, MemoryGroup, MemoryTask

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAMILY_STYLES: dict[MemoryFamily, str] = {
    "hard": "-",
    "addressed": "-",
    "between": "-.",
    "soft": ":",
    "full": "--",
}


def draw_accuracy(tasks: Sequence[MemoryTask], path: str | Path) -> None:
    """Write a PNG of the share wholly right against length, a panel for each of `tasks` (some).

    Lines are means over seeds, each of which is a faint dot, and a grey line stands at the longest
    training length. Hard attention's lines are solid and its marks filled, soft
    attention's are dotted and open.
    """
    from matplotlib.lines import Line2D

    columns = min(3, len(tasks))
    lines = -(-len(tasks) // columns)
    figure = new_figure(5.0 * columns + 1.0, 3.6 * lines + 1.2)
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    looks = _looks(tasks)
    for panel, task in zip(panels, tasks, strict=False):
        _draw_accuracy(panel, task, looks)
    for panel in panels[len(tasks) :]:
        panel.set_axis_off()
    handles = [Line2D([], [], label=name, **look.line()) for name, look in looks.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False)
    save_figure(figure, path)


def draw_solved(tasks: Sequence[MemoryTask], path: str | Path) -> None:
    """Write a PNG of bars, the share of seeds that solved each of `tasks` (some), with its Wilson
    interval; a bar that is not filled reads every cell."""
    rows = [(task, group) for task in tasks for group in task.groups]
    figure = new_figure(9.0, 0.34 * (len(rows) + len(tasks)) + 1.2)
    panel = figure.subplots()
    looks = _looks(tasks)
    places, names, last = [], [], None
    place = 0.0
    for task, group in rows:
        if task is not last:
            place += 0.8
            panel.text(0.0, place - 0.1, _title(task), fontsize=9, fontweight="bold", va="bottom")
            place, last = place + 0.4, task
        _draw_bar(panel, place, group, looks[_name(group)])
        places.append(place)
        names.append(_name(group))
        place += 1.0
    panel.set_yticks(places, names, fontsize=8)
    panel.set_ylim(place, 0)
    panel.set_xlim(0, 112)
    panel.set_xticks(range(0, 101, 20))
    panel.set_xlabel("seeds that solved, %")
    panel.grid(alpha=0.3, axis="x")
    save_figure(figure, path)


def _draw_accuracy(panel: Axes, task: MemoryTask, looks: dict[str, Look]) -> None:
    from matplotlib.ticker import NullLocator, ScalarFormatter

    lengths: set[int] = set()
    for group in task.groups:
        look = looks[_name(group)]
        measured = group.accuracies()
        lengths.update(length for length, _ in measured)
        panel.plot(
            [length for length, _ in measured],
            [100 * fmean(shares) for _, shares in measured],
            **look.line(),
        )
        for length, shares in measured if group.seeds > 1 else ():
            panel.scatter(
                [length] * group.seeds, [100 * share for share in shares],
                s=9, color=look.colour, alpha=0.35, linewidth=0,
            )  # fmt: skip
    for length in {group.first.length for group in task.groups}:
        panel.axvline(length, color="grey", linewidth=0.8)
    panel.set_xscale("log")
    panel.xaxis.set_major_formatter(ScalarFormatter())
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set_xticks(sorted(lengths))
    panel.set_xlim(min(lengths) / 1.15, max(lengths) * 1.15)
    panel.set_ylim(-4, 104)
    panel.set_title(_title(task))
    panel.set_xlabel("length")
    panel.set_ylabel("wholly right, %")
    panel.grid(alpha=0.3)


def _draw_bar(panel: Axes, place: float, group: MemoryGroup, look: Look) -> None:
    share = 100 * group.solved / group.seeds
    low, high = (100 * bound for bound in wilson_interval(group.solved, group.seeds))
    colour = look.colour if look.filled else "white"
    panel.barh(place, share, height=0.7, color=colour, edgecolor=look.colour, linewidth=1.4)
    panel.hlines(place, low, high, color="grey", linewidth=1.2)
    panel.text(102, place, f"{group.solved} of {group.seeds}", fontsize=8, va="center")


def _looks(tasks: Sequence[MemoryTask]) -> dict[str, Look]:
    """How each model is drawn in every panel."""
    groups = chain.from_iterable(task.groups for task in tasks)
    families = {_name(group): group.family for group in groups}
    return {
        name: Look(
            COLOURS[turn % len(COLOURS)],
            MARKERS[turn % len(MARKERS)],
            FAMILY_STYLES[family],
            filled=family == "hard",
        )
        for turn, (name, family) in enumerate(families.items())
    }


def _name(group: MemoryGroup) -> str:
    """The row's name: who it is, how it answers and how its lengths were chosen."""
    record = group.first
    by = {"label": "by label", "reward": "by reward"}[record.answer_by]
    curriculum = "" if record.curriculum == "none" else f", {record.curriculum}"
    return f"{group.label}, {by}{curriculum}"


def _title(task: MemoryTask) -> str:
    return environment(task.env_id, task.env_kwargs)
