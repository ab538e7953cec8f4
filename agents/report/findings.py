"""Numbers and warnings of a trace, in plain sentences."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agents.report.trace import Trace
from agents.training.training_length import training_length, what_is_left
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.evaluation.runs import Run

EDGE = 0.999
"""Distance from the middle, in look units, at which a look has been clipped to the scene."""
MANY_AT_EDGE = 0.1
RARE = 5
"""How often an answer must have been the right one before its absence is more than chance."""
MOST_CLASSES = 32
"""Maximum number of classes of a legible confusion matrix."""
SURE = 0.1
"""Excess of mean probability over accuracy above which a policy is called too sure."""


def chosen_of(evaluation: Evaluation) -> NDArray[np.bool_]:
    """Which glimpses (E, T) the policy chose: all that were taken but the first."""
    assert evaluation.locations is not None
    steps = np.arange(evaluation.locations.shape[1])
    return (steps < evaluation.glimpses[:, None]) & (steps > 0)


def density(places: NDArray[np.floating], cells: int = 24) -> NDArray[np.float64]:
    """Share of `places` (n, 2) in each cell (cells, cells) of a grid over [-1, 1], rows from top to
    bottom; those outside it or NaN are left out."""
    places = places[np.isfinite(places).all(axis=1)]
    edges = np.linspace(-1, 1, cells + 1)
    counts, _, _ = np.histogram2d(places[:, 1], places[:, 0], bins=(edges, edges))
    return counts / max(counts.sum(), 1.0)


def confusion(trace: Trace, classes: int) -> NDArray[np.int64] | None:
    """Counts (classes, classes) of all scored answers, a row for each target; None where no answer
    was scored, or for more than `MOST_CLASSES`."""
    scored = trace.scored
    if not scored.any() or classes > MOST_CLASSES:
        return None
    counts = np.zeros((classes, classes), np.int64)
    np.add.at(counts, (trace.targets[scored], trace.answers[scored]), 1)
    return counts


def surest_mistakes(
    evaluation: Evaluation, trace: Trace, most: int = 20
) -> list[tuple[int, float]]:
    """Episodes without success, and the probability that the policy gave its last scored wrong
    answer, the surest first; those without such a probability, which is then NaN, come last.

    Where the task has no success, the episodes of the least return.
    """
    if evaluation.successes is None:
        worst = np.argsort(evaluation.returns, kind="stable")[:most]
        return [(int(episode), math.nan) for episode in worst]
    found = []
    wrong = trace.scored & ~trace.right
    for episode in np.flatnonzero(~evaluation.successes):
        steps = np.flatnonzero(wrong[episode])
        sure = float(trace.probabilities[episode, steps[-1]]) if len(steps) else math.nan
        found.append((int(episode), sure))
    return sorted(found, key=lambda pair: math.inf if math.isnan(pair[1]) else -pair[1])[:most]


def sureness(trace: Trace) -> tuple[float, float] | None:
    """Mean probability that the policy gave to its scored answers, and the share of them that is
    right; None without either."""
    known = trace.scored & np.isfinite(trace.probabilities)
    if not known.any():
        return None
    return float(trace.probabilities[known].mean()), float(trace.right[known].mean())


def warnings_of(
    evaluation: Evaluation, trace: Trace, names: Sequence[str], optional: bool = False
) -> list[str]:
    """Warnings about what looks wrong, one sentence each.

    Args:
        evaluation, trace: of the same episodes.
        names: of the answers, where they have some.
        optional: whether the answer 0 says nothing.
    """
    found = [] if evaluation.scanpaths is None else list(evaluation.scanpaths.warnings)
    if evaluation.locations is not None:
        found += _at_edge(evaluation)
    if optional and not trace.answers[trace.alive].any():
        found.append("It never answers.")
    found += _answers(trace, names)
    calibration = sureness(trace)
    if calibration is not None and calibration[0] - calibration[1] > SURE:
        found.append(
            f"It is too sure: the mean probability of its answers is {100 * calibration[0]:.0f} %, "
            f"and {100 * calibration[1]:.0f} % of them are right."
        )
    return found


def _at_edge(evaluation: Evaluation) -> list[str]:
    assert evaluation.locations is not None
    places = evaluation.locations[chosen_of(evaluation)]
    if not len(places):
        return []
    share = float((np.abs(places) >= EDGE).any(axis=1).mean())
    if share <= MANY_AT_EDGE:
        return []
    return [
        f"{100 * share:.0f} % of the chosen looks lie on the edge of the scene, where looks that "
        "were aimed outside it end."
    ]


def _answers(trace: Trace, names: Sequence[str]) -> list[str]:
    scored = trace.scored
    if not scored.any():
        return []
    targets, counts = np.unique(trace.targets[scored], return_counts=True)
    given = np.unique(trace.answers[scored])
    if len(given) == 1 and len(targets) > 1:
        return [f"It gives one answer alone, {_named(given[0], names)}, whatever it sees."]
    pairs = zip(targets, counts, strict=True)
    never = [(target, count) for target, count in pairs if target not in given and count >= RARE]
    if not never:
        return []
    listed = ", ".join(f"{_named(target, names)} (right {count} times)" for target, count in never)
    return [f"Answers that it never gives: {listed}."]


def training_warnings(run: Run) -> list[str]:
    """What looks wrong in a run's metrics, which weights alone have none of."""
    found: list[str] = []
    lines = run.read_metrics()
    if training_length(run) is None:
        return ["No metrics were logged: the training ended before its first line."]
    broken = sorted({n for line in lines for n, v in line.items() if not math.isfinite(v)})
    if broken:
        found.append(f"Metrics that are not finite numbers: {', '.join(broken)}.")
    key = "validation/success"
    scores = [(line[key], line["step"]) for line in lines if key in line]
    if scores:
        best, last = max(scores), scores[-1]
        if best[0] - last[0] > 0.02:
            found.append(
                f"Validation fell from {100 * best[0]:.1f} % success after {best[1]:,} episodes to "
                f"{100 * last[0]:.1f} % at the end."
            )
    if left := what_is_left(run):
        found.append(f"The training is not finished: {left} are done.")
    return found


def _named(answer: int, names: Sequence[str]) -> str:
    return names[answer] if len(names) > answer else str(answer)
