"""What is published of memory: the README's block, the page, and their pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

from glimpse_envs.evaluation.memory_records import (
    MULTIPLES,
    CopyRecord,
    MemoryRecord,
    read_memory_records,
)

from report.figures.memory import draw_accuracy, draw_solved
from report.markdown import bullets, count, environment, listed, table
from report.memory_groups import (
    MEMORY_SEES,
    MemoryGroup,
    MemoryTask,
    memory_tasks,
)
from report.references.memory import (
    FACTS,
    MEMORY_REFERENCES,
    NO_CLAIM,
    RL_NTM,
    MemoryReference,
)

PAGE = "memory.md"
ACCURACY_PICTURE = "memory_accuracy.png"
SOLVED_PICTURE = "memory_solved.png"
READ_COST_PICTURE = "read_cost.png"
COST_PAGE = "memory_cost.md"
READ_COST_FILE = "read_cost.json"

SOLVE = (
    "`python -m agents.train actor_critic --env-id Glimpse/Copy-v0 --solve-at 0.99`, then "
    "`python -m agents.evaluate RUN --record results/memory`"
)
COPY = "`python -m baselines.memories.ntm_copy`"
READ_COST = "`python -m benchmarks.cost.read_cost`"

_UNKNOWN = "—"

_HEAD = """# Memory that is read one cell at a time

<!-- Drawn by `python -m report` from results/memory; do not edit. -->

Agents that see one cell of a tape or table a step, and learn by reinforcement which, beside models
that read every cell and learn by back-propagation: the same sequences, the same evaluation."""

_COLUMNS = (
    "Sees: hard attention sees one cell a step. A soft memory weighs every cell at every read. "
    "Between them are memories into which the whole sequence is written, and of which one sampled "
    "cell a read is seen, always or after a schedule from soft to hard. Without a memory, a "
    "network is shown the sequence and then answers.",
    "Answer by: the *label*, cross-entropy on what was right, or *reward* alone. Heads and looks "
    "of hard attention learn by reward in both.",
    "Curriculum: what chose the lengths in training. *Mixture* is RL-NTM's (10 % of all lengths, "
    "25 % up to the present one, 65 % at it), *threshold* goes on once the present length is "
    "done, *uniform* takes all alike.",
    "Solved: the seeds that at the end of their training had 99 % of 1,000 held-out sequences of "
    "the longest training length wholly right.",
    "To solve: until the first check that found it solved, a median over those seeds that solved "
    "it; minutes are of one core. Where few seeds solve, it is the time of the lucky ones.",
    "Right at 1x, 2x, 4x, 6x: test sequences of that many times the longest training length that "
    "were wholly right, in percent, a mean over all seeds, solved or not.",
    "Cells read: of an episode at the training length, each cell counted each time that it is "
    "read; a soft read counts every cell.",
    "Fewer than five seeds give no claim.",
)


@dataclass(frozen=True)
class Memory:
    """What `results/memory` holds, and whether the cost of a read was measured."""

    records: list[MemoryRecord]
    copies: list[CopyRecord]
    problems: list[str]
    """Of what was left out, by file name."""
    read_cost: bool = False

    def tasks(self) -> list[MemoryTask]:
        return memory_tasks(self.records)


def read_memory(folder: Path, benchmarks: Path) -> Memory:
    """Read a folder of records and look for the read's cost in another; neither need be there."""
    return Memory(*read_memory_records(folder), (benchmarks / READ_COST_FILE).exists())


def memory_block(memory: Memory, pictures: str) -> str:
    """The README's block; `pictures` is the folder of the page and its pictures, from there."""
    tasks = memory.tasks()
    if not tasks:
        return f"Not measured yet: {SOLVE}."
    heads = ("environment", *_heads(memory.records))
    rows = [
        [environment(task.env_id, task.env_kwargs), *cells]
        for task in tasks
        for cells in _rows(task, heads[1:])
    ]
    return "\n\n".join(
        [
            f"{_seeds(tasks)} {NO_CLAIM} What each column counts, and more of it: "
            f"[{pictures}/{PAGE}]({pictures}/{PAGE}).",
            table(heads, rows),
            f"![Accuracy by length]({pictures}/{ACCURACY_PICTURE})",
        ]
    )


def memory_page(memory: Memory) -> str:
    """The Markdown page, whose pictures lie beside it."""
    tasks = memory.tasks()
    blocks = [_HEAD, "## How to read it", bullets(_COLUMNS)]
    if tasks:
        blocks += [
            _seeds(tasks),
            f"![Accuracy by length, an environment a panel]({ACCURACY_PICTURE})",
            f"![Share of seeds that solved]({SOLVED_PICTURE})",
        ]
    else:
        blocks += ["## Tasks", f"Not measured yet: {SOLVE}."]
    for task in tasks:
        blocks += [f"## {environment(task.env_id, task.env_kwargs)}", *_section(task)]
    blocks += ["## Copying bits, as in the paper", *_copy_blocks(memory.copies)]
    blocks += ["## What a read costs", _read_cost(memory.read_cost)]
    blocks += ["## What others report", NO_CLAIM, bullets(FACTS)]
    return "\n\n".join([*blocks, "[Back to the documentation](index.md)\n"])


def memory_pictures(memory: Memory) -> dict[str, Callable[[Path], None]]:
    """The page's pictures that are drawn from records: file name -> what draws it to a path."""
    tasks = memory.tasks()
    if not tasks:
        return {}
    return {
        ACCURACY_PICTURE: partial(draw_accuracy, tasks),
        SOLVED_PICTURE: partial(draw_solved, tasks),
    }


def _section(task: MemoryTask) -> list[str]:
    records = [record for group in task.groups for record in group.records]
    references = [r for r in MEMORY_REFERENCES if r.env_id == task.env_id]
    heads = _heads(records)
    rows = [*_rows(task, heads), *(_reference_row(r, heads) for r in references)]
    blocks = [table(heads, rows)]
    if any(reference.model.startswith(RL_NTM) for reference in references):
        blocks.append(f"{RL_NTM}'s rows are as reported. {NO_CLAIM}")
    elif references:
        blocks.append("Rows of NTM and D-NTM are as reported, of bit vectors: no claim.")
    notes = _notes(task)
    if notes:
        blocks += ["How models were made and trained:", bullets(notes)]
    return [*blocks, "Hardware: " + "; ".join(dict.fromkeys(r.hardware for r in records)) + "."]


def _heads(records: Sequence[MemoryRecord]) -> tuple[str, ...]:
    """The table's columns; costs that no record knows have none."""
    costs = {
        "ms a step": any(record.seconds_per_step is not None for record in records),
        "multiply-adds": any(record.multiply_adds is not None for record in records),
    }
    return (
        "model", "sees", "answer by", "curriculum", "trained to length", "seeds", "solved",
        "episodes to solve", "minutes to solve", *(f"right % at {m}x" for m in MULTIPLES),
        "cells read", *(name for name, known in costs.items() if known),
    )  # fmt: skip


def _rows(task: MemoryTask, heads: Sequence[str]) -> list[list[str]]:
    return [[cells[head] for head in heads] for cells in map(_cells, task.groups)]


def _cells(group: MemoryGroup) -> dict[str, str]:
    record = group.first
    seconds = group.cost("seconds_per_step")
    return {
        "model": group.label,
        "sees": MEMORY_SEES[group.family],
        "answer by": record.answer_by,
        "curriculum": record.curriculum,
        "trained to length": str(record.length),
        "seeds": str(group.seeds),
        "solved": f"{group.solved} of {group.seeds}",
        "episodes to solve": _told(group.episodes_to_solve, count),
        "minutes to solve": _told(group.minutes_to_solve, "{:.1f}".format),
        **{f"right % at {m}x": _told(group.accuracy(m), _percent) for m in MULTIPLES},
        "cells read": f"{group.cells_read:,.0f}",
        "ms a step": _told(seconds, lambda value: f"{1_000 * value:.3g}"),
        "multiply-adds": _told(group.cost("multiply_adds"), count),
    }


def _reference_row(reference: MemoryReference, heads: Sequence[str]) -> list[str]:
    cells = {
        "model": f"*{reference.model}* (reported)",
        "sees": reference.sees,
        "solved": reference.solved,
        "episodes to solve": reference.episodes,
        "minutes to solve": reference.minutes,
    }
    return [cells.get(head, _UNKNOWN) for head in heads]


def _notes(task: MemoryTask) -> list[str]:
    """Each note once, after the models that it is of."""
    shared: dict[str, list[str]] = {}
    for group in task.groups:
        for record in group.records:
            if record.notes:
                shared.setdefault(record.notes, []).append(group.label)
    return [f"{listed(list(dict.fromkeys(models)))}: {note}" for note, models in shared.items()]


def _copy_blocks(copies: Sequence[CopyRecord]) -> list[str]:
    if not copies:
        return [f"Not measured yet: {COPY}."]
    minutes = fmean(record.seconds / 60 for record in copies)
    tested = listed(sorted({f"{record.test_sequences:,}" for record in copies}))
    seeds = f"{len(copies)} seeds" if len(copies) > 1 else "one seed, no claim"
    rows = []
    for length in sorted({int(length) for record in copies for length in record.by_length}):
        scores = [r.by_length[str(length)] for r in copies if str(length) in r.by_length]
        wrong = [score["wrong_bits"] for score in scores]
        rows.append([
            str(length),
            str(8 * length),
            f"{fmean(wrong):.2f}",
            f"{min(wrong):.2f} to {max(wrong):.2f}",
            f"{max(score['greatest'] for score in scores):.0f}",
            _percent(fmean(score["wholly"] for score in scores)),
        ])  # fmt: skip
    heads = ("length", "bits", "wrong bits", "least to most seed", "greatest", "wholly right %")
    return [
        "A neural Turing machine is trained to copy random 8-bit vectors, 1 to 20 of them, and "
        f"then copies longer sequences ({COPY}; {seeds}, {minutes:.0f} core-minutes each, "
        f"{tested} test sequences of each length). Wrong bits are of one sequence: a mean, also of "
        "the best and the worst seed, and the greatest number seen.",
        table(heads, rows),
        "Hardware: " + "; ".join(dict.fromkeys(record.hardware for record in copies)) + ".",
    ]


def _read_cost(measured: bool) -> str:
    if not measured:
        return f"Not measured yet: {READ_COST}."
    return (
        "A move of the head, an address's bits, a softmax over addresses and a soft look-up, with "
        "gradients and without; choosing a cell and reading it are timed apart "
        f"({READ_COST}); in numbers: [{COST_PAGE}]({COST_PAGE}).\n\n"
        f"![The cost of one read by cells]({READ_COST_PICTURE})"
    )


def _seeds(tasks: Sequence[MemoryTask]) -> str:
    """How often models were trained."""
    seeds = [group.seeds for task in tasks for group in task.groups]
    least, most = min(seeds), max(seeds)
    if most == 1:
        return "One run each gives no claim."
    return f"Each model was trained {least if least == most else f'{least} to {most}'} times."


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _told(value: float | None, form: Callable[[float], str]) -> str:
    return _UNKNOWN if value is None else form(value)
