"""Tables of models' scores, as Markdown, CSV and LaTeX."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from agents.scoring.model_scores import Interval, ModelScore
from agents.scoring.run_record import PICTURES_REPLACED
from glimpse_envs.evaluation.statistics import (
    CLAIM_EPISODES,
    CLAIM_SEEDS,
    SHORT_MINUTES,
    SHORT_SEEDS,
)
from report.markdown import UNKNOWN, table

_ESCAPED = str.maketrans(
    {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "—": "---"}
    | {letter: rf"\{letter}" for letter in "&%$#_{}"}
    | {"…": r"\ldots{}"}
)


def markdown(scores: Sequence[ModelScore]) -> str:
    """A table, and what its columns mean."""
    return f"{table(_heads(scores), map(_cells, scores))}\n\n{notes(scores)}"


def latex(scores: Sequence[ModelScore]) -> str:
    """A tabular of the package booktabs, and what its columns mean as comments."""
    heads, *rows = (
        " & ".join(cell.translate(_ESCAPED) for cell in cells) + r" \\"
        for cells in (_heads(scores), *map(_cells, scores))
    )
    lines = [r"\begin{tabular}{lrrrrrrrr}", r"\toprule", heads, r"\midrule", *rows]
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines + [f"% {line}" for line in notes(scores).split("\n")])


def comma_separated(scores: Sequence[ModelScore]) -> str:
    """Lines of numbers as they are, error rates as shares; an empty field where there is none."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    measure = "error" if scores[0].by_error else "return"
    writer.writerow([
        *("model", "runs", measure, f"{measure}_low", f"{measure}_high"),
        *("difference", "difference_low", "difference_high"),
        *("glimpses", "trained_on", "core_minutes", "claims"),
    ])  # fmt: skip
    for one in scores:
        writer.writerow([
            *(one.name, one.runs, one.score, *(one.interval or ("", ""))),
            *(one.difference, *(one.difference_interval or ("", ""))),
            *(one.glimpses, one.trained, one.core_minutes, int(one.claims)),
        ])  # fmt: skip
    return text.getvalue().rstrip("\n")


FORMATS: Mapping[str, Callable[[Sequence[ModelScore]], str]] = MappingProxyType(
    {"markdown": markdown, "csv": comma_separated, "latex": latex}
)


def notes(scores: Sequence[ModelScore]) -> str:
    """What the columns mean, and which models make no claim, a sentence a line."""
    if scores[0].by_error:
        lines = [
            "Error: inter-quartile mean over the runs; its interval, of 95 %, is over seeds and "
            "episodes, of one run over episodes alone.",
            "Difference: in points, from the first model; under 0 there are fewer errors. Its "
            "interval is over seeds and episodes, of one run each over episodes alone.",
        ]
    else:
        lines = [
            "Return: mean over the runs; its interval, of 95 %, is over seeds, of one run over "
            "episodes alone.",
            "Difference: from the first model. Its interval is Welch's, over seeds; of one run "
            "each Student's, over episodes.",
        ]
    if not all(one.claims for one in scores):
        lines.append(
            f"A claim needs {CLAIM_SEEDS} seeds ({SHORT_SEEDS} where trainings take under "
            f"{SHORT_MINUTES:g} core-minutes) and {CLAIM_EPISODES:,} episodes: * has fewer."
        )
    replaced = [one.name for one in scores if one.pictures_replaced]
    if replaced:
        lines.append(f"Of {', '.join(replaced)}: {PICTURES_REPLACED}.")
    return "\n".join(lines)


def _heads(scores: Sequence[ModelScore]) -> tuple[str, ...]:
    measure = "error %" if scores[0].by_error else "return"
    return (
        *("model", "runs", measure, "interval", "difference", "its interval"),
        *("glimpses", "trained on", "core-minutes"),
    )


def _cells(one: ModelScore) -> tuple[str, ...]:
    scale = 100 if one.by_error else 1
    return (
        one.name if one.claims else f"{one.name} *",
        str(one.runs),
        f"{scale * one.score:.2f}",
        _between(one.interval, scale),
        UNKNOWN if one.difference is None else f"{scale * one.difference:+.2f}",
        _between(one.difference_interval, scale, sign="+"),
        f"{one.glimpses:.2f}",
        UNKNOWN if one.trained is None else f"{one.trained:,.0f}",
        UNKNOWN if one.core_minutes is None else f"{one.core_minutes:.1f}",
    )


def _between(interval: Interval | None, scale: float, sign: str = "") -> str:
    if interval is None:
        return UNKNOWN
    low, high = (f"{scale * bound:{sign}.2f}" for bound in interval)
    return f"{low} to {high}"
