"""Scores of models over their training seeds, and how much each differs from the first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import median
from typing import Any

import numpy as np

from agents.scoring.run_films import check_one_environment
from agents.scoring.run_groups import check_seeds
from agents.scoring.run_record import cores_of
from agents.scoring.run_scores import EPISODES_PER_LEVEL, at_level, evaluate_run, scored_level
from agents.training.continuing import trainers_of
from agents.training.resuming import setting_of
from agents.training.training_length import training_length
from glimpse_envs.core.arrays import Floats
from glimpse_envs.evaluation.differences import (
    check_comparable,
    check_one_task,
    difference_interval,
)
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.evaluation.runs import Run
from glimpse_envs.evaluation.statistics import (
    CLAIM_EPISODES,
    bootstrap_interval,
    enough_seeds,
    interquartile_mean,
    student_interval,
    wilson_interval,
)

Interval = tuple[float, float]


@dataclass(frozen=True)
class ModelScore:
    """The score of a model's runs on the same episodes. Intervals are of 95 %.

    Attributes:
        name: of the model, with what tells it from the others.
        runs: the number of seeds.
        by_error: whether `score` is the error rate in [0, 1], the inter-quartile mean over the
            seeds; else it is their mean return.
        score: see `by_error`.
        interval: of `score`, over seeds and episodes, of returns over seeds; of one run over
            episodes alone; None for a return of a single episode.
        difference: `score` less that of the first model; None for the first itself.
        difference_interval: None where it cannot be told, as from one run against several.
        glimpses: mean number taken in an episode.
        trained: the median of the seeds' training episodes; None where it is not known.
        core_minutes: the median of the seeds' training times, of all their cores; None where it is
            not known, or a GPU trained.
        claims: whether it has enough seeds and episodes for a claim.
        pictures_replaced: whether the user's own pictures are others than in the training.
    """

    name: str
    runs: int
    by_error: bool
    score: float
    interval: Interval | None
    difference: float | None
    difference_interval: Interval | None
    glimpses: float
    trained: float | None
    core_minutes: float | None
    claims: bool
    pictures_replaced: bool = False


def score_models(
    models: Mapping[str, Sequence[Run]],
    split: str = "test",
    episodes: int | None = None,
    device: str = "cpu",
) -> list[ModelScore]:
    """Play each run of each model, name -> runs, once on the same episodes; tapes, tables and
    stories at the greatest trained length.

    Raises:
        RunError: a run cannot be read.
        ValueError: two runs of a model have one seed, the runs are not of one environment and task,
            or an argument does not fit.
    """
    for runs in models.values():
        check_seeds(runs)
    first, *others = (run for runs in models.values() for run in runs)
    for run in others:
        check_one_environment(first, run, "that are compared")
        env_id, *made = (setting_of(first, "env_id", str), *map(_played_kwargs, (first, run)))
        check_one_task(env_id, *made)
    played = {
        name: [_headline(run, split, episodes, device) for run in runs]
        for name, runs in models.items()
    }
    reference = next(iter(played.values()))
    for evaluation in (one for found in played.values() for one in found):
        check_comparable(evaluation, reference[0])
    return [
        _model_score(name, models[name], mine, None if mine is reference else reference)
        for name, mine in played.items()
    ]


def _played_kwargs(run: Run) -> dict[str, Any]:
    """The arguments of the environment in which a run is compared."""
    greatest = scored_level(run)
    level = {} if greatest is None else at_level(greatest)
    return {**setting_of(run, "env_kwargs", dict), **level}


def _headline(run: Run, split: str, episodes: int | None, device: str) -> Evaluation:
    """Its evaluation at the greatest trained length, or of all episodes where there is none."""
    greatest = scored_level(run)
    level: dict[str, Any] = {} if greatest is None else at_level(greatest)
    if level and episodes is None:
        level |= {"at_most": True}
        episodes = EPISODES_PER_LEVEL
    return evaluate_run(run, split=split, episodes=episodes, device=device, **level)


def _model_score(
    name: str,
    runs: Sequence[Run],
    mine: Sequence[Evaluation],
    reference: Sequence[Evaluation] | None,
) -> ModelScore:
    by_error = all(one.successes is not None for one in (*mine, *(reference or ())))
    score_of, between = (_error, _error_between) if by_error else (_return, _return_between)
    score, interval = score_of(mine)
    lengths = [length for run in runs if (length := training_length(run)) is not None]
    minutes = [found for run in runs if (found := _core_minutes(run)) is not None]
    shortest = min(minutes) if len(minutes) == len(mine) else 0.0  # what is not known may be short
    return ModelScore(
        name=name,
        runs=len(mine),
        by_error=by_error,
        score=score,
        interval=interval,
        difference=None if reference is None else score - score_of(reference)[0],
        difference_interval=None if reference is None else between(mine, reference),
        glimpses=float(np.mean([one.mean_glimpses for one in mine])),
        trained=median(one.episodes for one in lengths) if lengths else None,
        core_minutes=median(minutes) if minutes else None,
        claims=enough_seeds(len(mine), shortest) and mine[0].episodes >= CLAIM_EPISODES,
        pictures_replaced=any(run.pictures_replaced() for run in runs),
    )


def _core_minutes(run: Run) -> float | None:
    """Minutes of all cores of a training; None where they are not known, or a GPU trained."""
    length = training_length(run)
    on_gpu = any(str(one["device"]).startswith("cuda") for one in trainers_of(run))
    if length is None or not isfinite(length.seconds) or on_gpu:
        return None
    return cores_of(run) * length.seconds / 60


def _correct(evaluations: Sequence[Evaluation]) -> np.ndarray:
    """(S, N) whether each run succeeded in each episode."""
    return np.stack([np.asarray(one.successes, np.bool_) for one in evaluations])


def _error(evaluations: Sequence[Evaluation]) -> tuple[float, Interval | None]:
    correct = _correct(evaluations)
    score = interquartile_mean((~correct).mean(axis=1))
    if len(correct) > 1:
        return score, bootstrap_interval(correct)
    return score, wilson_interval(int((~correct).sum()), correct.size)


def _error_between(mine: Sequence[Evaluation], other: Sequence[Evaluation]) -> Interval | None:
    if len(mine) != len(other) and 1 in (len(mine), len(other)):
        return None
    return difference_interval(_correct(mine), _correct(other))


def _return(evaluations: Sequence[Evaluation]) -> tuple[float, Interval | None]:
    means = _mean_returns(evaluations)
    interval = evaluations[0].return_interval if len(means) == 1 else student_interval(means)
    return float(means.mean()), interval


def _return_between(mine: Sequence[Evaluation], other: Sequence[Evaluation]) -> Interval | None:
    """Of one run each over the episodes, in pairs; of several Welch's interval over the seeds."""
    if len(mine) == len(other) == 1:
        gained = mine[0].returns - other[0].returns
        return student_interval(gained) if len(gained) > 1 else None
    if 1 in (len(mine), len(other)):
        return None
    from scipy.stats import ttest_ind

    first, second = _mean_returns(mine), _mean_returns(other)
    if np.ptp(first) == np.ptp(second) == 0:  # nothing varies
        return None
    found = ttest_ind(first, second, equal_var=False).confidence_interval(0.95)
    return float(found.low), float(found.high)


def _mean_returns(evaluations: Sequence[Evaluation]) -> Floats:
    return np.array([one.mean_return for one in evaluations])
