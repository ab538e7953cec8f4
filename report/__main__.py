"""Draw what is published from records; nothing is trained: `python -m report [PAGE ...]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from glimpse_envs.core.pipes import output_of_command
from report import trained_runs
from report.markdown import ReportError
from report.page import ROOT, Page, Places, stale_files, write
from report.pages import (
    comparison,
    data,
    environments,
    explained,
    glyphs,
    gradient_variance,
    intervals,
    leaderboard,
    memory,
    memory_cost,
    mistakes,
    notebook,
    records,
    results,
    scenes,
    speed,
    texts,
    trials,
    worlds,
)
from report.result_pages import RESULT_PAGES

PAGES = (
    Page("environments", (".", trained_runs.FOLDER), environments.publish),
    Page("data", (), data.publish),
    Page("explained", (), explained.publish),
    Page("notebook", (), notebook.publish),
    Page("results", (".",), results.publish),
    Page("comparison", ("comparison",), comparison.publish),
    Page("memory", ("memory", "benchmarks"), memory.publish),
    Page("texts", (texts.FOLDER,), texts.publish),
    Page("scenes", (scenes.FOLDER,), scenes.publish),
    Page("glyphs", (glyphs.FOLDER,), glyphs.publish),
    Page("worlds", (worlds.FOLDER, "benchmarks"), worlds.publish),
    Page("leaderboard", (leaderboard.FOLDER,), leaderboard.publish),
    Page("mistakes", (mistakes.FOLDER,), mistakes.publish),
    Page("records", tuple(part.folder for part in RESULT_PAGES), records.publish, needs_all=False),
    Page("speed", ("benchmarks",), speed.publish),
    Page("intervals", ("benchmarks",), intervals.publish),
    Page("trials", ("benchmarks",), trials.publish),
    Page("memory_cost", ("benchmarks",), memory_cost.publish),
    Page("gradient_variance", ("benchmarks",), gradient_variance.publish),
)
"""Every page of the README and of docs/ that is drawn, in the order of drawing."""


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """The command line, for the README.md and the docs/ in `root`.

    Returns 0; 1 where `--check` finds something stale; 2 on an error.
    """
    parser = argparse.ArgumentParser(
        prog="python -m report",
        description="Draw the published pages from records.",
        epilog="Pages: " + ", ".join(f"{page.name} (from {page.reads})" for page in PAGES) + ".",
    )
    parser.add_argument(
        "pages", nargs="*", metavar="PAGE", help="names of the pages to draw (default: all)"
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=root / "results",
        help="folder of the records to draw from, .json files (default: results)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="folder in which README.md and docs/ are drawn (default: those of the checkout, from "
        "its own results alone)",
    )
    parser.add_argument(
        "--redraw", action="store_true", help="draw figures again that are there already"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit with status 1 if a page or figure is stale",
    )
    options = parser.parse_args(arguments)
    unknown = set(options.pages) - {page.name for page in PAGES}
    if unknown:
        parser.error(f"no page {', '.join(sorted(unknown))}")
    own = (root / "results").resolve()
    if options.out is None and options.results.resolve() != own:
        parser.error(
            f"pages of {options.results} would replace those of {own}: give --out FOLDER, in which "
            "they are drawn"
        )
    places = Places(options.results, options.out or root, root)
    drawn = [page for page in PAGES if not options.pages or page.name in options.pages]
    stale: list[Path] = []
    try:
        for page in drawn:
            page.check(places)
        every = [page.publish(places) for page in drawn]
        # All are compared before one is written, so that an error of the last changes nothing.
        stale = [path for published in every for path in stale_files(published, places)]
        for problem in (problem for published in every for problem in published.problems):
            print(f"left out: {problem}", file=sys.stderr)
        if not options.check:
            for published in every:
                for path in write(published, places, redraw=options.redraw):
                    print(path)
            return 0
    except (ReportError, OSError, UnicodeDecodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for path in stale:
        print(f"{path} is stale: run {parser.prog}", file=sys.stderr)
    return int(bool(stale))


if __name__ == "__main__":
    try:
        with output_of_command():
            sys.exit(main())
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
