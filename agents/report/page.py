"""The page of a report: a comparison of the runs, and a section for each."""

from collections.abc import Sequence
from html import escape
from importlib.resources import files

import numpy as np

from agents.report.analysis import Analysis
from agents.report.charts import PageLines, chart_of_curves, chart_of_points, in_charts, page_lines
from agents.report.markup import chart, folded, grid, heading, note, table, warning_list
from agents.report.sections import duration, run_section
from agents.scoring.run_groups import Group, metric_names
from agents.training.training_length import has_weights_alone, training_length
from glimpse_envs.evaluation.result import SHOWN_GLIMPSES

# Nothing is loaded from elsewhere: the file holds all that is shown.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def make_page(groups: Sequence[Group], analyses: Sequence[Analysis]) -> str:
    """The whole page, as HTML.

    Args:
        groups: all runs.
        analyses: of all of them, in the order of the groups.
    """
    environments = list(dict.fromkeys(each.evaluation.env_id for each in analyses))
    title = f"{', '.join(environments)}: {_runs(len(analyses))}"
    named, lines = _names(groups), page_lines(groups)
    members = [group for group in groups for _ in group.runs]
    warned = [f"{named[number]}: {warning}" if len(analyses) > 1 else warning
              for number, each in enumerate(analyses) for warning in each.warnings]  # fmt: skip
    body = [
        f"<h1>{escape(title)}</h1>",
        _questions(analyses),
        note(_how_scored(analyses)),
        _scores(named, analyses),
        warning_list(warned),
        heading("Learning curves"),
        _learning(groups, lines),
        _by_glimpse(groups, analyses, lines),
        _by_level(groups, analyses, lines),
        heading("Each run"),
        *(
            run_section(each, name, group.name, lines, opened=number == 0)
            for number, (name, group, each) in enumerate(zip(named, members, analyses, strict=True))
        ),
    ]  # fmt: skip
    style = files("agents.report").joinpath("page.css").read_text()
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        + "\n".join(part for part in body if part)
        + "\n</body>\n</html>\n"
    )


def _runs(count: int) -> str:
    return "one run" if count == 1 else f"{count} runs"


def _names(groups: Sequence[Group]) -> list[str]:
    """Folder, model and seed of each run; the model where it is not that of all."""
    return [
        f"{run.folder.name}: {group.name + ', ' if len(groups) > 1 else ''}"
        f"seed {run.config.get('seed', '?')}"
        for group in groups
        for run in group.runs
    ]


def _questions(analyses: Sequence[Analysis]) -> str:
    """The question of all runs, or each after its environment."""
    asked = dict.fromkeys((each.evaluation.env_id, each.seen.question) for each in analyses)
    shared = {question for _, question in asked}
    if len(shared) == 1:
        texts = list(shared)
    else:
        texts = [f"{env_id}: {question}" for env_id, question in asked if question]
    return "".join(f"<p>{escape(text)}</p>" for text in texts if text)


def _how_scored(analyses: Sequence[Analysis]) -> str:
    levels = {each.level for each in analyses}
    counts = sorted({each.evaluation.episodes for each in analyses})
    number = " to ".join(f"{count:,}" for count in dict.fromkeys((counts[0], counts[-1])))
    of = ""
    if len(levels) > 1:
        of = " of the lengths in the table"
    elif None not in levels:
        of = f" of length {levels.pop()}"
    first = analyses[0].evaluation
    actions = "sampled actions" if first.actions == "sampled" else "the likeliest actions"
    return (
        f"Scored on {number} {first.split} episodes{of}, each played once with {actions}. "
        "Intervals are of 95 %."
    )


def _scores(named: Sequence[str], analyses: Sequence[Analysis]) -> str:
    rows, by_length = [], len({each.level for each in analyses}) > 1
    for name, each in zip(named, analyses, strict=True):
        score, length = each.evaluation, training_length(each.run)
        error = between = "—"
        if score.success is not None and score.success_interval is not None:
            low, high = score.success_interval
            error = f"{100 * (1 - score.success):.2f}"
            between = f"{100 * (1 - high):.2f} to {100 * (1 - low):.2f}"
        trained = "0" if length is None else f"{length.episodes:,}"
        time = "—" if length is None else duration(length.seconds)
        level = (_length_of(each),) if by_length else ()
        rows.append((name, *level, error, between, f"{score.mean_return:.3f}",
                     f"{score.mean_glimpses:.2f}", trained, time))  # fmt: skip
    header = ("error %", "interval", "return", "glimpses", "trained on", "in")
    return table(("run", *(("length",) if by_length else ()), *header), rows)


def _length_of(analysis: Analysis) -> str:
    mixed_or_none = "—" if analysis.trained_to is None else "mixed"
    return mixed_or_none if analysis.level is None else str(analysis.level)


def _learning(groups: Sequence[Group], shared: PageLines) -> str:
    main, inside = [], []
    shown = [
        ("validation error, %", "validation/success", True),
        ("training error, %", "error", True),
    ]
    names = metric_names(groups)
    if "validation/success" not in names:
        shown.insert(0, ("validation return", "validation/return", False))
    if "error" not in names:
        shown.append(("training return", "return", False))
    used = {metric for _, metric, _ in shown} | {"validation/return"}
    for label, metric, error in shown:
        main += _charts(groups, shared, label, metric, error)
    for name in names:
        if name not in used:
            inside += _charts(groups, shared, name, name, False)
    exported = all(has_weights_alone(run) for group in groups for run in group.runs)
    few = "Fewer than two lines of metrics were logged."
    whole = grid("charts", main) or note("Weights alone keep no metrics." if exported else few)
    if any(len(group.runs) > 1 for group in groups):
        whole += note("Lines are means over seeds, bands from the least to the greatest.")
    return whole + (folded("More metrics", grid("charts", inside)) if inside else "")


def _charts(
    groups: Sequence[Group], shared: PageLines, label: str, metric: str, error: bool
) -> list[str]:
    """A chart of a metric for every few groups that have it."""

    def change(value: float) -> float:
        share = 1 - value if metric == "validation/success" else value
        return 100 * share if error else share

    found = []
    for some in in_charts(groups):
        curves = {group.name: group.curve(metric, change) for group in some}
        known = {name: curve for name, curve in curves.items() if curve is not None}
        if known:
            found.append(chart(chart_of_curves(known, label, shared, error=error), label))
    return found


def _by_glimpse(groups: Sequence[Group], analyses: Sequence[Analysis], shared: PageLines) -> str:
    """The error after 1, 2, ... glimpses."""
    charts = []
    for some in in_charts(groups):
        lines = {}
        for group in some:
            curves = [
                each.evaluation.success_by_glimpse
                for each in analyses
                if each.run in group.runs and not each.by_level
            ]
            shortest = min(map(len, curves), default=0)
            if not any(any(curve[: shortest - 1]) for curve in curves):
                continue  # success is told at the end alone
            if 2 <= shortest <= SHOWN_GLIMPSES:
                errors = [100 * (1 - np.array(curve[:shortest])) for curve in curves]
                lines[group.name] = (np.arange(1, shortest + 1), errors)
        if lines:
            label = "error after each glimpse, %"
            drawn = chart_of_points(lines, ("glimpse", label), shared, positive=True)
            charts.append(chart(drawn, label))
    return heading("Error by glimpse") + grid("charts", charts) if charts else ""


def _by_level(groups: Sequence[Group], analyses: Sequence[Analysis], shared: PageLines) -> str:
    """Accuracy by length, as a chart and a table."""
    charts, rows = [], []
    for some in in_charts(groups):
        lines, trained = {}, None
        for group in some:
            members = [each for each in analyses if each.run in group.runs and each.by_level]
            if not members:
                continue
            levels = sorted(set.intersection(*(set(each.by_level) for each in members)))
            scores = [[100 * each.by_level[level].score for level in levels] for each in members]
            lines[group.name] = (levels, scores)
            trained = members[0].trained_to
            rows += [
                (group.name, str(level), f"{np.mean(column):.1f}",
                 f"{sum(each.by_level[level].episodes for each in members):,}")
                for level, column in zip(levels, zip(*scores, strict=True), strict=True)
            ]  # fmt: skip
        if lines:
            label = "accuracy by length, %"
            drawn = chart_of_points(lines, ("length", label), shared, trained_to=trained)
            charts.append(chart(drawn, label))
    if not charts:
        return ""
    numbers = table(("model", "length", "success %", "episodes"), rows)
    drawn = heading("Accuracy by length") + grid("charts", charts)
    return drawn + folded("As a table", numbers)
