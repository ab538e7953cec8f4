"""The section on copying bits, the neural Turing machine's own test."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from report.group_cells import hardware_of
from report.groups import Group
from report.markdown import UNKNOWN, listed, minutes, table
from report.page import Places
from report.runs import record_links

COPY = "`python -m baselines.memories.ntm_copy`"

_HEADER = (
    "length", "bits", "wrong bits", "range over seeds", "greatest", "success %", "records",
)  # fmt: skip


def bits_blocks(groups: Sequence[Group], places: Places, page: str) -> list[str]:
    """Text and table for each of the groups."""
    if not groups:
        return [f"Not measured yet: {COPY}."]
    return [block for group in groups for block in _blocks(group, places, page)]


def _blocks(group: Group, places: Places, page: str) -> list[str]:
    scores = [score for record in group.records for score in record.scores]
    tested = listed(sorted({f"{score.episodes:,}" for score in scores}))
    seeds = "one seed" if group.seeds == 1 else f"{group.seeds} seeds"
    doubt = "" if group.has_enough_seeds else ", no claim"
    each = "" if group.seeds == 1 else " each"
    clock = " of wall-clock time" if group.by_the_wall else ""
    links = record_links(group.runs, places, page)
    config = group.records[0].config
    cells = group.records[0].env_kwargs.get("cells", config["cells"])
    more = (
        "" if cells == config["cells"] else f", with {cells} cells, which change no weight's shape"
    )
    fewest, most = group.first.levels or (UNKNOWN, UNKNOWN)
    rows = []
    levels = sorted({score.level for score in scores if score.level is not None})
    for level in levels:
        alike = [score for score in scores if score.level == level]
        wrong = [score.costs["wrong_bits"] for score in alike]
        rows.append([
            str(level),
            str(config["bits"] * level),
            f"{fmean(wrong):.2f}",
            f"{min(wrong):.2f} to {max(wrong):.2f}",
            f"{max(score.costs['wrong_bits_greatest'] for score in alike):.0f}",
            f"{100 * fmean(score.success or 0.0 for score in alike):.1f}",
            links,
        ])  # fmt: skip
    return [
        f"A neural Turing machine with a memory of {config['cells']} cells is trained to copy "
        f"random {config['bits']}-bit vectors, {fewest} to {most} of them, and tested on "
        f"{levels[0]} to {levels[-1]} of them{more} ({COPY}; "
        f"{seeds}{doubt}, {minutes(group.core_minutes)} core-minutes{each}{clock}, "
        f"{tested} test sequences of each length). *Wrong bits* is the mean number of wrong bits "
        "in a sequence, followed by the range of this mean over the seeds and by the greatest "
        "number in any sequence.",
        table(_HEADER, rows),
        hardware_of([group]),
    ]
