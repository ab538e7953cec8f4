"""The table of results: our runs beside what others report, and footnotes on both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from glimpse_envs.evaluation.records import Record
from report.groups import (
    CLAIM_SCENES,
    CLAIM_SEEDS,
    Group,
    compare,
    group_records,
)
from report.markdown import bullets, count, environment, listed, short, table
from report.references.pictures import REFERENCES, Reference

HEADER = (
    "environment", "glimpses", "model", "seeds", "error %", "95 % interval", "images seen",
    "core-minutes", "paper", "best public", "standing",
)  # fmt: skip


def build_table(records: Iterable[Record]) -> str:
    """The Markdown table: of each environment, beside each reference what was measured, then all
    that has no reference; then the footnotes."""
    groups = group_records(records)
    known = [reference.env_id for reference in REFERENCES]
    ids = dict.fromkeys([*known, *(group.first.env_id for group in groups)])
    rows = [row for env_id in ids for row in _rows_of(env_id, groups)]
    return "\n\n".join([table(HEADER, rows), *_footnotes(groups)])


def _rows_of(env_id: str, groups: Sequence[Group]) -> list[list[str]]:
    rows: list[list[str]] = []
    rest = [group for group in groups if group.first.env_id == env_id]
    for reference in (r for r in REFERENCES if r.env_id == env_id):
        fitting = [group for group in rest if group.fits(reference)]
        rows += [_row(group, reference) for group in fitting] or [_missing_row(reference)]
        rest = [group for group in rest if group not in fitting]
    return rows + [_row(group, None) for group in rest]


def _row(group: Group, reference: Reference | None) -> list[str]:
    record = group.first
    minutes = np.mean([run.seconds * run.cores / 60 for run in group.records])
    low, high = group.interval_percent
    return [
        environment(record.env_id, record.env_kwargs),
        group.glimpses,
        group.model,
        str(len(group.records)),
        f"{group.error_percent:.2f}",
        f"{low:.2f} to {high:.2f}",
        _span([count(run.images_seen) for run in group.records]),
        f"{minutes:.0f}",
        _beside(group, reference, reference.paper if reference else None),
        _beside(group, reference, reference.best_public if reference else None, paper=False),
        group.standing,
    ]


def _missing_row(reference: Reference) -> list[str]:
    paper, best = (
        "—" if number is None else f"{number:.2f}"
        for number in (reference.paper, reference.best_public)
    )
    return [
        short(reference.env_id), reference.budget, reference.model, "0", "not measured yet",
        *["—"] * 3, f"{paper}{dagger(reference)}", best, "—",
    ]  # fmt: skip


def _beside(
    group: Group, reference: Reference | None, number: float | None, paper: bool = True
) -> str:
    if reference is None or number is None:
        return "—"
    mark = dagger(reference) if paper else ""
    return f"{number:.2f}{mark} ({compare(group.interval_percent, number)})"


def dagger(reference: Reference) -> str:
    """The mark of a paper's number that was not checked."""
    return "†" if reference.from_memory else ""


def _footnotes(groups: Sequence[Group]) -> list[str]:
    notes = [
        "Error: inter-quartile mean over the seeds (the mean with fewer than four), on the test "
        "scenes, each played once, one trajectory an image. Interval: Wilson's for one run, "
        "otherwise a bootstrap over seeds and images. *Under*, *above*, *overlaps* say where the "
        "whole interval lies beside the number; it counts as a claim from "
        f"{CLAIM_SEEDS} seeds on {CLAIM_SCENES:,} scenes. *Whole*: the scene is seen at once, "
        "without a glimpse budget. We train on 50,000 images, the papers mostly on 60,000.",
    ]
    if any(reference.from_memory for reference in REFERENCES):
        notes.append("† from memory, not checked against the paper; no claim is made against it.")
    records = [record for group in groups for record in group.records]
    if records:
        notes.append("Hardware: " + "; ".join(dict.fromkeys(r.hardware for r in records)) + ".")
    notes += ["Sources:", bullets(_sources())]
    differences = _differences(groups)
    if differences:
        notes += ["What differs from the references' settings:", bullets(differences)]
    return notes


def _sources() -> list[str]:
    """What each source gives: "RAM: ClutteredMNIST-v0 with 8, 6 and 4 glimpses"."""
    given: dict[str, dict[str, list[Reference]]] = {}
    for reference in REFERENCES:
        of_source = given.setdefault(reference.source, {})
        of_source.setdefault(short(reference.env_id), []).append(reference)
    return [
        f"{source}: "
        + "; ".join(f"{name} with {_budgets(references)}" for name, references in envs.items())
        for source, envs in given.items()
    ]


def _budgets(references: Sequence[Reference]) -> str:
    if references[0].gaze == "full":
        return "the whole scene"
    return listed([str(reference.glimpses) for reference in references]) + " glimpses"


def _differences(groups: Sequence[Group]) -> list[str]:
    """Each note once, after the runs that it is of."""
    runs_of: dict[str, dict[str, list[str]]] = {}
    for group in groups:
        for record in group.records:
            if record.notes:
                models = runs_of.setdefault(record.notes, {})
                models.setdefault(group.model, []).append(short(record.env_id))
    return [
        "; ".join(
            f"{model} on {listed(list(dict.fromkeys(envs)))}" for model, envs in models.items()
        )
        + f": {note}"
        for note, models in runs_of.items()
    ]


def _span(texts: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(texts))
    return distinct[0] if len(distinct) == 1 else f"{distinct[0]} to {distinct[-1]}"
