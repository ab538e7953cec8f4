"""The simulation draws what it says, counts what holds, and repeats itself."""

import json
from dataclasses import replace
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

from benchmarks import interval_coverage
from benchmarks.interval_coverage import BENCHMARK, CASES, IMAGES, INTERVALS, Case, draw_correct
from report.page import Places
from report.pages.intervals import PAGE, publish


@pytest.mark.parametrize("ratio", [1.0, 3.0, 6.0])
def test_the_rates_of_seeds_have_the_mean_and_the_spread_of_their_case(ratio: float) -> None:
    case = Case("error", 4_000, ratio=ratio)
    random = np.random.default_rng(0)
    rates = 1 - draw_correct(random, case)[0].mean(axis=1)
    chance = sqrt(case.error * (1 - case.error) / IMAGES)
    assert rates.std() == pytest.approx(ratio * chance, rel=0.05)
    # All seeds share the images, which are easier or harder than most by chance.
    assert rates.mean() == pytest.approx(case.error, rel=0.1)


def test_images_are_hard_for_all_seeds_and_models() -> None:
    case = Case("error", 500)
    one, two = draw_correct(np.random.default_rng(0), case, case)
    shared = np.corrcoef(one.mean(axis=0), two.mean(axis=0))[0, 1]
    assert shared > 0.9


def test_a_wrong_interval_is_told_from_a_right_one(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("error", 5, ratio=3.0)
    right = interval_coverage.measure(case, 40)
    assert right == interval_coverage.measure(case, 40)
    assert right.covered >= 34
    monkeypatch.setattr(
        interval_coverage, "bootstrap_interval", lambda *_, **__: (case.error + 1e-6, 1.0)
    )
    assert interval_coverage.measure(case, 40) == replace(right, covered=0)


def test_the_record_has_every_case_and_its_page(tmp_path: Path) -> None:
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    interval_coverage.main(["--simulations", "2", "--record", str(folder)])
    record = json.loads((folder / f"{BENCHMARK}.json").read_text())
    assert [Case(**one["case"]) for one in record["coverages"]] == list(CASES)
    assert {case.interval for case in CASES} == set(INTERVALS)
    page = publish(Places(results=tmp_path)).texts[PAGE]
    # A head and a rule for each of the four tables.
    assert sum(line.startswith("|") for line in page.splitlines()) == len(CASES) + 8
    assert "Not measured" in publish(Places(results=folder)).texts[PAGE]


def test_no_simulation_is_refused() -> None:
    with pytest.raises(ValueError, match="simulations=0 must be at least 1"):
        interval_coverage.main(["--simulations", "0"])
