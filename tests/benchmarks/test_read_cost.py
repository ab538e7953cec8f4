"""What the benchmarks of memory time is what they say, and their page is what the records say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import Tensor, nn

from baselines.attention import attend
from benchmarks.cost.read_cost import measure, summarise
from benchmarks.cost.reads import READS, WAYS, Reads, bits_for, bytes_needed, rows_that_fit
from benchmarks.speed.memory_speed import ENV_ID, MODES, Played, play
from benchmarks.speed.memory_speed import summarise as summarise_speeds
from report.figures import read_cost as read_cost_figure
from report.figures.read_cost import draw_figure
from report.pages.memory_cost import CHOOSING, READING, TOTALS, curve, curves, make_page
from tests.support.figures import catch_figure, marked_lines, overlapping_texts, points_of

WAY = {way.name: way for way in WAYS}
CELLS = (10, 1_000)

# --- the reads ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "bits"), [(1, 1), (2, 1), (10, 4), (1_000, 10), (1_024, 10), (1_025, 11)]
)
def test_every_cell_has_an_address_of_so_many_bits(cells: int, bits: int) -> None:
    assert bits_for(cells) == bits


def test_as_many_rows_as_fit() -> None:
    assert rows_that_fit(10, 2**30) == READS
    assert rows_that_fit(1_000, bytes_needed(1_000, 4)) == 4
    assert rows_that_fit(1_000, bytes_needed(1_000, 4) - 1) == 2
    assert rows_that_fit(1_000, bytes_needed(1_000, 1) - 1) == 0


def test_no_more_is_held_than_is_estimated() -> None:
    reads = Reads(20_000, 4)
    held: list[Tensor] = []
    for value in vars(reads).values():
        if isinstance(value, Tensor):
            held.append(value)
        elif isinstance(value, nn.Module):
            held += value.parameters()
    total = sum(tensor.nbytes for tensor in held)
    assert total > 0.3 * bytes_needed(20_000, 4)
    assert total < bytes_needed(20_000, 4)


@pytest.mark.parametrize("gradients", [False, True])
def test_the_parts_of_a_soft_look_up_make_the_whole(gradients: bool) -> None:
    reads = Reads(50, 4)
    weights, whole = (
        reads.prepare(WAY[name], gradients)[0]() for name in ("soft weights", "attend")
    )
    assert isinstance(weights, Tensor)
    assert isinstance(whole, Tensor)
    query = reads.query_head(reads.core[:4])
    read, expected = attend(query, reads.keys, reads.values, need_weights=True)
    torch.testing.assert_close(weights, expected)
    torch.testing.assert_close(whole, read)
    reads.weights = weights
    summed = reads.prepare(WAY["weighted sum"], gradients)[0]()
    torch.testing.assert_close(summed, read)


@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("way", ["move", "bits", "softmax"])
def test_every_choice_is_a_cell(way: str, gradients: bool) -> None:
    reads = Reads(3, READS)
    once, count = reads.prepare(WAY[way], gradients)
    chosen = [once() for _ in range(40)]
    assert count == READS
    addresses = torch.stack([each for each in chosen if isinstance(each, Tensor)])
    assert addresses.shape == (40, READS)
    assert set(addresses.flatten().tolist()) == {0, 1, 2}
    if way == "move":
        assert (addresses.diff(dim=0).abs() <= 1).all()


@pytest.mark.parametrize("name", [way.name for way in WAYS if way.name not in ("gather",)])
def test_with_gradients_the_way_is_led_back(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    led: list[tuple[Tensor | None, ...]] = []
    grad = torch.autograd.grad

    def spy(*arguments: Any) -> tuple[Tensor | None, ...]:
        led.append(grad(*arguments))
        return led[-1]

    monkeypatch.setattr("benchmarks.cost.reads.torch.autograd.grad", spy)
    reads = Reads(20, 4)
    reads.prepare(WAY[name], False)[0]()
    assert led == []
    reads.prepare(WAY[name], True)[0]()
    (gradients,) = led
    assert all(each is not None and each.any() for each in gradients)


def test_a_gather_reads_one_cell_of_the_memory_of_its_row() -> None:
    reads = Reads(20, 4)
    read = reads.prepare(WAY["gather"], False)[0]()
    assert isinstance(read, Tensor)
    addresses = reads.addresses[reads.turn]
    for i in range(READS):
        torch.testing.assert_close(read[i], reads.values[i % 4, addresses[i]])


# --- the measurements -----------------------------------------------------------------------------


def test_all_ways_are_measured_with_gradients_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.cost.read_cost.BURST_SECONDS", 0.0)
    costs, skipped = measure(10, repeats=2, limit=2**30)
    assert skipped == []
    assert [(cost.way, cost.gradients) for cost in costs] == [
        (way.name, gradients) for gradients in (False, True) for way in WAYS
    ]
    assert all(cost.microseconds > 0 for cost in costs)


def test_what_does_not_fit_is_skipped_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.cost.read_cost.BURST_SECONDS", 0.0)
    costs, skipped = measure(10**12, repeats=1, limit=2**30)
    assert {cost.way for cost in costs} == {"move", "bits"}
    assert {each.way for each in skipped} == {way.name for way in WAYS} - {"move", "bits"}
    assert "GiB for one row" in skipped[0].problem


def test_a_cost_is_the_median_with_its_quartiles() -> None:
    cost = summarise(WAY["bits"], 10, True, READS, np.array([5.0, 1.0, 2.0, 4.0, 100.0]))
    assert (cost.microseconds, cost.quartiles) == (4.0, (2.0, 5.0))


def test_a_ratio_is_the_median_of_the_turns() -> None:
    """One slow turn slows both alike, and the ratio of the medians would be another."""
    rates = np.array([[30.0, 10.0], [6.0, 1.0], [80.0, 16.0]])
    (speed,) = summarise_speeds("SameStep", 120, {"random": Played([], 40)}, rates)
    assert (speed.ours, speed.popgym, speed.ratio) == (30.0, 10.0, 5.0)
    assert speed.steps_an_episode == 3.0
    (alone,) = summarise_speeds("SameStep", 120, {"random": Played([], 40)}, rates[:, :1])
    assert (alone.ours, alone.popgym, alone.ratio) == (30.0, None, None)


@pytest.mark.parametrize("mode", MODES)
def test_a_recorded_solution_solves_the_same_episodes_again(mode: str) -> None:
    envs = gym.make_vec(ENV_ID, num_envs=8, autoreset_mode=mode)
    task: Any = envs.unwrapped.task  # type: ignore[attr-defined]
    first = play(envs, task.oracle, 40)
    earned: list[float] = []
    step = envs.step

    def counting_step(actions: Any) -> Any:
        result = step(actions)
        earned.append(float(result[1].sum()))
        return result

    envs.step = counting_step  # type: ignore[method-assign]  # of this instance alone
    again = play(envs, iter(first.actions).__next__, 40)
    envs.close()
    assert again.episodes == first.episodes > 8
    # Each episode that ended earned 1, and those under way at the end less.
    assert first.episodes <= sum(earned) + 1e-6 < first.episodes + 8


# --- the page -------------------------------------------------------------------------------------


def read_cost_record() -> dict[str, Any]:
    """As if each way's cost were its number of cells times its place, ten times with gradients."""
    costs = [
        {
            "way": way.name,
            "cells": cells,
            "gradients": gradients,
            "microseconds": float(cells * place * (10 if gradients else 1)),
        }
        for gradients in (False, True)
        for cells in CELLS
        for place, way in enumerate(WAYS, start=1)
        if cells == 10 or way.name != "attend"
    ]
    skipped = [{"way": "attend", "cells": 1_000, "problem": "9.9 GiB for one row"}]
    return {
        "hardware": "a core", "torch": "2", "revision": "0123456789abcdef+dirty", "repeats": 3,
        "reads": 16, "units": 128, "size": 32, "gibibytes": 2.0, "costs": costs,
        "skipped": skipped,
    }  # fmt: skip


def test_a_whole_read_is_the_sum_of_its_parts_where_all_were_measured() -> None:
    record = read_cost_record()
    assert curve(record, ("bits", "gather"), False) == {10: 70.0, 1_000: 7_000.0}
    assert curve(record, ("bits", "gather"), True) == {10: 700.0, 1_000: 70_000.0}
    assert curve(record, ("move", "attend"), False) == {10: 80.0}


def test_every_way_is_on_the_page() -> None:
    names = {way.name for way in WAYS}
    assert {name for ways in TOTALS.values() for name in ways} == names
    assert {name for ways in (CHOOSING | READING).values() for name in ways} == names - {"attend"}


def test_the_page_says_what_the_records_say_and_which_is_missing(tmp_path: Path) -> None:
    empty = make_page(tmp_path)
    assert empty.count("Not measured yet") == 2
    (tmp_path / "read_cost.json").write_text(json.dumps(read_cost_record()))
    page = make_page(tmp_path)
    assert page.count("Not measured yet") == 1
    assert "| bits, one cell | 70 | 7,000 |" in page
    assert "- bits, one cell: 100 times, with gradients 100 (10 to 1,000 cells)" in page
    assert "attend at 1,000 cells (9.9 GiB for one row)" in page
    speed = {
        "mode": "SameStep", "actions": "random", "steps_an_episode": 1.25, "ours": 4e6,
        "popgym": 2e5, "ratio": 20.0,
    }  # fmt: skip
    record = {
        "env_id": ENV_ID, "kwargs": {"length": 10}, "rows": 256, "repeats": 3, "popgym": "1.0.7",
        "hardware": "a core", "revision": "0123456789abcdef", "speeds": [speed],
    }  # fmt: skip
    (tmp_path / "memory_speed.json").write_text(json.dumps(record))
    page = make_page(tmp_path)
    assert "Not measured yet" not in page
    assert "| SameStep | random | 1.2 | 4,000 | 200 | 20.0 |" in page


@pytest.mark.learning
def test_the_figure_has_a_line_for_each_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    record = read_cost_record()
    columns = {
        title: [curves(record, rows, gradients) for gradients in (False, True)]
        for title, rows in (("Whole", TOTALS), ("Choosing", CHOOSING), ("Reading", READING))
    }
    caught = catch_figure(monkeypatch, read_cost_figure)
    draw_figure(columns, Path("figure.svg"))
    (figure,) = caught
    drawn = [[points_of(line) for line in marked_lines(panel)] for panel in figure.axes]
    expected = [
        [(list(map(float, each)), list(each.values())) for each in of_panel.values()]
        for kinds in columns.values()
        for of_panel in kinds
    ]
    assert drawn == expected
    assert overlapping_texts(figure) == []
