"""Runs repeat, survive kills, and refuse what does not fit."""

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

from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.training import loop
from glimpse_envs.evaluation.run_errors import CheckpointError, RunError
from glimpse_envs.evaluation.runs import Run, create_run, open_run
from tests.support.episodes import CIRCLE_SQUARE
from tests.support.marks import first_is_quick
from tests.support.same_runs import assert_repeats_and_resumes, assert_same_run, metrics_of
from tests.support.tiny import UPDATES, tiny_config, tiny_network
from tests.support.trainings import Killed, trained

ROOT = Path(__file__).parents[2]

CONFIGS: dict[str, ReinforceConfig] = {
    "plain": tiny_config(),
    "tiles": tiny_config(env_kwargs={"budget": 3, "look": "tiles"}),
    "random": tiny_config(gaze="random"),
    "random_tiles": tiny_config(gaze="random", env_kwargs={"budget": 3, "look": "tiles"}),
    "random_moves": tiny_config(gaze="random", env_kwargs={"budget": 3, "look": "relative"}),
    "oracle": tiny_config(gaze="oracle"),
    "copies": tiny_config(copies=4),
    "stop": tiny_config(env_kwargs={"budget": 3, "stop": True, "glimpse_cost": 0.01}),
    "copies_stop": tiny_config(copies=2, env_kwargs={"budget": 3, "stop": True}),
    "learned_std": tiny_config(network=tiny_network(learn_look_std=True)),
    "scheduled_std": tiny_config(final_look_std=0.05),
    "reward": tiny_config(answer_by="reward", look_weight=1.0, entropy_weight=0.01),
    "history": tiny_config(env_kwargs={"budget": 3, "history": True}),
    "dense": tiny_config(env_id=CIRCLE_SQUARE, look_signal="log_likelihood"),
    "gain": tiny_config(
        look_signal="probability",
        look_gain=True,
        early_answer_weight=0.5,
        entropy_weight=0.01,
        entropy_floor=1.0,
    ),
    "recall": tiny_config(network=tiny_network(recall_glimpses=2, recall_units=4)),
    "bfloat16": tiny_config(precision="bfloat16"),
    "rnn": tiny_config(network=tiny_network(core="rnn", glimpse_network="conv")),
}


@pytest.mark.learning
@pytest.mark.parametrize("name", first_is_quick(CONFIGS))
def test_equal_seeds_give_equal_runs_and_a_run_resumed_is_the_unbroken_run(
    name: str, tmp_path: Path
) -> None:
    assert_repeats_and_resumes(Reinforce, CONFIGS[name], tmp_path)


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


@pytest.mark.learning
@pytest.mark.parametrize("name", ["plain", "random"])
def test_a_run_killed_in_any_update_resumes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unbroken = trained(Reinforce, CONFIGS[name], tmp_path / "unbroken")
    for life in range(UPDATES):
        monkeypatch.setattr(Mortal, "life", life, raising=False)
        with pytest.raises(Killed):
            trained(Mortal, CONFIGS[name], tmp_path / f"{life}")
        assert_same_run(
            trained(Reinforce, CONFIGS[name], tmp_path / f"{life}", resume=True), unbroken
        )


@pytest.mark.parametrize(
    ("seconds", "number", "saved"), [(60.0, 1, 2), (200.0, 1, 3), (60.0, 2, None)]
)
def test_a_training_of_slow_updates_saves_by_its_clock(
    seconds: float, number: int, saved: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each update seems to take so many `seconds`; the third is the last before the kill."""
    now = iter(np.arange(0.0, 1e4, seconds))
    monkeypatch.setattr(loop, "clock_of", lambda *_: lambda: next(now))
    monkeypatch.setattr(loop, "processes", lambda: number)
    monkeypatch.setattr(Mortal, "life", 3, raising=False)
    config = replace(CONFIGS["plain"], checkpoint_every=1000)
    with pytest.raises(Killed):
        trained(Mortal, config, tmp_path)
    run = open_run(tmp_path)
    assert run.has_checkpoint == (saved is not None)
    if saved is not None:
        assert run.load_checkpoint()[1]["updates"] == saved


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
    return trained(Reinforce, LONG, tmp_path_factory.mktemp("runs") / "unbroken")


@pytest.mark.learning
@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 0), (signal.SIGTERM, 0)],
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
    if number != signal.SIGKILL:
        assert printed == f"saved after {8 * updates} episodes; go on with resume=True\n"
    assert_same_run(trained(Reinforce, LONG, folder, resume=True), unbroken_long)


def lines(folder: Path) -> list[str]:
    return (folder / "metrics.jsonl").read_text().splitlines()


@pytest.mark.parametrize("seed", [0, 7, 2**32])
def test_draws_are_not_the_numbers_that_weights_are_made_of(seed: int) -> None:
    generator = Reinforce(tiny_config(seed=seed)).generator
    torch.manual_seed(seed)
    of_weights, drawn = torch.rand(100), torch.rand(100, generator=generator)
    assert not torch.isin(drawn, of_weights).any()
    other = Reinforce(tiny_config(seed=seed % 2**32 + 2**33)).generator
    assert not torch.equal(drawn, torch.rand(100, generator=other)), "seeds beyond 32 bits, too"


def test_a_finished_run_stays_as_it_is_and_is_not_announced_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun: list[Any] = []
    run = trained(Reinforce, CONFIGS["plain"], tmp_path, on_begin=begun.append)
    before = metrics_of(run), run.load_checkpoint()[0]["policy/core.gates.weight"]
    again = trained(Reinforce, CONFIGS["plain"], tmp_path, resume=True, on_begin=begun.append)
    assert len(begun) == 1
    assert f"{tmp_path} is trained in full" in capsys.readouterr().out
    assert metrics_of(again) == before[0]
    np.testing.assert_array_equal(again.load_checkpoint()[0]["policy/core.gates.weight"], before[1])


def test_a_run_is_not_trained_over(tmp_path: Path) -> None:
    run = trained(Reinforce, CONFIGS["plain"], tmp_path)
    with pytest.raises(RunError, match="is a run already"):
        trained(Reinforce, CONFIGS["plain"], tmp_path)
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
    run = trained(Reinforce, CONFIGS["plain"], tmp_path, stop_after=5)
    with pytest.raises(RunError, match=f"another config: {named}"):
        trained(Reinforce, replace(CONFIGS["plain"], **changes), tmp_path, resume=True)
    assert run.load_checkpoint()[1]["updates"] == 5


@pytest.mark.learning
def test_a_run_is_resumed_with_other_logs_and_threads(tmp_path: Path) -> None:
    config = CONFIGS["plain"]
    trained(Reinforce, config, tmp_path / "broken", stop_after=5)
    changed = replace(config, log_every=4, checkpoint_every=1, threads=2)
    broken = trained(Reinforce, changed, tmp_path / "broken", resume=True)
    assert [line["step"] for line in broken.read_metrics()] == [24, 64, 96]
    whole = trained(Reinforce, config, tmp_path / "whole")
    ours, theirs = broken.load_checkpoint()[0], whole.load_checkpoint()[0]
    for name in theirs:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-4, atol=1e-6, err_msg=name)


def test_a_run_from_before_an_option_is_resumed_and_one_with_an_unknown_is_not(
    tmp_path: Path,
) -> None:
    config = CONFIGS["plain"]
    whole = trained(Reinforce, config, tmp_path / "whole")
    run = trained(Reinforce, config, tmp_path / "run", stop_after=5)
    stored = json.loads((run.folder / "config.json").read_text())
    del stored["config"]["network"]["contrast"]
    run.replace_config(stored)
    assert_same_run(trained(Reinforce, config, run.folder, resume=True), whole)

    stored["config"]["network"]["colour"] = "red"
    (run.folder / "config.json").write_text(json.dumps(stored))
    with pytest.raises(RunError, match="made with colour, which NetworkConfig lacks"):
        trained(Reinforce, config, run.folder, resume=True)


def test_a_run_of_another_algorithm_is_not_resumed(tmp_path: Path) -> None:
    create_run(tmp_path, {"policy": "a:B", "algorithm": "ppo", "config": {}})
    with pytest.raises(RunError, match="of ppo, not of reinforce"):
        trained(Reinforce, CONFIGS["plain"], tmp_path, resume=True)


def test_a_run_is_not_resumed_from_a_damaged_checkpoint(tmp_path: Path) -> None:
    run = trained(Reinforce, CONFIGS["plain"], tmp_path, stop_after=5)
    data = bytearray(run.checkpoint_path.read_bytes())
    data[-100] ^= 1
    run.checkpoint_path.write_bytes(data)
    with pytest.raises(CheckpointError, match="is damaged"):
        trained(Reinforce, CONFIGS["plain"], tmp_path, resume=True)
    assert run.checkpoint_path.read_bytes() == data, "it is left for whoever can mend it"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 2**64}, "seed=18446744073709551616 must be an integer from 0 to"),
        ({"batch_size": 0}, "batch_size=0 must be at least 1"),
        ({"copies": 3}, "batch_size=8 must be a multiple of copies=3"),
        ({"learning_rate": 0.0}, "learning_rate=0.0 must be above 0"),
        ({"learning_rate": np.nan}, "learning_rate=nan must be above 0"),
        ({"minutes": 0}, "minutes=0 must be above 0"),
        ({"minutes": np.inf}, "minutes=inf must be above 0 and finite"),
        ({"warmup": 1.0}, "warmup=1.0 must be at least 0 and below 1"),
        ({"warmup": -0.1}, "warmup=-0.1 must be"),
        ({"max_gradient_norm": 0.0}, "max_gradient_norm=0.0 must be above 0"),
        ({"look_weight": np.nan}, "look_weight=nan must be at least 0 and finite"),
        ({"look_weight": -0.1}, "look_weight=-0.1 must be at least 0"),
        ({"baseline_weight": -1.0}, "baseline_weight=-1.0 must be at least 0"),
        ({"baseline": "none", "baseline_weight": 1.0}, "baseline_weight=1.0 has no effect without"),
        ({"gaze": "random", "final_look_std": 0.1}, "final_look_std=0.1 has no effect without"),
        (
            {"final_look_std": 0.1, "env_kwargs": {"look": "tiles"}},
            "final_look_std=0.1 has no effect: looks in .* are not drawn from a Gaussian",
        ),
        (
            {"final_look_std": 0.1, "network": tiny_network(look_coordinates="cells")}
            | {"env_id": "Glimpse/ClutteredGlyphs-v0"},
            "final_look_std=0.1 has no effect",
        ),
        ({"early_answer_weight": -0.1}, "early_answer_weight=-0.1 must not be negative"),
        (
            {"early_answer_weight": 0.1, "answer_by": "reward"},
            "needs answer_by='label', not 'reward'",
        ),
        ({"look_gain": True, "look_signal": "reward"}, "not answer_by='label' and look_signal='re"),
        (
            {"look_gain": True, "look_signal": "probability", "answer_by": "reward"},
            "look_gain .* needs answer_by='label'",
        ),
        (
            {"look_gain": True, "look_signal": "probability"},
            "look_gain .* needs an early_answer_weight above 0",
        ),
        (
            {"look_gain": True, "early_answer_weight": 0.5, "gaze": "random"}
            | {"look_signal": "probability"},
            "look_gain is for looks that are learned, and gaze='random' goes by a rule",
        ),
        (
            {"look_gain": True, "early_answer_weight": 0.5, "look_signal": "probability"}
            | {"env_kwargs": {"view": "full"}},
            "look_gain: there is no look to choose in",
        ),
        (
            {"look_gain": True, "early_answer_weight": 0.5, "look_signal": "probability"}
            | {"env_id": "Glimpse/DescribeSceneGlyphs-v0", "env_kwargs": {}},
            "look_gain: a right word alone earns nothing in Glimpse/DescribeSceneGlyphs-v0",
        ),
        (
            {"env_id": "Glimpse/Catch-v0", "env_kwargs": {}, "early_answer_weight": 0.5},
            "early_answer_weight needs an answer that is taught, and Glimpse/Catch-v0 has none",
        ),
        ({"entropy_floor": np.nan, "entropy_weight": 0.1}, "entropy_floor=nan must be finite"),
        ({"entropy_floor": 1.0}, "limits the bonus of entropy_weight, which is 0"),
        ({"final_look_std": 0.0}, "final_look_std=0.0 must be above 0"),
        ({"precision": "float16"}, "precision='float16' must be one of 'auto', 'float32'"),
        ({"answer_by": "lable"}, "answer_by='lable' must be one of 'label', 'reward'"),
        ({"network": tiny_network(look_std=0.0)}, "look_std=0.0 must be above 0"),
        ({"network": tiny_network(core_units=0)}, "core_units=0 must be at least 1"),
        ({"network": tiny_network(core="LSTM")}, "core='LSTM' must be one of 'rnn', 'gru'"),
        ({"device": "foo"}, "device='foo' cannot be used here"),
        ({"device": "meta"}, "device='meta' cannot be used here"),
        ({"gaze": "random", "env_kwargs": {"view": "full"}}, "there is no look to choose"),
        ({"env_kwargs": {"glimpse": 3}}, "glimpse cannot be set here.*budget.*glimpse_size"),
        ({"env_kwargs": {"split": "test"}}, "split cannot be set here"),
        ({"env_kwargs": {"bugdet": 4}}, "bugdet cannot be set here.* Did you mean 'budget'"),
        ({"env_kwargs": {"copies": 2}}, "copies cannot be set here"),
        ({"env_kwargs": {"budget": "many"}}, "budget='many' must be an integer"),
    ],
)
def test_a_config_that_cannot_be_is_refused_before_a_run_is_made(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        trained(Reinforce, tiny_config(**changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"curriculum": "threshold"}, "curriculum='threshold': what .*Glyphs-v0 hides has no len"),
        (
            {"curriculum": "distance", "env_id": "Glimpse/Copy-v0", "env_kwargs": {}},
            "curriculum='distance': Glimpse/Copy-v0 hides no picture",
        ),
        (
            {"curriculum": "distance", "env_kwargs": {"first_glimpse": "uniform"}},
            "first_glimpse='uniform': curriculum='distance' moves first glimpses itself",
        ),
        *(
            (
                {"curriculum": "distance", "env_kwargs": {name: value}},
                f"curriculum='distance' moves first glimpses at places, and {name}='{value}' has",
            )
            for name, value in (("look", "tiles"), ("view", "full"))
        ),
        (
            {
                "network": tiny_network(look_coordinates="log_move"),
                "env_kwargs": {"look": "relative"},
            },
            "look_coordinates='log_move' turns moves into places",
        ),
        (
            {
                "network": tiny_network(look_coordinates="log_move"),
                "env_kwargs": {"history": True},
            },
            "look_coordinates='log_move' moves from the present location, and history=True shows",
        ),
        ({"curriculum": "hard"}, "curriculum='hard' must be 'uniform', 'threshold'"),
        ({"network": tiny_network(direct_access="bits")}, "direct_access='bits' must be one of"),
        (
            {"network": tiny_network(direct_access="symbols")},
            "direct_access='symbols': nothing that is observed here can be repeated",
        ),
    ],
)
def test_what_cannot_be_trained_is_refused_before_a_run_is_made(
    changes: dict[str, Any], named: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=named):
        trained(Reinforce, tiny_config(**changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()
