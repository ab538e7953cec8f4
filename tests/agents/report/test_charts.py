"""Charts of one page: a run has one colour in all of them, and is named wherever there are more."""

import base64
from pathlib import Path

import numpy as np
import pytest

from agents.report.charts import chart_of_curves, chart_of_points, page_lines, tick_of_error
from agents.scoring.run_groups import Curve, Group
from glimpse_envs.evaluation.runs import Run, create_run
from report.figures.style import LEAST_ERROR, style_of

VALUES = np.array([0.5, 0.25])
CURVE = Curve(np.array([10.0, 20.0]), VALUES, VALUES, VALUES, seeds=1)


@pytest.fixture
def runs(tmp_path: Path) -> list[Run]:
    return [create_run(tmp_path / str(k), {"policy": "a:B", "seed": k}) for k in range(2)]


def svg(source: str) -> str:
    return base64.b64decode(source.partition("base64,")[2]).decode()


def test_a_run_keeps_its_colour_and_name_in_a_chart_of_its_own(runs: list[Run]) -> None:
    shared = page_lines([Group("first", (runs[0],)), Group("second", (runs[1],))])
    first, second = (style_of(number).colour.lower() for number in range(2))
    for drawn in (
        chart_of_curves({"second": CURVE}, "entropy", shared),
        chart_of_points({"second": ([1, 2], [VALUES])}, ("glimpse", "accuracy"), shared),
    ):
        assert second in svg(drawn)
        assert first not in svg(drawn)
        assert 'id="legend_1"' in svg(drawn)


def test_the_least_tick_of_errors_says_that_lesser_ones_are_drawn_there() -> None:
    assert [tick_of_error(value) for value in (LEAST_ERROR, 0.1, 10.0)] == ["≤ 0.01", "0.1", "10"]


@pytest.mark.parametrize(("seeds", "legend"), [(1, False), (2, True)])
def test_a_report_of_one_run_alone_needs_no_legend(
    runs: list[Run], seeds: int, legend: bool
) -> None:
    shared = page_lines([Group("model", tuple(runs[:seeds]))])
    assert ('id="legend_1"' in svg(chart_of_curves({"model": CURVE}, "loss", shared))) == legend
