"""The README's table of results: our runs, published numbers, and footnotes on both."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from report.figures.results import draw_results
from report.grouping import group_runs
from report.groups import CLAIM_EPISODES, CLAIM_SEEDS, Group, compare, hardware_of, score_cells
from report.markdown import UNKNOWN, bullets, count, environment, listed, short, table
from report.page import README, Places, Published
from report.pages.records import POINTER
from report.references.pictures import REFERENCES, Reference
from report.runs import read_runs, record_links

FIGURE = "docs/error_by_glimpses.svg"

HEADER = (
    "environment", "glimpses", "model", "seeds", "error %", "95 % interval", "episodes",
    "core-minutes", "paper", "best public", "standing", "records",
)  # fmt: skip

_ERROR = (
    "Error: inter-quartile mean over the seeds (the mean with fewer than four), on the test "
    "scenes, each played once, one trajectory an image. Interval: Wilson's for one run, otherwise "
    "a bootstrap over seeds and images. *Under*, *above*, *overlaps* say whether the whole "
    f"interval lies under or above the number; it counts as a claim from {CLAIM_SEEDS} seeds on "
    f"{CLAIM_EPISODES:,} scenes. *Whole*: the scene is seen at once, without a glimpse budget. We "
    "train on 50,000 images, the papers mostly on 60,000."
)

# Found by repeating a run of the table from its record.
_REPEATED = (
    "CircleSquare-v0",
    "Trained a second time, CircleSquare-v0 gave all 10,000 published answers again.",
)


def publish(places: Places) -> Published:
    """The README's block and its figure."""
    runs, problems = read_runs(places.results)
    groups = group_runs(runs)
    return Published(
        blocks={"results": results_block(groups, places)},
        figures={FIGURE: partial(draw_results, groups)},
        problems=problems,
    )


def results_block(groups: Sequence[Group], places: Places) -> str:
    """The table, the footnotes and the figure. Rows with a reference come first."""
    known = [reference.env_id for reference in REFERENCES]
    ids = dict.fromkeys([*known, *(group.first.env_id for group in groups)])
    rows = [row for env_id in ids for row in _rows_of(env_id, groups, places)]
    figure = f"![Error against glimpses]({FIGURE})"
    return "\n\n".join([table(HEADER, rows), *_footnotes(groups), figure])


def _rows_of(env_id: str, groups: Sequence[Group], places: Places) -> list[list[str]]:
    rows: list[list[str]] = []
    rest = [group for group in groups if group.first.env_id == env_id]
    for reference in (r for r in REFERENCES if r.env_id == env_id):
        fitting = [g for g in rest if reference.fits(g.first) and g.has_success]
        rows += [_row(g, reference, places) for g in fitting] or [_missing_row(reference)]
        rest = [group for group in rest if group not in fitting]
    return rows + [_row(group, None, places) for group in rest]


def _row(group: Group, reference: Reference | None, places: Places) -> list[str]:
    record = group.first
    return [
        environment(record.env_id, record.env_kwargs),
        group.budget,
        group.label,
        str(group.seeds),
        *score_cells(group),
        _span([count(run.episodes) for run in group.records]),
        f"{group.core_minutes:.0f}",
        _beside(group, reference.paper, reference.dagger) if reference else UNKNOWN,
        _beside(group, reference.best_public) if reference else UNKNOWN,
        group.standing,
        record_links(group.runs, places, README),
    ]


def _missing_row(reference: Reference) -> list[str]:
    paper, best = (
        UNKNOWN if number is None else f"{number:.2f}"
        for number in (reference.paper, reference.best_public)
    )
    return [
        short(reference.env_id), reference.budget, reference.model.name, "0", "not measured yet",
        *[UNKNOWN] * 3, f"{paper}{reference.dagger}", best, *[UNKNOWN] * 2,
    ]  # fmt: skip


def _beside(group: Group, number: float | None, dagger: str = "") -> str:
    if number is None:
        return UNKNOWN
    return f"{number:.2f}{dagger} ({compare(group.interval, number)})"


def _footnotes(groups: Sequence[Group]) -> list[str]:
    notes = [_ERROR]
    if any(reference.from_memory for reference in REFERENCES):
        notes.append("† from memory, not checked against the paper; no claim is made against it.")
    if groups:
        notes += [hardware_of(groups), POINTER.format("docs/records.md")]
    name, repeated = _REPEATED
    if any(short(group.first.env_id) == name for group in groups):
        notes.append(repeated)
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
    if references[0].kind == "full":
        return "the whole scene"
    return listed([str(reference.glimpses) for reference in references]) + " glimpses"


def _differences(groups: Sequence[Group]) -> list[str]:
    """Each note once, after the runs that it is of."""
    runs_of: dict[str, dict[str, list[str]]] = {}
    for group in groups:
        for record in group.records:
            if record.notes:
                models = runs_of.setdefault(record.notes, {})
                models.setdefault(group.label, []).append(short(record.env_id))
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
