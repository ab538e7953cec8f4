"""Hard against soft: who is compared with whom, what the table says and what the picture shows."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes

from glimpse_envs.evaluation.records import Record
from glimpse_envs.evaluation.statistics import wilson_interval
from report.contenders import (
    THRESHOLDS,
    Contender,
    Family,
    by_task,
    family_of,
    find_contenders,
)
from report.figures import comparison_table_and_figure as comparison
from report.figures.comparison_table_and_figure import comparison_table, draw_comparison, give_looks
from report.figures.style import log_ticks
from tests.support.contenders import ENV_ID, MODELS, TIMES, a_record, many_records
from tests.support.figures import catch_figure, marked_lines, overlapping_texts, points_of

PANELS = 6


def cells_of(table: str, model: str) -> dict[str, str]:
    """The row of a model, by heading."""
    heads, _, *rows = ([c.strip() for c in line[1:-1].split(" | ")] for line in table.splitlines())
    (row,) = (row for row in rows if row[0] == model)
    return dict(zip(heads, row, strict=True))


def the_contender(**changes: object) -> Contender:
    (contender,) = find_contenders([a_record(**changes)])  # type: ignore[arg-type]
    return contender


# Who is compared


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("Reinforce LSTM, random glimpses", "hard"),
        ("SB3 PPO, history", "hard"),
        ("Exact LSTM, trained on all tiles", "between"),
        ("Soft tiles by content LSTM", "soft"),
        ("Full view spatial transformer", "full"),
    ],
)
def test_the_family_is_read_from_the_models_name(model: str, family: Family) -> None:
    assert family_of(model) == family


def test_contenders_stand_family_by_family_whatever_the_order() -> None:
    contenders = find_contenders(reversed(many_records()))
    families = [contender.family for contender in contenders]
    assert families == sorted(families, key=["hard", "between", "soft", "full"].index)
    assert len(contenders) == len(MODELS)


def test_labels_tell_only_what_differs() -> None:
    shared = {"scene_size": 80}
    records = [
        a_record(env_kwargs={**shared, "look": "tiles"}),
        a_record(env_kwargs=shared),
        a_record("Soft tiles LSTM", env_kwargs={**shared, "view": "full"}),
    ]
    labels = [contender.label for contender in find_contenders(records)]
    assert labels == ["Reinforce LSTM", "Reinforce LSTM (look=tiles)", "Soft tiles LSTM"]


def test_ways_of_looking_are_compared_and_other_scenes_are_not() -> None:
    records = [
        a_record(),
        a_record(env_kwargs={"look": "tiles", "budget": 4}),
        a_record("Soft tiles LSTM"),
        a_record(env_kwargs={"clutter": 8}),
        a_record(env_id="Glimpse/CIFAR10-v0"),
    ]
    tasks = [(env_id, kwargs, len(alike)) for env_id, kwargs, alike in by_task(records)]
    assert tasks == [
        ("Glimpse/CIFAR10-v0", {}, 1),
        (ENV_ID, {"clutter": 8}, 1),
        (ENV_ID, {}, 3),
    ]


# Time to an error


def test_the_time_to_an_error_is_that_of_the_first_score_at_or_under_it() -> None:
    curve = [[1.5, 100, 60.0, 2_000], [3.0, 200, 10.0, 2_000], [6.0, 400, 4.0, 2_000]]
    contender = the_contender(curve=curve)
    duration = contender.time_to(10)
    assert duration is not None
    assert duration.core_seconds == 3.0  # at it
    assert duration.low == 3.0
    assert duration.high == 6.0  # Wilson's interval of 10 % reaches above 10
    never = contender.time_to(1)
    assert never is not None
    assert not never.reached
    assert never.high == math.inf


def test_a_training_that_was_not_followed_has_no_time() -> None:
    assert the_contender(curve=[]).time_to(50) is None


def test_curves_of_seeds_are_averaged_as_far_as_all_have_points() -> None:
    curves = [
        [[1.0, 100, 30.0, 2_000], [2.0, 200, 10.0, 2_000], [4.0, 400, 5.0, 2_000]],
        [[3.0, 100, 40.0, 2_000], [4.0, 200, 20.0, 2_000]],
    ]
    records = [a_record(seed=seed, curve=curve) for seed, curve in enumerate(curves)]
    (contender,) = find_contenders(records)
    first, second = contender.curve
    assert (first.core_seconds, first.error) == (2.0, 35.0)
    assert (second.core_seconds, second.error) == (3.0, 15.0)
    assert second.low < 10.1  # seeds that differ by so much say little of the next
    assert second.high > 19.9
    alone = the_contender(curve=curves[0]).curve[0]
    low, high = wilson_interval(600, 2_000)
    assert alone.low == pytest.approx(100 * low)
    assert alone.high == pytest.approx(100 * high)


# The table


def test_the_table_tells_costs_beside_errors() -> None:
    table = comparison_table(many_records())
    cells = cells_of(table, "Soft DRAW window LSTM")
    assert cells["sees"] == "every pixel"
    assert cells["glimpses"] == "8"
    assert cells["values delivered"] == "3,456"
    assert cells["pixels covered"] == "3,600"
    assert cells["multiply-adds a scene"] == "8.0 M"
    assert cells["of which reading"] == "7 k"
    assert cells["core-minutes"] == "1.0"
    assert cells["core-seconds to 10 %"] == "8"
    assert cells["to 5 %"] == "16"
    assert cells_of(table, "Full view strong")["glimpses"] == "whole"
    assert cells_of(table, MODELS[4])["sees"] == "all tiles in training"


def test_the_table_averages_seeds_and_says_what_was_not_reached() -> None:
    cells = cells_of(comparison_table(many_records()), "Reinforce LSTM")
    assert (cells["seeds"], cells["error %"]) == ("3", "20.00")
    assert (cells["core-seconds to 10 %"], cells["to 5 %"]) == ("not reached", "not reached")


def test_what_was_not_measured_is_a_dash() -> None:
    cells = cells_of(
        comparison_table([a_record(costs={}, costs_by_glimpse={}, curve=[])]), "Reinforce LSTM"
    )
    assert cells["error %"] == "4.00"
    unknown = [name for name, cell in cells.items() if cell == "—"]
    assert len(unknown) == 6


def test_validation_records_are_not_compared() -> None:
    assert find_contenders([a_record(split="validation")]) == []


# The picture


def panels_of(records: list[Record], monkeypatch: pytest.MonkeyPatch) -> list[Axes]:
    caught = catch_figure(monkeypatch, comparison)
    draw_comparison(records, "unused.png")
    return caught[0].axes[:PANELS]


def test_each_model_is_told_from_the_others_and_families_at_a_glance() -> None:
    contenders = find_contenders(many_records())
    looks = give_looks(contenders)
    assert len({(look.colour, look.marker, look.style, look.filled) for look in looks}) == len(
        looks
    )
    styles: dict[str, set[tuple[str, bool, bool]]] = {}
    for contender, look in zip(contenders, looks, strict=True):
        large = look.size > 6
        styles.setdefault(contender.family, set()).add((look.style, look.filled, large))
    assert all(len(style) == 1 for style in styles.values())
    assert len(set.union(*styles.values())) == 4


def test_every_panel_shows_every_model_and_no_text_hides_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caught = catch_figure(monkeypatch, comparison)
    draw_comparison(many_records(), "unused.png")
    figure = caught[0]
    for panel in figure.axes[:PANELS]:
        assert len(marked_lines(panel)) == len(MODELS), panel.get_title()
    assert overlapping_texts(figure) == []


def test_errors_stand_at_their_glimpses_and_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    record = a_record()
    glimpses, values, pixels, adds, curve, _ = panels_of([record], monkeypatch)
    for panel, places in (
        (glimpses, list(range(1, 9))),
        (values, record.costs_by_glimpse["values_delivered"]),
        (pixels, record.costs_by_glimpse["pixels_covered"]),
        (adds, record.costs_by_glimpse["multiply_adds"]),
    ):
        (line,) = panel.get_lines()
        x, y = points_of(line)
        assert x == pytest.approx(places)
        assert y == pytest.approx(record.error_by_glimpse)
        assert panel.get_yscale() == "log"
        (interval,) = panel.collections
        ends = np.asarray(interval.get_paths()[0].vertices)[:, 1].tolist()
        assert sorted(ends) == pytest.approx(sorted(record.interval_percent))
    (line,) = curve.get_lines()
    assert points_of(line)[0] == list(TIMES)
    assert [p.get_xscale() for p in (values, pixels, adds, curve)] == ["log"] * 4


def test_what_never_got_there_ends_in_a_band_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    *_, panel = panels_of([a_record(error=4.0)], monkeypatch)
    (line,) = marked_lines(panel)
    reached = [threshold for threshold in THRESHOLDS if threshold >= 4]
    _, times = points_of(line)
    assert len(times) == len(reached) + 1
    assert times[:-1] == [2.0, 4.0, 4.0, 8.0, 16.0]
    assert times[-1] > max(TIMES)
    (label,) = (t for t in panel.get_yticklabels() if "not" in t.get_text())
    assert times[-1] == label.get_position()[1]


def test_records_without_costs_are_absent_where_they_are_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bare = replace(a_record("PPO LSTM"), costs={}, costs_by_glimpse={}, curve=[])
    panels = panels_of([a_record(), bare], monkeypatch)
    assert [len(marked_lines(panel)) for panel in panels] == [2, 1, 1, 1, 1, 1]


def test_a_cost_of_the_whole_alone_is_drawn_at_the_last_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    panels = panels_of([a_record(costs_by_glimpse={})], monkeypatch)
    (line,) = panels[1].get_lines()
    assert points_of(line) == ([3456.0], [4.0])


def test_models_that_cover_the_same_stand_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    panels = panels_of([a_record("Soft tiles LSTM"), a_record("Soft retina LSTM")], monkeypatch)
    first, second = (points_of(line)[0][0] for line in panels[2].get_lines())
    assert first < 3600 < second < 1.03 * first


def test_with_nothing_measured_the_panels_say_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    panels = panels_of([], monkeypatch)
    assert all(panel.texts[0].get_text() == "not measured yet" for panel in panels)


def test_an_error_of_none_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "new" / "picture.png"
    draw_comparison([a_record(error=0.0)], path)
    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(
    ("low", "high"), [(1_900, 3_700), (0.5, 70), (1e-2, 1e9), (3.4, 3.6), (20, 30)]
)
def test_any_range_has_a_few_ticks_within_it(low: float, high: float) -> None:
    ticks = log_ticks(low, high)
    assert 2 <= len(ticks) <= 8
    assert all(low <= tick <= high for tick in ticks)
    assert ticks == sorted(ticks)
