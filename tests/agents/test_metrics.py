"""What a run writes down: its config, its metrics, and what it could not learn."""

import importlib
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import agents.algorithms.reinforce
from agents.algorithms.reinforce import Reinforce, ReinforceConfig, episode_losses
from agents.training.loop import train
from glimpse_envs.evaluation.runs import open_run
from tests.support.same_runs import assert_same_run
from tests.support.tiny import tiny_config
from tests.support.trainings import trained

pytestmark = pytest.mark.learning


@pytest.mark.parametrize("name", ["policy", "answer", "baseline", "entropy"])
def test_a_loss_that_is_nan_stops_the_run_and_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0

    def spoilt(*arguments: Any, **options: Any) -> dict[str, torch.Tensor]:
        nonlocal calls
        calls += 1
        losses = episode_losses(*arguments, **options)
        return {**losses, name: losses[name] * np.nan} if calls == 6 else losses

    monkeypatch.setattr(agents.algorithms.reinforce, "episode_losses", spoilt)
    message = rf"the {name} loss is nan at update 6 \(40 episodes\) of {tmp_path}"
    with pytest.raises(FloatingPointError, match=message):
        trained(Reinforce, tiny_config(), tmp_path)
    monkeypatch.undo()
    assert open_run(tmp_path).load_checkpoint()[1]["updates"] == 4
    resumed = trained(Reinforce, tiny_config(), tmp_path, resume=True)
    assert_same_run(resumed, trained(Reinforce, tiny_config(), tmp_path / "unbroken"))


@pytest.mark.parametrize(
    ("head", "env_kwargs"),
    [("look", {}), ("look", {"look": "tiles"}), ("answer", {}), ("stop", {"stop": True})],
)
def test_a_policy_that_is_nan_stops_the_run_and_is_named(
    head: str, env_kwargs: dict[str, Any], tmp_path: Path
) -> None:
    class Spoilt(Reinforce):
        def __init__(self, config: ReinforceConfig) -> None:
            super().__init__(config)
            with torch.no_grad():
                for parameter in self.policy.heads[head].parameters():
                    parameter.fill_(np.nan)

    message = f"policy's {head} after glimpse 1 is not finite at update 1 "
    with pytest.raises(FloatingPointError, match=message):
        trained(Spoilt, tiny_config(env_kwargs=env_kwargs), tmp_path)


def test_a_run_says_what_it_was(tmp_path: Path) -> None:
    run = trained(Reinforce, tiny_config(copies=4), tmp_path, stop_after=0)
    assert run.config["algorithm"] == "reinforce"
    assert run.config["model"]["name"] == "Reinforce LSTM"
    assert run.config["policy"] == "agents.policy.glimpse_policy:GlimpsePolicy"
    assert run.config["seed"] == 0
    assert run.config["config"]["copies"] == 4
    assert run.config["config"]["network"]["core_units"] == 8


def test_a_line_of_metrics_is_a_mean_since_the_last(tmp_path: Path) -> None:
    by_three = trained(Reinforce, tiny_config(), tmp_path / "three").read_metrics()
    each = trained(Reinforce, replace(tiny_config(), log_every=1), tmp_path / "one").read_metrics()
    assert [line["step"] for line in each] == list(range(8, 97, 8))
    for i, line in enumerate(by_three):
        errors = [single["error"] for single in each[3 * i : 3 * i + 3]]
        assert line["error"] == pytest.approx(np.mean(errors))


def test_the_last_line_is_of_the_updates_that_remain(tmp_path: Path) -> None:
    each = trained(Reinforce, replace(tiny_config(), log_every=1), tmp_path / "one").read_metrics()
    for log_every, updates in ((5, [5, 5, 2]), (100, [12])):
        config = replace(tiny_config(), log_every=log_every)
        run = trained(Reinforce, config, tmp_path / f"{log_every}")
        start = 0
        for line, count in zip(run.read_metrics(), updates, strict=True):
            errors = [single["error"] for single in each[start : start + count]]
            start += count
            assert line["step"] == 8 * start
            assert line["error"] == pytest.approx(np.mean(errors))
        broken = tmp_path / f"{log_every}-broken"
        for stop_after in (3, 6, 11, 12, None):
            resumed = trained(Reinforce, config, broken, resume=True, stop_after=stop_after)
        assert_same_run(resumed, run)


def test_tensorboard_has_the_metrics_once_though_the_run_was_broken(tmp_path: Path) -> None:
    name = "tensorboard.backend.event_processing.event_accumulator"
    accumulator: Any = importlib.import_module(name)
    trained(Reinforce, tiny_config(), tmp_path, stop_after=7)
    run = trained(Reinforce, tiny_config(), tmp_path, resume=True)
    events = accumulator.EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    found = {event.step: event.value for event in events.Scalars("error")}
    assert found == pytest.approx({line["step"]: line["error"] for line in run.read_metrics()})


def test_minutes_bound_a_run_by_the_clock(tmp_path: Path) -> None:
    started = time.monotonic()
    run = trained(Reinforce, tiny_config(minutes=0.01, episodes=10**9), tmp_path)
    metadata = run.load_checkpoint()[1]
    assert 0.6 <= metadata["seconds"] < 5
    assert time.monotonic() - started < 30
    assert run.read_metrics()[-1]["step"] == metadata["episodes"], "what remained is logged"


def test_the_progress_bar_shows_error_and_steps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(Reinforce, replace(tiny_config(), episodes=8 * 200), tmp_path)
    shown = capsys.readouterr().err
    assert "steps/s" in shown
    assert "error" in shown
    assert "100%" in shown
