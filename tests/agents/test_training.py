"""Runs repeat, survive kills, and refuse what does not fit."""

import importlib
import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import agents.algorithms.reinforce
from agents.algorithms.reinforce import Reinforce, ReinforceConfig, episode_losses
from agents.training.checkpoints import flatten, unflatten
from agents.training.loop import train
from agents.training.schedules import cosine_decay
from glimpse_envs.evaluation.runs import CheckpointError, Run, RunError, create_run, open_run
from tests.support.episodes import CIRCLE_SQUARE
from tests.support.same_runs import assert_same_run, metrics_of
from tests.support.tiny import tiny_config, tiny_network

ROOT = Path(__file__).parents[2]
UPDATES = 12  # of `tiny_config`

CONFIGS: dict[str, ReinforceConfig] = {
    "plain": tiny_config(),
    "tiles": tiny_config(env_kwargs={"budget": 3, "look": "tiles"}),
    "random": tiny_config(looks="random"),
    "random_tiles": tiny_config(looks="random", env_kwargs={"budget": 3, "look": "tiles"}),
    "random_moves": tiny_config(looks="random", env_kwargs={"budget": 3, "look": "relative"}),
    "oracle": tiny_config(looks="oracle"),
    "copies": tiny_config(copies=4),
    "stop": tiny_config(env_kwargs={"budget": 3, "stop": True, "glimpse_cost": 0.01}),
    "copies_stop": tiny_config(copies=2, env_kwargs={"budget": 3, "stop": True}),
    "learned_std": tiny_config(network=tiny_network(learn_look_std=True)),
    "scheduled_std": tiny_config(final_look_std=0.05),
    "reward": tiny_config(answer_by="reward", look_weight=1.0, entropy_weight=0.01),
    "history": tiny_config(env_kwargs={"budget": 3, "history": True}),
    "dense": tiny_config(env_id=CIRCLE_SQUARE, look_signal="log_likelihood"),
    "bfloat16": tiny_config(precision="bfloat16"),
    "rnn": tiny_config(network=tiny_network(core="rnn", glimpse_network="conv")),
}


def trained(config: ReinforceConfig, folder: Path, **options: Any) -> Run:
    return train(Reinforce, config, folder, progress_bar=False, **options)


@pytest.mark.parametrize("name", CONFIGS)
def test_equal_seeds_give_equal_runs_and_others_do_not(name: str, tmp_path: Path) -> None:
    config = CONFIGS[name]
    one, two = (trained(config, tmp_path / folder) for folder in ("one", "two"))
    assert_same_run(one, two)
    assert [line["step"] for line in one.read_metrics()] == [24, 48, 72, 96]
    other = trained(replace(config, seed=1), tmp_path / "other")
    assert metrics_of(other) != metrics_of(one)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_run_resumed_is_the_unbroken_run(name: str, tmp_path: Path) -> None:
    config = CONFIGS[name]
    unbroken = trained(config, tmp_path / "unbroken")
    for stop_after in (0, 5, 7, None):
        broken = trained(config, tmp_path / "broken", resume=True, stop_after=stop_after)
        if stop_after is not None:
            assert broken.load_checkpoint()[1]["updates"] == stop_after
    assert_same_run(broken, unbroken)


class Killed(BaseException):
    """Ends a training as abruptly as a test can within its own process."""


class Mortal(Reinforce):
    """Dies in the middle of its last update: the batch is played and nothing is learned of it."""

    life: int

    def update(self, progress: float) -> dict[str, float]:
        type(self).life -= 1
        if type(self).life < 0:
            self.env.reset()
            self.generator.seed()
            raise Killed
        return super().update(progress)


@pytest.mark.parametrize("name", ["plain", "random"])
def test_a_run_killed_in_any_update_resumes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unbroken = trained(CONFIGS[name], tmp_path / "unbroken")
    for life in range(UPDATES):
        monkeypatch.setattr(Mortal, "life", life, raising=False)
        with pytest.raises(Killed):
            train(Mortal, CONFIGS[name], tmp_path / f"{life}", progress_bar=False)
        assert_same_run(trained(CONFIGS[name], tmp_path / f"{life}", resume=True), unbroken)


LONG = tiny_config(episodes=8 * 120, log_every=3, checkpoint_every=10)
SLOW_TRAINING = """
import sys, time
from agents.algorithms.reinforce import Reinforce
from agents.training.loop import train
from tests.agents.test_training import LONG

class Slow(Reinforce):
    def update(self, progress):
        time.sleep(0.05)
        return super().update(progress)

train(Slow, LONG, sys.argv[1], progress_bar=False)
"""


@pytest.fixture(scope="module")
def unbroken_long(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(LONG, tmp_path_factory.mktemp("runs") / "unbroken")


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 0)]
)
def test_a_run_whose_process_is_ended_resumes(
    number: int, status: int, tmp_path: Path, unbroken_long: Run
) -> None:
    folder = tmp_path / "broken"
    command = [sys.executable, "-c", SLOW_TRAINING, str(folder)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    # By then a checkpoint has been followed by lines that it does not know.
    while not (folder / "metrics.jsonl").exists() or len(lines(folder)) < 6:
        assert process.poll() is None, "the training should still run"
        assert time.monotonic() < deadline, "the training should have begun"
        time.sleep(0.005)
    process.send_signal(number)
    printed, _ = process.communicate(timeout=60)
    assert process.returncode == status
    updates = open_run(folder).load_checkpoint()[1]["updates"]
    assert 0 < updates < 120
    if number == signal.SIGINT:
        assert printed == f"saved after {8 * updates} episodes; go on with resume=True\n"
    assert_same_run(trained(LONG, folder, resume=True), unbroken_long)


def lines(folder: Path) -> list[str]:
    return (folder / "metrics.jsonl").read_text().splitlines()


def test_a_finished_run_stays_as_it_is(tmp_path: Path) -> None:
    run = trained(CONFIGS["plain"], tmp_path)
    before = metrics_of(run), run.load_checkpoint()[0]["policy/core.gates.weight"]
    again = trained(CONFIGS["plain"], tmp_path, resume=True)
    assert metrics_of(again) == before[0]
    np.testing.assert_array_equal(again.load_checkpoint()[0]["policy/core.gates.weight"], before[1])


def test_a_run_is_not_trained_over(tmp_path: Path) -> None:
    run = trained(CONFIGS["plain"], tmp_path)
    with pytest.raises(RunError, match="is a run already"):
        trained(CONFIGS["plain"], tmp_path)
    assert len(run.read_metrics()) == 4


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"learning_rate": 0.5}, r"learning_rate \(0.001, now 0.5\). Resume"),
        ({"network": tiny_network(core="gru")}, r"network.core \('lstm', now 'gru'\). Resume"),
        ({"env_kwargs": {"budget": 4}}, r"env_kwargs.budget \(3, now 4\). Resume"),
        ({"env_kwargs": {}, "seed": 1}, r"env_kwargs.budget \(3, now not set\), seed \(0, now 1"),
    ],
)
def test_a_run_is_not_resumed_with_another_config(
    changes: dict[str, Any], named: str, tmp_path: Path
) -> None:
    run = trained(CONFIGS["plain"], tmp_path, stop_after=5)
    with pytest.raises(RunError, match=f"another config: {named}"):
        trained(replace(CONFIGS["plain"], **changes), tmp_path, resume=True)
    assert run.load_checkpoint()[1]["updates"] == 5


def test_a_run_is_resumed_with_other_logs_and_threads(tmp_path: Path) -> None:
    config = CONFIGS["plain"]
    trained(config, tmp_path / "broken", stop_after=5)
    changed = replace(config, log_every=4, checkpoint_every=1, threads=2)
    broken = trained(changed, tmp_path / "broken", resume=True)
    assert [line["step"] for line in broken.read_metrics()] == [24, 64, 96]
    whole = trained(config, tmp_path / "whole")
    ours, theirs = broken.load_checkpoint()[0], whole.load_checkpoint()[0]
    for name in theirs:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-4, atol=1e-6, err_msg=name)


def test_a_run_from_before_an_option_is_resumed_and_one_with_an_unknown_is_not(
    tmp_path: Path,
) -> None:
    config = CONFIGS["plain"]
    whole = trained(config, tmp_path / "whole")
    run = trained(config, tmp_path / "run", stop_after=5)
    tensors, metadata = run.load_checkpoint()
    del metadata["window_updates"]
    run.save_checkpoint(tensors, metadata)
    said = json.loads((run.folder / "config.json").read_text())
    del said["config"]["network"]["contrast"]
    (run.folder / "config.json").write_text(json.dumps(said))
    assert_same_run(trained(config, run.folder, resume=True), whole)

    said["config"]["network"]["colour"] = "red"
    (run.folder / "config.json").write_text(json.dumps(said))
    with pytest.raises(RunError, match="made with colour, which NetworkConfig lacks"):
        trained(config, run.folder, resume=True)


def test_a_run_of_another_algorithm_is_not_resumed(tmp_path: Path) -> None:
    create_run(tmp_path, {"policy": "a:B", "algorithm": "ppo", "config": {}})
    with pytest.raises(RunError, match="of ppo, not of reinforce"):
        trained(CONFIGS["plain"], tmp_path, resume=True)


def test_a_run_is_not_resumed_from_a_damaged_checkpoint(tmp_path: Path) -> None:
    run = trained(CONFIGS["plain"], tmp_path, stop_after=5)
    data = bytearray(run.checkpoint_path.read_bytes())
    data[-100] ^= 1
    run.checkpoint_path.write_bytes(data)
    with pytest.raises(CheckpointError, match="is damaged"):
        trained(CONFIGS["plain"], tmp_path, resume=True)
    assert run.checkpoint_path.read_bytes() == data, "it is left for whoever can mend it"


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
        trained(CONFIGS["plain"], tmp_path)
    monkeypatch.undo()
    assert open_run(tmp_path).load_checkpoint()[1]["updates"] == 4
    resumed = trained(CONFIGS["plain"], tmp_path, resume=True)
    assert_same_run(resumed, trained(CONFIGS["plain"], tmp_path / "unbroken"))


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
        train(Spoilt, tiny_config(env_kwargs=env_kwargs), tmp_path, progress_bar=False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch_size": 0}, "batch_size=0 must be at least 1"),
        ({"copies": 3}, "batch_size=8 must be a multiple of copies=3"),
        ({"learning_rate": 0.0}, "learning_rate=0.0 must be above 0"),
        ({"learning_rate": np.nan}, "learning_rate=nan must be above 0"),
        ({"minutes": 0}, "minutes=0 must be above 0"),
        ({"minutes": np.inf}, "minutes=inf must be above 0 and finite"),
        ({"warmup": 1.0}, "warmup=1.0 must be at least 0 and below 1"),
        ({"warmup": -0.1}, "warmup=-0.1 must be"),
        ({"max_gradient_norm": 0.0}, "max_gradient_norm=0.0 must be above 0"),
        ({"look_weight": np.nan}, "look_weight=nan must be finite"),
        ({"final_look_std": 0.0}, "final_look_std=0.0 must be above 0"),
        ({"precision": "float16"}, "precision='float16' must be one of 'float32', 'bfloat16'"),
        ({"answer_by": "lable"}, "answer_by='lable' must be one of 'label', 'reward'"),
        ({"network": tiny_network(look_std=0.0)}, "look_std=0.0 must be above 0"),
        ({"network": tiny_network(core_units=0)}, "core_units=0 must be at least 1"),
        ({"network": tiny_network(core="LSTM")}, "core='LSTM' must be one of 'rnn', 'gru'"),
        ({"device": "foo"}, "device='foo' cannot be used here"),
        ({"device": "meta"}, "device='meta' cannot be used here"),
        ({"looks": "random", "env_kwargs": {"view": "full"}}, "there is no look to choose"),
        ({"env_kwargs": {"glimpse": 3}}, "glimpse cannot be set here.*budget.*glimpse_size"),
        ({"env_kwargs": {"split": "test"}}, "split cannot be set here"),
        ({"env_kwargs": {"copies": 2}}, "copies cannot be set here"),
        ({"env_kwargs": {"budget": "many"}}, "budget='many' must be an integer"),
    ],
)
def test_a_config_that_cannot_be_is_refused_before_a_run_is_made(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        trained(tiny_config(**changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_says_what_it_was(tmp_path: Path) -> None:
    run = trained(CONFIGS["copies"], tmp_path, stop_after=0)
    assert run.config["algorithm"] == "reinforce"
    assert run.config["policy"] == "agents.policy.glimpse_policy:GlimpsePolicy"
    assert run.config["model"]["name"] == "Reinforce LSTM"
    assert run.config["seed"] == 0
    assert run.config["config"]["copies"] == 4
    assert run.config["config"]["network"]["core_units"] == 8


def test_a_line_of_metrics_is_a_mean_since_the_last(tmp_path: Path) -> None:
    by_three = trained(CONFIGS["plain"], tmp_path / "three").read_metrics()
    each = trained(replace(CONFIGS["plain"], log_every=1), tmp_path / "one").read_metrics()
    assert [line["step"] for line in each] == list(range(8, 97, 8))
    for i, line in enumerate(by_three):
        errors = [single["error"] for single in each[3 * i : 3 * i + 3]]
        assert line["error"] == pytest.approx(np.mean(errors))


def test_the_last_line_is_of_the_updates_that_remain(tmp_path: Path) -> None:
    each = trained(replace(CONFIGS["plain"], log_every=1), tmp_path / "one").read_metrics()
    for log_every, updates in ((5, [5, 5, 2]), (100, [12])):
        config = replace(CONFIGS["plain"], log_every=log_every)
        run = trained(config, tmp_path / f"{log_every}")
        start = 0
        for line, count in zip(run.read_metrics(), updates, strict=True):
            errors = [single["error"] for single in each[start : start + count]]
            start += count
            assert line["step"] == 8 * start
            assert line["error"] == pytest.approx(np.mean(errors))
        broken = tmp_path / f"{log_every}-broken"
        for stop_after in (3, 6, 11, 12, None):
            resumed = trained(config, broken, resume=True, stop_after=stop_after)
        assert_same_run(resumed, run)


def test_tensorboard_has_the_metrics_once_though_the_run_was_broken(tmp_path: Path) -> None:
    name = "tensorboard.backend.event_processing.event_accumulator"
    accumulator: Any = importlib.import_module(name)
    trained(CONFIGS["plain"], tmp_path, stop_after=7)
    run = trained(CONFIGS["plain"], tmp_path, resume=True)
    events = accumulator.EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    found = {event.step: event.value for event in events.Scalars("error")}
    assert found == pytest.approx({line["step"]: line["error"] for line in run.read_metrics()})


def test_minutes_bound_a_run_by_the_clock(tmp_path: Path) -> None:
    started = time.monotonic()
    run = trained(tiny_config(minutes=0.01, episodes=10**9), tmp_path)
    metadata = run.load_checkpoint()[1]
    assert 0.6 <= metadata["seconds"] < 5
    assert time.monotonic() - started < 30
    assert run.read_metrics()[-1]["step"] == metadata["episodes"], "what remained is logged"


def test_the_progress_bar_shows_error_and_glimpses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(Reinforce, replace(CONFIGS["plain"], episodes=8 * 200), tmp_path)
    shown = capsys.readouterr().err
    assert "glimpses/s" in shown
    assert "error" in shown
    assert "100%" in shown


# --- until it is solved --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"curriculum": "threshold"}, "curriculum='threshold': what .*Glyphs-v0 hides has no len"),
        ({"curriculum": "hard"}, "curriculum='hard' must be one of 'threshold', 'mixture'"),
        ({"network": tiny_network(direct_access="bits")}, "direct_access='bits' must be one of"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_a_run_is_made(
    changes: dict[str, Any], named: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=named):
        trained(tiny_config(**changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


# --- the learning rate, and what is saved --------------------------------------------------------


@pytest.mark.parametrize(
    ("progress", "share"),
    [(0.0, 0.0), (0.05, 0.5), (0.1, 1.0), (0.55, 0.5), (1.0, 0.0)],
)
def test_the_learning_rate_rises_and_falls(progress: float, share: float) -> None:
    assert cosine_decay(progress, warmup=0.1) == pytest.approx(share)
    assert cosine_decay(0.0, warmup=0.0) == 1.0


def test_a_state_survives_being_flattened() -> None:
    state = {
        "policy": {"core.weight": torch.arange(6.0).view(2, 3), "bias": torch.tensor(2.0)},
        "optimizer": {0: {"step": torch.tensor(3.0)}},
        "env": {"taken": np.arange(3), "ended": np.array([True, False]), "next_scene": np.int64(4),
                "task": {"_places": np.zeros((0, 2), np.float32)}},
        "scanner": {"state": 2**127 + 1, "has_uint32": 0},
        "flag": True,
        "rate": 0.1,
    }  # fmt: skip
    arrays, numbers = flatten(state)
    assert {type(array) for array in arrays.values()} == {np.ndarray}
    back = unflatten(arrays, numbers)
    assert back.keys() == state.keys()
    assert torch.equal(back["policy"]["core.weight"], torch.arange(6.0).view(2, 3))
    assert torch.equal(back["policy"]["bias"], torch.tensor(2.0))
    assert torch.equal(back["optimizer"]["0"]["step"], torch.tensor(3.0))
    assert isinstance(back["env"]["taken"], np.ndarray)
    assert back["env"]["ended"].tolist() == [True, False]
    assert back["env"]["task"]["_places"].shape == (0, 2)
    assert back["env"]["next_scene"] == 4
    assert back["scanner"] == {"state": 2**127 + 1, "has_uint32": 0}
    assert back["flag"] is True
    assert back["rate"] == 0.1


def test_what_a_checkpoint_cannot_hold_is_named() -> None:
    with pytest.raises(TypeError, match="policy/name is a str"):
        flatten({"policy": {"name": "ram"}})
