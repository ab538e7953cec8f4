"""The noise of gradient estimates, from the inner products of the estimates alone.

Covariances of whole networks are never formed: trace, signal and bias are sums of inner products,
so the Gram matrix (N, N) of N estimates suffices. Means of squares are corrected for noise, and
standard errors are those of the jackknife.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from report.variance_record import Slope

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A number and its standard error."""

    value: float
    error: float


def jackknife(statistic: Callable[[NDArray[np.int64]], float], count: int) -> Estimate:
    """`statistic` of all of `count` things, given by their numbers, and its standard error from
    leaving out each in turn (Efron & Tibshirani 1993, eq. 11.5)."""
    every = np.arange(count)
    without = np.array([statistic(np.delete(every, i)) for i in every])
    error = np.sqrt((count - 1) / count * np.square(without - without.mean()).sum())
    return Estimate(statistic(every), float(error))


def total_variance(gram: Array) -> Estimate:
    """tr Cov of independent estimates, unbiased, from their Gram matrix (N, N)."""
    return _of_sums(gram, lambda trace, total, count: (trace - total / count) / (count - 1))


def squared_mean(gram: Array) -> Estimate:
    """|E g|^2 of independent estimates, unbiased (so that it can be below 0), from their Gram
    matrix (N, N): the mean inner product of two different ones."""
    return _of_sums(gram, lambda trace, total, count: (total - trace) / (count * (count - 1)))


def _of_sums(gram: Array, statistic: Callable[[Any, Any, int], Any]) -> Estimate:
    """A `statistic` of the trace, the sum and the size of a Gram matrix, and its jackknife error:
    `jackknife` at once for all that are left out."""
    count, trace, total = len(gram), np.trace(gram), gram.sum()
    own, shared = gram.diagonal(), gram.sum(axis=1)
    without = statistic(trace - own, total - 2 * shared + own, count - 1)
    error = np.sqrt((count - 1) / count * np.square(without - without.mean()).sum())
    return Estimate(float(statistic(trace, total, count)), float(error))


@dataclass(frozen=True)
class Noise:
    """The variance of an estimate by source, for one unit of episodes.

    Args:
        actions: tr of the covariance with a fixed scene, from sampling looks alone.
        scenes: the further variance over scenes.
        total: the sum.
    """

    actions: Estimate
    scenes: Estimate
    total: Estimate


def separate_noise(gram: Array, scenes: int, episodes: int = 1) -> Noise:
    """Separate the noise of sampling from that of scenes: a one-way analysis of variance.

    Args:
        gram: (N, N) inner products of the gradients of N episodes, those of a scene together, as
            many of each.
        scenes: S of them.
        episodes: m of a scene that make one unit, whose estimate is their mean. Units are
            independent but for their scene; at least two a scene.

    Returns:
        Of one unit; a mean over n units, each of another scene, has 1 / n of it.
    """
    count = len(gram) // episodes
    units = gram.reshape(count, episodes, count, episodes).mean(axis=(1, 3))
    of_scene = count // scenes
    blocks = units.reshape(scenes, of_scene, scenes, of_scene)
    sums = blocks.sum(axis=(1, 3))  # (S, S)
    traces = np.einsum("sksk->s", blocks)
    within = sums.diagonal()
    pairs = of_scene * (of_scene - 1)

    def actions(chosen: NDArray[np.int64]) -> float:
        return float((traces - within / of_scene)[chosen].mean() / (of_scene - 1))

    def of_scenes(chosen: NDArray[np.int64]) -> float:
        alike = ((within - traces)[chosen] / pairs).mean()
        return float(alike - squared_mean(sums[np.ix_(chosen, chosen)]).value / of_scene**2)

    return Noise(
        jackknife(actions, scenes),
        jackknife(of_scenes, scenes),
        jackknife(lambda chosen: actions(chosen) + of_scenes(chosen), scenes),
    )


def fit_slope(x: Sequence[float], y: Sequence[float]) -> Slope:
    """Fit log y on log x by least squares. The interval is Student's, from the variance among the
    points of each x, which are its repeats with other seeds, pooled over all x: a bootstrap among
    three repeats has too narrow a spread.

    Raises:
        ValueError: a value is not above 0, there are fewer than two x, or no x has repeats.
    """
    if not min(*x, *y) > 0:
        raise ValueError(f"a power law needs values above 0; the least is {min(*x, *y)}")
    log_x, log_y = np.log(np.asarray(x, np.float64)), np.log(np.asarray(y, np.float64))
    places, at = np.unique(log_x, return_inverse=True)
    if len(places) < 2:
        raise ValueError(f"a slope needs at least two x; there is {np.unique(x).tolist()}")
    freedom = len(log_x) - len(places)
    if not freedom:
        raise ValueError("the interval of a slope needs repeats; each x has one value")
    means = np.bincount(at, log_y) / np.bincount(at)
    variance = np.square(log_y - means[at]).sum() / freedom
    away = log_x - log_x.mean()
    spread = np.square(away).sum()
    slope = float(away @ log_y / spread)
    reach = float(student.ppf(0.975, freedom) * np.sqrt(variance / spread))
    return Slope(slope, slope - reach, slope + reach)
