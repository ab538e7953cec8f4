"""What several runs get wrong: the record and its page."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from glimpse_envs.evaluation.records import RecordError
from report.mistakes import HardScene, Kind, Mistakes, read_mistakes, write_mistakes
from report.page import Places
from report.pages.mistakes import PAGE, publish

MISTAKES = Mistakes(
    env_id="Glimpse/ClutteredMNIST-v0",
    env_kwargs={"budget": 8},
    split="test",
    model="Reinforce LSTM",
    seeds=(0, 1),
    images=1_000_000,
    hardware="a core",
    revision="0123456789abcdef",
    scenes=100,
    wrong=(10, 20),
    wrong_in=(75, 20, 5),
    by_looks=(Kind("0", 20, 20), Kind("1", 180, 10)),
    by_answer=(Kind("3", 200, 30),),
    by_clutter=(),
    hardest=(HardScene(7, "3", ("5", "8")),),
)


def test_the_record_survives_the_round_trip(tmp_path: Path) -> None:
    write_mistakes(MISTAKES, tmp_path / "one.json")
    assert read_mistakes(tmp_path / "one.json") == MISTAKES


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scenes": 0}, "scenes is 0"),
        ({"wrong": [1]}, "must hold 2 and 3 numbers, for 2 seeds; they hold 1 and 3"),
        ({"wrong_in": [1, 2, 3]}, "must add up to 100 scenes; it is 6"),
        ({"hardest": [{"scene": 1}]}, "lacks hardest"),
        ({"more": 1}, "holds more, which is not known"),
    ],
)
def test_a_damaged_record_is_named(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "mistakes").mkdir()
    path = tmp_path / "mistakes" / "one.json"
    path.write_text(json.dumps(asdict(MISTAKES) | change))
    with pytest.raises(RecordError, match=f"^{path}: .*{message}"):
        read_mistakes(path)
    (problem,) = publish(Places(tmp_path, tmp_path)).problems
    assert "one.json" in problem


def test_mistakes_at_random_are_those_of_independent_runs() -> None:
    assert MISTAKES.expected() == pytest.approx([72, 26, 2])
    assert replace(MISTAKES, wrong=(0, 0)).expected() == pytest.approx([100, 0, 0])


def test_the_page_shows_each_sort_of_mistake_and_the_sheet(tmp_path: Path) -> None:
    folder = tmp_path / "results" / "mistakes"
    write_mistakes(MISTAKES, folder / "one.json")
    places = Places(tmp_path / "results", tmp_path)
    text = publish(places).texts[PAGE]
    assert "## ClutteredMNIST-v0 (8 glimpses)" in text
    assert "10.00 and 20.00 % wrong ([record](../results/mistakes/one.json)" in text
    assert "| 2 | 5 | 2.0 |" in text
    assert "| 0 | 20 | 100.00 | 67 |" in text
    assert "| clutter |" not in text
    assert "only one run." not in text
    assert "one.png" not in text
    (folder / "one.png").write_bytes(b"a picture")
    published = publish(places)
    assert "![Scenes with their answers](mistakes/one.png)" in published.texts[PAGE]
    target = tmp_path / "docs" / "mistakes" / "one.png"
    published.figures["docs/mistakes/one.png"](target)
    assert target.read_bytes() == b"a picture"


def test_one_run_of_scenes_of_several_targets_is_told_by_those_visited(tmp_path: Path) -> None:
    kinds = (Kind("1", 60, 9), Kind("2", 40, 1))
    one = replace(MISTAKES, seeds=(0,), wrong=(10,), wrong_in=(90, 10), by_visits=kinds)
    write_mistakes(one, tmp_path / "mistakes" / "one.json")
    text = publish(Places(tmp_path, tmp_path)).texts[PAGE]
    assert "Reinforce LSTM, one run of 1.0 M training images" in text
    assert "For some settings there is only one run." in text
    assert "runs that are wrong" not in text
    assert "Scenes that" not in text
    (tmp_path / "mistakes" / "one.png").write_bytes(b"a picture")
    text = publish(Places(tmp_path, tmp_path)).texts[PAGE]
    assert "Scenes that the run gets wrong: the right answer, and that of the run." in text
    assert "| targets visited | episodes | error % |" in text
    assert "| 1 | 60 | 15.00 | 90 |" in text


def test_a_record_of_one_target_by_older_code_is_read(tmp_path: Path) -> None:
    write_mistakes(MISTAKES, tmp_path / "one.json")
    old = json.loads((tmp_path / "one.json").read_text())
    del old["by_visits"]
    (tmp_path / "one.json").write_text(json.dumps(old))
    assert read_mistakes(tmp_path / "one.json") == MISTAKES


def test_without_a_record_its_command_is_named(tmp_path: Path) -> None:
    text = publish(Places(tmp_path, tmp_path)).texts[PAGE]
    assert "Not measured yet: `python -m benchmarks.mistakes`" in text
