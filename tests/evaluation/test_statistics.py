"""Intervals against closed forms, an independent implementation and simulated coverage."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, binomtest

from glimpse_envs.evaluation import statistics
from glimpse_envs.evaluation.statistics import (
    bootstrap_interval,
    bootstrap_interval_from_counts,
    interquartile_mean,
    normalised_score,
    student_interval,
    wilson_interval,
)


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (0, 50), (3, 10), (404, 10_000), (7, 7)])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_wilson_agrees_with_scipy(successes: int, trials: int, confidence: float) -> None:
    expected = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    low, high = wilson_interval(successes, trials, confidence)
    assert low == pytest.approx(expected.low, abs=1e-12)
    assert high == pytest.approx(expected.high, abs=1e-12)


def test_wilson_covers_as_often_as_it_says() -> None:
    trials = 200
    counts = np.arange(trials + 1)
    intervals = np.array([wilson_interval(int(k), trials) for k in counts])
    shares = np.linspace(0.02, 0.98, 49)
    holds = (intervals[:, :1] <= shares) & (shares <= intervals[:, 1:])  # (counts, shares)
    coverage = (holds * binom.pmf(counts[:, None], trials, shares)).sum(axis=0)
    assert coverage.mean() == pytest.approx(0.95, abs=0.01)
    assert coverage.min() > 0.9


@pytest.mark.parametrize(("successes", "trials"), [(-1, 5), (6, 5), (0, 0)])
def test_wilson_refuses_impossible_counts(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match=r"trials is 0|successes is"):
        wilson_interval(successes, trials)


def test_interquartile_mean_cuts_a_quarter_at_either_end() -> None:
    assert interquartile_mean([100.0, 1.0, 2.0, 3.0, -50.0]) == 2.0
    assert interquartile_mean([1, 2, 3, 4, 5, 6, 7, 800]) == 4.5
    assert interquartile_mean([1.0, 2.0, 6.0]) == 3.0
    with pytest.raises(ValueError, match="finite"):
        interquartile_mean([1.0, np.nan])
    with pytest.raises(ValueError, match="at least 1"):
        interquartile_mean([])


def _bits(seeds: int, images: int, error: float, seed: int = 0) -> NDArray[np.bool_]:
    return np.random.default_rng(seed).random((seeds, images)) >= error


def test_bootstrap_of_identical_seeds_is_the_binomial_interval() -> None:
    images = 2_000
    row = np.arange(images) >= images // 10  # 10 % wrong
    low, high = bootstrap_interval(np.tile(row, (5, 1)))
    expected = binom.ppf([0.025, 0.975], images, 0.1) / images
    assert [low, high] == pytest.approx(expected, abs=1.5e-3)


def test_bootstrap_keeps_the_luck_of_an_image_together() -> None:
    shared = np.tile(np.arange(1_000) >= 100, (8, 1))
    apart = np.stack([np.roll(row, 100 * i) for i, row in enumerate(shared)])
    width = np.diff(bootstrap_interval(shared))[0]
    assert width > 1.5 * np.diff(bootstrap_interval(apart))[0]


def test_bootstrap_resamples_seeds() -> None:
    """All-right and all-wrong runs: images add nothing, only which seeds are drawn matters."""
    correct = np.zeros((4, 50), dtype=np.bool_)
    correct[:2] = True
    assert bootstrap_interval(correct) == (0.0, 1.0)
    # The middle two of four draws are both wrong when at least three of the four are.
    share = binom.sf(2, 4, 0.5)
    low, high = bootstrap_interval(correct, confidence=1 - 2 * (share + 0.02))
    assert (low, high) == (0.5, 0.5)


def test_bootstrap_covers_the_truth() -> None:
    generator = np.random.default_rng(1)
    held, widths = 0, []
    for trial in range(100):
        errors = np.clip(generator.normal(0.1, 0.03, size=(10, 1)), 0, 1)
        correct = generator.random((10, 500)) >= errors
        low, high = bootstrap_interval(correct, resamples=200, seed=trial)
        held += low <= 0.1 <= high
        widths.append(high - low)
    assert held >= 88
    assert np.mean(widths) < 0.08


@pytest.mark.parametrize("seeds", [2, 3, 4])
def test_the_interval_of_few_seeds_covers_the_truth_too(seeds: int) -> None:
    """A plain percentile bootstrap holds it 71, 76 and 92 times."""
    generator = np.random.default_rng(seeds)
    held = 0
    for trial in range(100):
        errors = generator.normal(0.3, 0.03, size=(seeds, 1))
        correct = generator.random((seeds, 2_000)) >= errors
        low, high = bootstrap_interval(correct, resamples=200, seed=trial)
        held += low <= 0.3 <= high
    assert held >= 93


def test_wilsons_interval_is_joined_below_three_errors_a_seed() -> None:
    intervals = {}
    for errors in (2, 3):
        correct = np.ones((5, 1_000), np.bool_)
        correct[:, :errors] = False
        intervals[errors] = bootstrap_interval(correct), wilson_interval(errors, 1_000)
    (low, high), (least, most) = intervals[2]
    assert low <= least < most <= high
    (_, high), (_, most) = intervals[3]
    assert high < most


def test_rare_errors_of_many_seeds_are_not_taken_for_none() -> None:
    """Most seeds make no error; the inter-quartile mean of most replicates is then exactly 0."""
    random, truth, covered = np.random.default_rng(0), 0.3 / 1_000, 0
    for _ in range(20):
        low, high = bootstrap_interval(random.random((20, 1_000)) >= truth, resamples=200)
        covered += low <= truth <= high
    assert covered >= 18


def test_one_more_error_makes_no_tighter_interval() -> None:
    limits = [bootstrap_interval_from_counts([0, 0, 0, 0, n], 10_000)[1] for n in range(4)]
    assert limits == sorted(limits)
    assert limits[0] == pytest.approx(wilson_interval(0, 10_000)[1])


def test_bootstrap_does_not_depend_on_the_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    correct = _bits(6, 300, 0.2)
    whole = bootstrap_interval(correct, resamples=501)
    monkeypatch.setattr(statistics, "CHUNK_CELLS", 100)
    assert bootstrap_interval(correct, resamples=501) == whole


def test_bootstrap_is_reproducible_and_seeded() -> None:
    correct = _bits(5, 400, 0.1)
    assert bootstrap_interval(correct, seed=3) == bootstrap_interval(correct, seed=3)
    assert bootstrap_interval(correct, seed=3) != bootstrap_interval(correct, seed=4)


def test_counts_take_the_cautious_end() -> None:
    """Equal where the seeds err together, wider where they do not."""
    together = np.tile(_bits(1, 2_000, 0.1), (5, 1))
    errors = [int(count) for count in (~together).sum(axis=1)]
    from_counts = bootstrap_interval_from_counts(errors, 2_000)
    assert from_counts == pytest.approx(bootstrap_interval(together), abs=2e-3)
    apart = _bits(5, 2_000, 0.1)
    errors = [int(count) for count in (~apart).sum(axis=1)]
    assert np.diff(bootstrap_interval_from_counts(errors, 2_000)) > np.diff(
        bootstrap_interval(apart)
    )


def test_where_nothing_varies_the_interval_is_that_of_one_run() -> None:
    assert bootstrap_interval_from_counts([0, 0, 0], 10, resamples=50) == wilson_interval(0, 10)
    assert bootstrap_interval_from_counts([10, 10], 10, resamples=50) == wilson_interval(10, 10)
    assert bootstrap_interval(np.ones((5, 40), np.bool_)) == wilson_interval(0, 40)
    assert bootstrap_interval(np.zeros((5, 40), np.bool_)) == wilson_interval(40, 40)


def test_bootstraps_refuse_bad_input() -> None:
    with pytest.raises(ValueError, match="must be bool"):
        bootstrap_interval(np.zeros((2, 3)))  # type: ignore[arg-type] # what is refused
    with pytest.raises(ValueError, match="confidence is 95"):
        bootstrap_interval(_bits(2, 3, 0.5), confidence=95)
    with pytest.raises(ValueError, match="resamples is 0"):
        bootstrap_interval(_bits(2, 3, 0.5), resamples=0)
    with pytest.raises(ValueError, match="must lie in"):
        bootstrap_interval_from_counts([11], 10)
    with pytest.raises(ValueError, match="a count of 10000, no share"):
        bootstrap_interval_from_counts([0.05, 0.07], 10_000)  # type: ignore[list-item] # refused
    with pytest.raises(ValueError, match="a count of 10000, not a share"):
        wilson_interval(0.95, 10_000)  # type: ignore[arg-type] # what is refused
    with pytest.raises(ValueError, match="must be finite"):
        student_interval([1.0, np.nan, 2.0])


def test_normalised_score() -> None:
    assert normalised_score(0.55, chance=0.1, ceiling=1.0) == pytest.approx(0.5)
    assert normalised_score(0.0, chance=0.5, ceiling=1.0) == -1.0
    with pytest.raises(ValueError, match="both 1"):
        normalised_score(0.0, chance=1.0, ceiling=1.0)
