"""What is published of hard against soft: the README's block, the page, and their pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from glimpse_envs.evaluation.records import Record, RecordError, read_records
from report.contenders import by_task
from report.figures.comparison_table_and_figure import comparison_table, draw_comparison
from report.figures.scaling import draw_scaling
from report.markdown import bullets, environment
from report.scaling import FILE_NAME, Scaling, read_scaling, scaling_table

MAIN_ID = "Glimpse/ClutteredGlyphs-v0"
"""Whose comparison the README shows: it needs no data."""
PICTURE = "comparison.png"
SCALING_PICTURE = "scaling.png"

COMPARE = "`python -m benchmarks.comparison --record results/comparison`"
SCALE = "`python -m benchmarks.scale --record results/comparison`"

_HEAD = """# Hard against soft

<!-- Drawn by `python -m report` from results/comparison; do not edit. -->

Every model learns from the same scenes for the same time of one core and is scored by the same
protocol: each test scene once, one trajectory, the last answer. Agents and recurrent soft readers
have the same controller (glimpse network, core and heads)."""

_KINDS = (
    "Hard attention (solid lines, filled marks) sees one glimpse at a time, in training too.",
    "Between (dash-dotted, open marks) is shown all tiles of a scene while it learns, and one "
    "glimpse at a time when it is scored.",
    "Soft attention (dotted, open marks) reads every pixel at every glimpse and is learned by "
    "back-propagation.",
    "Full views (large marks, dashed) see the whole scene at once and have no glimpse budget.",
)

_COUNTED = (
    "Values delivered: the numbers that reading hands to the network, all glimpses of a scene "
    "together. A retina's cell is one value, however many pixels it covers.",
    "Pixels covered: the distinct pixels of the scene that lay under any window so far. Soft "
    "attention and full views touch all. Models that cover the same are drawn side by side.",
    "Multiply-adds: the products of the network and of reading, of one scored scene. Reading alone "
    "is what filters, weights or the retina's cells take.",
    "Core-seconds: seconds on the clock that training updates took with one thread, with the "
    "environment, on the machine named below; other work beside them makes them longer. Scoring on "
    "the validation split in between is not counted. The time to an error is that of the first "
    "score at or under it, so it is known as finely as scores are spaced.",
    "Intervals are of 95 %: Wilson's for one run, otherwise a bootstrap over seeds, and over "
    "scenes where each is known. That of a time reaches from the first score whose interval holds "
    "the error, or lies under it, to the first whose whole interval is at or under it.",
)

_NOT_COUNTED = (
    "Building a scene, and summing it once for the retina, which touch every pixel for whoever "
    "looks: below they are timed apart.",
    "Element-wise work: activations, normalisation, the exponentials of Gaussian filters and of "
    "softmax.",
    "Other schedules: learning rates decay over the whole training, so that a shorter one would "
    "have ended better than this one stood at that time.",
)

_SCALING = (
    "How the cost of a scene grows with its side, in milliseconds of one core: dealing it "
    "(*building*), *reading* (the sensor, or filters and their products with the scene), and all "
    "that is left of an episode or of a training update (*choosing and answering*). Models take "
    "turns in one run; the best of several bursts counts. The retina has one scale more for each "
    "doubling of the side, so that its coarsest window shows the like share of the scene, and the "
    "pieces of clutter grow with the side. Beside each cost stands the error after the same time "
    "of training."
)


@dataclass(frozen=True)
class Comparison:
    """What `results/comparison` holds.

    Args:
        records: of the models, of one or more environments.
        scaling: None where it was not measured, or is damaged.
        problems: of what was left out, by file name.
    """

    records: list[Record]
    scaling: Scaling | None
    problems: list[str]

    def of_main(self) -> list[Record]:
        """The records that the README shows."""
        return next((rs for env_id, kwargs, rs in self.tasks() if _is_main(env_id, kwargs)), [])

    def tasks(self) -> list[tuple[str, dict[str, Any], list[Record]]]:
        """The test records by what scenes they are of, see `by_task`; the README's come first."""
        tasks = by_task(record for record in self.records if record.split == "test")
        return sorted(tasks, key=lambda task: not _is_main(*task[:2]))


def read_comparison(folder: Path) -> Comparison:
    """Read a folder of records, which need not be there."""
    if not folder.is_dir():
        return Comparison([], None, [])
    records, problems = read_records(folder)
    # It lies among the records, and is none.
    problems = [problem for problem in problems if not problem.startswith(f"{FILE_NAME}:")]
    try:
        scaling = read_scaling(folder)
    except RecordError as error:
        return Comparison(records, None, [*problems, str(error)])
    return Comparison(records, scaling, problems)


def comparison_block(comparison: Comparison, pictures: str) -> str:
    """The README's block; `pictures` is the folder of the page and its pictures, from there."""
    records = comparison.of_main()
    if not records:
        return f"Not measured yet: {COMPARE}."
    return "\n\n".join(
        [
            f"{_training(records)} What is counted, and more of it: "
            f"[{pictures}/comparison.md]({pictures}/comparison.md).",
            comparison_table(records),
            f"![Hard against soft: what each costs and what each buys]({pictures}/{PICTURE})",
        ]
    )


def comparison_page(comparison: Comparison) -> str:
    """The Markdown page, whose pictures lie beside it."""
    blocks = [_HEAD, "## How to read it", bullets(_KINDS), "What is counted:", bullets(_COUNTED)]
    blocks += ["What is not:", bullets(_NOT_COUNTED)]
    tasks = comparison.tasks()
    if not tasks:
        blocks += ["## Comparisons", f"Not measured yet: {COMPARE}."]
    for env_id, kwargs, records in tasks:
        blocks += [
            f"## {environment(env_id, kwargs)}",
            _training(records),
            f"![Error against cost]({_picture(env_id, kwargs)})",
            comparison_table(records),
            "How settings were come by, and which answers learn from the label:",
            bullets(_settings(records)),
            "Hardware: " + "; ".join(dict.fromkeys(record.hardware for record in records)) + ".",
        ]
    blocks += ["## How cost grows with the scene", _SCALING]
    if comparison.scaling is None:
        blocks.append(f"Not measured yet: {SCALE}.")
    else:
        blocks += _scaling_blocks(comparison.scaling)
    return "\n\n".join([*blocks, "[Back to the documentation](index.md)\n"])


def _settings(records: Sequence[Record]) -> list[str]:
    """Who shares which notes and which supervision, a line each."""
    shared: dict[str, list[str]] = {}
    for record in records:
        config = record.config
        every = config.get("supervise") == "all"
        answers = "every answer learns" if every else "the answers that count learn"
        if config.get("answer_by") == "reward":
            answers = "answers are learned by reward"
        shared.setdefault(f"{record.notes or 'no notes'}; {answers}", []).append(record.model)
    return [f"{', '.join(dict.fromkeys(models))}: {said}" for said, models in shared.items()]


def comparison_pictures(comparison: Comparison) -> dict[str, Callable[[Path], None]]:
    """The page's pictures: file name -> what draws it to a path."""
    pictures: dict[str, Callable[[Path], None]] = {
        _picture(env_id, kwargs): partial(draw_comparison, records)
        for env_id, kwargs, records in comparison.tasks()
    }
    if comparison.scaling is not None:
        pictures[SCALING_PICTURE] = partial(draw_scaling, comparison.scaling)
    return pictures


def _scaling_blocks(scaling: Scaling) -> list[str]:
    return [
        f"`{scaling.env_id}`, batches of {scaling.batch_size}, products in {scaling.precision}, "
        f"{scaling.minutes:g} core-minutes of training at each side, {scaling.points[0].scenes:,} "
        f"test scenes ({scaling.hardware}, revision {scaling.revision[:12]}).",
        f"![Cost and error against the scene's side]({SCALING_PICTURE})",
        scaling_table(scaling),
    ]


def _training(records: Sequence[Record]) -> str:
    """How long the models were trained, and with how many seeds."""
    minutes = [record.seconds * record.cores / 60 for record in records]
    least, most = f"{min(minutes):.2g}", f"{max(minutes):.2g}"
    span = least if least == most else f"{least} to {most}"
    seeds = len({record.seed for record in records})
    claim = "One run each gives no claim." if seeds == 1 else f"Up to {seeds} seeds each."
    unit = "core-minute" if span == "1" else "core-minutes"
    return f"Each model was trained for {span} {unit}. {claim}"


def _is_main(env_id: str, kwargs: dict[str, Any]) -> bool:
    return env_id == MAIN_ID and not kwargs


def _picture(env_id: str, kwargs: dict[str, Any]) -> str:
    if _is_main(env_id, kwargs):
        return PICTURE
    stem = re.sub(r"[^A-Za-z0-9]+", "-", environment(env_id, kwargs)).strip("-")
    return f"comparison-{stem}.png"
