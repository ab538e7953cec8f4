"""The inter-quartile mean over tasks and training seeds, and its interval."""

from collections.abc import Sequence
from math import lcm

import numpy as np
from numpy.typing import ArrayLike

from glimpse_envs.core.arrays import Floats, Ints
from glimpse_envs.evaluation.statistics import check_confidence, check_finite, student_stretch


def stratified_mean(strata: Sequence[ArrayLike]) -> float:
    """Inter-quartile mean of the values of all strata, each stratum having the same weight.

    The middle half of the weight is averaged, and a value at its end counts in part: strata that
    repeat their values have the same mean, so that more training seeds do not shift it.
    `interquartile_mean` cuts whole values instead.

    Args:
        strata: values (n_i,) of each stratum, such as a task's scores of each training seed.

    Raises:
        ValueError: no strata, or one without values, with several axes, or not finite.
    """
    values = [np.asarray(stratum, np.float64) for stratum in strata]
    if not values or any(stratum.ndim != 1 or not stratum.size for stratum in values):
        raise ValueError(
            f"strata have shapes {[stratum.shape for stratum in values]}; each must be (n,) with n "
            "at least 1"
        )
    for stratum in values:
        check_finite(stratum)
    return float(_stratified_means(values))


def stratified_interval(
    strata: Sequence[ArrayLike],
    confidence: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> tuple[float, float]:
    """Interval of `stratified_mean`, by a percentile bootstrap within each stratum, stretched about
    the mean as Student's interval is, because strata hold few values.

    What redrawing n values takes from the variance of a stratum's mean, 1 / n of it, is given back
    to each stratum; the degrees of freedom are Satterthwaite's, so that strata of few values count
    as much as they vary.

    Args:
        strata: of each stratum its values (n_i,), which are drawn; or (n_i, m_i), of which the m_i
            columns are drawn, and each value is the mean of its row.
        confidence: in (0, 1).
        resamples: bootstrap replicates.
        seed: of the bootstrap's own stream.

    Raises:
        ValueError: no strata, a stratum with fewer than two entries to draw, of other axes or not
            finite, or a setting out of its range.
    """
    from scipy.stats import bootstrap

    check_confidence(confidence)
    arrays = [np.asarray(stratum, np.float64) for stratum in strata]
    if not arrays or any(s.ndim not in (1, 2) or not s.size or s.shape[-1] < 2 for s in arrays):
        raise ValueError(
            f"strata have shapes {[s.shape for s in arrays]}; each must be (n,) or (n, m), with at "
            "least 2 entries in the last axis"
        )
    for stratum in arrays:
        check_finite(stratum)
    counts = [stratum.shape[-1] for stratum in arrays]

    def statistic(*drawn: Ints, axis: int) -> Floats:
        found = [_drawn(s, at) for s, at in zip(arrays, drawn, strict=True)]
        for values, stratum, count in zip(found, arrays, counts, strict=True):
            moved = values.mean(axis=-1, keepdims=True) - stratum.mean()
            values += (np.sqrt(count / (count - 1)) - 1) * moved
        return _stratified_means(found)

    interval = bootstrap(
        tuple(np.arange(count) for count in counts),
        statistic,
        n_resamples=resamples,
        batch=100,
        confidence_level=confidence,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    by_policy = [s if s.ndim == 1 else s.mean(axis=1) for s in arrays]
    centre = stratified_mean(by_policy)
    # The variance of each stratum's mean, as far as that mean enters the inter-quartile mean.
    drawn = [s if s.ndim == 1 else s.mean(axis=0) for s in arrays]
    variances = _shares_kept(by_policy) ** 2 * [s.var(ddof=1) / len(s) for s in drawn]
    free = sum(counts) - len(counts)
    if variances.any():
        free = variances.sum() ** 2 / (variances**2 / [count - 1 for count in counts]).sum()
    stretch = student_stretch(free, confidence)
    return (
        centre + stretch * (float(interval.low) - centre),
        centre + stretch * (float(interval.high) - centre),
    )


def _drawn(stratum: Floats, columns: Ints) -> Floats:
    """Values (..., n) of a stratum (n,) or (n, m), of which `columns` (..., n or m) were drawn."""
    columns = np.asarray(columns, np.int64)
    if stratum.ndim == 1:
        return stratum[columns]
    return np.stack([row[columns].mean(axis=-1) for row in stratum], axis=-1)


def _stratified_means(strata: Sequence[Floats]) -> Floats:
    """Inter-quartile means (...) of strata (..., n_i), each with the same weight."""
    values = np.concatenate(strata, axis=-1)
    means: Floats = (values * _kept(values, [s.shape[-1] for s in strata])).sum(axis=-1)
    return means


def _shares_kept(strata: Sequence[Floats]) -> Floats:
    """The share (strata,) of the inter-quartile mean that is each stratum's, (n_i,)."""
    sizes = [len(stratum) for stratum in strata]
    kept = _kept(np.concatenate(strata), sizes)
    return np.array([part.sum() for part in np.split(kept, np.cumsum(sizes)[:-1])])


def _kept(values: Floats, sizes: Sequence[int]) -> Floats:
    """The share of each of the `values` (..., sum of `sizes`) in the inter-quartile mean of strata
    that follow one another."""
    whole = lcm(*sizes)
    weights = np.repeat([whole // size for size in sizes], sizes)
    order = values.argsort(axis=-1)
    total = len(sizes) * whole
    cut = total / 4
    ends = weights[order].cumsum(axis=-1).clip(cut, total - cut)
    kept = np.empty(values.shape)
    np.put_along_axis(kept, order, np.diff(ends, axis=-1, prepend=cut), axis=-1)
    return kept / (total - 2 * cut)
