"""The page of what the rest of the error is, from the records of `benchmarks.mistakes`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from glimpse_envs.core.files import write_atomically
from glimpse_envs.evaluation.records import RecordError
from report.markdown import count, environment, listed, short_revision, table
from report.mistakes import Kind, Mistakes, read_mistakes
from report.page import Draw, Places, Published, page_of

PAGE = "docs/mistakes.md"
FOLDER = "mistakes"

_HEAD = """# Analysis of the remaining errors

<!-- Drawn by `python -m report` from results/mistakes; do not edit. -->

On which scenes do trained agents fail? Several runs with the same settings and different seeds play
the same scenes (`python -m benchmarks.mistakes runs/seed0 runs/seed1 ...`). A scene that all of
them get wrong is hard, at least for these settings. A scene that only one run gets wrong is bad
luck, which a majority vote of three or more runs would remove. These runs need not be those of the
tables of results, which may be longer."""

_ALONE = "For some settings there is only one run."

_COLUMNS = """*At random* is the expected number of such scenes if the runs' mistakes were
independent of each other. *Looks at a target* are chosen glimpses whose centre lies
in a target's box; a target with such a look, or with the first glimpse, was *visited*. *Clutter*
is the share of the target's box that pieces of other images cover or change."""


def publish(places: Places) -> Published:
    """The page with a section for each record, and its sheets of scenes."""
    found: list[tuple[Path, Mistakes]] = []
    problems = []
    for path in sorted((places.results / FOLDER).glob("*.json")):
        try:
            found.append((path, read_mistakes(path)))
        except RecordError as error:
            problems.append(str(error))
    blocks = [_HEAD]
    if not found:
        blocks.append("Not measured yet: `python -m benchmarks.mistakes`.")
    else:
        alone = any(len(mistakes.seeds) == 1 for _, mistakes in found)
        blocks += [*([_ALONE] if alone else []), _COLUMNS]
    figures: dict[str, Draw] = {}
    for path, mistakes in found:
        blocks += _section(mistakes, places.link(path, PAGE))
        sheet = path.with_suffix(".png")
        if sheet.exists():
            figures[f"docs/mistakes/{sheet.name}"] = partial(_copy, sheet)
            blocks += [_sheet(mistakes), f"![Scenes with their answers](mistakes/{sheet.name})"]
    texts = {PAGE: page_of(blocks)}
    return Published(texts, figures=figures, problems=problems, owned="docs/mistakes/*.png")


def _section(mistakes: Mistakes, link: str) -> list[str]:
    runs = len(mistakes.seeds)
    each = listed([f"{100 * wrong / mistakes.scenes:.2f}" for wrong in mistakes.wrong])
    rows = [
        (str(times), f"{scenes:,}", f"{chance:,.1f}")
        for times, (scenes, chance) in enumerate(
            zip(mistakes.wrong_in, mistakes.expected(), strict=True)
        )
    ]
    tables = [
        _kinds("looks at a target", mistakes.by_looks),
        _kinds("targets visited", mistakes.by_visits),
        _kinds("right answer", mistakes.by_answer),
        _kinds("clutter", mistakes.by_clutter),
    ]
    heads = f"runs that are wrong, of {runs}", "scenes", "at random"
    if runs > 1:
        tables = [table(heads, rows), *tables]
    return [
        f"## {environment(mistakes.env_id, mistakes.env_kwargs)}",
        f"{mistakes.model}, {'one run' if runs == 1 else f'{runs} runs'} of "
        f"{count(mistakes.images)} training images, on "
        f"{mistakes.scenes:,} {mistakes.split} scenes: {each} % wrong ([record]({link}); trained "
        f"on {mistakes.hardware}, scenes played by revision {short_revision(mistakes.revision)}).",
        *(text for text in tables if text),
    ]


def _sheet(mistakes: Mistakes) -> str:
    """What the sheet of scenes shows."""
    if len(mistakes.seeds) == 1:
        return "Scenes that the run gets wrong: the right answer, and that of the run."
    return (
        "Scenes that the runs get wrong, those of most runs first: the right answer, and that of "
        "each run."
    )


def _kinds(name: str, kinds: Sequence[Kind]) -> str:
    """A table of one sort of kinds; "" where there are none."""
    if not kinds:
        return ""
    wrong = max(1, sum(kind.wrong for kind in kinds))
    rows = [
        (kind.name, f"{kind.episodes:,}", f"{kind.error:.2f}", f"{100 * kind.wrong / wrong:.0f}")
        for kind in kinds
    ]
    return table((name, "episodes", "error %", "share of all mistakes, %"), rows)


def _copy(sheet: Path, path: Path) -> None:
    write_atomically(path, sheet.read_bytes())
