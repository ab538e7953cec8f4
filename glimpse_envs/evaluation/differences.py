"""Differences of two models that were played on the same scenes, with their intervals.

A scene is easy or hard for both, so the interval of their difference is narrower than the intervals
of the two error rates suggest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glimpse_envs.core.arguments import keyword_parameters
from glimpse_envs.core.arrays import Bools
from glimpse_envs.episodes.lookup import spec_of, task_class_of
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.evaluation.statistics import (
    check_confidence,
    draw_images,
    draw_seeds,
    normal_quantile,
    replicate_means,
    student_interval,
)
from glimpse_envs.task import Task
from glimpse_envs.vision.sensors.sensor import Sensor

OF_PLAY = frozenset({"budget", "inside", "overhang", "reward"})
"""Arguments, beside a task's `view_arguments`, that change neither what is dealt nor asked."""


def difference_interval(
    correct: Bools,
    other: Bools,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> tuple[float, float]:
    """Interval of the difference of two models' error rates, the first less the second, each the
    inter-quartile mean over its seeds, as fractions in [-1, 1].

    With several seeds it is a percentile bootstrap over the seeds of either model, and over images
    for all of them at once (see `glimpse_envs.evaluation.statistics.bootstrap_interval`). With one
    run each it is the interval of paired proportions of Agresti and Min (2005), "Simple improved
    confidence intervals for comparing matched proportions", and says nothing about other seeds.
    Where several runs differ by the same in every seed and image, as where no run errs, nothing
    varies, and the interval is that of one run each.

    Args:
        correct: (S, N) bool, whether the first model's run with seed s answered image n rightly.
        other: (M, N) bool, of the second model, on the same images; M is 1 where S is, and else
            at least 2, since one run does not show how much its seeds differ.
        confidence: in (0, 1).
        resamples: bootstrap replicates.
        seed: of the bootstrap's own stream.

    Raises:
        ValueError: an array is not boolean, or is empty; the arrays are not of the same images; one
            model has a single run and the other several; or a setting is out of its range.
    """
    check_confidence(confidence)
    one, two = np.asarray(correct), np.asarray(other)
    for name, array in (("correct", one), ("other", two)):
        if array.dtype != np.bool_ or array.ndim != 2 or array.size == 0:
            raise ValueError(
                f"{name} is {array.dtype} {array.shape}; it must be bool (seeds, images)"
            )
    if one.shape[1] != two.shape[1]:
        raise ValueError(
            f"correct is of {one.shape[1]} images and other of {two.shape[1]}: both models must be "
            "played on the same"
        )
    if len(one) != len(two) and min(len(one), len(two)) == 1:
        raise ValueError(
            f"correct has {_runs(one)} and other has {_runs(two)}: a single run does not show how "
            "much its seeds differ; give one run of each model, or several of each"
        )
    if len(one) == 1 or _nothing_varies(one, two):
        return _paired_interval(one[0], two[0], confidence)
    generator = np.random.default_rng(seed)
    seeds = [draw_seeds(generator, resamples, len(array)) for array in (one, two)]
    rates = draw_images(generator, resamples, np.concatenate([one, two]))
    first, second = (
        replicate_means(drawn, chosen, (~array).mean(axis=1), confidence)
        for drawn, chosen, array in zip(
            (rates[:, : len(one)], rates[:, len(one) :]), seeds, (one, two), strict=True
        )
    )
    tail = (1 - confidence) / 2
    low, high = np.quantile(first - second, [tail, 1 - tail])
    return float(low), float(high)


def _runs(correct: Bools) -> str:
    return f"{len(correct)} run{'s'[: len(correct) > 1]}"


def _nothing_varies(one: Bools, two: Bools) -> bool:
    """Return whether every choice of seeds and images has the same difference."""
    alike = (one == one[0]).all() and (two == two[0]).all()
    return bool(alike and np.ptp(one[0].astype(np.int8) - two[0].astype(np.int8)) == 0)


def _paired_interval(correct: Bools, other: Bools, confidence: float) -> tuple[float, float]:
    """Agresti and Min's interval of the difference of error rates of two runs, (N,) each: Wald's,
    with half an image added to each cell of the two by two table."""
    images = len(correct) + 2
    worse = float((~correct & other).sum()) + 0.5
    better = float((correct & ~other).sum()) + 0.5
    middle = (worse - better) / images
    deviation = np.sqrt(worse + better - (worse - better) ** 2 / images) / images
    half = normal_quantile(0.5 + confidence / 2) * float(deviation)
    return max(middle - half, -1.0), min(middle + half, 1.0)


def compare(one: Evaluation, other: Evaluation) -> str:
    """Return a sentence on how much the success of `one` is above that of `other`, or its return
    where there is no success, with the 95 % interval over the episodes. The interval holds for
    these two runs, and says nothing about other seeds.

    Raises:
        ValueError: they were not played on the same episodes of the same task, by actions chosen
            alike.
    """
    check_comparable(one, other)
    if one.successes is not None and other.successes is not None:
        # Fewer errors are more success.
        low, high = difference_interval(other.successes[None], one.successes[None])
        points = 100 * (one.successes.mean() - other.successes.mean())
        return _line("success", points, (100 * low, 100 * high), " points")
    gained = one.returns - other.returns
    if len(gained) < 2:
        return f"return {gained.mean():+.4g} on a single episode"
    return _line("return", float(gained.mean()), student_interval(gained), "")


def check_comparable(one: Evaluation, other: Evaluation) -> None:
    """Raise a `ValueError` unless both were played on the same episodes of the same task, by
    actions chosen alike."""
    for name in ("env_id", "split", "seed", "episodes", "actions"):
        mine, theirs = getattr(one, name), getattr(other, name)
        if mine != theirs:
            raise ValueError(
                f"{name} is {mine!r} of one and {theirs!r} of the other: runs are compared on the "
                "same episodes, by actions chosen alike"
            )
    check_one_task(one.env_id, one.env_kwargs, other.env_kwargs)


def check_one_task(env_id: str, mine: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Raise a `ValueError` where an argument of an environment differs that says what is hidden or
    asked."""
    task = task_class_of(env_id)
    if task is None:
        of_view: frozenset[str] = frozenset()
    else:
        mine, theirs = (spec_of(env_id).kwargs | made for made in (mine, theirs))
        # A scene may refuse what another one has as its default: defaults are added afterwards.
        known = task.parameters(mine) | task.parameters(theirs)
        defaults = {name: parameter.default for name, parameter in known.items()}
        mine, theirs = defaults | mine, defaults | theirs
        of_view = task.view_arguments | OF_PLAY | _of_sensors(task, mine, theirs)
    for name in sorted((mine.keys() | theirs.keys()) - of_view):
        if mine.get(name) != theirs.get(name):
            raise ValueError(
                f"{name} is {mine.get(name)!r} of one and {theirs.get(name)!r} of the other: runs "
                "are compared on the same task"
            )


def _of_sensors(task: type[Task], *made: dict[str, Any]) -> frozenset[str]:
    """The arguments of the sensors through which pictures are seen."""
    parts = [part for each in made for part in task.parts(each) if issubclass(part, Sensor)]
    return frozenset(name for part in parts for name in keyword_parameters(part))


def _line(what: str, value: float, interval: tuple[float, float], unit: str) -> str:
    low, high = interval
    where = "above 0" if low > 0 else "under 0" if high < 0 else "contains 0"
    return f"{what} {value:+.2f}{unit}, 95 % interval {low:+.2f} to {high:+.2f} ({where})"
