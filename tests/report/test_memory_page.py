"""The page and the README's block of memory say what the records do, and nothing without them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.image import imread

from glimpse_envs.evaluation.memory_records import write_memory_record
from report.__main__ import main
from report.figures import memory as memory_plot
from report.figures.style import COLOURS
from report.memory_groups import memory_tasks
from report.pages.memory import (
    ACCURACY_PICTURE,
    PAGE,
    SOLVED_PICTURE,
    Memory,
    memory_block,
    memory_page,
    memory_pictures,
    read_memory,
)
from report.references.memory import NO_CLAIM
from tests.support.memory_runs import make_copy, make_run, make_soft_run

HARD = [make_run(seed) for seed in range(4)] + [make_run(4, 0.395)]
SOFT = [make_soft_run(seed) for seed in range(2)]
MARKERS = [f"<!-- {name}:{end} -->" for name in ("results", "comparison", "memory")
           for end in ("begin", "end")]  # fmt: skip


def row_of(text: str, *words: str) -> dict[str, str]:
    """The one table row that holds all the words: head -> cell."""
    lines = text.splitlines()
    (at,) = [i for i, line in enumerate(lines) if line[:1] == "|" and all(w in line for w in words)]
    rule = max(i for i in range(at) if lines[i].startswith("| ---"))
    heads, cells = ([c.strip() for c in lines[i].strip("|").split(" | ")] for i in (rule - 1, at))
    return dict(zip(heads, cells, strict=True))


def test_without_records_it_says_how_to_make_some() -> None:
    nothing = Memory([], [], [])
    assert memory_block(nothing, "docs").startswith("Not measured yet: `python -m agents.train")
    page = memory_page(nothing)
    for command in ("agents.train", "baselines.memories.ntm_copy", "benchmarks.cost.read_cost"):
        assert f"Not measured yet: `python -m {command}" in page
    assert "![" not in page
    assert memory_pictures(nothing) == {}


def test_a_row_tells_what_its_seeds_did() -> None:
    memory = Memory([*HARD, *SOFT], [], [])
    for text in (memory_block(memory, "docs"), memory_page(memory)):
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
            "right % at 1x": "87.5",
            "right % at 2x": "43.8",
            "cells read": "12",
        }.items()  # fmt: skip
        soft = row_of(text, "Soft key-value memory")
        assert soft["sees"] == "every cell"
        assert soft["solved"] == "0 of 2"
        assert soft["episodes to solve"] == soft["minutes to solve"] == "—"
        assert "ms a step" not in hard
        assert "2 to 5 times" in text


def test_costs_have_columns_where_they_are_known() -> None:
    runs = [make_run(seconds_per_step=0.0021, multiply_adds=3.2e6), make_soft_run()]
    page = memory_page(Memory(runs, [], []))
    hard, soft = row_of(page, "Reinforce LSTM"), row_of(page, "Soft key-value memory")
    assert (hard["ms a step"], hard["multiply-adds"]) == ("2.1", "3.2 M")
    assert (soft["ms a step"], soft["multiply-adds"]) == ("—", "—")


def test_what_others_report_stands_beside_and_claims_nothing() -> None:
    page = memory_page(Memory([make_run(env_id="Glimpse/Reverse-v0")], [], []))
    direct = row_of(page, "RL-NTM, direct access")
    assert direct["episodes to solve"] == "under 4.0 M"
    assert direct["minutes to solve"] == "35 h, a workstation"
    assert direct["seeds"] == "—"
    assert row_of(page, "RL-NTM, LSTM")["solved"] == "no"
    assert f"as reported. {NO_CLAIM}" in page
    assert "RL-NTM, LSTM" not in memory_page(Memory([make_run(env_id="Mine-v0")], [], []))


def test_key_value_memories_stand_side_by_side() -> None:
    kinds = ("Soft", "Soft-to-hard", "Hard")
    runs = [make_soft_run(model=f"{kind} key-value memory") for kind in kinds]
    page = memory_page(Memory(runs, [], []))
    sees = {kind: row_of(page, f"| {kind} key-value")["sees"] for kind in kinds}
    assert sees == {
        "Hard": "every cell once, then one a read",
        "Soft-to-hard": "every cell, one a read in the end",
        "Soft": "every cell",
    }


def test_each_note_is_told_once_after_its_models() -> None:
    runs = [make_run(0, notes="in groups"), make_run(1, notes="in groups"), make_soft_run()]
    lines = memory_page(Memory(runs, [], [])).splitlines()
    assert lines.count("- Reinforce LSTM: in groups") == 1


def test_the_paper_s_copy_is_a_mean_over_seeds() -> None:
    page = memory_page(Memory([], [make_copy(0, 0.5), make_copy(1, 0.1)], []))
    row = row_of(page, "| 120 | 960 |")
    assert row["wrong bits"] == "1.80"
    assert row["least to most seed"] == "0.60 to 3.00"
    assert row["wholly right %"] == "75.0"
    assert "2 seeds, 20 core-minutes each, 500 test sequences" in page


def test_the_read_s_cost_is_shown_once_it_was_measured(tmp_path: Path) -> None:
    records, benchmarks = tmp_path / "memory", tmp_path / "benchmarks"
    assert "(read_cost.png)" not in memory_page(read_memory(records, benchmarks))
    benchmarks.mkdir()
    (benchmarks / "read_cost.json").write_text("{}")
    assert "![The cost of one read by cells](read_cost.png)" in memory_page(
        read_memory(records, benchmarks)
    )


# Pictures


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that are drawn instead of written."""
    figures: list[Any] = []
    monkeypatch.setattr(memory_plot, "save_figure", lambda figure, path: figures.append(figure))
    return figures


def draw(figures: list[Any], picture: Callable[..., None]) -> Any:
    runs = [*HARD, *SOFT, make_run(env_id="Glimpse/Reverse-v0", length=20,
                                   accuracy_by_length={"20": 1.0, "40": 0.5})]  # fmt: skip
    picture(memory_tasks(runs), Path("unused.png"))
    (figure,) = figures
    return figure


def test_accuracy_is_drawn_by_length_in_a_panel_for_each_task(drawn: list[Any]) -> None:
    panels = {panel.get_title(): panel for panel in draw(drawn, memory_plot.draw_accuracy).axes}
    assert set(panels) == {"Copy-v0", "Reverse-v0"}
    hard, soft, mark = panels["Copy-v0"].get_lines()
    assert hard.get_xdata().tolist() == [10, 20, 40, 60]
    assert hard.get_ydata()[:2] == pytest.approx([87.5, 43.75])
    assert (hard.get_linestyle(), soft.get_linestyle()) == ("-", ":")
    assert list(mark.get_xdata()) == [10, 10]
    dots = panels["Copy-v0"].collections[0].get_offsets()
    assert np.asarray(dots)[:, 1] == pytest.approx([99.5] * 4 + [39.5])
    again = panels["Reverse-v0"].get_lines()[0]
    assert again.get_color() == hard.get_color() == COLOURS[0]
    assert again.get_xdata().tolist() == [20, 40]


def test_bars_are_the_share_of_seeds_that_solved(drawn: list[Any]) -> None:
    (panel,) = draw(drawn, memory_plot.draw_solved).axes
    names = [label.get_text() for label in panel.get_yticklabels()]
    widths = [bar.get_width() for bar in panel.patches]
    assert list(zip(names, widths, strict=True)) == [
        ("Reinforce LSTM, by label, mixture", 80.0),
        ("Soft key-value memory, by label, uniform", 0.0),
        ("Reinforce LSTM, by label, mixture", 100.0),
    ]
    colours = [to_hex(bar.get_facecolor()).upper() for bar in panel.patches]
    assert colours == [COLOURS[0], "#FFFFFF", COLOURS[0]]
    assert {"4 of 5", "0 of 2", "1 of 1", "Copy-v0"} <= {text.get_text() for text in panel.texts}


# The report


@pytest.fixture
def place(tmp_path: Path) -> list[str]:
    """An empty folder of results and a README with markers, as arguments."""
    (tmp_path / "results").mkdir()
    (tmp_path / "README.md").write_text("\n".join(["# Title", *MARKERS, "end\n"]))
    return [
        *("--results", str(tmp_path / "results")),
        *("--readme", str(tmp_path / "README.md")),
        *("--plot", str(tmp_path / "docs" / "plot.png")),
        *("--page", str(tmp_path / "docs" / "comparison.md")),
    ]


def test_the_report_is_fresh_until_a_record_is_added(
    place: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs, memory = tmp_path / "docs", tmp_path / "results" / "memory"
    assert main(place) == 0
    assert main([*place, "--check"]) == 0
    assert "--record results/memory" in (docs / PAGE).read_text()
    write_memory_record(make_run(), memory)
    (memory / "ntm_copy_seed0.json").write_text(json.dumps(asdict(make_copy())))
    (memory / "torn.json").write_text("{")
    assert main([*place, "--check"]) == 1
    told = capsys.readouterr().err
    assert "left out: torn.json" in told
    for name in ("README.md", PAGE, ACCURACY_PICTURE, SOLVED_PICTURE):
        assert f"{name} is stale" in told
    assert main(place) == 0
    assert main([*place, "--check"]) == 0
    readme = (tmp_path / "README.md").read_text()
    assert f"(docs/{PAGE})" in readme
    assert f"(docs/{ACCURACY_PICTURE})" in readme
    for name in (ACCURACY_PICTURE, SOLVED_PICTURE):
        assert f"({name})" in (docs / PAGE).read_text()
        assert min(imread(docs / name).shape[:2]) > 100


def test_a_readme_without_the_block_is_told(
    place: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text("\n".join(MARKERS[:4]))
    assert main(place) == 2
    assert "memory:begin" in capsys.readouterr().err
