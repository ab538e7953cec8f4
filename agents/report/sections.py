"""What a report says of one run."""

import json
import math

import numpy as np

from agents.report.analysis import Analysis
from agents.report.charts import PageLines, chart_of_points
from agents.report.drawings import address_path, density_map, head_paths, output_of, scanpath
from agents.report.findings import EDGE, chosen_of, confusion, density, sureness
from agents.report.markup import (
    chart,
    confusion_table,
    figure,
    folded,
    grid,
    heading,
    note,
    preformatted,
    table,
)
from agents.report.replays import Replay
from agents.report.training_length import training_length
from agents.training.checkpoints import leaves_of
from agents.training.repeating import command_to_repeat
from agents.training.resuming import FREE
from glimpse_envs.evaluation.provenance import portable
from glimpse_envs.rendering import Picture, TablePicture, TapePicture

MOST_MAPS = 12
"""Glimpses that have a map of their own."""
COST_NAMES = {
    "values_delivered": "numbers read",
    "pixels_covered": "distinct pixels seen",
    "multiply_adds": "multiply-adds",
    "multiply_adds_reading": "of these for reading",
    "cells_read": "cells read",
}


def run_section(analysis: Analysis, name: str, line: str, shared: PageLines, opened: bool) -> str:
    """Everything about one run but its warnings, folded; `line` is the run's in charts."""
    content = [
        _gaze(analysis, line, shared),
        _confusion(analysis),
        _examples(analysis),
        _mistakes(analysis),
        _cost(analysis),
        _repeat(analysis),
    ]
    return folded(name, "".join(content), opened)


def _gaze(analysis: Analysis, line: str, shared: PageLines) -> str:
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
    large = [figure(density_map(whole.shares, scene, "over the scene"), "Over the scene")]
    offsets = trace.offsets[:, : chosen.shape[1]][chosen]
    if np.isfinite(offsets).any():
        sizes = trace.boxes[:, : chosen.shape[1]][chosen]
        around = density(offsets)
        mean = np.nanmean(sizes, axis=0) / (2 * around.extent)
        drawn = density_map(around.shares, scene, "relative to the target", mean)
        large.append(figure(drawn, "Relative to the nearest target, whose mean box is marked"))
    steps = range(1, min(chosen.shape[1], MOST_MAPS + 1))
    small = []
    for step in steps:
        places = evaluation.locations[chosen[:, step], step]
        if len(places):
            shares = density(places, cells=16).shares
            small.append(figure(density_map(shares, scene, f"glimpse {step + 1}"), f"{step + 1}"))
    return "".join([
        heading("Where it looked", 3),
        note("Shares of the chosen glimpses, without the first one, which is dealt at random."),
        grid("maps large", large),
        note("By glimpse:"),
        grid("maps", small),
        _gaze_numbers(analysis),
        _on_target(analysis, line, shared),
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
    inside = (np.abs(trace.offsets) <= trace.boxes / 2).all(axis=2) & known
    taken = known.sum(axis=0)
    shares = 100 * inside.sum(axis=0)[taken > 0] / taken[taken > 0]
    lines = {line: (np.flatnonzero(taken) + 1, [shares])}
    title = "glimpses on a target, %"
    return grid("charts", [chart(chart_of_points(lines, ("glimpse", title), shared), title)])


def _confusion(analysis: Analysis) -> str:
    counts = confusion(analysis.trace, len(analysis.answers)) if analysis.answers else None
    if counts is None:
        return ""
    # An answer that says nothing is never scored.
    kept = [k for k, name in enumerate(analysis.answers) if name or counts[k].any()]
    counts = counts[np.ix_(kept, kept)]
    calibration = sureness(analysis.trace)
    text = f"{counts.sum():,} scored answers; a row for each right answer."
    if calibration is not None:
        text += (
            f" Their mean probability, by the policy, is {100 * calibration[0]:.1f} %; "
            f"{100 * calibration[1]:.1f} % of them are right."
        )
    names = [analysis.answers[k] or "none" for k in kept]
    return heading("Confusion matrix", 3) + note(text) + confusion_table(counts, names)


def _examples(analysis: Analysis) -> str:
    """The first episodes of tapes and tables."""
    if not analysis.examples:
        return ""
    first = analysis.examples[0].pictures[0]
    rows = "Time goes to the right; each row is a cell, with what it held at first."
    if isinstance(first, TapePicture):
        heads = [strip.name for strip in first.strips if strip.head is not None]
        rows += f" Heads, in the order of their colours: {', '.join(heads)}."
    drawn = [_episode(each, analysis.evaluation.success is not None) for each in analysis.examples]
    return heading("Where it read and wrote", 3) + note(rows) + grid("mistakes wide", drawn)


def _mistakes(analysis: Analysis) -> str:
    if not analysis.replays:
        return ""
    with_success = analysis.evaluation.success is not None
    title = "Surest and wrong" if with_success else "Least return"
    flat = isinstance(analysis.replays[0].pictures[0], Picture)
    drawn = [_episode(replay, with_success) for replay in analysis.replays]
    text = (
        "The failed episodes, by the probability that the policy gave to its last wrong answer."
        if with_success
        else "The episodes of the least return."
    )
    text += f" Numbers are of the {analysis.evaluation.split} split."
    return "".join([
        heading(f"{title}: {len(drawn)} episodes", 3),
        note(text),
        grid("mistakes" if flat else "mistakes wide", drawn),
    ])  # fmt: skip


def _episode(replay: Replay, with_success: bool) -> str:
    last = replay.pictures[-1]
    sure = "" if math.isnan(replay.probability) else f", {100 * replay.probability:.1f} % sure"
    if not with_success:
        answered = f"return {replay.total:.2f}"
    elif isinstance(last, (Picture, TablePicture)):
        right = "" if last.answer == last.target else f", not {last.target}"
        answered = f"{last.answer or 'no answer'}{right}{sure}"
    else:
        answered = f"put out {output_of(last)}{sure}"
    caption = f"{replay.episode}: {answered}"
    if isinstance(last, Picture):
        return figure(scanpath(last, replay.boxes, caption), caption)
    if isinstance(last, TablePicture):
        return figure(address_path(last, caption), f"{caption}; {last.query}")
    tapes = [
        picture for picture in replay.pictures if not isinstance(picture, (Picture, TablePicture))
    ]
    return figure(head_paths(tapes, caption), caption)


def _cost(analysis: Analysis) -> str:
    costs = [
        (COST_NAMES.get(name, name), f"{value:,.0f}", "an episode")
        for name, value in analysis.costs.per_episode.items()
    ]
    length, config = training_length(analysis.run), analysis.run.config.get("config", {})
    if length is not None:
        where = f"{config.get('threads', 1)} thread(s), {config.get('device', 'cpu')}, "
        where += str(analysis.run.config.get("hardware", "unknown hardware"))
        costs += [
            ("training", f"{length.episodes:,} episodes", ""),
            ("training time", duration(length.seconds), where),
        ]
    return heading("Cost", 3) + table((), costs, "facts") if costs else ""


def duration(seconds: float) -> str:
    """Seconds as people read them."""
    if math.isnan(seconds):
        return "unknown"
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def _repeat(analysis: Analysis) -> str:
    whole = analysis.run.config
    config, defaults = (leaves_of(whole.get(part, {}), ".") for part in ("config", "defaults"))
    versions = ", ".join(f"{name} {number}" for name, number in whole.get("versions", {}).items())
    revision = whole.get("revision", "unknown")
    commit, dirty, _ = str(revision).partition("+dirty")
    steps = [] if revision == "unknown" else [f"git checkout {commit}"]
    steps.append(command_to_repeat(whole) or "the command is unknown")
    changed = [
        (name, _text(value), "" if name not in defaults else f"by default {_text(defaults[name])}")
        for name, value in config.items()
        if name not in FREE and (name not in defaults or defaults[name] != value)
    ]
    parts = [heading("How to repeat it", 3), preformatted("\n".join(steps))]
    parts.append(note(f"Trained {whole.get('created', '')} with {versions or 'unknown versions'}."))
    if dirty:
        parts.append(note("The checkout had changes that were not committed."))
    if defaults:
        parts += [note("Settings other than the defaults:"), table((), changed, "facts")]
    if "command" in whole:
        whole = {**whole, "command": portable(str(whole["command"]))}
    parts.append(folded("Whole config", preformatted(json.dumps(whole, indent=2))))
    return "".join(parts)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _coarse(shares: np.ndarray) -> np.ndarray:
    """A map (H, W) in at most 30 cells a side, each the sum of its pixels."""
    stride = -(-max(shares.shape) // 30)
    rows, columns = (range(0, side, stride) for side in shares.shape)
    return np.add.reduceat(np.add.reduceat(shares, list(rows), axis=0), list(columns), axis=1)
