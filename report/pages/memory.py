"""What is published of memory: the page and its figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from glimpse_envs.evaluation.record import MULTIPLES, NTM_COPY, SOLVED
from report.figures.memory import draw_solved, draw_success
from report.group_cells import hardware_of
from report.grouping import Task, group_runs, tasks_of
from report.groups import FEW_SEEDS, Group
from report.how_made import meanings_blocks
from report.kinds import SEES_OF_CELLS
from report.markdown import UNKNOWN, bullets, count, environment, listed, table
from report.page import Draw, Places, Published, in_docs, page_of
from report.pages.bits import bits_blocks
from report.pages.in_short import memory_in_short
from report.pages.memory_cost import FIGURE as COST_FIGURE
from report.pages.memory_cost import PAGE as COST_PAGE
from report.pages.memory_cost import READ_COST_FILE
from report.pages.records import pointer
from report.references.links import linked
from report.references.memory import (
    FACTS,
    MEMORY_REFERENCES,
    NO_CLAIM,
    RL_NTM,
    MemoryReference,
)
from report.runs import read_runs, record_links
from report.trial_counts import how_settings_were_chosen
from report.unequal_trainings import unequal_trainings

PAGE = "docs/memory.md"
SUCCESS_FIGURE = "docs/memory_success.svg"
SOLVED_FIGURE = "docs/memory_solved.svg"

SOLVE = (
    "`python -m agents.train actor_critic --env-id Glimpse/Copy-v0 --stop-at 0.99`, then "
    "`python -m agents.evaluate RUN --record results/memory`"
)
READ_COST = "`python -m benchmarks.cost.read_cost`"

_HEAD = """# Memory that is read one cell at a time

<!-- Drawn by `python -m report` from results/memory; do not edit. -->

Hard attention sees one cell of a tape or table at each step, and learns by reinforcement which one
to read. Soft memories read every cell and learn by back-propagation. Both are trained and tested
here on the same sequences, with the same evaluation."""

_COLUMNS = (
    "**Sees**. Hard attention sees one cell at each step. A soft memory takes a weighted sum over "
    "all cells at each read. A hard key-value memory stores the whole sequence and then samples "
    "one cell at each read; *soft to hard* begins with soft reads, of which ever more are "
    "sampled. A training that stops at 99 % may end before most are; in tests each reads one cell. "
    "Without a memory, a network is shown the sequence and then answers.",
    "**Answer by**. How answers are learned: from the *label*, by cross-entropy, or from the "
    "*reward* alone. The moves of hard attention are learned from the reward in both cases.",
    "**Curriculum**. The distribution of lengths in training. *Mixture* is that of RL-NTM: 10 % "
    "uniform over all lengths, 25 % uniform up to the present length plus a geometric excess, "
    "65 % at that length. "
    "*Threshold* is uniform up to a present length that rises with success. *Uniform* is uniform "
    "over all lengths throughout.",
    "**Episodes and minutes to solve**. Training until the first validation at which the task was "
    "solved, as a median over the seeds that solved it; minutes of one core. With few "
    "solving seeds, this is the time of the luckiest.",
    "**Episodes, core-minutes**. Length of the whole training: episodes are a mean over all seeds, "
    "solving or not, minutes the median over those timed by a core's own clock, if any were. "
    "Training ends as said above; runs that never reach the share end with their budget. "
    "Budgets and numbers of seeds differ between models. *Wall*: wall-clock time, which "
    "other processes lengthen.",
    "**Success at 1x, 2x, 4x, 6x**. Percentage of test sequences solved, at these multiples of "
    "the longest training length; mean over all seeds, solving or not.",
    "**Cells read**. Number of cells that choosing and reading touch in an episode of the training "
    "length. A cell that is touched at two steps counts twice; a soft read counts every cell, and "
    "so does a hard read of a key-value memory, which scores the keys of all cells to choose one. "
    "With *recall*, each kept glimpse that is scored at a step counts too.",
    "**Seconds an episode**. Time of model and environment together, one episode at a time on one "
    "core, where it was measured.",
    FEW_SEEDS,
)


_ON_TESTS = "test tables"
_NO_FAIR_CHOICE = ". Chosen on tests, their results are no claim"

_PLACE_OF_SOLVED = 3
"""Of what `_solved` says, in `_COLUMNS`."""


def publish(places: Places) -> Published:
    """The page and its figures."""
    runs, problems = read_runs(places.results / "memory")
    tasks = tasks_of(run for run in runs if run.record.env_id != NTM_COPY)
    bits = group_runs(run for run in runs if run.record.env_id == NTM_COPY)
    measured = (places.benchmarks / READ_COST_FILE).exists()
    figures: dict[str, Draw] = {}
    if tasks:
        figures[SUCCESS_FIGURE] = partial(draw_success, tasks)
        figures[SOLVED_FIGURE] = partial(draw_solved, tasks)
    return Published(
        texts={PAGE: memory_page(tasks, bits, measured, places)},
        figures=figures,
        problems=problems,
    )


def memory_page(
    tasks: Sequence[Task], bits: Sequence[Group], read_cost: bool, places: Places
) -> str:
    """The Markdown page, and the figures that it shows.

    Args:
        tasks: of the suite.
        bits: runs of the paper's own task, copying bits.
        read_cost: whether the cost of a read was measured.
        places: for the links to records.
    """
    columns = [*_COLUMNS]
    columns.insert(_PLACE_OF_SOLVED, _solved(_groups(tasks)))
    columns += unequal_trainings(_groups(tasks))
    columns += how_settings_were_chosen(places.benchmarks, [task.env_id for task in tasks])
    blocks = [_HEAD]
    if tasks:
        blocks += [
            *memory_in_short(tasks),
            f"{_seeds(tasks)} {pointer(PAGE)}",
            f"![Success by length, an environment a panel]({in_docs(SUCCESS_FIGURE)})",
            f"![Share of seeds that solved]({in_docs(SOLVED_FIGURE)})",
        ]
    else:
        blocks += ["## Tasks", f"Not measured yet: {SOLVE}."]
    blocks += ["## How to read the tables", bullets(columns), *meanings_blocks(_groups(tasks))]
    for task in tasks:
        blocks += [f"## {environment(task.env_id, task.env_kwargs)}", *_section(task, places)]
    blocks += ["## Copying bits, as in the paper", *bits_blocks(bits, places, PAGE)]
    blocks += ["## What a read costs", _read_cost(read_cost)]
    blocks += ["## What others report", NO_CLAIM, bullets(FACTS)]
    return page_of(blocks)


def _section(task: Task, places: Places) -> list[str]:
    references = [r for r in MEMORY_REFERENCES if r.env_id == task.env_id]
    heads = _heads(task.groups)
    rows = _rows(task, heads, places)
    blocks = [table(heads, [*rows, *(_reference_row(r, heads) for r in references)])]
    if any(reference.source == RL_NTM for reference in references):
        blocks.append(f"{RL_NTM}'s rows are as reported. {NO_CLAIM}")
    elif references:
        blocks.append("Rows of NTM and D-NTM are as reported, on bit vectors: no claim.")
    notes = _notes(task)
    if notes:
        blocks += ["How models were made and trained:", bullets(notes)]
    return [*blocks, hardware_of(task.groups)]


def _heads(groups: Sequence[Group]) -> tuple[str, ...]:
    """The table's columns; costs that no record knows have none."""
    costs = {"seconds an episode": "seconds", "multiply-adds": "multiply_adds"}
    known = (head for head, name in costs.items() if any(g.cost(name) is not None for g in groups))
    return (
        "model", "sees", "answer by", "curriculum", "trained to length", "seeds", "solved",
        "episodes to solve", "minutes to solve", "episodes", "core-minutes",
        *(f"success % at {m}x" for m in MULTIPLES),
        "cells read", *known, "records",
    )  # fmt: skip


def _rows(task: Task, heads: Sequence[str], places: Places) -> list[list[str]]:
    rows = []
    for group in task.groups:
        cells = _cells(group) | {"records": record_links(group.runs, places, PAGE)}
        rows.append([cells[head] for head in heads])
    return rows


def _cells(group: Group) -> dict[str, str]:
    record = group.first
    return {
        "model": group.label,
        "sees": SEES_OF_CELLS[group.kind],
        "answer by": record.model.learns_from,
        "curriculum": group.curriculum,
        "trained to length": UNKNOWN if record.levels is None else str(record.levels[1]),
        "seeds": str(group.seeds),
        "solved": f"{group.solved} of {group.seeds}",
        "episodes to solve": _cell(group.episodes_to_solve, count),
        "minutes to solve": _cell(group.minutes_to_solve, group.timed),
        "episodes": group.episodes_cell,
        "core-minutes": group.minutes_cell,
        **{f"success % at {m}x": _cell(group.success_at(m), _percent) for m in MULTIPLES},
        "cells read": _cell(group.cost("cells_read"), "{:,.0f}".format),
        "seconds an episode": _cell(group.cost("seconds"), "{:.3g}".format),
        "multiply-adds": _cell(group.cost("multiply_adds"), count),
    }


def _reference_row(reference: MemoryReference, heads: Sequence[str]) -> list[str]:
    cells = {
        "model": f"*{linked(reference.source)}, {reference.model}* (reported)",
        "sees": reference.sees,
        "solved": reference.solved,
        "episodes to solve": reference.episodes,
        "minutes to solve": reference.minutes,
    }
    return [cells.get(head, UNKNOWN) for head in heads]


def _notes(task: Task) -> list[str]:
    """Each note once, after the models that it is of."""
    shared: dict[str, list[str]] = {}
    for group in task.groups:
        for record in group.records:
            if record.notes:
                shared.setdefault(record.notes, []).append(group.label)
    return [
        f"{listed(list(dict.fromkeys(models)))}: {note}{_NO_FAIR_CHOICE * (_ON_TESTS in note)}"
        for note, models in shared.items()
    ]


def _read_cost(measured: bool) -> str:
    if not measured:
        return f"Not measured yet: {READ_COST}."
    link = in_docs(COST_PAGE)
    return (
        "Time of one read by the number of cells, for ways to choose what is read: a move of "
        "the head, the bits of an address, a softmax over addresses, and a soft look-up over all "
        "cells. Choosing and reading are timed apart, with and without gradients "
        f"({READ_COST}). All numbers: [{link}]({link}).\n\n"
        f"![The cost of one read by cells]({in_docs(COST_FIGURE)})"
    )


def _solved(groups: Sequence[Group]) -> str:
    """What counts as solved, and which trainings stop elsewhere."""
    later: dict[str, dict[str, list[str]]] = {}  # where -> task -> models
    for group in groups:
        share = group.first.config.get("stop_at", SOLVED)
        if share != SOLVED:
            where = "with the budget alone" if share is None else f"at {100 * share:g} %"
            task = environment(group.first.env_id, group.first.env_kwargs)
            later.setdefault(where, {}).setdefault(task, []).append(group.label)
    solving = [
        record for group in groups for record in group.records if record.solved_after is not None
    ]
    tested = [score.success for record in solving if (score := record.at(1)) is not None]
    under = sum(success is not None and success < SOLVED for success in tested)
    others = "; ".join(
        f"{where} for {listed([f'{_models(m)} of {task}' for task, m in models.items()])}"
        for where, models in later.items()
    )
    stops = "Training stops there" + (f" ({others})" if others else "")
    return (
        f"**Solved**. Number of seeds with a validation of {100 * SOLVED:g} % or more, on 1,000 "
        "held-out sequences of the longest training length; the first one counts. A sequence is a "
        f"success if all its answers are right. {stops}, so that the success at 1x, on the test "
        f"split, may be somewhat lower: {under} of {len(tested)} seeds that solved have less than "
        f"{100 * SOLVED:g} % there."
    )


def _groups(tasks: Sequence[Task]) -> list[Group]:
    return [group for task in tasks for group in task.groups]


def _seeds(tasks: Sequence[Task]) -> str:
    """How often models were trained."""
    seeds = [group.seeds for group in _groups(tasks)]
    least, most = min(seeds), max(seeds)
    if most == 1:
        return "One run each gives no claim."
    return f"Each model was trained {least if least == most else f'{least} to {most}'} times."


def _models(labels: Sequence[str]) -> str:
    """The only one by its label, or how many there are."""
    return labels[0] if len(labels) == 1 else f"{len(labels)} models"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _cell(value: float | None, form: Callable[[float], str]) -> str:
    return UNKNOWN if value is None else form(value)
