"""Hard against soft: what the table says and what the figure shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from glimpse_envs.evaluation.record import NTM_COPY, Record
from report.figures import comparison as figure_of_comparison
from report.figures.comparison import TITLES, draw_comparison
from report.figures.models import by_panel, styled
from report.figures.style import log_ticks
from report.grouping import tasks_of
from report.groups import Group
from report.kinds import KINDS
from report.page import Places
from report.pages.comparison import comparison_page, comparison_table, in_short, publish
from report.runs import read_runs
from report.scaling import FILE_NAME, write_scaling
from tests.support.figures import catch_figure, named_lines, overlapping_texts, points_of
from tests.support.records import (
    FULL_CONV,
    FULL_STRONG,
    MODELS,
    REINFORCE,
    TIMES,
    a_record,
    as_runs,
    many_records,
)
from tests.support.scaling import a_scaling


def groups_of(records: Iterable[Record]) -> tuple[Group, ...]:
    (task,) = tasks_of(as_runs(records))
    return task.groups


def cells_of(table: str, model: str) -> dict[str, str]:
    """The row of a model, by heading."""
    heads, _, *rows = ([c.strip() for c in line[1:-1].split(" | ")] for line in table.splitlines())
    (row,) = (row for row in rows if row[0] == model)
    return dict(zip(heads, row, strict=True))


# The page and the table


def test_what_lacks_and_what_did_not_begin_to_learn_is_said(tmp_path: Path) -> None:
    whole = a_scaling()
    first, *others = whole.points
    stuck = replace(first, error_percent=90.5, interval_percent=(89.2, 91.7), images=16_000)
    measured = replace(whole, points=(stuck, *others[:-1]))
    write_scaling(measured, tmp_path / "results" / "comparison")
    published = publish(Places(tmp_path / "results", tmp_path))
    last = others[-1]
    for text, lacking, near_chance in (
        (published.blocks["scaling"], "deep full view", "hard attention"),
        (published.texts["docs/comparison.md"], last.model, stuck.model),
    ):
        assert f"Not measured: {lacking} at {last.side} pixels" in text
        assert f"blind guesses: {near_chance} at {stuck.side} pixels (16 k images). This" in text


def test_core_minutes_by_the_walls_clock_are_marked() -> None:
    old, new = a_record(revision="56345c46652d0"), a_record(revision="abc1234")
    assert (
        cells_of(comparison_table(groups_of([old])), old.model.name)["core-minutes"] == "10 (wall)"
    )
    assert cells_of(comparison_table(groups_of([new])), new.model.name)["core-minutes"] == "10"


def test_a_further_measurement_stands_below_and_not_in_the_readme(tmp_path: Path) -> None:
    folder = tmp_path / "results" / "comparison"
    write_scaling(a_scaling(), folder)
    places = Places(tmp_path / "results", tmp_path)
    alone = publish(places)
    write_scaling(replace(a_scaling(), hardware="a slower core"), folder / "five_models")
    both = publish(places)
    assert both.blocks == alone.blocks
    page, heading = both.texts["docs/comparison.md"], "### On another machine"
    assert heading not in alone.texts["docs/comparison.md"]
    above, below = page.split(heading)
    assert "a slower core" in below
    assert "a slower core" not in above
    assert both.figures.keys() - alone.figures.keys() == {"docs/scaling_five_models.svg"}


def test_what_chance_is_stands_by_the_scaling(tmp_path: Path) -> None:
    write_scaling(a_scaling(), tmp_path / "results" / "comparison")
    published = publish(Places(tmp_path / "results", tmp_path))
    assert "Blind guesses are wrong in 90 %." in published.blocks["scaling"]
    assert "Blind guesses are wrong in 90 %." in published.texts["docs/comparison.md"]


def test_the_table_has_costs_and_errors() -> None:
    table = comparison_table(groups_of(many_records()))
    cells = cells_of(table, "Soft DRAW window LSTM")
    assert cells["sees"] == "every pixel"
    assert cells["glimpses"] == "8"
    assert cells["values delivered"] == "3,456"
    assert cells["pixels covered"] == "3,600"
    assert cells["multiply-adds a scene"] == "8.0 M"
    assert cells["of which reading"] == "7.0 k"
    assert cells["core-minutes"] == "10"
    assert cells["core-seconds to 10 %"] == "8"
    assert cells["to 5 %"] == "16"
    assert cells_of(table, "Full view strong")["glimpses"] == "whole"
    assert cells_of(table, MODELS[4].name)["sees"] == "all tiles in training"


def test_the_table_averages_seeds_and_says_what_was_not_reached() -> None:
    cells = cells_of(comparison_table(groups_of(many_records())), "Reinforce LSTM")
    assert (cells["seeds"], cells["error %"]) == ("3", "20.00")
    assert (cells["core-seconds to 10 %"], cells["to 5 %"]) == ("not reached", "not reached")


def test_the_best_of_each_kind_comes_first_and_controls_do_not() -> None:
    random = replace(REINFORCE, name="Reinforce LSTM, random glimpses", gaze="random")
    records = [
        a_record(error=4.0),
        a_record(random, error=1.0),
        a_record(FULL_STRONG, error=2.0),
        a_record(FULL_CONV, error=3.0),
    ]
    heads, _, hard, full = in_short(groups_of(records)).splitlines()
    assert heads.startswith("| kind | model | error % |")
    assert hard.startswith(f"| {TITLES['hard']} | Reinforce LSTM | 4.00 |")
    assert full.startswith(f"| {TITLES['full']} | {FULL_STRONG.name} | 2.00 |")


def test_what_was_not_measured_is_a_dash() -> None:
    bare = a_record(score={"costs": {}, "costs_by_glimpse": {}}, curve=())
    cells = cells_of(comparison_table(groups_of([bare])), "Reinforce LSTM")
    assert cells["error %"] == "4.00"
    assert len([name for name, cell in cells.items() if cell == "—"]) == 6


def test_the_page_says_who_learns_from_what_and_links_to_records() -> None:
    records = [a_record(config={"supervise": "all"}), a_record(MODELS[1], notes="untuned")]
    page = comparison_page(tasks_of(as_runs(records)), None, Places())
    assert "- Reinforce LSTM: no notes; all answers are trained" in page
    assert f"- {MODELS[1].name}: untuned; scored answers are trained" in page
    assert page.count("[0](../results/a.json)") == 2
    assert "Not measured yet: `python -m benchmarks.scale" in page


# The figure


def draw(records: list[Record], monkeypatch: pytest.MonkeyPatch) -> Figure:
    caught = catch_figure(monkeypatch, figure_of_comparison)
    draw_comparison(groups_of(records), "unused.svg")
    return caught[0]


def rows_of(figure: Figure) -> list[list[Axes]]:
    """The panels, a row a list."""
    width = len({round(panel.get_position().x0, 2) for panel in figure.axes})
    return [figure.axes[start : start + width] for start in range(0, len(figure.axes), width)]


def drawn_lines(panel: Axes) -> list[Line2D]:
    """Those with data: the others give the legend its names."""
    return [line for line in panel.get_lines() if points_of(line)[0]]


@pytest.mark.parametrize("folder", ["memory", "comparison"])
def test_no_two_published_models_look_alike_in_a_panel(folder: str) -> None:
    runs, _ = read_runs(Places().results / folder, other=(FILE_NAME,))
    tasks = tasks_of(run for run in runs if run.record.env_id != NTM_COPY)
    assert tasks
    for groups in (panel for task in tasks for panel in by_panel(task.groups)):
        styles = [style for _, style in styled(groups)]
        assert all(style not in styles[:place] for place, style in enumerate(styles))


def test_a_model_keeps_its_style_and_kinds_are_told_at_a_glance() -> None:
    groups = groups_of(many_records())
    styles = dict(zip((group.label for group in groups), styled(groups), strict=True))
    assert {label: style for label, (_, style) in styles.items()} == {
        group.label: style for group in groups for _, style in styled([group])
    }
    for kind in KINDS:
        alike = [style for group, style in styles.values() if group.kind == kind]
        assert len({style.dashes for style in alike}) <= 1
        assert all(style.filled == (kind == "hard") for style in alike)
        assert len({style.colour for style in alike}) == len(alike)


@pytest.mark.learning
def test_each_kind_has_a_row_of_few_lines_and_no_text_hides_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    figure = draw(many_records(), monkeypatch)
    rows = rows_of(figure)
    titles = [row[0].get_title(loc="left") for row in rows]
    assert titles == [TITLES[kind] for kind in ("hard", "privileged", "soft", "full")]
    lines = [[len(drawn_lines(panel)) for panel in row] for row in rows]
    assert lines == [[4] * 3, [2] * 3, [4] * 3, [3] * 3]
    named = [name for row in rows for name in named_lines(row[-1])]
    assert sorted(named) == sorted(model.name for model in MODELS)
    assert overlapping_texts(figure) == []


def test_errors_stand_at_their_glimpses_and_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    record = a_record()
    ((values, adds, curve),) = rows_of(draw([record], monkeypatch))
    score = record.headline
    for panel, places in (
        (values, score.costs_by_glimpse["values_delivered"]),
        (adds, score.costs_by_glimpse["multiply_adds"]),
    ):
        (line,) = drawn_lines(panel)
        x, y = points_of(line)
        assert x == pytest.approx(places)
        assert y == pytest.approx([100 * (1 - share) for share in score.success_by_glimpse])
        assert panel.get_yscale() == "log"
    (line,) = drawn_lines(curve)
    assert points_of(line)[0] == list(TIMES)
    assert [p.get_xscale() for p in (values, adds, curve)] == ["log"] * 3


def test_models_without_costs_are_absent_where_they_are_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bare = a_record(MODELS[3], score={"costs": {}, "costs_by_glimpse": {}}, curve=())
    (row,) = rows_of(draw([a_record(), bare], monkeypatch))
    assert [len(drawn_lines(panel)) for panel in row] == [1, 1, 1]
    assert len(named_lines(row[-1])) == 2


def test_an_error_without_glimpses_stands_at_the_whole_cost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known, old = a_record(), a_record(seed=1, score={"success_by_glimpse": ()})
    ((values, *_),) = rows_of(draw([known, old], monkeypatch))
    (line,) = drawn_lines(values)
    assert points_of(line)[0] == [known.headline.costs["values_delivered"]]


def test_a_cost_that_nobody_measured_makes_no_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = a_record(score={"costs": {}, "costs_by_glimpse": {}})
    (row,) = rows_of(draw([bare], monkeypatch))
    assert [panel.get_xlabel() for panel in row] == ["core-seconds of training (validation)"]


@pytest.mark.parametrize(
    ("low", "high"), [(1_900, 3_700), (0.5, 70), (1e-2, 1e9), (3.4, 3.6), (20, 30)]
)
@pytest.mark.parametrize("most", [4, 8])
def test_any_range_has_a_few_ticks_within_it(low: float, high: float, most: int) -> None:
    ticks = log_ticks(low, high, most)
    assert 2 <= len(ticks) <= most
    assert all(low <= tick <= high for tick in ticks)
    assert ticks == sorted(ticks)


@pytest.mark.learning
def test_an_error_of_none_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "new" / "picture.svg"
    draw_comparison(groups_of([a_record(REINFORCE, error=0.0)]), path)
    first = path.read_bytes()
    assert b"<svg" in first
    draw_comparison(groups_of([a_record(REINFORCE, error=0.0)]), path)
    assert path.read_bytes() == first, "the same records give the same file"
