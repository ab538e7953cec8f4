"""Hard attention against soft, from records: the table and the picture of what each costs and buys.

"Read" is told twice: `values_delivered` are the numbers that reading hands to the model, pixels
covered are those of the scene that it looked at to do so. Building a scene touches every pixel for
all models alike and is in none of the costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from glimpse_envs.evaluation.records import Record
from report.contenders import (
    SEES,
    Contender,
    Family,
    by_task,
    find_contenders,
)
from report.figures.comparison_panels import (
    draw_curves,
    draw_error_against_cost,
    draw_error_against_glimpses,
    draw_times,
)
from report.figures.style import COLOURS, MARKERS, Look, new_figure, save_figure
from report.markdown import count, environment, table

if TYPE_CHECKING:
    from matplotlib.figure import SubFigure

HEADER = (
    "model", "sees", "glimpses", "seeds", "error %", "95 % interval", "values delivered",
    "pixels covered", "multiply-adds a scene", "of which reading", "images", "core-minutes",
    "core-seconds to 10 %", "to 5 %",
)  # fmt: skip
UNKNOWN = "—"

# Line, filled markers, size: the family is told at a glance, the model by colour and marker.
_FAMILY_LOOKS: dict[Family, tuple[str, bool, float]] = {
    "hard": ("-", True, 5.0),
    "between": ("-.", False, 5.5),
    "soft": (":", False, 5.5),
    "full": ("", True, 8.0),
}
_FAMILY_TITLES: dict[Family, str] = {
    "hard": "Hard: one glimpse at a time",
    "between": "Between: all tiles in training",
    "soft": "Soft: every pixel, at every glimpse",
    "full": "Full view: every pixel at once",
}
_FULL_VIEW_MARKERS = ("*", "P", "X", "d")


def comparison_table(records: Iterable[Record]) -> str:
    """The Markdown table of the test records, family by family; "—" is what was not measured."""
    return table(HEADER, [_row(contender) for contender in find_contenders(records)])


def draw_comparison(records: Iterable[Record], path: str | Path) -> None:
    """Write a PNG of error against glimpses, reading, arithmetic and training, with intervals.

    Records without costs, or whose training was not followed, are absent from the panels that need
    them; a panel that nobody is in says so.
    """
    contenders = find_contenders(records)
    looks = give_looks(contenders)
    drawn = list(zip(contenders, looks, strict=True))
    # Legends stand below, a column a family, as high as the largest.
    members = {f: [pair for pair in drawn if pair[0].family == f] for f in SEES}
    lines = max([len(pairs) for pairs in members.values()], default=0)
    legend_height = 0.45 + 0.2 * lines
    figure = new_figure(15.0, 9.2 + legend_height)
    heights = [9.2, legend_height]
    upper, lower = figure.subfigures(2, 1, squeeze=False, height_ratios=heights)[:, 0]
    upper.suptitle(_title(contenders), fontweight="bold")
    panels = upper.subplots(2, 3).ravel()
    draw_error_against_glimpses(panels[0], drawn)
    draw_error_against_cost(panels[1], drawn, "values_delivered", "values delivered a scene")
    draw_error_against_cost(panels[2], drawn, "pixels_covered", "pixels covered a scene")
    draw_error_against_cost(panels[3], drawn, "multiply_adds", "multiply-adds a scene")
    draw_curves(panels[4], drawn)
    draw_times(panels[5], drawn)
    _draw_legends(lower, {family: pairs for family, pairs in members.items() if pairs})
    save_figure(figure, path)


def give_looks(contenders: Sequence[Contender]) -> list[Look]:
    """How each is drawn: the line and the filling by family, colour and marker by its turn."""
    looks = []
    for turn, contender in enumerate(contenders):
        style, filled, size = _FAMILY_LOOKS[contender.family]
        markers = _FULL_VIEW_MARKERS if contender.family == "full" else MARKERS
        before = sum(c.family == contender.family for c in contenders[:turn])
        marker = markers[before % len(markers)]
        looks.append(Look(COLOURS[turn % len(COLOURS)], marker, style, filled, size))
    return looks


def _title(contenders: Sequence[Contender]) -> str:
    """The environments, in what all runs of each agree, and how many scenes they were tested on."""
    records = [run for contender in contenders for run in contender.group.records]
    tasks = [environment(env_id, scenes) for env_id, scenes, _ in by_task(records)]
    counts = sorted({f"{run.scenes:,}" for run in records})
    return f"{'; '.join(tasks)}: {' or '.join(counts)} test scenes" if records else ""


def _draw_legends(figure: SubFigure, members: dict[Family, list[tuple[Contender, Look]]]) -> None:
    from matplotlib.lines import Line2D

    panels = figure.subplots(1, max(1, len(members)), squeeze=False)[0]
    for panel in panels:
        panel.set_axis_off()
    for panel, (family, pairs) in zip(panels, members.items(), strict=False):
        lines = [Line2D([], [], label=c.label, **look.line()) for c, look in pairs]
        panel.legend(
            handles=lines, title=_FAMILY_TITLES[family], loc="upper left", fontsize=9,
            title_fontproperties={"weight": "bold", "size": 9}, alignment="left",
            frameon=False, handlelength=3.2, borderaxespad=0.0,
        )  # fmt: skip


def _row(contender: Contender) -> list[str]:
    low, high = contender.interval
    return [
        contender.label,
        SEES[contender.family],
        contender.group.glimpses,
        str(len(contender.group.records)),
        f"{contender.error:.2f}",
        f"{low:.2f} to {high:.2f}",
        *(_cost(contender, name, "{:,.0f}") for name in ("values_delivered", "pixels_covered")),
        *(_cost(contender, name) for name in ("multiply_adds", "multiply_adds_reading")),
        count(contender.images),
        f"{contender.core_minutes:.1f}",
        *(_time(contender, error) for error in (10, 5)),
    ]


def _cost(contender: Contender, name: str, form: str = "") -> str:
    cost = contender.cost(name)
    if cost is None:
        return UNKNOWN
    return form.format(cost) if form else count(cost)


def _time(contender: Contender, error: float) -> str:
    duration = contender.time_to(error)
    if duration is None:
        return UNKNOWN
    return f"{duration.core_seconds:,.0f}" if duration.reached else "not reached"
