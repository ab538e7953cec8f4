"""Intervals and averages of error rates: of one run, of several seeds, and normalised scores."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from glimpse_envs.core.arrays import Bools, Floats, Ints

# Counts drawn at a time by the bootstrap: 4 M int64 cells are 32 MB. It does not change the result.
CHUNK_CELLS = 4_000_000
RARE = 3.0
"""Mean number of a seed's errors, or successes, below which these are rare."""

CLAIM_SEEDS, CLAIM_EPISODES = 5, 10_000
"""The fewest seeds of a claim. With fewer the bootstrap over them is stretched (`_stretch`)."""
SHORT_MINUTES, SHORT_SEEDS = 6.0, 10
"""The fewest seeds of a claim where a training is shorter: ten take at most a core-hour."""


def wilson_interval(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a proportion, as fractions in [0, 1].

    Wilson (1927), "Probable inference, the law of succession, and statistical inference".

    Raises:
        ValueError: no trials, successes that are no count in [0, trials], or confidence outside
            (0, 1).
    """
    check_confidence(confidence)
    if trials < 1:
        raise ValueError(f"trials is {trials}; an interval needs at least 1")
    if not 0 <= successes <= trials:
        raise ValueError(f"successes is {successes}; it must be from 0 to {trials}")
    if successes != int(successes):
        raise ValueError(f"successes is {successes}; it must be a count of {trials}, not a share")
    return _score_interval(successes / trials, trials, confidence)


def _score_interval(share: float, trials: int, confidence: float) -> tuple[float, float]:
    """Wilson's score interval of a `share` of `trials`."""
    z = normal_quantile(0.5 + confidence / 2)
    spread = z * sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2)
    middle, scale = share + z**2 / (2 * trials), 1 + z**2 / trials
    low = 0.0 if share == 0 else (middle - spread) / scale
    high = 1.0 if share == 1 else (middle + spread) / scale
    return low, high


def student_interval(values: ArrayLike, confidence: float = 0.95) -> tuple[float, float]:
    """Student's interval of the mean of `values` (N,), in their unit.

    Raises:
        ValueError: `values` is not one-dimensional with at least 2 entries, or not finite, or
            `confidence` is not in (0, 1).
    """
    check_confidence(confidence)
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size < 2:
        raise ValueError(f"values has shape {array.shape}; it must be (N,) with N at least 2")
    check_finite(array)
    half = student_quantile(0.5 + confidence / 2, array.size - 1) * float(array.std(ddof=1))
    half /= sqrt(array.size)
    mean = float(array.mean())
    return mean - half, mean + half


def interquartile_mean(values: ArrayLike) -> float:
    """Mean of the middle half of `values` (S,): a quarter, rounded down, is cut at either end.

    Agarwal et al. (2021), "Deep reinforcement learning at the edge of the statistical precipice".
    With fewer than four values nothing is cut, and it is the mean.

    Raises:
        ValueError: `values` is empty, not one-dimensional or not finite.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"values has shape {array.shape}; it must be (S,) with S at least 1")
    check_finite(array)
    return float(_middle_means(array[None])[0])


def enough_seeds(seeds: int, shortest: float) -> bool:
    """Whether so many training seeds are enough for a claim. The core-minutes of the `shortest`
    training tell whether trainings are short: the same one takes longer on a busy machine."""
    return seeds >= (SHORT_SEEDS if shortest < SHORT_MINUTES else CLAIM_SEEDS)


def bootstrap_interval(
    correct: Bools, confidence: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> tuple[float, float]:
    """Interval of the error rate's inter-quartile mean over seeds, as fractions in [0, 1].

    A percentile bootstrap over seeds and images together: all seeds answer the same images, so an
    image is drawn for all of them at once. Fewer than five seeds would cover too little where they
    differ much: their part of the interval is therefore stretched as in Student's interval. Where a
    seed has fewer than three errors on average, or fewer than three successes, Wilson's interval of
    this average for one seed's images is joined; alone, the bootstrap would stay near 0 or 1. How
    often it contains the truth is simulated by `benchmarks/interval_coverage.py`.

    Args:
        correct: (S, N) bool, whether the run with seed s answered image n rightly.
        confidence: in (0, 1).
        resamples: bootstrap replicates.
        seed: of the bootstrap's own stream.

    Raises:
        ValueError: `correct` is not a boolean (S, N) with S and N at least 1, or a setting is out
            of its range.
    """
    check_confidence(confidence)
    correct = np.asarray(correct)
    if correct.dtype != np.bool_ or correct.ndim != 2 or correct.size == 0:
        raise ValueError(
            f"correct is {correct.dtype} {correct.shape}; it must be bool (seeds, images)"
        )
    generator = np.random.default_rng(seed)
    chosen = draw_seeds(generator, resamples, len(correct))
    rates = draw_images(generator, resamples, correct)
    return _percentiles(rates, chosen, (~correct).mean(axis=1), correct.shape[1], confidence)


def bootstrap_interval_from_counts(
    errors: Sequence[int],
    trials: int,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> tuple[float, float]:
    """`bootstrap_interval` where only each seed's number of errors (S,) in `trials` is known.

    It is then unknown which images went wrong, and how much the errors of the seeds have in common.
    The cautious extreme is assumed: an unlucky draw of images is unlucky for every seed.

    Raises:
        ValueError: no seeds, errors that are no counts in [0, trials], or a setting out of its
            range.
    """
    from scipy.stats import binom

    check_confidence(confidence)
    counts = np.asarray(errors)
    if counts.ndim != 1 or counts.size == 0 or trials < 1:
        raise ValueError(
            f"errors has shape {counts.shape} and trials is {trials}; "
            "errors must be (S,) with S at least 1, and trials at least 1"
        )
    if not ((counts >= 0) & (counts <= trials)).all():
        raise ValueError(f"errors are {counts.tolist()}; each must lie in [0, {trials}]")
    if (counts % 1 != 0).any():
        raise ValueError(
            f"errors are {counts.tolist()}; each must be a count of {trials}, no share"
        )
    generator = np.random.default_rng(seed)
    chosen = draw_seeds(generator, resamples, counts.size)
    luck = generator.random((resamples, 1))
    rates = np.asarray(binom.ppf(luck, trials, counts / trials)) / trials  # (R, S)
    return _percentiles(rates, chosen, counts / trials, trials, confidence)


def normalised_score(value: float, chance: float, ceiling: float) -> float:
    """Return `value` on the scale with `chance` at 0 and `ceiling` at 1; negative below chance.

    Raises:
        ValueError: chance and ceiling are equal.
    """
    if chance == ceiling:
        raise ValueError(f"chance and ceiling are both {chance}; they must differ")
    return (value - chance) / (ceiling - chance)


def draw_seeds(generator: np.random.Generator, resamples: int, seeds: int) -> Ints:
    """Return the seeds of each replicate: (R, S) indices, drawn with replacement.

    Raises:
        ValueError: there are no resamples.
    """
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}; it must be at least 1")
    return generator.integers(seeds, size=(resamples, seeds))


def draw_images(generator: np.random.Generator, resamples: int, correct: Bools) -> Floats:
    """Return the error rates (R, S) of each replicate from `correct` (S, N): its images are drawn
    with replacement, the same for all seeds."""
    seeds, images = correct.shape
    # Images that the same seeds got wrong are interchangeable, so only the number of draws of each
    # pattern of errors matters: at most 2^S counts per replicate instead of N.
    patterns, sizes = np.unique(~correct, axis=1, return_counts=True)  # (S, P), (P,)
    rates = np.empty((resamples, seeds))
    rows = max(1, CHUNK_CELLS // len(sizes))
    for start in range(0, resamples, rows):
        part = rates[start : start + rows]
        counts = generator.multinomial(images, sizes / images, size=len(part))  # (R, P)
        part[:] = counts @ patterns.T.astype(np.float64) / images  # (R, S)
    return rates


def replicate_means(rates: Floats, chosen: Ints, of_seeds: Floats, confidence: float) -> Floats:
    """Return the inter-quartile mean (R,) of each replicate; rates and chosen are (R, S). Where
    seeds are few, the effect of the choice of seeds on the mean of the rates `of_seeds` (S,) is
    stretched."""
    means = _middle_means(np.take_along_axis(rates, chosen, axis=1))
    seeds = len(of_seeds)
    if 1 < seeds < CLAIM_SEEDS:
        by_seeds = _middle_means(of_seeds[chosen]) - float(_middle_means(of_seeds[None])[0])
        means = (means + (_stretch(seeds, 1, confidence) - 1) * by_seeds).clip(0.0, 1.0)
    return means


def _percentiles(
    rates: Floats, chosen: Ints, of_seeds: Floats, trials: int, confidence: float
) -> tuple[float, float]:
    """Percentile interval of the `replicate_means` of seeds with so many `trials` each.

    Where errors, or successes, are rare, the inter-quartile mean of most replicates is exactly 0,
    or 1, though the seeds' mean is not: Wilson's interval of one seed with that mean is joined.
    """
    tail = (1 - confidence) / 2
    means = replicate_means(rates, chosen, of_seeds, confidence)
    low, high = np.quantile(means, [tail, 1 - tail])
    mean = float(of_seeds.mean())
    if trials * min(mean, 1 - mean) < RARE:
        least, most = _score_interval(mean, trials, confidence)
        low, high = min(low, least), max(high, most)
    return float(low), float(high)


def _stretch(values: int, strata: int, confidence: float) -> float:
    """The factor by which an interval is stretched beyond a bootstrap's. Redrawing `values` within
    `strata` yields only (values - strata) / values of the variance of new values; and that variance
    is estimated from few, so Student's quantile replaces the normal one."""
    free = values - strata
    return float(np.sqrt(values / free)) * student_stretch(free, confidence)


def student_stretch(free: float, confidence: float) -> float:
    """Student's quantile of so many degrees of freedom over the normal one."""
    upper = 0.5 + confidence / 2
    return student_quantile(upper, free) / normal_quantile(upper)


# SciPy's distributions, which have Wilson's interval and trimmed means too, take half a second to
# import, these functions a fifth of that.


def normal_quantile(probability: float) -> float:
    """The standard normal quantile of a probability in (0, 1)."""
    from scipy.special import ndtri

    return float(ndtri(probability))


def student_quantile(probability: float, free: float) -> float:
    """Student's quantile of a probability in (0, 1), with so many degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(free, probability))


def _middle_means(rows: Floats, axis: int = 1) -> Floats:
    """Inter-quartile mean along an axis: (R, S) to (R,)."""
    count = rows.shape[axis]
    middle = np.arange(count // 4, count - count // 4)
    return np.sort(rows, axis=axis).take(middle, axis=axis).mean(axis=axis)


def check_finite(values: Floats) -> None:
    """Raise a ValueError unless all of `values`, of any shape, are finite."""
    if not np.isfinite(values).all():
        raise ValueError(f"values must be finite; got {values.tolist()}")


def check_confidence(confidence: float) -> None:
    """Raise a ValueError unless `confidence` lies in (0, 1)."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; it must lie in (0, 1), such as 0.95")
