"""How often the suite's intervals contain the truth, in simulations.

    python -m benchmarks.interval_coverage [--simulations 2000] [--record results/benchmarks]

Seeds' error rates are drawn from a normal distribution around the true one, and images from a beta
distribution of difficulties that all seeds share. The standard deviation of the rates that are
observed is given in units of that which a finite number of images causes alone: at 1 all seeds are
alike. In some cases a share of the seeds has not learned, and errs in `FAILED` of the images, hard
or not. Scores of a suite are normal around each task's own, without images. Intervals are of 95 %,
from `RESAMPLES` replicates.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import sqrt

import numpy as np

from agents.training.command_line import run_command
from benchmarks.options import options_parser, write_benchmark
from glimpse_envs.core.arrays import Bools
from glimpse_envs.evaluation.differences import difference_interval
from glimpse_envs.evaluation.statistics import bootstrap_interval, bootstrap_interval_from_counts
from glimpse_envs.evaluation.strata import stratified_interval

BENCHMARK = "interval_coverage"
IMAGES, RESAMPLES = 2_000, 1_000
ERROR, RARE = 0.05, 0.0003
LEARNED, FAILED = 0.01, 0.33
"""The error of a seed that has learned a task and of one that has not, where some have not."""
CONCENTRATION = 20.0
"""Sum of the two parameters of the beta distribution of difficulties; the greater, the more alike
the images. The errors of two seeds that are alike have the correlation 1 / (1 + this)."""
TASKS, LOWEST, HIGHEST, SCORE_SPREAD = 10, 0.2, 0.9, 0.03
"""Of a suite: its tasks, whose true scores lie evenly in a range, and the standard deviation of the
scores of a task's seeds."""


@dataclass(frozen=True)
class Case:
    """One simulated situation.

    Args:
        interval: a key of `INTERVALS`.
        seeds: of a model, or of a task of a suite.
        error: the true error rate; None for a suite.
        spread: the standard deviation of the seeds' observed error rates, in units of that by
            chance; None for a suite.
        failing: the share of the seeds that err in `FAILED` of the images.
    """

    interval: str
    seeds: int
    error: float | None = ERROR
    spread: float | None = 1.0
    failing: float = 0.0

    @property
    def truth(self) -> float:
        """The inter-quartile mean of infinitely many seeds."""
        assert self.error is not None
        failed = min(max(self.failing - 0.25, 0.0), 0.5) / 0.5  # of the middle half
        return (1 - failed) * self.error + failed * FAILED


@dataclass(frozen=True)
class Coverage:
    """Of so many simulations of a case, those whose interval contained the truth."""

    case: Case
    simulations: int
    covered: int


def draw_correct(random: np.random.Generator, *cases: Case) -> list[Bools]:
    """What the runs of each of several models answer rightly, (seeds, images) each, on the same
    images."""
    beta = ERROR * CONCENTRATION, (1 - ERROR) * CONCENTRATION
    difficulty = random.beta(*beta, size=IMAGES) / ERROR  # 1 on average
    drawn = []
    for case in cases:
        assert case.error is not None
        assert case.spread is not None
        chance = sqrt(case.error * (1 - case.error) / IMAGES)
        deviation = chance * sqrt(case.spread**2 - 1)
        rates = case.error + deviation * random.standard_normal((case.seeds, 1))
        wrong = rates * difficulty
        if case.failing:
            wrong[random.random(case.seeds) < case.failing] = FAILED
        drawn.append(random.random((case.seeds, IMAGES)) >= wrong)
    return drawn


def covers_error(case: Case, random: np.random.Generator, seed: int) -> bool:
    (correct,) = draw_correct(random, case)
    low, high = bootstrap_interval(correct, resamples=RESAMPLES, seed=seed)
    return contains(low, high, case.truth)


def covers_error_by_counts(case: Case, random: np.random.Generator, seed: int) -> bool:
    (correct,) = draw_correct(random, case)
    errors = (~correct).sum(axis=1)
    low, high = bootstrap_interval_from_counts(errors, IMAGES, resamples=RESAMPLES, seed=seed)
    return contains(low, high, case.truth)


def covers_difference(case: Case, random: np.random.Generator, seed: int) -> bool:
    correct, other = draw_correct(random, case, case)
    low, high = difference_interval(correct, other, resamples=RESAMPLES, seed=seed)
    return contains(low, high, 0.0)


def covers_suite(case: Case, random: np.random.Generator, seed: int) -> bool:
    levels = np.linspace(LOWEST, HIGHEST, TASKS)
    scores = levels[:, None] + SCORE_SPREAD * random.standard_normal((TASKS, case.seeds))
    low, high = stratified_interval(list(scores), resamples=RESAMPLES, seed=seed)
    return contains(low, high, (LOWEST + HIGHEST) / 2)  # scores are symmetric about it


def contains(low: float, high: float, truth: float) -> bool:
    """Whether an interval contains the truth."""
    return low <= truth <= high


INTERVALS: dict[str, Callable[[Case, np.random.Generator, int], bool]] = {
    "error": covers_error,
    "error, some fail": covers_error,
    "error, by counts": covers_error_by_counts,
    "difference": covers_difference,
    "suite": covers_suite,
}
SPREADS = (1.0, 3.0, 6.0)
CASES: tuple[Case, ...] = (
    Case("error", 1),
    *(Case("error", seeds, spread=spread) for seeds in (2, 3, 4, 5, 10) for spread in SPREADS),
    *(Case("error", seeds, error=RARE) for seeds in (1, 5, 10)),
    *(
        Case("error, some fail", seeds, LEARNED, failing=failing)
        for failing in (0.1, 0.3)
        for seeds in (3, 5, 10)
    ),
    *(Case("error, by counts", 5, spread=spread) for spread in SPREADS),
    Case("difference", 1),
    *(Case("difference", seeds, spread=spread) for seeds in (3, 5) for spread in SPREADS),
    *(Case("suite", seeds, error=None, spread=None) for seeds in (2, 3, 5)),
)


def measure(case: Case, simulations: int) -> Coverage:
    """Simulate a case so often; equal numbers give equal results."""
    random = np.random.default_rng(0)
    covered = sum(INTERVALS[case.interval](case, random, seed) for seed in range(simulations))
    return Coverage(case, simulations, covered)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = options_parser(__doc__)
    parser.add_argument(
        "--simulations", type=int, default=2_000, help="of each case (default: 2000)"
    )
    options = parser.parse_args(arguments)
    if options.simulations < 1:
        raise ValueError(f"simulations={options.simulations} must be at least 1")
    measured = []
    for case in CASES:
        coverage = measure(case, options.simulations)
        measured.append(coverage)
        of_errors = (
            f", error {100 * case.error:g} %, spread {case.spread:g}"
            if case.error is not None
            else ""
        )
        share = 100 * coverage.covered / coverage.simulations
        print(f"{case.interval:17} {case.seeds:2} seeds{of_errors}: {share:.1f} %", flush=True)
    entries = {
        "images": IMAGES,
        "failed": FAILED,
        "resamples": RESAMPLES,
        "concentration": CONCENTRATION,
        "tasks": TASKS,
        "scores": [LOWEST, HIGHEST],
        "score_spread": SCORE_SPREAD,
        "coverages": [asdict(coverage) for coverage in measured],
    }
    write_benchmark(options.record, BENCHMARK, entries)


if __name__ == "__main__":
    run_command(main)
