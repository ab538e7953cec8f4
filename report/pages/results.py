"""Results on pictures and published numbers: the whole table, and the README's few rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean

from glimpse_envs.evaluation.record import Record
from glimpse_envs.evaluation.statistics import (
    CLAIM_EPISODES,
    CLAIM_SEEDS,
    SHORT_MINUTES,
    SHORT_SEEDS,
)
from report.controls import controls_of, without_controls
from report.figures.results import draw_results
from report.group_cells import hardware_of, score_cells
from report.grouping import group_runs
from report.groups import FEW_SEEDS, Group, compare, interval_words
from report.how_made import meanings_blocks, training_blocks
from report.markdown import UNKNOWN, bullets, count, environment, listed, setting, short, table
from report.page import Places, Published, in_docs, page_of
from report.pages.other_settings import OTHERS, apart
from report.pages.readme_rows import MAIN_ID, readme_rows
from report.pages.records import pointer
from report.pages.settings import differences_from_ram
from report.references.links import linked
from report.references.pictures import REFERENCES, Reference
from report.runs import read_runs, record_links

PAGE = "docs/results.md"
FIGURE = "docs/error_by_glimpses.svg"

HEADER = (
    "model", "glimpses", "seeds", "error %", "95 % interval", "paper", "best public", "episodes",
    "core-minutes", "records",
)  # fmt: skip

_README_HEADER = ("environment", *HEADER[:7], "episodes", "core-minutes")
"""The page has a table for each environment, the README one for all."""

DIFFERENCES = "Differences from the references' settings"
_ANCHOR = "differences-from-the-references-settings"

VERDICTS = (
    "*Under* and *above*: the whole interval lies under or above that error; otherwise it "
    f"*overlaps*. This is a claim from {CLAIM_SEEDS} seeds ({SHORT_SEEDS} where a training "
    f"took under {SHORT_MINUTES:g} core-minutes) on {CLAIM_EPISODES:,} scenes, against a number "
    "that was checked, of a setting that its source tells in full; else *no claim*. *One source*: "
    "the paper's number was read in one place that quotes it."
)

_COLUMNS = (
    "**Glimpses**: the number of glimpses in an episode, the first included, which is taken at a "
    "random location. *Whole*: the scene is seen at once.",
    "**Error**: percentage of wrong answers on the test scenes, each played once; the "
    "inter-quartile mean over the seeds (the mean with fewer than four).",
    f"**95 % interval**: {interval_words('images')}.",
    "**Episodes, core-minutes**: the length of a training, the median over the seeds for minutes; "
    "*wall*: wall-clock time, which other processes lengthen; *GPU*: minutes on a GPU, which other "
    "trainings shared. Seeds that ran on a core, by its own clock, count first. Machines and "
    "revisions differ in speed, so minutes of different rows are no comparison of costs; these are "
    "measured [on one machine](comparison.md).",
    f"**Paper, best public**: errors that others report. {VERDICTS} These agents are trained on "
    "50,000 images, the papers' mostly on 60,000.",
)

_HEAD = """# Results on pictures

<!-- Drawn by `python -m report` from results/; do not edit. -->

One image has to be classified, alone or among clutter. The test error on 10,000 scenes stands
beside the numbers that papers and public repositories report."""

_CAPTION = (
    "Error after each glimpse, on the test scenes. A bar at a line's end is its 95 % interval. "
    "Crosses (the paper) and stars (the best public number) have the colour of the model that they "
    f"are compared with. Of a model with several settings one with {CLAIM_SEEDS} or more seeds is "
    "shown where there is one, and of these the longest training."
)

_ABOVE = (
    "Rows whose error is above the paper's, and how they were trained. The records do not show the "
    "cause of the difference."
)
_TRAINED_BY = ("optimizer", "batch_size", "learning_rate")


def publish(places: Places) -> Published:
    """The page, the README's block and their figure."""
    runs, problems = read_runs(places.results)
    main, others = apart(group_runs(runs))
    return Published(
        texts={PAGE: results_page(main, places, others)},
        blocks={"headline": headline(main)},
        figures={FIGURE: partial(draw_results, main)},
        problems=problems,
    )


def results_page(main: Sequence[Group], places: Places, others: Sequence[Group] = ()) -> str:
    """The figure, a table for each environment, one of the `others` (see `apart`), and the
    footnotes. Rows with a reference come first."""
    groups = [*main, *others]
    known = [reference.env_id for reference in REFERENCES]
    ids = dict.fromkeys([*known, *(group.first.env_id for group in groups)])
    blocks = [_HEAD, "## Error by glimpses", _figure(in_docs(FIGURE)), _CAPTION]
    columns = [*_COLUMNS, *without_controls(groups)]
    blocks += ["## How to read the tables", bullets(columns), *meanings_blocks(groups)]
    blocks += training_blocks(groups)
    for env_id in ids:
        blocks += [f"## {short(env_id)}", table(HEADER, _rows_of(env_id, main, places))]
    apart_rows = [
        [short(group.first.env_id), *_row(group, _reference_of(group), places)] for group in others
    ]
    if apart_rows:
        blocks += ["## Other settings", OTHERS, table(("environment", *HEADER), apart_rows)]
    return page_of([*blocks, *_footnotes(groups)])


def headline(groups: Sequence[Group]) -> str:
    """The README's block: a few rows, the best of their kind, and the figure."""
    rows = []
    for group, reference in readme_rows(groups):
        record = group.first
        trained = count(fmean(each.episodes for each in group.records))
        cells = [record.model.name, *_scores(group, reference), trained, group.minutes_cell]
        rows.append([environment(record.env_id, record.env_kwargs), *cells])
    return "\n\n".join(
        [
            table(_README_HEADER, rows) if rows else "Nothing is measured yet.",
            "The best agent of each environment with a published error, and on "
            f"{short(MAIN_ID)} the best model of every other kind; the best by validation error, "
            "or by test error for old runs without one. "
            f"Models with {CLAIM_SEEDS} or more seeds are preferred. {FEW_SEEDS} "
            "Core-minutes are of one training (*wall*: wall-clock time, beside other work), on "
            "machines that differ, so they cannot be compared; costs on one machine are "
            "[here](docs/comparison.md). "
            "A number with † was not checked against its paper. Agents are trained on "
            "50,000 images, the papers' mostly on 60,000, with other networks and optimizers: "
            f"[all differences]({PAGE}#{_ANCHOR}). *Overhang* n: digits are shifted by up to n "
            "pixels in training, and not in tests. All models, sources and records: "
            f"[{PAGE}]({PAGE}).",
            _figure(FIGURE),
        ]
    )


def _rank(group: Group) -> tuple[bool, float]:
    """Claims come first, then the lowest error."""
    return not group.claims, group.error


def _figure(path: str) -> str:
    return f"![Error against glimpses, with published errors]({path})"


def _rows_of(env_id: str, groups: Sequence[Group], places: Places) -> list[list[str]]:
    """In the order of the references; what is held against one of them, the best first."""
    rows: list[list[str]] = []
    rest = [group for group in groups if group.first.env_id == env_id]
    for reference in (r for r in REFERENCES if r.env_id == env_id):
        fitting = [g for g in rest if reference.fits(g.first) and g.has_success]
        fitting.sort(key=_rank)
        rows += [_row(g, reference, places) for g in fitting] or [_missing_row(reference)]
        rest = [group for group in rest if group not in fitting]
    return rows + [_row(group, None, places) for group in rest]


def _row(group: Group, reference: Reference | None, places: Places) -> list[str]:
    return [
        ", ".join([group.label, *_arguments(group)]),
        *_scores(group, reference),
        _span([record.episodes for record in group.records]),
        group.minutes_cell,
        record_links(group.runs, places, PAGE),
    ]


def _reference_of(group: Group) -> Reference | None:
    fitting = (one for one in REFERENCES if one.fits(group.first))
    return next(fitting, None) if group.has_success else None


def _arguments(group: Group) -> list[str]:
    """What differs from the environment's defaults, but for the budget, which has a column."""
    kwargs = group.first.env_kwargs.items()
    return [setting(name, value) for name, value in sorted(kwargs) if name != "budget"]


def _scores(group: Group, reference: Reference | None) -> list[str]:
    return [
        group.budget,
        str(group.seeds),
        *score_cells(group),
        *(against(group, reference) if reference else [UNKNOWN] * 2),
    ]


def _missing_row(reference: Reference) -> list[str]:
    paper, best = (
        UNKNOWN if number is None else f"{number:.2f}"
        for number in (reference.paper, reference.best_public)
    )
    return [
        reference.model.name, reference.budget, "0", "not measured yet", UNKNOWN,
        f"{paper}{reference.dagger}", best, *[UNKNOWN] * 3,
    ]  # fmt: skip


def against(group: Group, reference: Reference) -> tuple[str, str]:
    """The paper's error and the best public one, and where the group's interval lies."""
    claims = group.claims and not reference.leaves_open
    paper = _compared(
        group, reference.paper, claims and not reference.from_memory, reference.dagger
    )
    return paper, _compared(group, reference.best_public, claims)


def _compared(group: Group, number: float | None, claims: bool, dagger: str = "") -> str:
    if number is None:
        return UNKNOWN
    shifted = ", trained on shifted digits" if group.first.env_kwargs.get("overhang") else ""
    doubt = "" if claims else ", no claim"
    return f"{number:.2f}{dagger} ({compare(group.interval, number)}{shifted}{doubt})"


def _footnotes(groups: Sequence[Group]) -> list[str]:
    notes = []
    if any(reference.from_memory for reference in REFERENCES):
        notes.append("† from memory, not checked against the paper; no claim is made against it.")
    if groups:
        notes += [hardware_of(groups), pointer(PAGE)]
    notes += ["## Sources", bullets(map(linked, _sources()))]
    differences = [*differences_of(groups, _place), *controls_of(groups)]
    if differences:
        notes += [f"## {DIFFERENCES}", bullets(differences)]
    above = above_papers(groups)
    if above:
        notes += ["## Errors above the paper's", _ABOVE, bullets(above)]
    return notes


def above_papers(groups: Sequence[Group]) -> list[str]:
    """How the rows were trained whose whole interval lies above their paper's error."""
    lines = []
    for group in (group for group in groups if group.has_success):
        record = group.first
        for paper in (r.paper for r in REFERENCES if r.fits(record)):
            if paper is None or compare(group.interval, paper) != "above":
                continue
            names = [name for name in _TRAINED_BY if record.config.get(name) is not None]
            lines.append(
                f"{group.label} on {_place(record)}, "
                f"{group.error:.2f} % against {paper:.2f} %: {count(record.episodes)} scenes in "
                f"{group.core_minutes:.0f} core-minutes, "
                + ", ".join(setting(name, record.config[name]) for name in names)
            )
    return lines


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


def differences_of(groups: Sequence[Group], place: Callable[[Record], str]) -> list[str]:
    """Each note, and what is not as in RAM's setting, once, after the models that it is of.

    Args:
        groups: of a page.
        place: the environment of a record, as far as the groups' labels do not tell it.
    """
    models_of: dict[str, dict[str, list[str]]] = {}
    for group in groups:
        of_group = [(group.first, _from_ram(group))]
        for record, told in [*((record, record.notes) for record in group.records), *of_group]:
            if told:
                models = models_of.setdefault(told, {})
                models.setdefault(group.label, []).append(place(record))
    return [
        "; ".join(
            f"{model} on {listed(list(dict.fromkeys(places)))}" for model, places in models.items()
        )
        + f": {told}"
        for told, models in models_of.items()
    ]


def _from_ram(group: Group) -> str:
    """What differs from RAM's setting, by the config, of an agent that is held against RAM's; ""
    of all others."""
    first = group.first
    of_ram = any(r.source.startswith("RAM") and r.fits(first) for r in REFERENCES)
    agent = first.algorithm == "reinforce" and first.model.gaze == "learned"
    return differences_from_ram(first.config) if of_ram and agent else ""


def _place(record: Record) -> str:
    return environment(record.env_id, record.env_kwargs)


def _span(numbers: Sequence[float]) -> str:
    """The least and the greatest count, or the one that all are."""
    least, most = count(min(numbers)), count(max(numbers))
    return least if least == most else f"{least} to {most}"
