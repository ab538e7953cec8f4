"""The leaderboard: each learner's score on the suite, from records of equal core-minutes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from glimpse_envs.evaluation.record import Record
from glimpse_envs.evaluation.statistics import interquartile_mean, stratified_interval
from glimpse_envs.evaluation.suite import TASK_SETS
from report.learners import LEARNERS, Learner
from report.markdown import UNKNOWN, bullets, short, table
from report.page import Places, Published
from report.pages.records import POINTER
from report.runs import read_runs

PAGE = "docs/leaderboard.md"
FOLDER = "leaderboard"
TRAIN = "`python -m benchmarks.tables leaderboard`"

_HEAD = f"""# Leaderboard

<!-- Drawn by `python -m report` from results/leaderboard; do not edit. -->

Every learner trains on every task for ten minutes of one core, on tapes and tables until 99 % of
its validation episodes have success where that is earlier, with the settings of its family's preset
and no tuning for the task ({TRAIN}), and is scored on the test split. A normalised return is 0 at
the task's chance and 1 at its ceiling. `python -m agents.suite` scores runs of your own in the same
way."""

_COLUMNS = (
    "**Score**: the inter-quartile mean of the normalised returns of all tasks and seeds, once "
    "every task of the set has a run (Agarwal et al. 2021).",
    "**Interval**: of 95 %, a bootstrap over the seeds within each task, once every task has two.",
    "Tapes and tables are scored at the greatest length that was trained.",
    "The controls have no gaze to learn on tapes and tables, and stand in the first set alone.",
)

Found = Mapping[str, Sequence[float]]
"""Id -> the normalised return of each seed."""


def publish(places: Places) -> Published:
    """The page."""
    folder = places.results / FOLDER
    runs, problems = read_runs(folder) if folder.is_dir() else ([], [])
    return Published({PAGE: leaderboard_page([run.record for run in runs])}, problems=problems)


def leaderboard_page(records: Sequence[Record]) -> str:
    """The Markdown page: a table of each set of tasks, and one of all tasks by learner."""
    found = {learner.name: scores_of(learner, records) for learner in LEARNERS}
    blocks = [_HEAD, "## How to read it", bullets(_COLUMNS)]
    about = [f"**{learner.name}**: {learner.about}." for learner in LEARNERS]
    blocks += ["## Learners", bullets(about)]
    if not any(found.values()):
        blocks.append(f"Not measured yet: {TRAIN}.")
    else:
        for name, tasks in TASK_SETS.items():
            heads = ("learner", "tasks", "seeds", "score", "95 % interval")
            rows = _ranked(found, tasks)
            if rows:
                blocks += [f"## {name.capitalize()}", table(heads, rows)]
        blocks += ["## By task", "Mean normalised return.", _by_task(found)]
        blocks.append(POINTER.format("records.md"))
    return "\n\n".join([*blocks, "[Back to the documentation](index.md)\n"])


def scores_of(learner: Learner, records: Sequence[Record]) -> dict[str, list[float]]:
    """The normalised returns of a learner's runs, id -> one a seed, in the order of seeds."""
    found: dict[str, list[float]] = {}
    for record in sorted(records, key=lambda record: record.seed):
        normalised = record.headline.normalised
        if normalised is not None and learner.fits(record):
            found.setdefault(record.env_id, []).append(normalised)
    return found


def _ranked(found: Mapping[str, Found], tasks: Sequence[str]) -> list[list[str]]:
    """The rows of a set, the best score first, then those that lack tasks."""
    rows = []
    for name, scores in found.items():
        known = [scores[task] for task in tasks if task in scores]
        if not known:
            continue
        whole = len(known) == len(tasks)
        score = interquartile_mean(np.concatenate(known)) if whole else -np.inf
        fewest, most = min(map(len, known)), max(map(len, known))
        cells = [
            name,
            f"{len(known)} of {len(tasks)}",
            str(most) if fewest == most else f"{fewest} to {most}",
            f"{score:.3f}" if whole else UNKNOWN,
            _interval(known) if whole else UNKNOWN,
        ]
        rows.append((score, cells))
    return [cells for _, cells in sorted(rows, key=lambda row: -row[0])]


def _interval(scores: Sequence[Sequence[float]]) -> str:
    if min(map(len, scores)) < 2:
        return UNKNOWN
    low, high = stratified_interval([np.array(each) for each in scores])
    return f"{low:.3f} to {high:.3f}"


def _by_task(found: Mapping[str, Found]) -> str:
    names = [name for name, scores in found.items() if scores]
    rows = []
    for task in TASK_SETS["all"]:
        each = [found[name].get(task, ()) for name in names]
        if any(each):
            cells = (f"{fmean(scores):.2f}" if scores else UNKNOWN for scores in each)
            rows.append([short(task), *cells])
    return table(["task", *names], rows)
