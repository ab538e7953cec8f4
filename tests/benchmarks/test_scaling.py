"""How cost grows with the scene's side: what is trained, scored and recorded."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from agents.policy.networks import NetworkConfig
from agents.scoring.run_scores import score_run
from agents.training.loop import train
from agents.training.precision import present_precision
from benchmarks.comparison.contenders import CONTROLLER
from benchmarks.scale import __main__ as command
from benchmarks.scale.__main__ import (
    MODELS,
    ScalingConfig,
    _kept,
    main,
    scene_arguments,
    settings_of,
    training_config,
)
from benchmarks.tables.scenes import FAR_GAZE
from benchmarks.tables.table import preset
from glimpse_envs.evaluation.provenance import hardware
from glimpse_envs.evaluation.run_errors import RunError
from report.scaling import ModelName, read_scaling, write_scaling
from tests.support.scaling import a_scaling


def test_the_scene_grows_and_so_does_the_retina() -> None:
    settings = {side: scene_arguments(side) for side in (60, 120, 960)}
    assert settings == {
        60: {"scene_size": 60, "clutter": 4, "scales": 4},
        120: {"scene_size": 120, "clutter": 8, "scales": 5},
        960: {"scene_size": 960, "clutter": 64, "scales": 8},
    }


def test_batches_are_the_presets_less_where_scenes_are_large() -> None:
    scaling = ScalingConfig()
    sizes = {
        (model, side): training_config(scaling, model, side).batch_size
        for model in MODELS
        for side in scaling.sides
    }
    assert sizes["reinforce", 60] == 512
    full_views: tuple[ModelName, ...] = ("full_deep", "full_shallow")
    for model in full_views:
        assert sizes[model, 60] == preset("pictures", "full_view").batch_size
        assert [sizes[model, side] for side in scaling.sides] == [128, 128, 128, 32, 8, 2]
    for (model, side), rows in sizes.items():
        assert rows * side**2 <= MODELS[model].most_pixels
        assert rows >= 8 or model.startswith("full")
    assert training_config(replace(scaling, batch_size=4), "reinforce", 60).batch_size == 4


def test_no_model_validates_in_a_training_whose_clock_leaves_that_out() -> None:
    for model in MODELS:
        assert training_config(ScalingConfig(), model, 60).validation_episodes == 0


MODELS_OF_GLIMPSES: tuple[ModelName, ...] = ("reinforce", "draw", "soft_retina")


def network_at(model: ModelName, side: int) -> NetworkConfig:
    config: Any = training_config(ScalingConfig(), model, side)
    network: NetworkConfig = config.network
    return network


def test_models_of_glimpses_have_controllers_of_the_same_sizes() -> None:
    for side in ScalingConfig().sides:
        for model in MODELS_OF_GLIMPSES:
            network = network_at(model, side)
            assert {name: getattr(network, name) for name in CONTROLLER} == CONTROLLER
    network = network_at("reinforce", 960)
    assert replace(network, **CONTROLLER) == FAR_GAZE["network"]


@pytest.mark.learning
def test_the_command_measures_trains_scores_and_keeps_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        *("--sides", "32", "--minutes", "0.004", "--episodes", "40", "--batch-size", "20"),
        *("--repeats", "1", "--precision", "float32", "--out", str(tmp_path / "runs")),
        *("--record", str(tmp_path / "record")),
    ]
    main(arguments)
    first = read_scaling(tmp_path / "record")
    assert first is not None
    assert [point.model for point in first.points] == [
        "Reinforce LSTM, looks at cells, one by one, refined, wide inhibition of return",
        "Soft DRAW window LSTM",
        "Soft retina LSTM",
        "Full view strong",
        "Full view conv",
    ]
    for point in first.points:
        assert (point.side, point.scenes) == (32, 40)
        assert point.images >= 20
        assert point.core_seconds >= 0.2
        assert point.multiply_adds is not None
        assert point.multiply_adds > (5e4 if point.key == "full_shallow" else 1e5)
        assert point.interval_percent[0] <= point.error_percent <= point.interval_percent[1]
    assert first.points[3].inference.reading == 0.0
    assert [each.side for each in first.dense_sums] == [32]
    assert (tmp_path / "runs" / "scaling.png").exists()
    assert "| 32 | Full view strong |" in capsys.readouterr().out

    monkeypatch.setattr(command, "score_run", never)
    main(arguments)
    again = read_scaling(tmp_path / "record")
    assert again is not None
    for before, after in zip(first.points, again.points, strict=True):
        assert replace(after, inference=before.inference, update=before.update) == before


@pytest.mark.learning
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_models_are_scored_in_the_precision_that_is_timed(
    precision: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scaling = ScalingConfig(
        minutes=0.004, episodes=20, batch_size=20, precision=precision, out=tmp_path
    )
    found: list[torch.dtype] = []

    def scored(*args: Any, **kwargs: Any) -> Any:
        found.append(present_precision(torch.device("cpu")))
        return score_run(*args, **kwargs)

    monkeypatch.setattr(command, "score_run", scored)
    record = command.train_and_score(scaling, "full_shallow", 32)
    assert found == [getattr(torch, precision)]
    assert record.headline.episodes == 20


def never(*args: Any, **kwargs: Any) -> None:
    raise AssertionError("what is scored is not scored again")


@pytest.mark.learning
def test_points_of_the_record_that_are_not_asked_for_keep_their_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = a_scaling()
    batch, scenes = 4, 40
    trained = ScalingConfig(minutes=0.004, batch_size=batch, precision="float32")
    points = tuple(
        replace(
            point,
            batch_size=batch,
            scenes=scenes,
            revision="older",
            settings=settings_of(trained, point.key, 60),
        )
        for point in kept.points
        if point.side == 60
    )
    again = replace(points[0], side=32, key="full_shallow", model="older", settings="of older ones")
    kept = replace(
        kept,
        points=(again, *points),
        minutes=0.004,
        hardware=hardware(1),
        env_id=ScalingConfig().env_id,
        notes="A caveat.",
    )
    write_scaling(kept, tmp_path)
    arguments = [
        *("--sides", "32", "--models", "full_shallow", "--minutes", "0.004", "--episodes", "40"),
        *("--batch-size", "4", "--repeats", "1", "--precision", "float32"),
        *("--out", str(tmp_path / "runs"), "--record", str(tmp_path)),
    ]
    main(arguments)
    found = read_scaling(tmp_path)
    assert found is not None
    new, *old = found.points
    assert (new.side, new.key, new.revision) == (32, "full_shallow", found.revision)
    assert found.notes == "A caveat."
    for before, after in zip(points, old, strict=True):
        assert replace(after, inference=before.inference, update=before.update) == before
        assert after.inference != before.inference

    for wrong, message in [
        (("--minutes", "0.005"), "minutes=0.005, but the record in .* is of 0.004"),
        (("--seed", "1"), "seed=1, but the record"),
        (("--episodes", "41"), "scored on 40 scenes and not 41"),
        (("--batch-size", "5"), "60 pixels was trained by other settings: measure it anew too"),
    ]:
        before_it = (tmp_path / "scaling.json").read_bytes()
        with pytest.raises(SystemExit):
            main([*arguments, *wrong])
        assert re.search(message, " ".join(capsys.readouterr().err.split()))
        assert (tmp_path / "scaling.json").read_bytes() == before_it


def test_a_record_of_which_nothing_is_kept_may_be_of_other_settings() -> None:
    found = a_scaling()
    every = [(int(point.side), point.key) for point in found.points]
    other = ScalingConfig(minutes=2 * found.minutes)
    assert _kept(other, found, every) == {}
    with pytest.raises(ValueError, match="points of both cannot be compared"):
        _kept(other, found, every[1:])


def test_an_interrupted_training_is_not_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scaling = ScalingConfig(
        sides=(32,), minutes=10.0, batch_size=4, precision="float32", out=tmp_path
    )
    stopped = partial(train, stop_after=1)
    monkeypatch.setattr("agents.algorithms.algorithm.train", stopped)
    with pytest.raises(RunError, match="interrupted; the same command goes on"):
        command.train_and_score(scaling, "reinforce", 32)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sides", "60", "60"], "each given once"),
        (["--models", "draw", "draw"], "names of models, each given once"),
        (["--sides", "0"], "counts of pixels"),
        (["--minutes", "0"], "minutes=0.0 must be above 0"),
        (["--repeats", "0"], "repeats=0 must be at least 1"),
        (["--sides", "20"], "28"),
        (["--env-id", "Glimpse/Nothing-v0"], "Nothing"),
        (["--env-id", "my_taks:Mine/A-v0"], "its module my_taks cannot be imported"),
    ],
)
def test_bad_settings_are_told(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
