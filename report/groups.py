"""Runs that differ in nothing but their seed: means over seeds, intervals, and when they claim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median
from typing import Any, Literal

import numpy as np

from glimpse_envs.evaluation.record import Record, Score, Validation
from glimpse_envs.evaluation.records import unpack
from glimpse_envs.evaluation.statistics import (
    CLAIM_EPISODES,
    CLAIM_SEEDS,
    SHORT_MINUTES,
    SHORT_SEEDS,
    bootstrap_interval,
    bootstrap_interval_from_counts,
    enough_seeds,
    interquartile_mean,
    wilson_interval,
)
from glimpse_envs.vision.scenes import SCENES, find_scene
from report.kinds import OF_CONTEXT, OF_FRAME, SEES_OF_PICTURES, Kind, kind_of
from report.markdown import count, minutes
from report.runs import Run
from report.trained_runs import own_arguments_of

Verdict = Literal["under", "above", "overlaps"]

BY_THE_WALL = (
    "181c4ca9af4f", "3854a1d42643", "56345c46652d", "5be5df52ec50", "5d9f6084097e",
    "5e126664428b", "6f09ee41c92d", "d25507cc7cf9", "db5db848a472",
)  # fmt: skip
"""Revisions with records from before 11e6463, from which on trainings take the core's own clock."""


FEW_SEEDS = (
    f"Results of fewer than {CLAIM_SEEDS} seeds, or fewer than {SHORT_SEEDS} if a training took "
    f"under {SHORT_MINUTES:g} core-minutes, are no claim."
)


def interval_words(cases: str) -> str:
    """How the pages say what `Group.interval` is; `cases` are what a test counts, "scenes"."""
    return (
        f"Wilson's for one run, otherwise a bootstrap over seeds and {cases}, stretched "
        "with fewer than five seeds ([how often it holds](intervals.md))"
    )


@dataclass(frozen=True)
class Group:
    """One row of a table, one line of a plot. Errors are in percent of episodes."""

    runs: tuple[Run, ...]
    """In the order of their seeds; at least one."""
    label: str
    """The model's name, with what tells it from the others of its table."""

    @property
    def records(self) -> list[Record]:
        return [run.record for run in self.runs]

    @property
    def first(self) -> Record:
        return self.runs[0].record

    @property
    def kind(self) -> Kind:
        return kind_of(self.first.model)

    @property
    def sees(self) -> str:
        """What it is shown of a picture, in words."""
        context = OF_CONTEXT if self.first.env_kwargs.get("context") else ""
        memory = "with" if self.first.model.remembers_frames else "without"
        of_frame = OF_FRAME.format(memory=memory) if self.by_frames else ""
        return SEES_OF_PICTURES[self.kind] + of_frame + context

    @property
    def by_frames(self) -> bool:
        """Whether it is shown one whole frame after another."""
        scene = self._argument("scene")
        # A scene of another package may not be installed, and a record is not to import it.
        moves = scene in SCENES and find_scene(scene).moves
        return moves and self.kind in ("full", "soft")

    @property
    def seeds(self) -> int:
        return len(self.runs)

    @property
    def budget(self) -> str:
        """The glimpse budget, for people; a full view has none. A soft model that is given a scene
        once takes several glimpses inside itself for each answer."""
        if self.kind == "full":
            return "whole"
        inside = self._argument("looks_per_answer") if self.kind == "soft" else None
        a_frame = self.by_frames and not self.first.model.remembers_frames
        return str(self.first.budget * (inside or 1)) + (" a frame" if a_frame else "")

    def _argument(self, name: str) -> Any:
        """Of the environment, given or its id's own; None where it has none of this name."""
        return {**own_arguments_of(self.first.env_id), **self.first.env_kwargs}.get(name)

    @property
    def curriculum(self) -> str:
        """What chose the levels in training."""
        return self.first.config.get("curriculum") or "uniform"

    @property
    def has_success(self) -> bool:
        """Whether the task has success; else it is scored by its return."""
        return self.first.headline.success is not None

    @property
    def error(self) -> float:
        """Of the headline, an inter-quartile mean over the seeds; the task must have success."""
        return interquartile_mean(self.errors)

    @property
    def errors(self) -> list[float]:
        """(seeds,) of the headline; the task must have success."""
        return [_error(record.headline) for record in self.records]

    @property
    def mean_return(self) -> float | None:
        """Of the headline, a mean over the seeds that know it; None where none does."""
        return self.mean(lambda record: record.headline.mean_return)

    @property
    def choice(self) -> float:
        """The criterion for choosing among models, lower is better: the error, or minus the mean
        return, on validation scenes; where an old run has none, on test scenes."""
        validated = all(record.curve for record in self.records)
        points = [record.curve[-1] if validated else record.headline for record in self.records]
        if not self.has_success:
            return -fmean(point.mean_return or 0.0 for point in points)
        return interquartile_mean([1.0 - (point.success or 0.0) for point in points])

    @property
    def error_by_glimpse(self) -> list[float]:
        """(T,) as `error`, after each glimpse; empty where answers are not judged one by one, in
        the records of all seeds."""
        each = [record.headline.success_by_glimpse for record in self.records]
        if not all(each):
            return []
        columns = zip(*_to_the_longest(each), strict=True)
        return [interquartile_mean([100 * (1 - s) for s in column]) for column in columns]

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Of `error`, 95 %: Wilson's for one run, else a bootstrap over seeds and, where known,
        shared episodes."""
        scores = [record.headline for record in self.records]
        if all(score.successes for score in scores) and len(scores) > 1:
            successes = [unpack(score.successes, score.episodes) for score in scores]
            low, high = bootstrap_interval(np.stack(successes))
        else:
            low, high = interval_of([_error(score) for score in scores], scores[0].episodes)
        return 100 * low, 100 * high

    @property
    def claims(self) -> bool:
        """Whether the rules for a claim are met."""
        return self.has_enough_seeds and self.first.headline.episodes >= CLAIM_EPISODES

    @property
    def has_enough_seeds(self) -> bool:
        """Whether the seeds are enough for a claim."""
        return enough_seeds(self.seeds, min(self._each_minutes))

    @property
    def core_minutes(self) -> float:
        """Of training, the median over the seeds; over those trained on cores where there are any,
        and of these over those that were timed by the core's own clock."""
        return median(self._each_minutes)

    @property
    def range_of_minutes(self) -> tuple[float, float]:
        """The least and the greatest of those of which `core_minutes` is the median."""
        return min(self._each_minutes), max(self._each_minutes)

    @property
    def _each_minutes(self) -> list[float]:
        return [record.seconds * record.cores / 60 for record in self._timed]

    @property
    def _timed(self) -> list[Record]:
        """The records whose times count."""
        on_cores = [record for record in self.records if not record.on_gpu]
        own_clock = [record for record in on_cores if not _is_by_the_wall(record)]
        return own_clock or on_cores or self.records

    @property
    def episodes_cell(self) -> str:
        """Training episodes for a table, a mean over the seeds."""
        return count(fmean(record.episodes for record in self.records))

    @property
    def by_the_wall(self) -> bool:
        """Whether trainings were timed by the wall's clock, which other processes lengthen."""
        return any(map(_is_by_the_wall, self._timed))

    @property
    def minutes_cell(self) -> str:
        """`core_minutes` for a table."""
        return self.timed(self.core_minutes)

    @property
    def minutes_of_given_cell(self) -> str:
        """`minutes_cell`, and the budget of the first seed where that was in minutes."""
        given = self.first.config.get("minutes")
        return self.minutes_cell + ("" if given is None else f" of {minutes(given)}")

    def timed(self, number: float) -> str:
        """Minutes of training for a table, by which clock if not by the core's own, and of which
        seeds if not of all."""
        if all(record.on_gpu for record in self.records):
            return f"{minutes(number)} (GPU)"
        timed = len(self._timed)
        notes = ["wall"] if self.by_the_wall else []
        notes += [] if timed == self.seeds else [f"{timed} of {self.seeds} seeds"]
        return minutes(number) + (f" ({', '.join(notes)})" if notes else "")

    @property
    def solved(self) -> int:
        """How many of the seeds solved the task."""
        return len(self._solved_after)

    @property
    def episodes_to_solve(self) -> float | None:
        """Median over the seeds that solved it; None where none did."""
        return median(p.episodes for p in self._solved_after) if self.solved else None

    @property
    def minutes_to_solve(self) -> float | None:
        """Median over the seeds that solved it and whose times count, of one core; None where none
        did."""
        points = (record.solved_after for record in self._timed)
        found = [point.core_seconds / 60 for point in points if point is not None]
        return median(found) if found else None

    @property
    def _solved_after(self) -> list[Validation]:
        points = (record.solved_after for record in self.records)
        return [point for point in points if point is not None]

    def success_at(self, multiple: int) -> float | None:
        """Share in [0, 1] at `multiple` times the greatest trained level, a mean over the seeds
        that were scored there; None where none was."""

        def success(record: Record) -> float | None:
            score = record.at(multiple)
            return None if score is None else score.success

        return self.mean(success)

    def successes_by_level(self) -> list[tuple[int, list[float]]]:
        """(level, the seeds' shares in [0, 1]) at each level that all seeds were scored at."""
        each = [{s.level: s.success for s in record.scores} for record in self.records]
        found = []
        for level in sorted(level for level in each[0] if level is not None):
            shares = [of_seed.get(level) for of_seed in each]
            known = [share for share in shares if share is not None]
            if len(known) == self.seeds:
                found.append((level, known))
        return found

    def cost(self, name: str) -> float | None:
        """A cost of `Score.costs` in the headline, a mean over the seeds that know it; None where
        none does."""
        return self.mean(lambda record: record.headline.costs.get(name))

    def cost_by_glimpse(self, name: str) -> list[float]:
        """(T,) a cost after each glimpse, or (1,) at the end alone; empty where not known."""
        each = [record.headline.costs_by_glimpse.get(name) for record in self.records]
        known = [costs for costs in each if costs]
        if known:
            return np.mean(_to_the_longest(known), axis=0).tolist()
        total = self.cost(name)
        return [] if total is None else [total]

    def mean(self, value: Callable[[Record], float | None]) -> float | None:
        """The mean of what is known of the seeds; None where nothing is."""
        known = [found for found in map(value, self.records) if found is not None]
        return fmean(known) if known else None


def _is_by_the_wall(record: Record) -> bool:
    return record.revision.startswith(BY_THE_WALL)


def _to_the_longest(each: Sequence[Sequence[float]]) -> list[list[float]]:
    """What was measured after each glimpse of each seed, up to the longest episode of any: one that
    has ended keeps its last value."""
    longest = max(map(len, each))
    return [[*values, *[values[-1]] * (longest - len(values))] for values in each]


def interval_of(errors: Sequence[float], episodes: int) -> tuple[float, float]:
    """The 95 % interval, as shares, of the seeds' errors (S,) in percent of as many episodes."""
    counts = [round(error / 100 * episodes) for error in errors]
    if len(counts) == 1:
        return wilson_interval(counts[0], episodes)
    return bootstrap_interval_from_counts(counts, episodes)


def compare(interval: tuple[float, float], reference: float) -> Verdict:
    """Whether the whole interval lies under or above a published error."""
    low, high = interval
    if high < reference:
        return "under"
    return "above" if low > reference else "overlaps"


def _error(score: Score) -> float:
    assert score.success is not None  # of tasks with success alone
    return 100 * (1 - score.success)
