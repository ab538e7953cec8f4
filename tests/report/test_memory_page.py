"""The page of memory says what the records do, and nothing without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from glimpse_envs.evaluation.record import Model, Record
from report.figures import memory as figures_of_memory
from report.figures.models import style_of_model
from report.grouping import group_runs, tasks_of
from report.page import Places
from report.pages.memory import memory_page
from report.references.memory import NO_CLAIM
from tests.support.figures import catch_figure, named_lines, overlapping_texts, points_of
from tests.support.records import REINFORCE, as_runs, bits_record, memory_record

SOFT = Model("Soft key-value LSTM", "everything", attention="soft")
SOFT_COSTS = {"cells_read": 120.0}
RECORDS = [
    *(memory_record(seed) for seed in range(4)),
    memory_record(4, 0.395),
    *(memory_record(seed, 0.8, SOFT, costs=SOFT_COSTS) for seed in range(2)),
]


def page_of(*records: Record, bits: Sequence[Record] = (), read_cost: bool = False) -> str:
    groups = group_runs(as_runs(bits))
    return memory_page(tasks_of(as_runs(records)), groups, read_cost, Places())


def row_of(text: str, *words: str) -> dict[str, str]:
    """The one row of the tasks' tables that holds all the words: head -> cell."""
    lines = text.partition("## How to read the tables")[2].splitlines()
    (at,) = [i for i, line in enumerate(lines) if line[:1] == "|" and all(w in line for w in words)]
    rule = max(i for i in range(at) if lines[i].startswith("| ---"))
    heads, cells = ([c.strip() for c in lines[i].strip("|").split(" | ")] for i in (rule - 1, at))
    return dict(zip(heads, cells, strict=True))


def test_without_records_it_says_how_to_make_some() -> None:
    page = page_of()
    for command in ("agents.train", "baselines.memories.ntm_copy", "benchmarks.cost.read_cost"):
        assert f"Not measured yet: `python -m {command}" in page
    assert "![" not in page


def test_a_row_tells_what_its_seeds_did() -> None:
    for text in [page_of(*RECORDS)]:
        hard = row_of(text, "Reinforce LSTM")
        assert hard.items() >= {
            "sees": "one cell a step",
            "answer by": "label",
            "curriculum": "mixture",
            "trained to length": "10",
            "seeds": "5",
            "solved": "4 of 5",
            "episodes to solve": "50 k",
            "minutes to solve": "3.8",
            "success % at 1x": "87.5",
            "success % at 2x": "43.8",
            "cells read": "12",
        }.items()  # fmt: skip
        assert hard["records"].count("results/a.json") == 5
        soft = row_of(text, SOFT.name)
        assert (soft["sees"], soft["curriculum"]) == ("every cell", "uniform")
        assert soft["solved"] == "0 of 2"
        assert soft["episodes to solve"] == soft["minutes to solve"] == "—"
        assert "seconds an episode" not in hard
        assert "2 to 5 times" in text


def test_what_every_training_took_is_told_solved_or_not() -> None:
    page = page_of(
        memory_record(episodes=20_000, seconds=30.0),
        memory_record(1, episodes=40_000, seconds=90.0),
        memory_record(0, 0.2, SOFT, episodes=3_000_000, seconds=1200.0),
    )
    solved, unsolved = row_of(page, "Reinforce LSTM"), row_of(page, SOFT.name)
    assert (solved["episodes"], solved["core-minutes"]) == ("30 k", "1")
    assert (unsolved["episodes"], unsolved["core-minutes"]) == ("3.0 M", "20")


def test_trainings_that_stop_at_another_share_are_named() -> None:
    config = {"batch_size": 256, "curriculum": None}
    early = memory_record(config=config | {"stop_at": 0.99})
    assert "Training stops there, so that" in page_of(early)
    late = memory_record(model=SOFT, config=config | {"stop_at": 0.995})
    page = page_of(early, late)
    assert f"Training stops there (at 99.5 % for {SOFT.name} of Copy-v0), so that" in page
    on = memory_record(model=SOFT, config=config | {"stop_at": None})
    words = f"Training stops there (with the budget alone for {SOFT.name} of Copy-v0), so that"
    assert words in page_of(early, on)


def test_costs_have_columns_where_they_are_known() -> None:
    costs = {"cells_read": 12.0, "seconds": 0.0021, "multiply_adds": 3.2e6}
    page = page_of(memory_record(costs=costs), memory_record(model=SOFT))
    hard, soft = row_of(page, "Reinforce LSTM"), row_of(page, SOFT.name)
    assert (hard["seconds an episode"], hard["multiply-adds"]) == ("0.0021", "3.2 M")
    assert (soft["seconds an episode"], soft["multiply-adds"]) == ("—", "—")


def test_what_others_report_stands_beside_and_claims_nothing() -> None:
    page = page_of(memory_record(env_id="Glimpse/Reverse-v0"))
    direct = row_of(page, "RL-NTM, direct access")
    assert direct["episodes to solve"] == "under 4.0 M"
    assert direct["minutes to solve"] == "35 h, a workstation"
    assert direct["seeds"] == "—"
    assert row_of(page, "RL-NTM, LSTM")["solved"] == "no"
    assert f"as reported. {NO_CLAIM}" in page
    assert "RL-NTM, LSTM" not in page_of(memory_record(env_id="Mine-v0"))


def test_key_value_memories_stand_side_by_side() -> None:
    kinds: dict[str, Any] = {"Soft": "soft", "Soft-to-hard": "soft_to_hard", "Hard": "hard"}
    models = [Model(name, "everything", attention=kind) for name, kind in kinds.items()]
    page = page_of(*(memory_record(model=model) for model in models))
    assert {name: row_of(page, f"| {name} |")["sees"] for name in kinds} == {
        "Hard": "every cell once, then one a read",
        "Soft-to-hard": "every cell, in tests one a read",
        "Soft": "every cell",
    }


def test_each_note_is_told_once_after_its_models() -> None:
    records = [memory_record(seed, notes="in groups") for seed in range(2)]
    lines = page_of(*records, memory_record(model=SOFT)).splitlines()
    assert lines.count("- Reinforce LSTM: in groups") == 1


def test_settings_that_were_chosen_on_tests_are_no_claim() -> None:
    page = page_of(memory_record(notes="chosen on the test tables of seeds 0 to 2"))
    assert "seeds 0 to 2. Chosen on tests, their results are no claim" in page
    assert "no claim\n" not in page_of(memory_record(notes="chosen on validation tables"))


def test_the_paper_s_copy_is_a_mean_over_seeds() -> None:
    page = page_of(bits=[bits_record(0, 0.5), bits_record(1, 0.1)])
    row = row_of(page, "| 120 | 960 |")
    assert row["wrong bits"] == "1.80"
    assert row["range over seeds"] == "0.60 to 3.00"
    assert row["success %"] == "75.0"
    assert "2 seeds, no claim, 20 core-minutes each, 500 test sequences" in page


def test_a_copy_with_a_larger_memory_stands_apart() -> None:
    larger = replace(bits_record(wrong=0.0), env_kwargs={"cells": 512})
    page = page_of(bits=[bits_record(), larger])
    assert page.count("with a memory of 128 cells is trained") == 2
    assert page.count("tested on 20 to 120 of them, with 512 cells,") == 1
    wrong = [line.split(" | ")[2] for line in page.splitlines() if line.startswith("| 120 | 960")]
    assert wrong == ["3.00", "0.00"]


def test_a_copy_by_few_seeds_is_no_claim() -> None:
    assert "one seed, no claim, 20 core-minutes, 500" in page_of(bits=[bits_record()])
    assert "2 seeds, no claim, 20" in page_of(bits=[bits_record(seed) for seed in range(2)])
    five = [bits_record(seed) for seed in range(5)]
    assert "5 seeds, 20" in page_of(bits=five)
    short = [replace(record, seconds=300.0) for record in five]
    assert "5 seeds, no claim, 5 core-minutes" in page_of(bits=short)


def test_times_by_the_walls_clock_are_marked() -> None:
    old = memory_record(revision="56345c46652d0")
    row = row_of(page_of(old), f"| {old.model.name} |")
    assert row["minutes to solve"] == "1.5 (wall)"
    copied = replace(bits_record(), revision="56345c46652d0")
    assert "20 core-minutes of wall-clock time" in page_of(bits=[copied])


def test_the_read_s_cost_is_shown_once_it_was_measured() -> None:
    assert "(read_cost.svg)" not in page_of()
    assert "![The cost of one read by cells](read_cost.svg)" in page_of(read_cost=True)


# Figures


def draw(monkeypatch: pytest.MonkeyPatch, figure: Callable[..., None]) -> Figure:
    caught = catch_figure(monkeypatch, figures_of_memory)
    again = memory_record(env_id="Glimpse/Reverse-v0", length=20, multiples=(1, 2))
    alone = memory_record(env_id="Glimpse/AssociativeRecall-v0", length=6, multiples=(1,))
    figure(tasks_of(as_runs([*RECORDS, again, alone])), Path("unused.svg"))
    return caught[0]


def test_success_is_drawn_by_length_in_a_panel_for_each_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    figure = draw(monkeypatch, figures_of_memory.draw_success)
    panels = {panel.get_title(loc="left"): panel for panel in figure.axes}
    assert set(panels) == {"Copy-v0", "Reverse-v0"}, "a task of one length has none"
    hard, soft, mark = panels["Copy-v0"].get_lines()
    assert points_of(hard)[0] == [10, 20, 40, 60]
    assert points_of(hard)[1][:2] == pytest.approx([87.5, 43.75])
    assert (hard.get_linestyle(), soft.get_linestyle()) == ("-", ":")
    assert points_of(mark)[0] == [10, 10]
    assert list(named_lines(panels["Copy-v0"])) == [
        *("Reinforce LSTM", SOFT.name, "longest in training"),
    ]
    dots = panels["Copy-v0"].collections[0].get_offsets()
    assert np.asarray(dots)[:, 1] == pytest.approx([99.5] * 4 + [39.5])
    again = panels["Reverse-v0"].get_lines()[0]
    assert again.get_color() == hard.get_color() == style_of_model(REINFORCE).colour
    assert points_of(again)[0] == [20, 40]
    assert overlapping_texts(figure) == []


def test_bars_are_the_share_of_seeds_that_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    (panel,) = draw(monkeypatch, figures_of_memory.draw_solved).axes
    names = [label.get_text() for label in panel.get_yticklabels()]
    widths = [bar.get_width() for bar in panel.patches]  # type: ignore[attr-defined]
    assert list(zip(names, widths, strict=True)) == [
        ("Reinforce LSTM, by label, mixture", 80.0),
        ("Soft key-value LSTM, by label, uniform", 0.0),
        ("Reinforce LSTM, by label, mixture", 100.0),
        ("Reinforce LSTM, by label, mixture", 100.0),
    ]
    hard, soft, *_ = panel.patches
    assert to_hex(hard.get_facecolor()).upper() == style_of_model(REINFORCE).colour
    assert to_hex(soft.get_facecolor(), keep_alpha=True).endswith("00"), "it is not filled"
    assert {"4 of 5", "0 of 2", "1 of 1", "Copy-v0"} <= {text.get_text() for text in panel.texts}
