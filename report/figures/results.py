"""The plot of results: error against glimpses, an environment a panel, with what others report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from glimpse_envs.evaluation.records import Record
from report.figures.style import (
    COLOURS,
    LEAST_ERROR,
    MARKERS,
    STYLES,
    Look,
    new_figure,
    save_figure,
    scale_logarithmically,
)
from report.groups import Group, group_records
from report.markdown import environment, short
from report.pages.results import dagger
from report.references.pictures import (
    REFERENCES,
    Reference,
    gaze_of,
    sees_whole,
    words_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Of level lines, one for each kind of full view that others report.
DASHES = {"conv": (0, (1, 2)), "dense": (0, (1, 5)), "strong": (0, (6, 3))}


def draw_plot(records: Iterable[Record], path: str | Path) -> None:
    """Write a PNG of error against glimpses, references as markers.

    It has a panel for each environment with a record; with no records, for each reference. A model
    that sees the whole scene at once is a level line, for it has no glimpses.
    """
    groups = group_records(records)
    known = list(dict.fromkeys(reference.env_id for reference in REFERENCES))
    measured = {group.first.env_id for group in groups}
    ids = [env_id for env_id in known if env_id in measured] + sorted(measured.difference(known))
    ids = ids or known
    columns = min(3, len(ids))
    lines = -(-len(ids) // columns)
    figure = new_figure(5.0 * columns, 4.6 * lines)
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    for panel, env_id in zip(panels, ids, strict=False):
        _draw_panel(panel, env_id, [g for g in groups if g.first.env_id == env_id])
    for panel in panels[len(ids) :]:
        panel.set_axis_off()
    save_figure(figure, path)


def _draw_panel(panel: Axes, env_id: str, groups: Sequence[Group]) -> None:
    from matplotlib.ticker import MaxNLocator

    drawn = [LEAST_ERROR, 100.0] if not groups else []
    for index, group in enumerate(groups):
        drawn += _draw_group(panel, group, index)
    labelled: set[str] = set()
    for reference in (r for r in REFERENCES if r.env_id == env_id and _belongs(r, groups)):
        drawn += _draw_reference(panel, reference, labelled)
    scale_logarithmically(panel.yaxis, min(drawn), max(drawn))
    panel.set_xlim(0.5, max(panel.dataLim.x1, 1) + 0.5)
    panel.set_title(short(env_id))
    panel.set_xlabel("glimpses")
    panel.set_ylabel("test error, %")
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.grid(alpha=0.3)
    # Below, for within it there is no room that lines surely leave free.
    panel.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, fontsize=7.5, frameon=False
    )


def _draw_group(panel: Axes, group: Group, index: int) -> list[float]:
    """Draw one group and return the errors drawn."""
    colour, style = COLOURS[index % len(COLOURS)], STYLES[index % len(STYLES)]
    low, high = (max(bound, LEAST_ERROR) for bound in group.interval_percent)
    if sees_whole(group.first.model):
        error = max(group.error_percent, LEAST_ERROR)
        panel.axhline(error, color=colour, linestyle=style, label=_label(group))
        panel.axhspan(low, high, color=colour, alpha=0.12, linewidth=0)
        return [low, error, high]
    errors = np.maximum(group.error_by_glimpse, LEAST_ERROR)
    last = group.first.glimpses
    look = Look(colour, MARKERS[index % len(MARKERS)], style, size=3.5)
    panel.plot(range(1, last + 1), errors, label=_label(group), **look.line())
    panel.vlines(last, low, high, color=colour, linewidth=3, alpha=0.5)
    return [*errors.tolist(), low, high]


def _belongs(reference: Reference, groups: Sequence[Group]) -> bool:
    """Hard attention's numbers always stand in the panel, others beside what they are for."""
    if reference.gaze in ("learned", "random"):
        return True
    models = [group.first.model for group in groups]
    alike = (model for model in models if gaze_of(model) == reference.gaze)
    return any(reference.kind.lower() in words_of(model) for model in alike)


def _draw_reference(panel: Axes, reference: Reference, labelled: set[str]) -> list[float]:
    """Draw one reference and return the errors drawn; what is `labelled` stands in the legend."""
    of = "" if reference.gaze == "learned" else f", {reference.model}"
    numbers = [
        (f"paper{of}{dagger(reference)}", reference.paper, "^" if of else "X"),
        (f"best public{of}", reference.best_public, "*"),
    ]
    drawn = []
    for label, number, marker in numbers:
        if number is None:
            continue
        name = "_nolegend_" if label in labelled else label
        labelled.add(label)
        drawn.append(number)
        if reference.gaze == "full":
            panel.axhline(number, color="grey", linestyle=DASHES[reference.kind], label=name)
            continue
        panel.plot(
            [reference.glimpses], [number], color="black", linestyle="",
            marker="v" if reference.gaze == "soft" else marker,
            markersize=8, markerfacecolor="white", label=name,
        )  # fmt: skip
    return drawn


def _label(group: Group) -> str:
    record = group.first
    kwargs = environment(record.env_id, record.env_kwargs).removeprefix(short(record.env_id))
    runs = len(group.records)
    return f"{group.model}{kwargs}, {runs} seed{'s' if runs > 1 else ''}"
