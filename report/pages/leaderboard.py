"""The leaderboard: each learner's score on the suite, from records of equal core-minutes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

from glimpse_envs.core.arrays import Floats
from glimpse_envs.evaluation.record import Record
from glimpse_envs.evaluation.strata import stratified_interval, stratified_mean
from glimpse_envs.evaluation.suite import TASK_SETS
from report.groups import FEW_SEEDS
from report.learners import LEARNERS, MINUTES, Learner
from report.markdown import UNKNOWN, bullets, listed, short, table
from report.page import Places, Published, page_of
from report.pages.records import pointer
from report.runs import Run, read_runs

PAGE = "docs/leaderboard.md"
FOLDER = "leaderboard"
TRAIN = "`python -m benchmarks.tables leaderboard`"
NEARLY = 0.9
"""Normalised return above which a task is nearly done."""
FAR = 0.2
"""Normalised return that no learner passes on tasks which are named."""
FEWEST = 3
"""Seeds from which on an interval is given."""

_HEAD = f"""# Leaderboard

<!-- Drawn by `python -m report` from results/leaderboard; do not edit. -->

How well does one learner do on many tasks, without tuning for each? Every learner is to be
trained on every task for {MINUTES:g} minutes of one core, or, on tapes and tables, until 99 % of
the validation episodes succeed; not all are yet. It has the settings of the family's preset, and
none of its own for a task ({TRAIN}), so that a task may fail here which settings of its own
[solve](memory.md). The presets were chosen on the validation splits of some of
these tasks, that of pictures on ClutteredMNIST. The preset of tapes answers from the present
glimpse alone, so that it cannot learn to add or to sort.

Scores are means over the test split: over all its pictures, and over 1,000 tapes or tables of the
greatest length in training. A *normalised* return is 0 at the task's chance and 1 at its ceiling.
`python -m agents.suite` scores runs of your own on the same tasks, with tapes and tables of all
lengths."""

_COLUMNS = (
    "**Tasks**: how many of the set's tasks have been trained so far.",
    "**Seeds**: the number of seeds with which all these tasks were trained; others are left out.",
    "**Score**: the inter-quartile mean of the normalised returns of all tasks and these seeds, "
    "once every task of the set has a run (Agarwal et al. 2021). The middle half of their weight "
    "is averaged, so that a return at its end counts in part; rliable cuts whole ones. Where some "
    "tasks are at 1 and others at 0, it lies on a few between them.",
    f"**Mean, above {NEARLY:g}**: over all tasks, and how many of them have a mean return above "
    "that.",
    f"**95 % interval**: a bootstrap over the seeds within each task, from {FEWEST} seeds on; "
    "stretched as Student's is, since there are few seeds.",
    FEW_SEEDS,
)
_CONTROLS = (
    "Controls replace the gaze on pictures. On tapes and tables there is none to replace, so they "
    "have no score over all tasks."
)
_DEFAULTS = "{} has its library's settings, and always trains for all the minutes."

Found = Mapping[str, Mapping[int, float]]
"""Id -> seed -> normalised return."""


def publish(places: Places) -> Published:
    """The page."""
    runs, problems = read_runs(places.results / FOLDER)
    text = leaderboard_page([run.record for run in runs])
    return Published({PAGE: text}, problems=[*problems, *_second_runs(runs)])


def leaderboard_page(records: Sequence[Record]) -> str:
    """The Markdown page: a table of each set of tasks, and one of all tasks by learner."""
    found = {learner.name: scores_of(learner, records) for learner in LEARNERS}
    here = [learner for learner in LEARNERS if found[learner.name]]
    blocks = [_HEAD, "## How to read it", bullets([*_COLUMNS, *_exceptions(here)])]
    if here:
        about = [f"**{learner.name}**: {learner.about}." for learner in here]
        blocks += ["## Learners", bullets(about)]
    waiting = [learner.name for learner in LEARNERS if learner not in here]
    if waiting and here:
        blocks.append(f"Not trained yet: {'; '.join(waiting)}.")
    if not any(found.values()):
        blocks.append(f"Not measured yet: {TRAIN}.")
    else:
        for name, tasks in TASK_SETS.items():
            heads = (
                "learner", "tasks", "seeds", "score", "95 % interval", "mean", f"above {NEARLY:g}"
            )  # fmt: skip
            rows = _ranked(found, tasks)
            if rows:
                blocks += [f"## {name.capitalize()}", table(heads, rows)]
        blocks += ["## By task", "Mean normalised return.", _by_task(found), *_far(found)]
        blocks.append(pointer(PAGE))
    return page_of(blocks)


def _exceptions(learners: Sequence[Learner]) -> list[str]:
    """What is told of some of the learners alone."""
    controls = [_CONTROLS] if any("tape" not in each.algorithms for each in learners) else []
    return controls + [_DEFAULTS.format(each.name) for each in learners if not each.has_presets]


def scores_of(learner: Learner, records: Sequence[Record]) -> dict[str, dict[int, float]]:
    """The normalised returns of a learner's runs on tasks of the suite with nothing changed; of
    several with one seed, the first."""
    found: dict[str, dict[int, float]] = {}
    for record in records:
        normalised = record.headline.normalised
        if normalised is not None and _is_of(learner, record):
            found.setdefault(record.env_id, {}).setdefault(record.seed, normalised)
    return found


def _is_of(learner: Learner, record: Record) -> bool:
    standard = record.env_id in TASK_SETS["all"] and not record.env_kwargs
    return standard and learner.fits(record)


def _second_runs(runs: Sequence[Run]) -> list[str]:
    """Problems: runs of a learner on a task with a seed that another one of its runs has, such as
    one by an older preset. Scores of both would be of no one learner."""
    firsts: dict[tuple[str, str, int], Path] = {}
    problems = []
    for run in runs:
        for learner in LEARNERS:
            if _is_of(learner, run.record):
                env_id, seed = run.record.env_id, run.record.seed
                first = firsts.setdefault((learner.name, env_id, seed), run.file)
                if first != run.file:
                    problems.append(
                        f"{run.file}: {first.name} is of {learner.name} on {env_id} with seed "
                        f"{seed}, too, and counts: remove the one of older settings"
                    )
    return problems


def _ranked(found: Mapping[str, Found], tasks: Sequence[str]) -> list[list[str]]:
    """The rows of a set, the best score first, then those that lack tasks."""
    rows = []
    for name, scores in found.items():
        known = [scores[task] for task in tasks if task in scores]
        if not known:
            continue
        seeds = sorted(set.intersection(*(set(each) for each in known)))
        shared = [np.array([each[seed] for seed in seeds]) for each in known]
        whole = len(known) == len(tasks) and len(seeds) > 0
        score = stratified_mean(shared) if whole else -np.inf
        cells = [
            name,
            f"{len(known)} of {len(tasks)}",
            str(len(seeds)),
            f"{score:.3f}" if whole else UNKNOWN,
            _interval(shared) if whole and len(seeds) >= FEWEST else UNKNOWN,
            f"{fmean(map(np.mean, shared)):.3f}" if whole else UNKNOWN,
            str(sum(each.mean() > NEARLY for each in shared)) if whole else UNKNOWN,
        ]
        rows.append((score, cells))
    return [cells for _, cells in sorted(rows, key=lambda row: -row[0])]


def _interval(scores: Sequence[Floats]) -> str:
    low, high = stratified_interval(scores)
    return f"{low:.3f} to {high:.3f}"


def _far(found: Mapping[str, Found]) -> list[str]:
    """The tasks on which no learner comes near what it could."""
    tasks = []
    for task in TASK_SETS["all"]:
        means = [fmean(scores[task].values()) for scores in found.values() if task in scores]
        if means and max(means) < FAR:
            tasks.append(short(task))
    if not tasks:
        return []
    return [
        f"No learner passes {FAR:g} on {listed(tasks)}. With settings of their own most tapes and "
        "tables are [solved](memory.md)."
    ]


def _by_task(found: Mapping[str, Found]) -> str:
    names = [name for name, scores in found.items() if scores]
    rows = []
    for task in TASK_SETS["all"]:
        each = [found[name].get(task, {}) for name in names]
        if any(each):
            cells = (f"{fmean(scores.values()):z.2f}" if scores else UNKNOWN for scores in each)
            rows.append([short(task), *cells])
    return table(["task", *names], rows)
