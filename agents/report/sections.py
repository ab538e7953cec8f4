"""What a report says of one run."""

import json
import math

import numpy as np

from agents.report.analysis import Analysis
from agents.report.charts import PageLines
from agents.report.drawings import address_path, head_paths, output_of, scanpath
from agents.report.findings import confusion, sureness
from agents.report.gaze import gaze_section
from agents.report.markup import (
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
from agents.training.checkpoints import leaves_of
from agents.training.repeating import command_to_repeat
from agents.training.resuming import FREE
from agents.training.training_length import training_length
from glimpse_envs.rendering import Picture, TablePicture, TapePicture

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
        gaze_section(analysis, line, shared),
        _confusion(analysis),
        _examples(analysis),
        _mistakes(analysis),
        _cost(analysis),
        _repeat(analysis),
    ]
    return folded(name, "".join(content), opened)


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
    drawn = [_episode(each, _judged_by_answers(analysis)) for each in analysis.examples]
    return heading("Where it read and wrote", 3) + note(rows) + grid("mistakes wide", drawn)


def _mistakes(analysis: Analysis) -> str:
    if not analysis.replays:
        return ""
    by_answers = _judged_by_answers(analysis)
    known = any(not math.isnan(replay.probability) for replay in analysis.replays)
    if by_answers and known:
        title = "Surest and wrong"
        text = (
            "The failed episodes, by the probability that the policy gave to its last wrong answer."
        )
    elif analysis.evaluation.success is not None:
        title, text = "Failed", "The first episodes without success."
    else:
        title, text = "Least return", "The episodes of the least return."
    text += f" Numbers are of the {analysis.evaluation.split} split."
    flat = isinstance(analysis.replays[0].pictures[0], Picture)
    drawn = [_episode(replay, by_answers) for replay in analysis.replays]
    return "".join([
        heading(f"{title}: {len(drawn)} episodes", 3),
        note(text),
        grid("mistakes" if flat else "mistakes wide", drawn),
    ])  # fmt: skip


def _judged_by_answers(analysis: Analysis) -> bool:
    return analysis.evaluation.success is not None and "answer" in analysis.seen.components


def _episode(replay: Replay, by_answers: bool) -> str:
    last = replay.pictures[-1]
    sure = "" if math.isnan(replay.probability) else f", {100 * replay.probability:.1f} % sure"
    if not by_answers:
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
        threads = config.get("threads", 1)
        count = analysis.run.config.get("processes", 1)
        where = f"{count} processes of " if count > 1 else ""
        where += f"{threads} thread{'s' * (threads != 1)}, {config.get('device', 'cpu')}, "
        where += str(analysis.run.config.get("hardware", "unknown hardware"))
        costs += [
            ("training", f"{length.episodes:,} episodes", ""),
            ("training time", duration(length.seconds), where),
        ]
    return heading("Cost", 3) + table((), costs, "facts") if costs else ""


def duration(seconds: float) -> str:
    """Seconds in a readable unit."""
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
        if name != "episodes" or config.get("minutes") is None  # else it has no effect
    ]
    parts = [heading("How to repeat it", 3), preformatted("\n".join(steps))]
    parts.append(note(f"Trained {whole.get('created', '')} with {versions or 'unknown versions'}."))
    if dirty:
        parts.append(note("The checkout had changes that were not committed."))
    if defaults:
        parts += [note("Settings other than the defaults:"), table((), changed, "facts")]
    parts.append(folded("Whole config", preformatted(json.dumps(whole, indent=2))))
    return "".join(parts)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
