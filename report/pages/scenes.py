"""Results on scenes of several images, searches and images that move: errors beside costs."""

from __future__ import annotations

from collections.abc import Sequence

from report.chance import blind_error, is_near_chance, near_chance, pays_for_success
from report.controls import SHORTER, is_control, without_controls
from report.group_cells import hardware_of, score_cells
from report.grouping import Task, tasks_of
from report.groups import Group, interval_words
from report.how_made import meanings_blocks, training_blocks
from report.markdown import UNKNOWN, bullets, count, environment, listed, minutes, short, table
from report.page import Places, Published, page_of
from report.pages.in_short import scenes_in_short
from report.pages.records import pointer
from report.pages.results import VERDICTS, against, differences_of
from report.references.links import linked
from report.references.pictures import Reference
from report.references.scenes import SCENE_REFERENCES
from report.runs import read_runs, record_links
from report.trial_counts import how_settings_were_chosen
from report.unequal_trainings import unequal_trainings

PAGE = "docs/scenes.md"
FOLDER = "scenes"
TRAIN = "`python -m benchmarks.tables scenes`"

HEADER = (
    "model", "glimpses", "seeds", "error %", "95 % interval", "paper", "best public",
    "sees", "values delivered", "pixels covered", "multiply-adds an episode", "episodes",
    "core-minutes", "records",
)  # fmt: skip

RETURN = "mean return"
_RETURN_AT = HEADER.index("95 % interval") + 1

_HEAD = """# Scenes

<!-- Drawn by `python -m report` from results/scenes; do not edit. -->

Large scenes, scenes of several images, searches, images that move, and descriptions: test error
beside the cost of an episode. Each model is trained on one core, for the core-minutes in its row.
Each test scene is played once, with the likeliest actions."""

_COLUMNS = (
    "**Error**: percentage of test episodes without success; the inter-quartile mean over the "
    "seeds (the mean with fewer than four). A description is right or wrong as a whole, and its "
    "test scenes show only combinations of a class and a location that never occur in training.",
    f"**Interval**: of 95 %, {interval_words('scenes')}.",
    "**Mean return**, where it is not the share of success: what the environment pays in an "
    "episode, such as an equal share for each frame that is named rightly, or each answer in turn.",
    "**Episodes**: of training, the mean over the seeds, or their range where it is wide. A budget "
    "is in core-minutes, in which a machine that is slower, or busy, sees fewer. Further seeds "
    "train for as many episodes as the first, except where a record gives minutes. *Slower "
    "code*: a revision by which full views, DRAW's windows, pointers and captioners saw fewer "
    "scenes a minute than they [do now]"
    "(reproducing.md#what-has-changed).",
    "**Core-minutes**: of a training, the median over the seeds, or their range where it is wide.",
    "**Values delivered**, **pixels covered**, **multiply-adds**: of one episode, as defined in "
    "[hard against soft](comparison.md). A model that sees the whole of a still scene is given it "
    "once, however many words it writes.",
    "**Paper**, **best public**: errors that others report, of scenes described alike; what "
    f"differs stands with their sources, below. {VERDICTS}",
)


_OPTIMIZERS = (
    "**Optimizers** of full views were compared in few [trials](trials.md), of one run each, with "
    "mixed results: those of these tables may be better with another."
)

WIDE = 1.2
"""Ratio of two seeds' episodes, or minutes, above which their range is shown."""
SLOWER_CODE = ("1632f49c", "7186c13e", "82c81e94", "6a1d7c4e")
"""Revisions with records of models that see everything from before these were faster."""


def publish(places: Places) -> Published:
    """The page."""
    runs, problems = read_runs(places.results / FOLDER)
    return Published(texts={PAGE: scenes_page(tasks_of(runs), places)}, problems=problems)


def scenes_page(tasks: Sequence[Task], places: Places) -> str:
    """The Markdown page: a section for each task, and what others report of tasks without one."""
    groups = [group for task in tasks for group in task.groups]
    blocks = [_HEAD, *(scenes_in_short(tasks) if tasks else [])]
    blocks += [
        "## How to read the tables",
        bullets(
            [
                *_COLUMNS,
                *how_settings_were_chosen(places.benchmarks, [task.env_id for task in tasks]),
                *unequal_trainings(groups),
                *([_OPTIMIZERS] if groups else []),
                *without_controls(groups),
            ]
        ),
        *meanings_blocks(groups),
        *training_blocks(groups),
    ]
    if not tasks:
        blocks += ["## Tasks", f"Not measured yet: {TRAIN}."]
    for task in tasks:
        blocks += [f"## {environment(task.env_id, task.env_kwargs)}", _table(task, places)]
        blocks += [*_near_chance(task), *_shorter_controls(task), *_oracle_above(task)]
        blocks += _precisions(task)
    waiting = [reference for reference in SCENE_REFERENCES if not _measured(reference, groups)]
    if waiting:
        blocks += ["## Reported by others, not measured here", bullets(map(_report, waiting))]
    blocks += ["## Sources", bullets(_source(reference) for reference in SCENE_REFERENCES)]
    differences = differences_of(groups, lambda record: short(record.env_id))
    if differences:
        blocks += ["## Differences from the references' settings", bullets(differences)]
    if groups:
        blocks += [hardware_of(groups), pointer(PAGE)]
    return page_of(blocks)


def _table(task: Task, places: Places) -> str:
    """Of one task; returns have a column where they are not the share of success."""
    rows = [_row(group, places) for group in task.groups]
    if pays_for_success(task.groups):
        return table(HEADER, rows)
    for row, group in zip(rows, task.groups, strict=True):
        mean = group.mean_return
        row.insert(_RETURN_AT, UNKNOWN if mean is None else f"{mean:.3f}")
    return table((*HEADER[:_RETURN_AT], RETURN, *HEADER[_RETURN_AT:]), rows)


def _shorter_controls(task: Task) -> list[str]:
    """That gazes by a rule had less training than the learned ones, where they had."""
    of_agents = [group for group in task.groups if group.kind == "hard"]
    learned = [group.core_minutes for group in of_agents if not is_control(group)]
    shorter = [
        f"{group.label} ({minutes(group.core_minutes)} core-minutes)"
        for group in of_agents
        if learned and is_control(group) and group.core_minutes < SHORTER * min(learned)
    ]
    if not shorter:
        return []
    return [
        f"Trained for less time than the agents that choose their looks: {listed(shorter)}. What "
        "choosing buys cannot be read from these."
    ]


def _oracle_above(task: Task) -> list[str]:
    """That an oracle's gaze is no bound, where a learned one errs less."""
    of_agents = [group for group in task.groups if group.kind == "hard" and group.has_success]
    above = [
        oracle.label
        for oracle in of_agents
        if oracle.first.model.gaze == "oracle"
        and any(_errs_less(group, oracle) for group in of_agents if not is_control(group))
    ]
    if not above:
        return []
    return [
        f"A learned gaze errs less than {listed(above)}, which looks at the centre of one target "
        "after another: an oracle may be no bound of what a gaze can do."
    ]


def _precisions(task: Task) -> list[str]:
    """In which precision each model was trained, where they differ."""
    found: dict[str, list[str]] = {}
    for group in task.groups:
        for record in group.records:
            precision = record.config.get("precision", "a precision that was not recorded")
            found.setdefault(precision, []).append(f"*{group.label}*")
    if len(found) < 2:
        return []
    told = [f"in {name}: {'; '.join(dict.fromkeys(found[name]))}" for name in sorted(found)]
    return [
        f"Trained {'. Trained '.join(told)}. Which precision is faster depends on the processor, "
        "and a budget in minutes holds more episodes in it."
    ]


def _errs_less(learned: Group, oracle: Group) -> bool:
    """Whether a learned gaze errs less in the same environment, after no more time of training."""
    same = learned.first.env_kwargs == oracle.first.env_kwargs
    in_time = learned.core_minutes <= 1.1 * oracle.core_minutes
    return same and in_time and learned.interval[1] < oracle.interval[0]


def _near_chance(task: Task) -> list[str]:
    """What is said of models near chance, where there are any."""
    blind = blind_error(task.env_id) if pays_for_success(task.groups) else None
    stuck = [
        f"{group.label} ({group.episodes_cell} episodes)"
        for group in task.groups
        if group.has_success and is_near_chance(group.interval[1], blind)
    ]
    return [near_chance(stuck)] if stuck else []


def _row(group: Group, places: Places) -> list[str]:
    fitting = [reference for reference in SCENE_REFERENCES if reference.fits(group.first)]
    paper, best = against(group, fitting[0]) if group.has_success and fitting else (UNKNOWN,) * 2
    costs = (group.cost(name) for name in ("values_delivered", "pixels_covered", "multiply_adds"))
    return [
        group.label,
        group.budget,
        str(group.seeds),
        *score_cells(group),
        paper,
        best,
        group.sees,
        *(UNKNOWN if cost is None else count(cost) for cost in costs),
        _episodes(group),
        _minutes(group),
        record_links(group.runs, places, PAGE),
    ]


def _episodes(group: Group) -> str:
    """Of training: the mean over the seeds, or the range of numbers that are far apart."""
    each = [record.episodes for record in group.records]
    few, many = min(each), max(each)
    shown = group.episodes_cell if many <= WIDE * few else f"{count(few)} to {count(many)}"
    slower = any(record.revision.startswith(SLOWER_CODE) for record in group.records)
    return f"{shown} (slower code)" if slower and group.kind in ("full", "soft") else shown


def _minutes(group: Group) -> str:
    """Of training: the median over the seeds, or the range of numbers that are far apart."""
    few, many = group.range_of_minutes
    if many <= WIDE * few:
        return group.minutes_cell
    return f"{minutes(few)} to {group.timed(many)}"


def _measured(reference: Reference, groups: Sequence[Group]) -> bool:
    return any(reference.fits(group.first) for group in groups)


def _report(reference: Reference) -> str:
    numbers = {"paper": reference.paper, "best public": reference.best_public}
    errors = ", ".join(f"{name} {n:.2f} %" for name, n in numbers.items() if n is not None)
    everything = reference.model.sees == "everything"
    budget = "the whole scene" if everything else f"{reference.budget} glimpses"
    scenes = environment(reference.env_id, reference.setting)
    return f"{scenes}, {reference.model.name}, {budget}: {errors}"


def _source(reference: Reference) -> str:
    scenes = environment(reference.env_id, reference.setting)
    return f"{linked(reference.source)}: {scenes}, {reference.model.name}"
