"""The simulation draws what it says, counts what holds, and repeats itself."""

import json
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

from benchmarks import interval_coverage
from benchmarks.interval_coverage import (
    BENCHMARK,
    CASES,
    HIGHEST,
    IMAGES,
    INTERVALS,
    LEARNED,
    LOWEST,
    Case,
    draw_correct,
    measure,
)
from glimpse_envs.evaluation.statistics import interquartile_mean
from report.page import Places
from report.pages.intervals import PAGE, publish

ERROR = interval_coverage.ERROR
TRUTHS = {
    "error": ("bootstrap_interval", ERROR),
    "error, some fail": ("bootstrap_interval", ERROR),
    "error, by counts": ("bootstrap_interval_from_counts", ERROR),
    "difference": ("difference_interval", 0.0),
    "suite": ("stratified_interval", (LOWEST + HIGHEST) / 2),
}


@pytest.mark.parametrize("spread", [1.0, 3.0, 6.0])
def test_the_rates_of_seeds_have_the_mean_and_the_spread_of_their_case(spread: float) -> None:
    case = Case("error", 4_000, spread=spread)
    rates = 1 - draw_correct(np.random.default_rng(0), case)[0].mean(axis=1)
    chance = sqrt(ERROR * (1 - ERROR) / IMAGES)
    assert rates.std() == pytest.approx(spread * chance, rel=0.05)
    # All seeds share the images, which are easier or harder than most by chance.
    assert rates.mean() == pytest.approx(ERROR, rel=0.1)


@pytest.mark.parametrize(("failing", "truth"), [(0.1, 0.01), (0.4, 0.106), (0.8, 0.33)])
def test_some_seeds_fail_and_the_truth_is_the_middle_half_of_very_many(
    failing: float, truth: float
) -> None:
    case = Case("error, some fail", 4_000, LEARNED, failing=failing)
    assert case.truth == pytest.approx(truth)
    rates = 1 - draw_correct(np.random.default_rng(0), case)[0].mean(axis=1)
    assert (rates > 0.2).mean() == pytest.approx(failing, abs=0.02)
    assert interquartile_mean(rates) == pytest.approx(truth, rel=0.2)


def test_images_are_hard_for_all_seeds_and_models() -> None:
    case = Case("error", 500)
    one, two = draw_correct(np.random.default_rng(0), case, case)
    shared = np.corrcoef(one.mean(axis=0), two.mean(axis=0))[0, 1]
    assert shared > 0.9


@pytest.mark.parametrize("interval", INTERVALS)
def test_what_contains_the_truth_is_counted_and_nothing_else(
    interval: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, truth = TRUTHS[interval]
    for low, high, holds in ((-1e-6, 1e-6, True), (1e-6, 1.0, False), (-1.0, -1e-6, False)):
        found = (truth + low, truth + high)
        monkeypatch.setattr(interval_coverage, function, lambda *_, found=found, **__: found)
        assert measure(Case(interval, 2), 5).covered == 5 * holds


def test_a_case_repeats_itself_and_is_covered() -> None:
    case = Case("error", 5, spread=3.0)
    assert measure(case, 40) == measure(case, 40)
    assert 34 <= measure(case, 40).covered <= 40


def simulated(results: Path) -> Path:
    """The record of two simulations of each case."""
    folder = results / "benchmarks"
    folder.mkdir()
    interval_coverage.main(["--simulations", "2", "--record", str(folder)])
    return folder / f"{BENCHMARK}.json"


def test_the_record_has_every_case_and_its_page(tmp_path: Path) -> None:
    record = json.loads(simulated(tmp_path).read_text())
    assert [Case(**one["case"]) for one in record["coverages"]] == list(CASES)
    assert {case.interval for case in CASES} == set(INTERVALS)
    page = publish(Places(results=tmp_path)).texts[PAGE]
    # A head and a rule for each of the five tables.
    assert sum(line.startswith("|") for line in page.splitlines()) == len(CASES) + 10
    assert "Not measured" in publish(Places(results=tmp_path / "none")).texts[PAGE]


def test_the_page_tells_what_covers_too_little(tmp_path: Path) -> None:
    path = simulated(tmp_path)
    record = json.loads(path.read_text())
    for one in record["coverages"]:
        few = one["case"]["interval"] == "error" and one["case"]["spread"] == 6.0
        one |= {"simulations": 1_000, "covered": 900 if few else 950}
    path.write_text(json.dumps(record))
    page = publish(Places(results=tmp_path)).texts[PAGE]
    told = [line for line in page.splitlines() if "Too little" in line]
    assert len(told) == 1
    assert "with 2 seeds at spread 6; 3 seeds at spread 6;" in told[0]
    assert page.count("None covers too little.") == 4


def test_no_simulation_is_refused() -> None:
    with pytest.raises(ValueError, match="simulations=0 must be at least 1"):
        interval_coverage.main(["--simulations", "0"])
