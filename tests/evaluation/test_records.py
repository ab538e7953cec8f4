"""Records survive a round trip and damage, what cannot be is refused by name, and what is published
can be read and trained again."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glimpse_envs.evaluation.record import SOLVED, Model, Record, Score, Validation
from glimpse_envs.evaluation.records import (
    RecordError,
    pack,
    parse_record,
    read_records,
    unpack,
    write_record,
)
from glimpse_envs.evaluation.run_identity import identity, settings_of, settings_of_all

SUCCESSES = np.arange(20) % 10 != 0  # 18 of 20
PICTURES = Record(
    env_id="Glimpse/CenteredGlyphs-v0",
    env_kwargs={"budget": 3},
    model=Model("Reinforce LSTM"),
    algorithm="reinforce",
    command="python -m agents.train reinforce --seed 0",
    seed=0,
    budget=3,
    levels=None,
    episodes=1_000,
    seconds=6.0,
    cores=1,
    hardware="one core",
    revision="abc",
    versions={"torch": "2.13"},
    config={"batch_size": 8, "network": {"core": "lstm"}},
    scores=(
        Score(
            split="test",
            episodes=20,
            success=0.9,
            success_interval=(0.7, 0.97),
            mean_return=0.9,
            return_interval=(0.75, 1.05),
            glimpses=3.0,
            success_by_glimpse=(0.5, 0.8, 0.9),
            costs={"values_delivered": 30.0, "multiply_adds_reading": 30.0, "seconds": 0.01},
            costs_by_glimpse={"values_delivered": (10.0, 20.0, 30.0)},
            successes=pack(SUCCESSES),
        ),
    ),
    curve=(Validation(1.5, 250, 0.4, 0.4, 500), Validation(6.0, 1_000, 0.89, 0.89, 500)),
)


def score_at(level: int | None, success: float | None = 0.5) -> Score:
    between = None if success is None else (0.0, 1.0)
    return Score("test", 20, success, between, None, None, None, level)


TAPES = replace(
    PICTURES, levels=(1, 10), scores=tuple(score_at(level) for level in (10, 20, 40)), curve=()
)


@pytest.mark.parametrize("record", [PICTURES, TAPES], ids=["pictures", "tapes"])
def test_a_record_survives_the_round_trip(record: Record, tmp_path: Path) -> None:
    path = write_record(record, tmp_path / "new")
    assert read_records(tmp_path / "new") == ([record], [])
    assert path.name == f"Glimpse-CenteredGlyphs-v0_Reinforce-LSTM_seed0_{identity(record)}.json"


def test_a_run_measured_again_replaces_its_record_and_another_does_not(tmp_path: Path) -> None:
    old = write_record(replace(PICTURES, notes="before"), tmp_path)
    assert write_record(PICTURES, tmp_path) == old
    others: list[dict[str, Any]] = [
        {"seed": 1},
        {"env_kwargs": {"budget": 4}},
        {"model": replace(PICTURES.model, gaze="random")},
        {"config": {"batch_size": 16}},
    ]
    for other in others:
        write_record(replace(PICTURES, **other), tmp_path)
    records, problems = read_records(tmp_path)
    assert len(records) == 1 + len(others)
    assert problems == []


def test_damaged_records_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    write_record(PICTURES, tmp_path)
    data = asdict(PICTURES)
    (tmp_path / "torn.json").write_text(json.dumps(data)[:100])
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "short.json").write_text(json.dumps({k: data[k] for k in data if k != "seed"}))
    (tmp_path / "twice.json").write_text(json.dumps(data))
    records, problems = read_records(tmp_path)
    assert records == [PICTURES]
    problem_of = {Path(problem.partition(":")[0]).name: problem for problem in problems}
    assert set(problem_of) == {"torn.json", "list.json", "short.json", "twice.json"}
    assert "lacks seed" in problem_of["short.json"]
    assert "is not JSON" in problem_of["torn.json"]
    assert "the same run as Glimpse-" in problem_of["twice.json"]
    with pytest.raises(FileNotFoundError, match="no folder"):
        read_records(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("seed", True, "seed is True; it must be a valid integer"),
        ("seed", -1, "seed is -1; it must be greater than or equal to 0"),
        ("cores", 0, "cores is 0; it must be greater than or equal to 1"),
        ("seconds", float("nan"), "seconds is nan; it must be a finite number"),
        ("levels", [1], r"lacks levels\[1\]"),
        ("levels", [10, 1], r"levels is \(10, 1\); the least must come first"),
        ("colour", "red", "holds colour, which is not known"),
        ("env_id", "", "env_id is empty"),
        ("model", "Reinforce LSTM", "model is 'Reinforce LSTM'; it must be an object"),
        ("model.sees", "all", "model.sees is 'all'; it must be 'glimpses', 'privileged'"),
        ("scores", [], "scores is empty"),
        (
            "scores.0.success",
            1.5,
            r"scores\[0\].success is 1.5; it must be less than or equal",
        ),
        ("scores.0.success", None, "both or neither"),
        ("scores.0.success", 0.99, "its interval must hold it"),
        ("scores.0.success_by_glimpse", [0.5, 0.6, 0.7], "must end in success, 0.9"),
        ("scores.0.success_by_glimpse", [0.5, 0.9], "must be of equal length"),
        ("scores.0.costs.seconds", -1.0, r"scores\[0\].costs.seconds is -1.0"),
        ("scores.0.costs.values_delivered", 29.0, "must end in costs.values_delivered, 29.0"),
        ("scores.0.costs_by_glimpse.values_delivered", [11.0, 9.0, 30.0], "below the one before"),
        ("scores.0.successes", "zz", "successes is not hexadecimal"),
        ("scores.0.successes", "ff", "20 episodes need 3"),
        ("scores.0.successes", "ffffff", "has a share of 1.0; success is 0.9"),
        ("scores.0.level", 3, r"scores has the levels \[3\]; levels is null"),
        ("curve.0.episodes", 1_000, "each point must be after more episodes"),
        ("curve.1.episodes", 1_001, "curve ends after 1001 episodes; the training had 1000"),
        ("curve.1.scored", 0, r"curve\[1\].scored is 0"),
    ],
)
def test_what_cannot_be_is_refused_by_name(path: str, value: Any, message: str) -> None:
    data: Any = json.loads(json.dumps(asdict(PICTURES)))
    *parents, leaf = path.split(".")
    place = data
    for name in parents:
        place = place[int(name) if name.isdigit() else name]
    place[leaf] = value
    with pytest.raises(RecordError, match=message):
        parse_record(data)


def test_the_first_score_is_of_the_greatest_level_or_of_all() -> None:
    (score,) = PICTURES.scores
    for first, fits in ((10, True), (None, True), (3, False)):
        record = replace(PICTURES, levels=(1, 10), scores=(replace(score, level=first),))
        data = json.loads(json.dumps(asdict(record)))
        if fits:
            assert parse_record(data) == record
        else:
            with pytest.raises(RecordError, match="the first must be of the greatest trained, 10"):
                parse_record(data)


def test_what_json_cannot_hold_is_not_written(tmp_path: Path) -> None:
    for config in ({"x": {1, 2}}, {"x": float("inf")}):
        with pytest.raises(RecordError, match="does not fit into JSON"):
            write_record(replace(PICTURES, config=config), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_task_without_success_has_a_return() -> None:
    score = replace(score_at(None, success=None), mean_return=412.5, return_interval=(400.0, 425.0))
    record = replace(PICTURES, scores=(score,), curve=())
    assert parse_record(asdict(record)) == record


def test_scores_are_told_by_multiples_of_the_greatest_trained_level() -> None:
    assert TAPES.headline == TAPES.at(1) == TAPES.scores[0]
    assert TAPES.at(4) == TAPES.scores[2]
    assert TAPES.at(6) is None
    assert PICTURES.at(1) is None


def test_solved_after_is_read_off_the_curve() -> None:
    points = tuple(
        Validation(float(k), 10 * k, share, None, 1_000)
        for k, share in enumerate((0.5, SOLVED, 0.98, 1.0), 1)
    )
    assert replace(PICTURES, curve=points).solved_after == points[1]
    assert PICTURES.solved_after is None


def test_successes_are_packed_and_unpacked() -> None:
    np.testing.assert_array_equal(unpack(pack(SUCCESSES), 20), SUCCESSES)


def test_settings_leave_out_what_is_off_or_incidental() -> None:
    config = {"seed": 3, "device": "cpu", "validate_every": 50, "off": False, "none": None,
              "network": {"core": "lstm"}}  # fmt: skip
    assert settings_of(config) == {"network.core": "lstm"}


def with_option(default: object, value: object, **changes: Any) -> Record:
    """A record from after an option was added, at the end of the network."""
    old = PICTURES.config
    config, defaults = (
        {**old, "network": {**old["network"], "colour": it}} for it in (value, default)
    )
    return replace(PICTURES, config=config, defaults=defaults, **changes)


def test_a_run_repeated_after_an_option_was_added_replaces_its_record(tmp_path: Path) -> None:
    write_record(PICTURES, tmp_path)
    write_record(with_option("red", "blue"), tmp_path)
    again = with_option("red", "red", notes="repeated")
    path = write_record(again, tmp_path)
    assert path.name.endswith(f"{identity(again)}.json")
    records, problems = read_records(tmp_path)
    assert problems == []
    assert sorted(record.config["network"].get("colour", "") for record in records) == [
        "blue",
        "red",
    ]


def test_what_a_record_lacks_is_the_default_where_all_agree_on_it() -> None:
    old = PICTURES
    settings = settings_of_all([old, with_option("red", "blue"), with_option("red", "red")])
    assert [s["network.colour"] for s in settings] == ["red", "blue", "red"]
    changed = settings_of_all([old, with_option("red", "red"), with_option("blue", "blue")])
    assert "network.colour" not in changed[0]
    other = replace(with_option("red", "red"), algorithm="exact")
    assert "network.colour" not in settings_of_all([old, other])[0]
    switched = settings_of_all([with_option(True, False), with_option(True, True), old])
    assert [s.get("network.colour", "off") for s in switched] == ["off", True, True]


def test_of_one_episode_there_is_no_interval_of_the_return() -> None:
    one = replace(PICTURES.headline, episodes=1, successes="", return_interval=None)
    told: Any = json.loads(json.dumps(asdict(replace(PICTURES, scores=(one,)))))
    assert parse_record(told).headline.return_interval is None
    told["scores"][0]["episodes"] = 2
    with pytest.raises(RecordError, match="both or neither"):
        parse_record(told)
