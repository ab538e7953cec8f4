"""What is published of hard against soft: the page and its figures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import partial

from glimpse_envs.evaluation.records import RecordError
from report.controls import is_control
from report.curves import Point, curve_of, time_to
from report.figures.comparison import TITLES, draw_comparison
from report.figures.scaling import draw_scaling, draw_scaling_in_short
from report.group_cells import hardware_of, score_cells
from report.grouping import Task, tasks_of
from report.groups import FEW_SEEDS, Group, interval_words
from report.kinds import KINDS, Kind
from report.markdown import (
    UNKNOWN,
    bullets,
    count,
    environment,
    listed,
    short,
    short_revision,
    table,
)
from report.page import Draw, Places, Published, in_docs, page_of
from report.pages.records import pointer
from report.pages.scene_size import (
    FURTHER_FIGURE,
    FURTHER_FOLDER,
    SCALING_FIGURE,
    SHORT_FIGURE,
    further_blocks,
    scaling_blocks,
    scaling_in_short,
)
from report.runs import read_runs, record_links
from report.scaling import FILE_NAME, Scaling, read_scaling
from report.trial_counts import trial_counts

MAIN_ID = "Glimpse/ClutteredGlyphs-v0"
"""Whose comparison comes first: it needs no data."""
PAGE = "docs/comparison.md"
COMPARE = "`python -m benchmarks.comparison --record results/comparison`"
HEADER = (
    "model", "sees", "glimpses", "seeds", "error %", "95 % interval", "values delivered",
    "pixels covered", "multiply-adds a scene", "of which reading", "episodes", "core-minutes",
    "core-seconds to 10 %", "to 5 %",
)  # fmt: skip

SHORT_HEADER = (
    "model", "error %", "95 % interval", "values delivered", "multiply-adds a scene", "episodes",
    "core-seconds to 10 %", "to 5 %",
)  # fmt: skip

_IN_SHORT = "Of each kind the model that did best on validation scenes:"

_HEAD = """# Hard against soft

<!-- Drawn by `python -m report` from results/comparison; do not edit. -->

What does it cost to choose each glimpse, and what to read everything? Here all models are trained
on the same scenes, for the same time on one core, and scored in the same way: each test scene is
played once, and the last answer counts. In the first table, agents and recurrent models with soft
attention have the same controller (glimpse network, core and heads, of the same sizes). Other
settings are those of their presets, or were chosen by short trials, of unequal numbers (below). The
training is short, so the table says which models learn fast; longer trainings are on the pages of
[results](results.md)."""

_KINDS = (
    "Hard attention (solid lines, filled marks) sees one glimpse at a time, in training too.",
    "Privileged models (dash-dotted, open marks) see all tiles of a scene in training, and one "
    "glimpse at a time when they are scored.",
    "Soft attention (dotted, open marks) reads every pixel at every glimpse, and is trained by "
    "back-propagation.",
    "Full views (dashed, open marks) see the whole scene at once and take no glimpses.",
    "Each mark is a glimpse; in the last column of panels, a score on the validation split. The "
    "bar at a line's end is its 95 % interval.",
)

_COUNTED = (
    "Values delivered: how many numbers the network is given, over all glimpses of a scene. A "
    "retina's cell is one value, however many pixels it covers.",
    "Pixels covered: how many distinct pixels of the scene lay in any window so far. Soft "
    "attention and full views cover all.",
    "Multiply-adds: the matrix products of the network and of reading, for one scored scene. "
    "*Of which reading* counts the filters, the weights or the retina's cells alone.",
    f"Intervals are of 95 %: {interval_words('scenes')}.",
    "Core-seconds: seconds of the core's own clock, which does not count the time of other "
    "processes, spent in training updates with one thread, environment included, on the machine "
    "named above. Scoring on the validation split is excluded. The time to an error is that of the "
    "first validation at or below it. The times between validations double, so it is known "
    "within a factor of two, unless it is that of the very first.",
)


_NOT_COUNTED = (
    "Building a scene, and summing it once for the retina, which are timed separately below.",
    "Element-wise operations: activations, normalisation, the exponentials of Gaussian filters and "
    "of softmax.",
    "Other schedules: learning rates decay over the whole training, so a model that was trained "
    "for a shorter time would be better than this one was at that time.",
)


def publish(places: Places) -> Published:
    """The page and its figures."""
    folder = places.results / "comparison"
    runs, problems = read_runs(folder, other=(FILE_NAME,))
    tasks = sorted(tasks_of(runs), key=lambda task: not _is_main(task))
    try:
        scaling, further = read_scaling(folder), read_scaling(folder / FURTHER_FOLDER)
    except RecordError as error:
        scaling, further, problems = None, None, [*problems, str(error)]
    figures: dict[str, Draw] = {_figure(t): partial(draw_comparison, t.groups) for t in tasks}
    if scaling is not None:
        figures[SCALING_FIGURE] = partial(draw_scaling, scaling)
        figures[SHORT_FIGURE] = partial(draw_scaling_in_short, scaling)
    if further is not None:
        figures[FURTHER_FIGURE] = partial(draw_scaling, further)
    page = comparison_page(tasks, scaling, places, further)
    return Published(
        texts={PAGE: page},
        blocks={"scaling": scaling_in_short(scaling, places.benchmarks)},
        figures=figures,
        problems=problems,
    )


def comparison_page(
    tasks: Sequence[Task],
    scaling: Scaling | None,
    places: Places,
    further: Scaling | None = None,
) -> str:
    """The Markdown page, and the figures that it shows; `further` is of another machine."""
    blocks = [_HEAD, "Lines and marks of the figures:", bullets(_KINDS)]
    if not tasks:
        blocks += ["## Comparisons", f"Not measured yet: {COMPARE}."]
    for task in tasks:
        blocks += [
            f"## {environment(task.env_id, task.env_kwargs)}",
            _training(task.groups),
            f"![Error against cost]({in_docs(_figure(task))})",
            _IN_SHORT,
            in_short(task.groups),
            "All models:",
            published_table(task.groups, places),
            "How the settings were chosen, and which answers are trained on the label:",
            bullets(_settings(task.groups)),
            _recorded_trials(task.env_id, places),
            f"{_revisions(task.groups)} {hardware_of(task.groups)}",
        ]
    blocks += [
        "## What is counted",
        bullets(_COUNTED),
        "What is not counted:",
        bullets(_NOT_COUNTED),
    ]
    if tasks:
        blocks.append(pointer(PAGE))
    return page_of([*blocks, *scaling_blocks(scaling), *further_blocks(further)])


def comparison_table(groups: Iterable[Group]) -> str:
    """The Markdown table, a row a group; "—" is what was not measured."""
    return table(HEADER, [_row(group) for group in groups])


def published_table(groups: Sequence[Group], places: Places) -> str:
    """The table with links to the records of each row."""
    rows = [[*_row(group), record_links(group.runs, places, PAGE)] for group in groups]
    return table((*HEADER, "records"), rows)


def in_short(groups: Sequence[Group]) -> str:
    """The Markdown table of the best model of each kind, controls left out."""
    best: dict[Kind, Group] = {}
    for group in sorted(groups, key=lambda group: group.choice):
        if not is_control(group):
            best.setdefault(group.kind, group)
    rows = []
    for kind in (kind for kind in KINDS if kind in best):
        cells = dict(zip(HEADER, _row(best[kind]), strict=True))
        rows.append([TITLES[kind], *(cells[name] for name in SHORT_HEADER)])
    return table(("kind", *SHORT_HEADER), rows)


def _row(group: Group) -> list[str]:
    curve = curve_of(group)
    return [
        group.label,
        group.sees,
        group.budget,
        str(group.seeds),
        *score_cells(group),
        *(_cost(group, name, "{:,.0f}") for name in ("values_delivered", "pixels_covered")),
        *(_cost(group, name) for name in ("multiply_adds", "multiply_adds_reading")),
        group.episodes_cell,
        group.minutes_cell,
        *(_time(error, curve) for error in (10, 5)),
    ]


def _cost(group: Group, name: str, form: str = "") -> str:
    cost = group.cost(name)
    if cost is None:
        return UNKNOWN
    return form.format(cost) if form else count(cost)


def _time(error: float, curve: Sequence[Point]) -> str:
    seconds = time_to(error, curve)
    if not curve:
        return UNKNOWN
    return f"{seconds:,.0f}" if math.isfinite(seconds) else "not reached"


def _settings(groups: Sequence[Group]) -> list[str]:
    """Who shares which notes and which supervision, a line each."""
    shared: dict[str, list[str]] = {}
    for record in (record for group in groups for record in group.records):
        every = record.config.get("supervise") == "all"
        answers = "all answers are trained" if every else "scored answers are trained"
        if record.model.learns_from == "reward":
            answers = "answers are learned by reward"
        text = f"{record.notes or 'no notes'}; {answers}"
        shared.setdefault(text, []).append(record.model.name)
    return [f"{'; '.join(dict.fromkeys(models))}: {text}" for text, models in shared.items()]


def _recorded_trials(env_id: str, places: Places) -> str:
    """How many of the trials that chose the settings have a record."""
    agents, others = trial_counts(places.benchmarks).get(env_id, (0, 0))
    return (
        "These numbers of short trainings are as remembered, and unequal. [Recorded](trials.md) on "
        f"{short(env_id)} are {agents} of agents and {others} of models that see everything."
    )


def _revisions(groups: Sequence[Group]) -> str:
    """By which code the models were trained."""
    revisions = dict.fromkeys(record.revision for group in groups for record in group.records)
    changed = " (+dirty: with changes that were not committed)" * ("dirty" in "".join(revisions))
    return (
        f"Trained by {listed([short_revision(revision) for revision in revisions])}{changed}; some "
        "models train [faster by now](reproducing.md#what-has-changed)."
    )


def _training(groups: Sequence[Group]) -> str:
    """How long the models were trained, and with how many seeds."""
    records = [record for group in groups for record in group.records]
    minutes = [record.seconds * record.cores / 60 for record in records]
    least, most = f"{min(minutes):.2g}", f"{max(minutes):.2g}"
    span = least if least == most else f"{least} to {most}"
    unit = "core-minute" if span == "1" else "core-minutes"
    claim = "" if all(group.claims for group in groups) else f" {FEW_SEEDS}"
    return f"Each model was trained for {span} {unit}, with each seed.{claim}"


def _is_main(task: Task) -> bool:
    return task.env_id == MAIN_ID and not task.env_kwargs


def _figure(task: Task) -> str:
    if _is_main(task):
        return "docs/comparison.svg"
    name = environment(task.env_id, task.env_kwargs)
    return f"docs/comparison-{re.sub(r'[^A-Za-z0-9]+', '-', name).strip('-')}.svg"
