"""How cost grows with the scene's side: what is timed as what, what is trained and scored."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pytest
import torch
from gymnasium.vector import VectorEnv

from agents.policy.networks import NetworkConfig
from agents.scoring.run_scores import score_run
from agents.training.loop import train
from agents.training.precision import present_precision
from baselines.pictures.full_view import FullViewConfig
from baselines.pictures.gaussian_window import GaussianWindow, GaussianWindowConfig
from baselines.setting import Setting
from benchmarks.comparison.contenders import CONTROLLER
from benchmarks.scale import __main__ as command
from benchmarks.scale.__main__ import (
    MODELS,
    ScalingConfig,
    main,
    scene_arguments,
    settings_of,
    training_config,
)
from benchmarks.scale.part_times import (
    Stopwatch,
    TimedEnv,
    TimedModel,
    TimedWindow,
    best_times,
    make_timed,
    time_dense_sums,
)
from benchmarks.tables.scenes import FAR_GAZE
from benchmarks.tables.table import preset
from glimpse_envs.evaluation.provenance import hardware
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.vision.sensors.retina import Retina
from report.scaling import Milliseconds, ModelName, read_scaling, write_scaling
from tests.support.scaling import a_scaling
from tests.support.tiny import tiny_config, tiny_network

P = ParamSpec("P")
R = TypeVar("R")

# What is timed as what


def wait(seconds: float) -> None:
    """Keep the core busy."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def delayed(work: Callable[P, R], seconds: float) -> Callable[P, R]:
    """`work`, which keeps the core busy first."""

    def slow(*args: P.args, **kwargs: P.kwargs) -> R:
        wait(seconds)
        return work(*args, **kwargs)

    return slow


def tiny(algorithm: str) -> TimedModel:
    network, kwargs = tiny_network(), {"budget": 3}
    shared: dict[str, Any] = {"env_id": "Glimpse/CenteredGlyphs-v0", "env_kwargs": kwargs}
    shared["batch_size"] = 8
    config = {
        "reinforce": tiny_config(),
        "gaussian_window": GaussianWindowConfig(network=network, **shared),
        "full_view": FullViewConfig(channels=4, stages=2, units=8, **shared),
    }[algorithm]
    return make_timed(algorithm, config)


def bare_env(model: TimedModel) -> VectorEnv:
    env = model.learner.env
    assert isinstance(env, TimedEnv)
    return env.env


def test_a_stopwatch_counts_each_part_apart() -> None:
    stopwatch = Stopwatch()
    assert stopwatch.timed("reading", delayed(int, 0.02), 5) == 5
    assert stopwatch.seconds["reading"] >= 0.02
    assert stopwatch.seconds["building"] == 0.0


def test_a_window_on_a_stopwatch_reads_and_learns_as_one_without() -> None:
    setting = Setting.of("Glimpse/CenteredGlyphs-v0", {"budget": 3})
    config = GaussianWindowConfig(network=tiny_network())
    torch.manual_seed(0)
    plain = GaussianWindow(setting, config)
    timed = TimedWindow(setting, config)
    timed.load_state_dict(plain.state_dict())
    observation = {"scene": torch.rand(4, 1, 28, 28)}
    logits = [model(observation).logits for model in (plain, timed)]
    torch.testing.assert_close(logits[0], logits[1])
    for each in logits:
        each.square().sum().backward()
    gradients = [{n: p.grad for n, p in model.named_parameters()} for model in (plain, timed)]
    assert gradients[0]["look.0.weight"] is not None
    torch.testing.assert_close(gradients[0], gradients[1])
    assert timed.stopwatch.seconds["reading"] > 0


@pytest.mark.learning
@pytest.mark.parametrize("algorithm", ["reinforce", "gaussian_window", "full_view"])
def test_slow_dealing_is_building(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny(algorithm)
    env = bare_env(model)
    monkeypatch.setattr(env, "reset", delayed(env.reset, 0.1))
    for work in (model.infer, model.update):
        work()
        spent = model.time(work)
        assert spent.building >= 100 / 8  # milliseconds a scene of a batch of 8
        assert spent.reading < 100 / 8
    model.close()


@pytest.mark.learning
@pytest.mark.parametrize(
    ("algorithm", "reads"), [("reinforce", True), ("gaussian_window", False), ("full_view", False)]
)
def test_slow_glimpses_are_reading_for_agents_alone(
    algorithm: str, reads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny(algorithm)
    env = bare_env(model)
    monkeypatch.setattr(env, "step", delayed(env.step, 0.1))
    # Inference ends with the choice of the last action, an update with its reward.
    for work, last in ((model.infer, 0), (model.update, 1)):
        work()
        spent = model.time(work)
        slow = 100 / 8 * ((2 if reads else 0) + last)  # milliseconds a scene of a batch of 8
        part = spent.reading if reads else spent.answering
        assert slow <= part < slow + 100 / 8
    model.close()


@pytest.mark.learning
def test_the_filters_of_a_soft_window_are_reading_both_ways(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Slow(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            wait(0.02)
            return x.clone()

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            wait(0.05)
            return gradient

    filters = GaussianWindow._filters

    def slow_filters(self: GaussianWindow, middle: torch.Tensor, *rest: Any) -> torch.Tensor:
        slow: torch.Tensor = Slow.apply(middle)  # type: ignore[no-untyped-call]  # by torch
        return filters(self, slow, *rest)

    monkeypatch.setattr(GaussianWindow, "_filters", slow_filters)
    model = tiny("gaussian_window")
    for work in (model.infer, model.update):
        work()
    infer, update = model.time(model.infer), model.time(model.update)
    assert infer.reading >= 6 * 20 / 8  # two axes of three glimpses
    # The first window is read from the empty memory, so that it too learns: from its head's bias.
    assert update.reading >= 6 * (20 + 50) / 8
    assert update.answering < update.reading
    model.close()


def test_a_full_view_has_no_reading_apart() -> None:
    model = tiny("full_view")
    (times,) = best_times([model], repeats=1)
    for spent in times:
        assert spent.reading == 0.0
        assert min(spent.building, spent.answering) > 0
    assert times[0].total < times[1].total  # an update goes back as well
    model.close()


def test_each_parts_best_burst_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny("full_view")
    bursts = iter(Milliseconds(*parts) for parts in [(1, 1, 1), (9, 9, 9), (0, 0, 2.5), (1, 1, 9)])
    monkeypatch.setattr(model, "time", lambda work: next(bursts))
    assert best_times([model], 2) == [(Milliseconds(0, 0, 1), Milliseconds(1, 1, 9))]
    model.close()


def test_scenes_that_are_nowhere_black_are_summed_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    summed = []

    def seen(self: Retina, canvas: np.ndarray, sums: np.ndarray, which: np.ndarray) -> None:
        summed.append((canvas.shape, int(canvas[..., 1:-1, 1:-1].min()), list(which)))
        wait(0.01)

    monkeypatch.setattr(Retina, "sum_scenes", seen)
    assert time_dense_sums(64, 5, 3) >= 10 / 5
    assert summed == [((5, 1, 66, 66), 1, [0, 1, 2, 3, 4])] * 4


# The command


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
    kept = replace(
        kept, points=points, minutes=0.004, hardware=hardware(1), env_id=ScalingConfig().env_id
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
    for before, after in zip(points, old, strict=True):
        assert replace(after, inference=before.inference, update=before.update) == before
        assert after.inference != before.inference

    for wrong, message in [
        (("--minutes", "0.005"), "minutes=0.005, but the record in .* is of 0.004"),
        (("--seed", "1"), "seed=1, but the record"),
        (("--episodes", "41"), "scored on 40 scenes and not 41"),
        (("--batch-size", "5"), "was trained by other settings"),
    ]:
        before_it = (tmp_path / "scaling.json").read_bytes()
        with pytest.raises(SystemExit):
            main([*arguments, *wrong])
        assert re.search(message, " ".join(capsys.readouterr().err.split()))
        assert (tmp_path / "scaling.json").read_bytes() == before_it


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
