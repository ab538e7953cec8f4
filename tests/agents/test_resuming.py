"""A run is ended, gone on with and extended as its user asks, and says what it does."""

import json
import os
import shlex
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agents import train
from agents.algorithms.reinforce import Reinforce
from agents.policy.networks import NetworkConfig
from agents.scoring.run_record import make_record
from agents.scoring.run_scores import score_run
from agents.training import continuing
from agents.training.command_line import run_command
from agents.training.continuing import trainers_of
from agents.training.interrupts import finish_on_interrupt
from agents.training.resuming import config_from_json
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.run_lock import writing
from glimpse_envs.evaluation.runs import open_run
from tests.support.episodes import CENTRED
from tests.support.tiny import tiny_config, tiny_network
from tests.support.trainings import trained

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def signals_as_before() -> Any:
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.learning
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_ended_run_saves_what_it_has_learned(
    number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Ended(Reinforce):
        def update(self, progress: float) -> dict[str, float]:
            os.kill(os.getpid(), number)
            return super().update(progress)

    run = trained(Ended, tiny_config(), tmp_path)
    assert run.load_checkpoint()[1]["updates"] == 1
    assert capsys.readouterr().out == "saved after 8 episodes; go on with resume=True\n"


def test_a_second_ctrl_c_ends_the_command_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def pressing_often() -> None:
        with finish_on_interrupt() as interrupted:
            os.kill(os.getpid(), signal.SIGINT)
            assert interrupted
            try:
                os.kill(os.getpid(), signal.SIGINT)
            finally:
                os.kill(os.getpid(), signal.SIGINT)  # while the first is being handled

    with pytest.raises(SystemExit) as ended:
        run_command(pressing_often)
    assert ended.value.code == 130
    assert capsys.readouterr().err == "interrupted\n"


SAYS_WHEN_TORCH_IS_IMPORTED = """
import sys, time

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            print("importing", flush=True)
            time.sleep(60)

sys.meta_path.insert(0, Finder())
"""


@pytest.mark.learning
def test_ctrl_c_while_importing_prints_nothing(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(SAYS_WHEN_TORCH_IS_IMPORTED)
    process = subprocess.Popen(
        [sys.executable, "-m", "agents.train", "--help"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"importing\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60) == (b"", b"")
    assert process.returncode == -signal.SIGINT


def test_two_trainings_in_one_folder_are_refused(tmp_path: Path) -> None:
    run = trained(Reinforce, tiny_config(), tmp_path, stop_after=2)
    before = run.checkpoint_path.read_bytes()
    with writing(tmp_path), pytest.raises(RunError, match="is being trained by another"):
        trained(Reinforce, tiny_config(), tmp_path, resume=True)
    assert run.checkpoint_path.read_bytes() == before
    with writing(tmp_path / "new"), pytest.raises(RunError, match="is being trained by another"):
        trained(Reinforce, tiny_config(), tmp_path / "new")
    assert not (tmp_path / "new" / "config.json").exists()


@pytest.mark.learning
def test_the_record_of_a_run_tells_who_trained_it_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config(episodes=32, validation_episodes=0)
    trained(Reinforce, config, tmp_path, stop_after=1)
    monkeypatch.setattr(continuing, "git_revision", lambda: "f" * 40)
    monkeypatch.setattr(continuing, "hardware_with", lambda device: "a larger machine")
    run = trained(Reinforce, replace(config, threads=2), tmp_path, resume=True)
    record = make_record(run, score_run(run, episodes=20))
    assert record.cores == 2
    assert record.hardware.endswith("; a larger machine")
    assert record.resumed == ("f" * 40,)
    assert len(trainers_of(run)) == 2
    monkeypatch.setattr(continuing, "git_revision", lambda: "e" * 40)
    again = trained(Reinforce, replace(config, threads=2), tmp_path, resume=True)
    assert again.config == run.config, "nothing is left to train"


def test_a_checkpoint_of_other_networks_is_named(tmp_path: Path) -> None:
    config = tiny_config(episodes=32, validation_episodes=0)
    run = trained(Reinforce, config, tmp_path, stop_after=1)
    tensors, metadata = run.load_checkpoint()
    name = next(name for name in tensors if name.startswith("policy/"))
    run.save_checkpoint({n: tensor for n, tensor in tensors.items() if n != name}, metadata)
    with pytest.raises(RunError, match=r"does not fit the learner of reinforce.*Use the revision"):
        trained(Reinforce, config, tmp_path, resume=True)


def test_a_run_goes_on_with_a_greater_budget(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tiny_config()
    trained(Reinforce, config, tmp_path)
    longer = replace(config, episodes=160)
    run = trained(Reinforce, longer, tmp_path, resume=True)
    assert "episodes was 96 and is 160: the schedules" in capsys.readouterr().out
    assert run.load_checkpoint()[1]["episodes"] == 160
    assert open_run(tmp_path).config["config"]["episodes"] == 160
    assert run.read_metrics()[-1]["step"] == 160
    with pytest.raises(
        RunError,
        match=r"another config: episodes \(160, now 96\)\. episodes may only grow\. Resume",
    ):
        trained(Reinforce, config, tmp_path, resume=True)
    with pytest.raises(RunError, match=r"another config: minutes \(None, now 1.0\)\. Resume"):
        trained(Reinforce, replace(longer, minutes=1.0), tmp_path, resume=True)


def test_the_command_of_an_extended_run_trains_so_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ["reinforce", "--env-id", CENTRED, "--batch-size", "8", "--validation-episodes", "0"]
    first += ["--device", "cpu", "--seed", "3"]
    arguments = [*first, "--run", str(tmp_path), "--episodes"]
    monkeypatch.setattr(sys, "argv", ["train.py", *arguments, "16"])
    train.main([*arguments, "16"])
    assert "--episodes 16" in open_run(tmp_path).config["command"]
    train.main([*arguments, "24", "--resume"])
    run = open_run(tmp_path)
    python, _, module, *again = shlex.split(run.config["command"])
    assert (python, module) == ("python", "agents.train")
    train.main([*again, "--run", str(tmp_path / "again"), "--device", "cpu"])
    settings = [open_run(folder).config["config"] for folder in (tmp_path, tmp_path / "again")]
    assert settings[0]["episodes"] == 24
    assert settings[1] == settings[0]
    train.main([*arguments, "24", "--resume"])
    assert open_run(tmp_path).config["command"] == run.config["command"]


def test_the_precision_that_was_used_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fastest(precision: str) -> None:
        name = "agents.training.config.fastest_precision"
        monkeypatch.setattr(name, lambda device: precision)

    fastest("bfloat16")
    config = tiny_config(precision="auto")
    run = trained(Reinforce, config, tmp_path, stop_after=2)
    assert run.config["config"]["precision"] == "bfloat16"
    assert run.config["defaults"]["precision"] == "bfloat16"
    fastest("float32")
    again = trained(Reinforce, config, tmp_path, resume=True, stop_after=3)
    assert again.config["config"]["precision"] == "bfloat16"


def test_a_training_that_has_solved_its_task_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tiny_config(stop_at=0.5, validate_every=4)
    trained(Reinforce, config, tmp_path, validate=lambda run: {"validation/success": 0.75})
    assert "solved after 32 episodes: validation reached" in capsys.readouterr().out


def test_tensorboard_has_config_validation_time_and_the_share_solved(tmp_path: Path) -> None:
    scores = {"validation/success": 0.25, "validation/return": 0.25, "validation/episodes": 10}
    run = trained(Reinforce, tiny_config(validate_every=6), tmp_path, validate=lambda run: scores)
    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    names = events.Tags()["scalars"]
    assert {"validation/success", "validation/return", "seconds", "solved", "error"} <= set(names)
    line = run.read_metrics()[0]
    assert events.Scalars("solved")[0].value == pytest.approx(1 - line["error"])
    assert [event.step for event in events.Scalars("validation/success")] == [48, 96]
    (text,) = events.Tensors("config/text_summary")
    assert b'"batch_size": 8' in text.tensor_proto.string_val[0]


def test_events_deleted_in_mid_run_are_named(tmp_path: Path) -> None:
    class Deleting(Reinforce):
        def update(self, progress: float) -> dict[str, float]:
            for path in (tmp_path / "tensorboard").glob("*"):
                path.unlink()
            (tmp_path / "tensorboard").rmdir()
            return super().update(progress)

    with pytest.raises(RunError, match="tensorboard was deleted while the run was trained"):
        trained(Deleting, tiny_config(log_every=1), tmp_path)


def test_an_error_stands_on_a_line_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(learner: Reinforce, progress: float) -> dict[str, float]:
        raise FloatingPointError("the loss is nan")

    monkeypatch.setattr(Reinforce, "update", broken)
    with pytest.raises(SystemExit):
        train.main(["reinforce", "--env-id", CENTRED, "--run", str(tmp_path), "--episodes", "8"])
    printed = capsys.readouterr().err
    assert "of wall time" in printed
    assert "\nerror: the loss is nan" in printed


@pytest.mark.parametrize("command", ["--run=", "--run ''", "--run ' '"])
def test_an_empty_folder_is_refused(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        train.main(["reinforce", "--env-id", CENTRED, *shlex.split(command)])
    assert ended.value.code == 2
    assert "the folder of a run is empty" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_agents_do_not_answer_in_one_sequence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--env-id", "Glimpse/Copy-v0", "--env-kwargs", "view=full"]
    with pytest.raises(SystemExit) as ended:
        train.main(["actor_critic", *arguments, "--run", str(tmp_path / "run")])
    assert ended.value.code == 2
    assert "the answer is a sequence of" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_tuple_is_one_again() -> None:
    config = NetworkConfig(leave_out=("query", "remaining"))
    saved = json.loads(json.dumps(asdict(config)))
    assert config_from_json(NetworkConfig, saved, "the run", "abc") == config


def test_a_list_in_place_of_a_tuple_is_the_same_config(tmp_path: Path) -> None:
    network: Any = tiny_network(leave_out=["remaining"])
    config = tiny_config(network=network, episodes=400)
    done = [
        trained(Reinforce, config, tmp_path, resume=True, stop_after=updates).load_checkpoint()[1]
        for updates in (1, 2)
    ]
    assert [metadata["updates"] for metadata in done] == [1, 2]
