"""Records of memory survive a round trip and damage, and are grouped by what tells runs apart."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from glimpse_envs.evaluation.memory_records import (
    MemoryRecord,
    check_memory_record,
    parse_memory_record,
    read_memory_records,
    write_memory_record,
)
from glimpse_envs.evaluation.records import RecordError
from report.memory_groups import memory_family, memory_tasks
from tests.support.memory_runs import LENGTH, make_copy, make_run, make_soft_run

# Records


def test_a_record_survives_the_round_trip(tmp_path: Path) -> None:
    record = make_run(env_kwargs={"symbols": 30}, notes="no copying head", multiply_adds=2e6)
    path = write_memory_record(record, tmp_path / "new")
    assert read_memory_records(tmp_path / "new") == ([record], [], [])
    assert path.name.startswith("Glimpse-Copy-v0_Reinforce-LSTM_length10_seed0_")


def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert read_memory_records(tmp_path / "nowhere") == ([], [], [])


def test_the_same_run_replaces_its_record_and_another_does_not(tmp_path: Path) -> None:
    write_memory_record(make_run(), tmp_path)
    write_memory_record(make_run(cells_read=30.0), tmp_path)
    assert [run.cells_read for run in read_memory_records(tmp_path)[0]] == [30.0]
    others: list[dict[str, Any]] = [
        {"seed": 1},
        {"answer_by": "reward"},
        {"curriculum": "none"},
        {"env_kwargs": {"symbols": 30}},
        {"config": {"batch": 128}},
        {"length": 2 * LENGTH},
    ]
    for other in others:
        write_memory_record(make_run(**other), tmp_path)
    assert len(read_memory_records(tmp_path)[0]) == 1 + len(others)


def test_accuracy_is_told_by_multiples_of_the_training_length() -> None:
    record = make_run(accuracy_by_length={"10": 0.9, "20": 0.7})
    assert [record.accuracy(multiple) for multiple in (1, 2, 4)] == [0.9, 0.7, None]


def test_damaged_records_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    good, copy = make_run(), make_copy()
    write_memory_record(good, tmp_path)
    (tmp_path / "ntm_copy_seed0.json").write_text(json.dumps(asdict(copy)))
    data = asdict(good)
    (tmp_path / "torn.json").write_text(json.dumps(data)[:100])
    (tmp_path / "list.json").write_text("[]")
    short = {name: value for name, value in data.items() if name not in ("seed", "length")}
    (tmp_path / "short.json").write_text(json.dumps(short))
    (tmp_path / "twice.json").write_text(json.dumps({**data, "unknown": 1}))
    bare = {name: value for name, value in asdict(copy).items() if name != "by_length"}
    (tmp_path / "bare.json").write_text(json.dumps(bare))
    records, copies, problems = read_memory_records(tmp_path)
    assert (records, copies) == ([good], [copy])
    told = {problem.split(":")[0]: problem for problem in problems}
    assert set(told) == {"torn.json", "list.json", "short.json", "twice.json", "bare.json"}
    assert "lacks seed, length" in told["short.json"]
    assert "lacks by_length" in told["bare.json"]
    assert "the same run" in told["twice.json"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": True}, "seed is True"),
        ({"solved": 1}, "solved is 1; it must be true or false"),
        ({"answer_by": "luck"}, "answer_by is 'luck'; it must be one of"),
        ({"curriculum": ""}, "one of \\('uniform', 'mixture', 'threshold', 'none'\\)"),
        ({"cells_read": float("nan")}, "cells_read is nan"),
        ({"multiply_adds": -1}, "multiply_adds is -1; it must be a number of at least 0, or none"),
        ({"accuracy_by_length": {}}, "an object of shares"),
        ({"accuracy_by_length": {"10": 99.0}}, "shares in \\[0, 1\\]"),
        ({"accuracy_by_length": {"1x": 0.9}}, "an object of shares"),
        ({"accuracy_by_length": {"20": 0.9}}, "lengths 20; it must have the training's, 10"),
        ({"episodes_to_solve": None}, "both must be known, or neither"),
        ({"episodes_to_solve": None, "minutes_to_solve": None}, "solved is True and"),
        ({"episodes_to_solve": 900_001}, "at most all the episodes, 900000"),
    ],
)
def test_contradictions_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        parse_memory_record({**asdict(make_run()), **changes})


def test_a_run_may_lose_what_it_had_solved() -> None:
    check_memory_record(make_run(solved=False))


@pytest.mark.parametrize("score", [{}, {"wrong_bits": 1.0, "greatest": 2.0, "wholly": 75.0}, None])
def test_a_copy_without_its_scores_is_refused(score: object) -> None:
    with pytest.raises(RecordError, match=r"by_length is .* wrong_bits, greatest and wholly"):
        parse_memory_record({**asdict(make_copy()), "by_length": {"20": score}})


def test_what_json_cannot_hold_is_refused_before_writing(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="does not fit into JSON"):
        write_memory_record(make_run(config={"x": {1, 2}}), tmp_path)
    assert list(tmp_path.iterdir()) == []


# Groups


@pytest.mark.parametrize(
    ("record", "family"),
    [
        (make_run(), "hard"),
        (make_run(model="A2C direct access"), "hard"),
        (make_soft_run(), "soft"),
        (make_soft_run(model="Soft NTM"), "soft"),
        (make_soft_run(model="Soft-to-hard key-value memory"), "between"),
        (make_soft_run(model="Key-value memory, soft_to_hard"), "between"),
        (make_soft_run(model="Hard key-value memory"), "addressed"),
        (make_soft_run(model="Full view LSTM"), "full"),
    ],
)
def test_names_and_views_tell_what_a_model_sees(record: MemoryRecord, family: str) -> None:
    assert memory_family(record) == family


def test_groups_hold_runs_that_differ_in_the_seed_alone() -> None:
    runs = [make_run(seed) for seed in (2, 0, 1)]
    others = [make_run(answer_by="reward"), make_run(curriculum="none"), make_soft_run()]
    (task,) = memory_tasks([*runs, *others])
    assert sorted(group.seeds for group in task.groups) == [1, 1, 1, 3]
    three = next(group for group in task.groups if group.seeds == 3)
    assert [record.seed for record in three.records] == [0, 1, 2]
    assert task.groups[-1].family == "soft"


def test_other_settings_are_another_group_that_says_which() -> None:
    config: dict[str, Any] = {"batch": 256, "curriculum": "mixture"}
    runs = [make_run(config=config), make_run(config={**config, "batch": 64, "device": "cuda"})]
    (task,) = memory_tasks([*runs, make_run(1, config=config)])
    labels = {group.label: group.seeds for group in task.groups}
    assert labels == {"Reinforce LSTM (batch=256)": 2, "Reinforce LSTM (batch=64)": 1}


def test_what_is_asked_tells_tasks_apart_and_how_it_is_gone_through_does_not() -> None:
    bits, numbers = make_run(env_kwargs={"address": "bits"}), make_run(env_kwargs={"min_length": 3})
    (one,) = memory_tasks([bits, numbers])
    assert {group.label for group in one.groups} == {
        "Reinforce LSTM (address=bits)",
        "Reinforce LSTM (min_length=3)",
    }
    tasks = memory_tasks([make_run(), make_run(env_kwargs={"symbols": 30})])
    assert [task.env_kwargs for task in tasks] == [{}, {"symbols": 30}]


def test_medians_are_of_the_seeds_that_solved_and_means_of_all() -> None:
    runs = [make_run(0, 1.0), make_run(1, 1.0), make_run(2, 1.0), make_run(3, 0.2)]
    ((group,),) = (task.groups for task in memory_tasks(runs))
    assert (group.solved, group.seeds) == (3, 4)
    assert group.episodes_to_solve == 40_000
    assert group.minutes_to_solve == 3.0
    assert group.accuracy(1) == pytest.approx(0.8)
    assert group.accuracy(2) == pytest.approx(0.4)
    assert group.accuracy(3) is None
    assert group.cost("multiply_adds") is None


def test_a_group_that_never_solved_has_no_time_to_solve() -> None:
    ((group,),) = (task.groups for task in memory_tasks([make_run(right=0.1)]))
    assert group.episodes_to_solve is None
    assert group.minutes_to_solve is None


def test_accuracies_stand_where_every_seed_was_tried() -> None:
    runs = [make_run(0, 1.0), make_run(1, 0.5, accuracy_by_length={"10": 0.5, "40": 0.25})]
    ((group,),) = (task.groups for task in memory_tasks(runs))
    assert group.accuracies() == [(10, [1.0, 0.5]), (40, [0.25, 0.25])]
