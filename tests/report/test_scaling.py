"""How cost grows with the scene's side: the record, the table, the figures and the sentences."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glimpse_envs.evaluation.records import RecordError
from report.figures import scaling as scaling_plot
from report.page import Places
from report.pages.scene_size import scaling_blocks
from report.pages.scene_size import scaling_in_short as block_of
from report.scaling import (
    DenseSums,
    Scaling,
    extremes_table,
    read_scaling,
    scaling_table,
    write_scaling,
)
from tests.support.figures import catch_figure, overlapping_texts, points_of
from tests.support.scaling import NAMES, SIDES, a_scaling


def scaling_in_short(scaling: Scaling) -> str:
    return block_of(scaling, Places().benchmarks)


def test_the_record_survives_the_round_trip(tmp_path: Path) -> None:
    assert read_scaling(tmp_path) is None
    path = write_scaling(a_scaling(), tmp_path / "new")
    assert path.name == "scaling.json"
    assert read_scaling(tmp_path / "new") == a_scaling()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"minutes": "two"}, "minutes is 'two'; it must be a valid number"),
        ({"points": []}, "of one point at least"),
        ({"points": [1]}, "points\\[0\\] is 1; it must be an object"),
        ({"side": 0}, "points\\[0\\].side is 0"),
        ({"inference": {"building": 1.0}}, "lacks points.*reading; lacks points.*answering"),
        ({"error_percent": 99.0}, "must hold error_percent 99.0"),
        ({"interval_percent": [1.0]}, "lacks points.*interval_percent.*1"),
        ({"multiply_adds": float("nan")}, "multiply_adds is nan"),
    ],
)
def test_a_damaged_record_is_named(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    data = json.loads(json.dumps(asdict(a_scaling())))
    of_point = change.keys() & data["points"][0].keys()
    (data["points"][0] if of_point else data).update(change)
    (tmp_path / "scaling.json").write_text(json.dumps(data))
    with pytest.raises(RecordError, match=f"^{tmp_path}/scaling.json: .*{message}"):
        read_scaling(tmp_path)


def test_a_torn_record_is_named(tmp_path: Path) -> None:
    (tmp_path / "scaling.json").write_text('{"env_id')
    with pytest.raises(RecordError, match=f"^{tmp_path}/scaling.json: "):
        read_scaling(tmp_path)


def test_the_table_has_every_cost_beside_its_error() -> None:
    lines = scaling_table(a_scaling()).splitlines()
    assert len(lines) == 2 + len(SIDES) * len(NAMES)
    row = [cell.strip() for cell in lines[-1].strip("|").split(" | ")]
    assert row[:4] == ["960", "Full view strong", "32.00", "31.00 to 33.00"]
    assert row[4:10] == ["2.56", "0", "256", "2.56", "0", "768"]


@pytest.mark.learning
def test_the_picture_shows_each_part_and_no_text_hides_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caught = catch_figure(monkeypatch, scaling_plot)
    scaling = a_scaling()
    scaling_plot.draw_scaling(scaling, "unused.png")
    panels = caught[0].axes
    inference, updates = panels[:8:2], panels[1:8:2]
    for parts in (inference, updates):
        assert [len(panel.get_lines()) for panel in parts] == [
            3,
            2,
            3,
            3,
        ]  # a full view reads nothing
    assert [len(panel.get_lines()) for panel in (panels[8], panels[10])] == [3, 3]
    sides, hard = points_of(inference[1].get_lines()[0])
    assert sides == list(SIDES)
    assert hard == [0.02] * len(SIDES)
    np.testing.assert_allclose(points_of(updates[3].get_lines()[0])[1][0], 0.01 + 0.04 + 0.9)
    assert overlapping_texts(caught[0]) == []


@pytest.mark.learning
def test_the_picture_in_short_shows_error_and_cost_of_every_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caught = catch_figure(monkeypatch, scaling_plot)
    scaling_plot.draw_scaling_in_short(a_scaling(), "unused.png")
    error, cost = caught[0].axes
    assert [len(panel.get_lines()) for panel in (error, cost)] == [3, 3]
    np.testing.assert_allclose(points_of(cost.get_lines()[2])[1][:2], [1.01, 4.04])
    assert overlapping_texts(caught[0]) == []


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def test_a_short_table_has_three_sides_and_a_model_a_row() -> None:
    heads, _, hard, _, full = map(cells, extremes_table(a_scaling()).splitlines())
    assert heads[1:4] == [f"error % at {side} px" for side in (60, 240, 960)]
    assert heads[4:] == [f"ms a scene at {side} px" for side in (60, 240, 960)]
    assert hard[:5] == ["hard attention", "2.00", "8.00", "32.00", "0.33"]
    assert (full[0], full[-1]) == ("deep full view", "259")


def test_unequal_training_images_are_columns_of_the_short_table() -> None:
    scaling = a_scaling()
    last = replace(scaling.points[-1], images=16_000)
    text = extremes_table(replace(scaling, points=(*scaling.points[:-1], last)))
    heads, _, hard, _, full = map(cells, text.splitlines())
    assert heads[7:] == [f"training images at {side} px" for side in (60, 240, 960)]
    assert hard[7:] == ["5.0 k", "5.0 k", "5.0 k"]
    assert full[7:] == ["5.0 k", "5.0 k", "16 k"]


def test_a_side_that_a_model_lacks_is_a_dash_in_the_short_table() -> None:
    scaling = a_scaling()
    text = extremes_table(replace(scaling, points=scaling.points[:-1]))
    full = cells(text.splitlines()[-1])
    assert [full[3], full[6]] == ["—", "—"]
    assert full[2] == "8.00"


def test_the_revisions_of_trainings_stand_beside_that_of_the_costs() -> None:
    scaling = replace(a_scaling(), revision="abc")
    assert "of revision abc." in "\n".join(scaling_blocks(scaling))
    points = tuple(replace(point, revision="def") for point in scaling.points[:2])
    mixed = replace(scaling, points=(*points, *scaling.points[2:]))
    assert "of revision abc; models were trained by def; that of " in "\n".join(
        scaling_blocks(mixed)
    )


def test_one_run_at_each_side_is_no_claim() -> None:
    for text in ("\n".join(scaling_blocks(a_scaling())), scaling_in_short(a_scaling())):
        assert "one run for each model and side, so" in text


def test_it_is_told_which_errs_less_where_and_what_each_costs() -> None:
    even = a_scaling()
    told = scaling_in_short(even)
    assert 'hard attention "Reinforce LSTM, looks at cells"' in told, "as other tables call it"
    assert "errs less" not in told, "intervals overlap"
    assert (
        "A scene costs the deep full view 3.1 times as much at 60 pixels and 90 times as much at "
        "960 pixels."
    ) in told
    assert "their intervals overlap at 60, 120, 240, 480 and 960 pixels" in told
    better: dict[tuple[str, int], Any] = {
        ("full_deep", 60): {"error_percent": 0.5, "interval_percent": (0.4, 0.6)},
        ("full_deep", 240): {"error_percent": 1.0, "interval_percent": (0.9, 1.1)},
        ("reinforce", 960): {"error_percent": 5.0, "interval_percent": (4.0, 6.0)},
    }
    points = tuple(
        replace(point, **better.get((point.key, point.side), {})) for point in even.points
    )
    told = "\n".join(scaling_blocks(replace(even, points=points)))
    assert (
        "After the same time of training the deep full view errs less than the agent at 60 and 240 "
        "pixels, the agent errs less than the deep full view at 960 pixels and their intervals "
        "overlap at 120 and 480 pixels. A scene costs the deep full view"
    ) in told
    alone = tuple(point for point in points if point.key != "full_deep")
    assert "costs the deep full view" not in scaling_in_short(replace(even, points=alone))


def test_what_scenes_that_are_nowhere_black_would_cost_is_told() -> None:
    even = a_scaling()
    assert "nowhere black" not in scaling_in_short(even), "not measured"
    dense = replace(even, dense_sums=(DenseSums(60, 0.1), DenseSums(960, 2.67)))
    hard = 0.01 * 256 + 0.02 + 0.3 + 2.67
    for told in (scaling_in_short(dense), "\n".join(scaling_blocks(dense))):
        assert "A scene of 960 pixels that is nowhere black would take it up to 2.7 ms" in told
        assert f"the deep full view {(0.01 * 256 + 256) / hard:.0f} times as much as" in told


def test_what_is_noted_of_the_trainings_stands_in_both_places() -> None:
    noted = replace(a_scaling(), notes="The window was narrow.")
    for told in (scaling_in_short(noted), "\n".join(scaling_blocks(noted))):
        assert "The window was narrow." in told


def test_it_is_told_between_which_sides_costs_cross() -> None:
    even = a_scaling()
    dear = max(even.points, key=lambda point: point.inference.total).inference
    points = tuple(
        replace(point, inference=dear) if (point.key, point.side) == ("reinforce", 60) else point
        for point in even.points
    )
    told = scaling_in_short(replace(even, points=points))
    assert "at 960 pixels; the costs cross between 60 and 120 pixels." in told
    assert "costs cross" not in scaling_in_short(even)
