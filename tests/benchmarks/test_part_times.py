"""What of an episode and of an update is timed as what."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pytest
import torch
from gymnasium.vector import VectorEnv

from baselines.pictures.full_view import FullViewConfig
from baselines.pictures.gaussian_window import GaussianWindow, GaussianWindowConfig
from baselines.setting import Setting
from benchmarks.scale.part_times import (
    Stopwatch,
    TimedEnv,
    TimedModel,
    TimedWindow,
    best_times,
    make_timed,
    time_dense_sums,
)
from glimpse_envs.vision.sensors.retina import Retina
from report.scaling import Milliseconds
from tests.support.tiny import tiny_config, tiny_network

P = ParamSpec("P")
R = TypeVar("R")


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
