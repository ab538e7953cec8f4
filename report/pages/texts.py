"""Results on texts: statements read one by one, beside models that read all of them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from glimpse_envs.sources.babi import QUESTIONS
from glimpse_envs.sources.babi_kinds import KINDS
from report.group_cells import hardware_of, score_cells
from report.grouping import Task, tasks_of
from report.groups import FEW_SEEDS, Group, interval_words
from report.how_made import meanings_blocks
from report.kinds import SEES_OF_STATEMENTS
from report.markdown import UNKNOWN, bullets, listed, short, table
from report.page import Places, Published, page_of
from report.pages.records import pointer
from report.pages.results import differences_of
from report.references.texts import BABI, SOURCES
from report.runs import read_runs, record_links
from report.trial_counts import how_settings_were_chosen
from report.unequal_trainings import unequal_trainings

PAGE = "docs/texts.md"
FOLDER = "texts"
TRAIN = "`python -m benchmarks.tables texts`"
STORIES, BABI_ID = "Glimpse/Stories-v0", "Glimpse/Babi-v0"

SMALL = 5
"""Error in percent below which the task is learned."""
_SHARED = (
    "model", "sees", "seeds", "error %", "95 % interval", f"below {SMALL} %", "statements read",
    "episodes", "core-minutes, of those given", "records",
)  # fmt: skip
_LONGER = "error % at 2x, 4x"

_HEAD = f"""# Texts

<!-- Drawn by `python -m report` from results/texts; do not edit. -->

A text is read statement by statement, and a question about it is answered. Hard attention reads one
statement at each look, and learns by reinforcement which one and when to answer; soft memories read
every statement. All are trained on one core ({TRAIN}), and tested on the same texts."""

_COLUMNS = (
    "**Error**: percentage of test texts that are not answered rightly within the budget, the "
    "inter-quartile mean over the seeds (the mean with fewer than four). Stories have the greatest "
    "length in training, or twice and four times as many statements.",
    f"**Interval**: of 95 %, {interval_words('texts')}.",
    f"**Below {SMALL} %**: how many of the seeds err less. Where some learn the task and others do "
    "not, the mean of the error says little, and its interval may be far "
    "[too narrow](intervals.md).",
    "**Statements read**: in an episode, each counted each time that it is read or scored. Models "
    "that see everything also read the padding of short texts, once to store it, and once for each "
    "of their reads.",
    "**Episodes, core-minutes**: length of the training, which ends at the first validation that "
    "is 99 % right, or with its budget. A budget in core-minutes stands beside it; further seeds "
    "have the same, or at most the first one's number of episodes.",
    FEW_SEEDS,
)

_LEAST, _MOST = (choose(kind.validated for kind in KINDS) for choose in (min, max))
_BLIND = [
    f"{100 * kind.by_question / QUESTIONS:.0f} % of kind {number}"
    for number, kind in enumerate(KINDS, 1)
    if kind.by_question > 1.1 * kind.commonest[-1]
]
_BABI = f"""## bAbI

The questions of the test files, after {QUESTIONS - _MOST} to {QUESTIONS - _LEAST} training
questions of the same kind (Weston et al. 2015); {_LEAST} to {_MOST} more choose when to stop. The
question alone tells more than the most frequent answer in some kinds: answers that fit the
training's questions, without reading, are right in {listed(_BLIND)}."""


def publish(places: Places) -> Published:
    """The page."""
    runs, problems = read_runs(places.results / FOLDER)
    return Published({PAGE: texts_page(tasks_of(runs), places)}, problems=problems)


def texts_page(tasks: Sequence[Task], places: Places) -> str:
    """The Markdown page: tables of stories and of bAbI, and what others report."""
    groups = [group for task in tasks for group in task.groups]
    columns = [
        *_COLUMNS,
        *unequal_trainings(groups),
        *how_settings_were_chosen(places.benchmarks, [task.env_id for task in tasks]),
    ]
    blocks = [_HEAD, "## How to read the tables", bullets(columns), *meanings_blocks(groups)]
    stories = [task for task in tasks if task.env_id == STORIES]
    blocks += ["## Stories", *_table(stories, ("question", *_SHARED, _LONGER), places)]
    babi = sorted((t for t in tasks if t.env_id == BABI_ID), key=_kind)
    blocks += [_BABI, *_table(babi, ("kind", *_SHARED), places)]
    published = [(f"{n} {r.name}", r.lstm, r.memn2n, r.with_facts) for n, r in enumerate(BABI, 1)]
    heads = "kind", "LSTM", "MemN2N†", "memory network with given facts"
    rows = [(name, *(f"{error:g}" for error in errors)) for name, *errors in published]
    blocks += ["### Reported by others", "Test errors in percent.", table(heads, rows)]
    blocks.append(bullets(SOURCES))
    notes = differences_of(groups, lambda record: short(record.env_id))
    if notes:
        blocks += ["## How models were made and trained", bullets(notes)]
    if groups:
        blocks += [hardware_of(groups), pointer(PAGE)]
    return page_of(blocks)


def _table(tasks: Sequence[Task], heads: Sequence[str], places: Places) -> list[str]:
    if not tasks:
        return [f"Not measured yet: {TRAIN}."]
    rows = [
        [_asked(task), *_row(group, places), *([_longer(group)] if _LONGER in heads else [])]
        for task in tasks
        for group in task.groups
    ]
    return [table(heads, rows)]


def _asked(task: Task) -> str:
    """What is asked, in words."""
    if task.env_id == BABI_ID:
        return f"{_kind(task)} {BABI[_kind(task) - 1].name}"
    facts = task.env_kwargs.get("facts", 1)
    return f"where somebody is, {facts} fact" if facts == 1 else f"where a thing is, {facts} facts"


def _kind(task: Task) -> int:
    kind: int = task.env_kwargs.get("kind", 1)
    return kind


def _row(group: Group, places: Places) -> list[str]:
    read = group.cost("cells_read")
    return [
        group.label,
        SEES_OF_STATEMENTS[group.kind],
        str(group.seeds),
        *score_cells(group),
        f"{sum(error < SMALL for error in group.errors)} of {group.seeds}",
        UNKNOWN if read is None else f"{read:.1f}",
        group.episodes_cell,
        group.minutes_of_given_cell,
        record_links(group.runs, places, PAGE),
    ]


def _longer(group: Group) -> str:
    """The errors at twice and four times the trained length, means over the seeds."""
    trained = group.first.headline.level
    if trained is None:
        return UNKNOWN
    found = []
    for multiple in (2, 4):
        scores = [record.at_level(multiple * trained) for record in group.records]
        known = [100 * (1 - s.success) for s in scores if s is not None and s.success is not None]
        found.append(f"{fmean(known):.1f}" if known else UNKNOWN)
    return ", ".join(found)
