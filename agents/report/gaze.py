"""What a report says of where a run looked."""

import math

import numpy as np
from numpy.typing import NDArray

from agents.report.analysis import Analysis
from agents.report.charts import PageLines, chart_of_points
from agents.report.drawings import density_map
from agents.report.findings import EDGE, chosen_of, density
from agents.report.markup import chart, figure, grid, heading, note, table

MOST_MAPS = 12
"""Maximum number of glimpses with a map of their own."""

_HALF_OF_THE_SCENE = 2.0  # in look units, in which it is 2 x 2


def gaze_section(analysis: Analysis, line: str, shared: PageLines) -> str:
    """Where a run looked, or attended; nothing where it did neither."""
    evaluation, trace = analysis.evaluation, analysis.trace
    if trace.attention is not None:
        maps = [
            figure(
                density_map(_coarse(shares), shares.shape[::-1], f"glimpse {number}"), f"{number}"
            )
            for number, shares in enumerate(trace.attention, 1)
        ]
        title = heading("Where it attended", 3)
        return title + note("Mean attention at each soft glimpse.") + grid("maps", maps)
    if evaluation.locations is None or analysis.seen.picture_view is None:
        return ""
    _, height, width = analysis.seen.picture_view.scene_shape
    scene, chosen = (float(width), float(height)), chosen_of(evaluation)
    if not chosen.any():
        return ""
    whole = density(evaluation.locations[chosen])
    large = [figure(density_map(whole, scene, "over the scene"), "Over the scene")]
    offsets = trace.offsets[:, : chosen.shape[1]][chosen]
    if np.isfinite(offsets).any():
        sizes = trace.boxes[:, : chosen.shape[1]][chosen]
        mean = np.nanmean(sizes, axis=0) / 2  # as a share of the grid
        drawn = density_map(density(offsets), scene, "relative to the target", mean)
        large.append(figure(drawn, "Relative to the nearest target, whose mean box is marked"))
    count = chosen.shape[1]
    last = min(count, MOST_MAPS + 1)
    small = []
    for step in range(1, last):
        places = evaluation.locations[chosen[:, step], step]
        if len(places):
            shares = density(places, cells=16)
            small.append(figure(density_map(shares, scene, f"glimpse {step + 1}"), f"{step + 1}"))
    return "".join([
        heading("Where it looked", 3),
        note("Shares of the chosen glimpses, without the first one, which is dealt at random."),
        grid("maps large", large),
        note("By glimpse:" if last == count else f"By glimpse, up to number {last} of {count}:"),
        grid("maps", small),
        _gaze_numbers(analysis),
        _on_target(analysis, line, shared),
        targets_visited(analysis),
    ])  # fmt: skip


def _gaze_numbers(analysis: Analysis) -> str:
    evaluation = analysis.evaluation
    assert evaluation.locations is not None
    assert evaluation.scanpaths is not None
    gaze, places = evaluation.scanpaths, evaluation.locations[chosen_of(evaluation)]
    at_edge = (np.abs(places) >= EDGE).any(axis=1).mean()
    on_target = gaze.share_on_target
    rows = [
        ("On the target", "—" if math.isnan(on_target) else f"{100 * on_target:.1f} %",
         "share of the chosen glimpses"),
        ("Coverage", f"{100 * gaze.coverage:.0f} %",
         "of an 8 × 8 grid of the scene, in any episode"),
        ("Spread", f"{gaze.spread:.2f}", "between episodes, in look units; 0.82 if uniform"),
        ("Movement", f"{gaze.movement:.2f}", "from glimpse to glimpse, in look units"),
        ("On the edge", f"{100 * at_edge:.1f} %",
         "share of the chosen glimpses that were aimed at or beyond it"),
        ("Glimpses", f"{evaluation.mean_glimpses:.2f}", "in an episode, the first included"),
    ]  # fmt: skip
    return heading("Gaze", 3) + table((), rows, "facts")


def _on_target(analysis: Analysis, line: str, shared: PageLines) -> str:
    """The share of glimpses on a target, by the number of the glimpse."""
    trace = analysis.trace
    known = trace.alive & np.isfinite(trace.offsets).all(axis=2)
    if not known.any():
        return ""
    taken = known.sum(axis=0)
    shares = 100 * trace.on_target.sum(axis=0)[taken > 0] / taken[taken > 0]
    lines = {line: (np.flatnonzero(taken) + 1, [shares])}
    title = "glimpses on a target, %"
    return grid("charts", [chart(chart_of_points(lines, ("glimpse", title), shared), title)])


def targets_visited(analysis: Analysis) -> str:
    """What the chosen glimpses lie on, how well it went by the number of targets that were visited,
    and whether failures are of the gaze or of the reading."""
    evaluation, trace = analysis.evaluation, analysis.trace
    most = trace.lies_on.shape[2]
    if most < 1 or trace.in_turn:  # of the other targets nothing is known
        return ""
    chosen = chosen_of(evaluation)
    on_target = trace.on_target[:, : chosen.shape[1]]
    first = trace.first_visits[:, : chosen.shape[1]]
    kinds = {
        "a target for the first time": first,
        "a target again": on_target & ~first,
        "no target": ~on_target,
    }
    looks = [(name, f"{100 * kind[chosen].mean():.1f} %") for name, kind in kinds.items()]
    visited = trace.visited
    if most == 1:
        about = (
            f"A scene has one target, which is visited in {100 * visited.mean():.1f} % of episodes"
        )
        title, scores = "By the first glimpse on it:", _scores(analysis, trace.arrival, "glimpse")
    else:
        about = (
            f"A scene has up to {most} targets, of which {visited.mean():.2f} are visited on "
            "average"
        )
        title, scores = "By the number of targets visited:", _scores(analysis, visited, "targets")
    about += f": the middle of a glimpse lies in the target's box.{_failures(analysis)}"
    return "".join([
        heading("Targets visited", 3),
        note(about),
        table(("what chosen glimpses lie on", "share"), looks),
        note(title),
        scores,
    ])  # fmt: skip


def _scores(analysis: Analysis, numbers: NDArray[np.int64], name: str) -> str:
    """How well the episodes went, by a number (E,) that each of them has; 0 is none."""
    evaluation, rows = analysis.evaluation, []
    for number in np.unique(numbers):
        those = numbers == number
        if evaluation.successes is None:
            score = f"{evaluation.returns[those].mean():.2f}"
        else:
            score = f"{100 * evaluation.successes[those].mean():.1f} %"
        rows.append((str(number or "none"), f"{100 * those.mean():.1f} %", score))
    title = "mean return" if evaluation.successes is None else "success"
    return table((name, "share of episodes", title), rows)


def _failures(analysis: Analysis) -> str:
    """Which share of the failures is not for want of looking."""
    successes, trace = analysis.evaluation.successes, analysis.trace
    if successes is None or successes.all():
        return ""
    failed = ~successes
    areas = trace.boxes.prod(axis=2)[trace.alive & np.isfinite(trace.boxes).all(axis=2)]
    if areas.size and areas.mean() > _HALF_OF_THE_SCENE:
        return " Targets fill most of the scene: that one was visited says little about the gaze."
    seen = int((failed & trace.visited_all).sum())
    return (
        f" Of the {failed.sum():,} failed episodes {seen:,} had visited every target: there the "
        "fault is in what was made of the glimpses, in the others it may be in the gaze."
    )


def _coarse(shares: np.ndarray) -> np.ndarray:
    """A map (H, W) in at most 30 cells a side, each the sum of its pixels."""
    stride = -(-max(shares.shape) // 30)
    rows, columns = (range(0, side, stride) for side in shares.shape)
    return np.add.reduceat(np.add.reduceat(shares, list(rows), axis=0), list(columns), axis=1)
