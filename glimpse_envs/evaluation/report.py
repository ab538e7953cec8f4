"""Draw the results table and plot from the records of runs; nothing is trained here.

python -m glimpse_envs.evaluation.report [--check]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from glimpse_envs.evaluation.records import Record, read_records
from glimpse_envs.evaluation.references import (
    CLAIM_SCENES,
    CLAIM_SEEDS,
    REFERENCES,
    Group,
    Reference,
    compare,
    group_records,
)
from glimpse_envs.files import write_atomically

BEGIN = "<!-- results:begin -->"
END = "<!-- results:end -->"

HEADER = (
    "environment", "glimpses", "model", "seeds", "error %", "95 % interval", "images seen",
    "core-minutes", "paper", "best public", "standing",
)  # fmt: skip

# Okabe and Ito's colours, which the colour-blind tell apart; line styles and markers differ too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
STYLES = ("-", "--", "-.", ":")
TICKS = (0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


class ReportError(ValueError):
    """The report cannot be written where it should go; the message says what is missing."""


def build_table(records: Iterable[Record]) -> str:
    """The Markdown table: measured references first, then the other groups, then footnotes."""
    groups = group_records(records)
    rows: list[Sequence[str]] = [HEADER, ["---"] * len(HEADER)]
    placed: set[int] = set()
    for reference in REFERENCES:
        fitting = [index for index, group in enumerate(groups) if group.fits(reference)]
        rows += [_row(groups[index], reference) for index in fitting]
        if not fitting:
            rows.append(_missing_row(reference))
        placed.update(fitting)
    rows += [_row(group, None) for index, group in enumerate(groups) if index not in placed]
    lines = ["| " + " | ".join(_cell(text) for text in row) + " |" for row in rows]
    return "\n".join([*lines, "", *_footnotes(groups)])


def replace_block(text: str, block: str) -> str:
    """`text` with what stands between the results markers replaced by `block`.

    Raises:
        ReportError: the markers are missing, doubled or in the wrong order.
    """
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ReportError(f"needs one line {BEGIN} and, after it, one line {END}")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{block}\n{END}{rest.split(END)[1]}"


def draw_plot(records: Iterable[Record], path: str | Path) -> None:
    """Write a PNG of error against glimpses, references as markers.

    It has a panel for each environment with a record; with no records, for each reference.
    """
    import io

    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    groups = group_records(records)
    known = list(dict.fromkeys(reference.env_id for reference in REFERENCES))
    measured = {group.first.env_id for group in groups}
    ids = [env_id for env_id in known if env_id in measured] + sorted(measured.difference(known))
    ids = ids or known
    columns = min(3, len(ids))
    lines = -(-len(ids) // columns)
    figure = Figure(figsize=(4.6 * columns, 3.6 * lines), layout="constrained", dpi=120)
    FigureCanvasAgg(figure)
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    for panel, env_id in zip(panels, ids, strict=False):
        _draw_panel(panel, env_id, [g for g in groups if g.first.env_id == env_id])
    for panel in panels[len(ids) :]:
        panel.set_axis_off()
    image = io.BytesIO()
    figure.savefig(image, format="png", metadata={"Software": None})
    write_atomically(Path(path), image.getvalue())


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Returns 0, 1 where `--check` finds the README stale, 2 on an error."""
    parser = argparse.ArgumentParser(
        prog="python -m glimpse_envs.evaluation.report",
        description="Draw the README's results table and the plot from the records of runs.",
    )
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder of records")
    parser.add_argument("--readme", type=Path, default=Path("README.md"))
    parser.add_argument("--plot", type=Path, default=Path("docs/error_by_glimpses.png"))
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if the README is stale"
    )
    options = parser.parse_args(arguments)
    try:
        records, problems = read_records(options.results)
        for problem in problems:
            print(f"left out: {problem}", file=sys.stderr)
        present = options.readme.read_bytes().decode()
        wanted = replace_block(present, build_table(records))
    except ReportError as error:
        print(f"error: {options.readme} {error}", file=sys.stderr)
        return 2
    except (OSError, UnicodeDecodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.check:
        if wanted != present:
            print(f"{options.readme} is stale: run {parser.prog}", file=sys.stderr)
        return int(wanted != present)
    draw_plot(records, options.plot)
    if wanted != present:
        write_atomically(options.readme, wanted.encode())
    return 0


def _row(group: Group, reference: Reference | None) -> list[str]:
    record = group.first
    minutes = np.mean([run.seconds * run.cores / 60 for run in group.records])
    low, high = group.interval_percent
    return [
        _environment(record),
        str(record.glimpses),
        group.model,
        str(len(group.records)),
        f"{group.error_percent:.2f}",
        f"{low:.2f} to {high:.2f}",
        _span([_images(run.images_seen) for run in group.records]),
        f"{minutes:.0f}",
        _beside(group, reference, reference.paper if reference else None),
        _beside(group, reference, reference.best_public if reference else None, paper=False),
        group.standing,
    ]


def _missing_row(reference: Reference) -> list[str]:
    model = "random glimpses" if reference.gaze == "random" else "learned glimpses"
    best = "—" if reference.best_public is None else f"{reference.best_public:.2f}"
    return [
        _short(reference.env_id), str(reference.glimpses), model, "0", "not measured yet",
        *["—"] * 3, f"{reference.paper:.2f}{_dagger(reference)}", best, "—",
    ]  # fmt: skip


def _beside(
    group: Group, reference: Reference | None, number: float | None, paper: bool = True
) -> str:
    if reference is None or number is None:
        return "—"
    dagger = _dagger(reference) if paper else ""
    return f"{number:.2f}{dagger} ({compare(group.interval_percent, number)})"


def _footnotes(groups: Sequence[Group]) -> list[str]:
    notes = [
        "Error: inter-quartile mean over the seeds (the mean with fewer than four), on the test "
        "scenes, each played once, one trajectory an image. Interval: Wilson's for one run, "
        "otherwise a bootstrap over seeds and images. *Under*, *above*, *overlaps* say where the "
        "whole interval lies beside the number; it counts as a claim from "
        f"{CLAIM_SEEDS} seeds on {CLAIM_SCENES:,} scenes. We train on 50,000 images, the papers "
        "mostly on 60,000.",
    ]
    if any(reference.from_memory for reference in REFERENCES):
        notes.append("† from memory, not checked against the paper; no claim is made against it.")
    sources: dict[str, list[str]] = {}
    for reference in REFERENCES:
        sources.setdefault(reference.source, []).append(_label(reference))
    notes.append(
        "Sources: "
        + _list(f"{source} ({', '.join(rows)})" for source, rows in sources.items())
        + "."
    )
    records = [record for group in groups for record in group.records]
    if records:
        notes.append("Hardware: " + _list(record.hardware for record in records) + ".")
    remarks = [
        f"{_short(r.env_id)}, {g.model}: {r.notes}" for g in groups for r in g.records if r.notes
    ]
    if remarks:
        notes.append("Differences: " + _list(remarks) + ".")
    return [line for note in notes for line in (_flat(note), "")][:-1]


def _draw_panel(panel: Any, env_id: str, groups: Sequence[Group]) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    for index, group in enumerate(groups):
        colour = COLOURS[index % len(COLOURS)]
        errors = np.maximum(group.error_by_glimpse, 0.01)  # a logarithm has no zero
        low, high = group.interval_percent
        last = group.first.glimpses
        panel.plot(
            range(1, last + 1), errors, color=colour, linestyle=STYLES[index % len(STYLES)],
            marker="o", markersize=3, label=_plot_label(group),
        )  # fmt: skip
        panel.vlines(last, max(low, 0.01), max(high, 0.01), color=colour, linewidth=3, alpha=0.5)
    labelled: set[str] = set()
    for reference in (r for r in REFERENCES if r.env_id == env_id):
        random = ", random glimpses" if reference.gaze == "random" else ""
        numbers = [(f"paper{random}{_dagger(reference)}", reference.paper, "^" if random else "X")]
        if reference.best_public is not None:
            numbers.append(("best public", reference.best_public, "*"))
        for label, number, marker in numbers:
            name = "_nolegend_" if label in labelled else label
            labelled.add(label)
            panel.plot(
                [reference.glimpses], [number], color="black", linestyle="", marker=marker,
                markersize=8, markerfacecolor="white", label=name,
            )  # fmt: skip
    panel.set_yscale("log")
    panel.yaxis.set_major_locator(FixedLocator(TICKS))
    panel.yaxis.set_minor_locator(NullLocator())
    panel.set_xlim(0.5, max(panel.dataLim.x1, 1) + 0.5)
    panel.set_title(_short(env_id))
    panel.set_xlabel("glimpses")
    panel.set_ylabel("test error, %")
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.grid(alpha=0.3)
    panel.legend(fontsize=7)


def _environment(record: Record) -> str:
    kwargs = ", ".join(f"{name}={value}" for name, value in sorted(record.env_kwargs.items()))
    return f"{_short(record.env_id)} ({kwargs})" if kwargs else _short(record.env_id)


def _plot_label(group: Group) -> str:
    kwargs = _environment(group.first).removeprefix(_short(group.first.env_id))
    runs = len(group.records)
    return f"{group.model}{kwargs}, {runs} seed{'s' if runs > 1 else ''}"


def _label(reference: Reference) -> str:
    random = ", random" if reference.gaze == "random" else ""
    return f"{_short(reference.env_id)} {reference.glimpses}{random}"


def _dagger(reference: Reference) -> str:
    return "†" if reference.from_memory else ""


def _short(env_id: str) -> str:
    return env_id.removeprefix("Glimpse/")


def _images(count: int) -> str:
    if count >= 1_000_000:
        return f"{count / 1e6:.1f} M"
    return f"{count / 1e3:.0f} k" if count >= 1000 else str(count)


def _span(texts: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(texts))
    return distinct[0] if len(distinct) == 1 else f"{distinct[0]} to {distinct[-1]}"


def _list(texts: Iterable[str]) -> str:
    """The distinct texts, in order."""
    return "; ".join(dict.fromkeys(texts))


def _flat(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _flat(text).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
