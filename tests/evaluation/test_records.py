"""What a record says of costs and of learning is checked, and may be missing."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from glimpse_envs.evaluation.records import (
    Record,
    RecordError,
    parse_record,
    read_records,
    write_record,
)

COSTS = {
    "values_delivered": 30.0,
    "pixels_covered": 50.5,
    "multiply_adds": 300.0,
    "multiply_adds_reading": 30.0,
}
BY_GLIMPSE = {
    "values_delivered": [10.0, 20.0, 30.0],
    "pixels_covered": [30.0, 50.5, 50.5],
    "multiply_adds": [100.0, 200.0, 300.0],
}
RECORD = Record(
    env_id="Glimpse/CenteredGlyphs-v0",
    env_kwargs={"budget": 3},
    model="Reinforce LSTM",
    seed=0,
    glimpses=3,
    error_percent=10.0,
    interval_percent=(8.0, 12.0),
    error_by_glimpse=(50.0, 20.0, 10.0),
    images_seen=1_000,
    seconds=6.0,
    hardware="one core",
    revision="abc",
    config={"batch_size": 8},
    costs=COSTS,
    costs_by_glimpse=BY_GLIMPSE,
    curve=[[1.5, 250, 60.0, 500], [6.0, 1_000, 11.0, 500]],
)

NEWER: dict[str, Any] = {"costs": {}, "costs_by_glimpse": {}, "curve": []}


def test_costs_and_the_curve_survive_the_round_trip(tmp_path: Path) -> None:
    write_record(RECORD, tmp_path)
    assert read_records(tmp_path) == ([RECORD], [])


def test_older_records_have_neither(tmp_path: Path) -> None:
    data = asdict(RECORD)
    for name in ("costs", "costs_by_glimpse", "curve"):
        del data[name]
    (tmp_path / "older.json").write_text(json.dumps(data))
    assert read_records(tmp_path) == (
        [replace(RECORD, costs={}, costs_by_glimpse={}, curve=[])],
        [],
    )


def test_a_run_measured_again_replaces_its_record(tmp_path: Path) -> None:
    old = write_record(replace(RECORD, **NEWER), tmp_path)
    assert write_record(RECORD, tmp_path) == old


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("costs", None, "costs is None"),
        ("costs", {"multiply_adds": -1.0}, "numbers of at least 0"),
        ("costs", {"multiply_adds": float("inf")}, "numbers of at least 0"),
        ("costs", {**COSTS, "multiply_adds": 299.0}, r"ends in 300.0; .* what costs says, 299.0"),
        ("costs_by_glimpse", {"pixels_covered": [1.0, 50.5]}, "2 values of pixels_covered"),
        ("costs_by_glimpse", {"pixels_covered": []}, "0 values of pixels_covered"),
        ("costs_by_glimpse", {"pixels_covered": [3.0, 2.0, 50.5]}, "none below the one before"),
        ("costs_by_glimpse", {"pixels_covered": 50.5}, "an object of lists"),
        ("curve", {}, "curve is {}"),
        ("curve", [[1.0, 250, 60.0]], "core-seconds, images, error in percent, scenes"),
        ("curve", [[1.0, 250, 0.6, 0]], "core-seconds, images, error in percent, scenes"),
        ("curve", [[1.0, 250, 160.0, 500]], "core-seconds, images, error in percent, scenes"),
        ("curve", [[1.0, 250, 60.0, 500], [2.0, 250, 50.0, 500]], "each after more images"),
    ],
)
def test_what_cannot_be_is_refused(key: str, value: Any, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        parse_record({**asdict(RECORD), key: value})
