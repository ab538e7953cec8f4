"""The two commands train and score, and say in one line what was wrong."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from agents import train
from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.evaluate import main as evaluate_main
from agents.presets import PRESETS
from agents.train_settings import EarlyOptions
from agents.training.command_line import run_command
from agents.training.config import TrainingConfig
from baselines import train as baselines_train
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import open_run
from tests.support.episodes import CENTRED

ROOT = Path(__file__).parents[2]
TINY = [
    "--episodes=64", "--validation-episodes=0", "--batch-size=8", "--log-every=4",
    "--network.core-units=8", "--network.glimpse-units=8", "--network.what-units=8",
    "--network.core=gru",
]  # fmt: skip


def run_module(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", name, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


@pytest.mark.learning
def test_the_commands_train_and_score(tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    arguments = ["--env-id", CENTRED, "--run", folder, *TINY]
    done = run_module(
        "agents.train", "reinforce", *arguments, "--env-kwargs", "budget=3", "look=tiles"
    )
    assert done.returncode == 0, done.stderr
    assert f"evaluate it: python -m agents.evaluate {folder}" in done.stdout
    run = open_run(folder)
    assert run.config["config"]["env_kwargs"] == {"budget": 3, "look": "tiles"}
    assert run.config["config"]["network"]["core"] == "gru"
    assert [line["step"] for line in run.read_metrics()] == [32, 64]

    done = run_module("agents.evaluate", folder, "--episodes", "20")
    assert done.returncode == 0, done.stderr
    assert f"{CENTRED}, budget=3, look=tiles: 20 test episodes" in done.stdout
    assert "by glimpse" in done.stdout


def train_main(*arguments: str) -> None:
    train.main(list(arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ppo"], "algorithm 'ppo' must be one of reinforce"),
        (["ppo"], "PPO is actor_critic with several epochs and minibatches"),
        (["ppo"], "that of Stable-Baselines3 is python -m agents.sb3 ppo"),
        (["a2c"], "A2C is actor_critic (python -m agents.train actor_critic)"),
        (["reinfroce"], "or module:NAME. Did you mean 'reinforce'?"),
        (["reinforce", "--env-id", "Glimpse/Nowhere-v0"], "Environment `Nowhere` doesn't exist"),
        (["reinforce", "--env-id", "my_taks:Mine/A-v0"], "its module my_taks cannot be imported"),
        (["reinforce", "--env-id", CENTRED, "--env-kwargs", "colour=red"], "colour cannot be set"),
        (["reinforce", "--env-id", CENTRED, "--env-kwargs", "budget=0"], "budget=0 must be"),
        (["reinforce", "--env-id", CENTRED, "--env-kwargs", "look=up"], "look='up' must be one of"),
        (["reinforce", "--env-id", CENTRED, "--episodes", "0"], "episodes=0 must be at least 1"),
        (["reinforce", "--env-id", CENTRED, "--device", "cuda:99"], "device='cuda:99'"),
        (["reinforce", "--env-id", CENTRED, "--device", "foo"], "device='foo'"),
        (["reinforce", "--env-id", CENTRED, "--device", "gpu"], "device='gpu'"),
        (["reinforce", "--env-id", CENTRED, "--minutes", "0"], "minutes=0.0 must be above 0"),
        (["reinforce", "--env-id", CENTRED, "--network.look-std", "0"], "look_std=0.0 must be"),
        (["reinforce", "--env-kwargs", "budget=3", "--env-kwargs", "stop=True"], "given twice"),
        (
            ["reinforce", "--network.leave-out", "location", "--network.leave_out", "remaining"],
            "--network.leave-out is given twice: give all after one",
        ),
        (["reinforce", "--env-id", CENTRED, "--threads", "9999"], "threads=9999 must be at most"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        train_main(*arguments, "--run", str(tmp_path / "run"))
    output = capsys.readouterr()
    assert ended.value.code == 2
    assert output.err.startswith("error: ")
    assert message in output.err
    assert output.err.count("\n") == 1
    assert output.out == "", "the plan of a training that does not begin"
    assert not (tmp_path / "run").exists()


def test_an_option_that_is_not_there_ends_with_status_2(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        train_main("reinforce", "--imagse", "5")
    assert ended.value.code == 2
    assert "imagse" in capsys.readouterr().err


def test_a_run_is_resumed_only_when_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["reinforce", "--env-id", CENTRED, "--run", str(tmp_path / "run"), *TINY]
    train_main(*arguments)
    with pytest.raises(SystemExit) as ended:
        train_main(*arguments)
    assert ended.value.code == 2
    assert "is a run already" in capsys.readouterr().err
    train_main(*arguments, "--resume")
    assert len(open_run(tmp_path / "run").read_metrics()) == 2
    assert "to resume" not in capsys.readouterr().out
    other = tmp_path / "other"
    train_main("reinforce", "--env-id", CENTRED, "--run", str(other), *TINY, "--resume")
    printed = capsys.readouterr().out
    assert printed.startswith(f"there is no run in {other} to resume: a new one begins\n")
    mistyped = tmp_path / "othre"
    with pytest.raises(SystemExit) as ended:
        train_main("reinforce", "--run", str(mistyped), "--resume")
    assert ended.value.code == 2
    assert f"there is no run in {mistyped} to resume, and no settings" in capsys.readouterr().err
    assert not mistyped.exists()


@pytest.mark.parametrize(
    ("options", "alone"),
    [
        (["--run", "a", "--resume"], True),
        (["--run", "a", "--resume", "--trust", "mine"], True),
        (["--resume"], False),
        (["--run", "a"], False),
        (["--run", "a", "--resume", "--env-id", "Glimpse/ClutteredMNIST-v0"], False),
        (["--run", "a", "--resume", "--env-kwargs", "budget=4"], False),
        (["--run", "a", "--resume", "--preset", "pictures"], False),
        (["--run", "a", "--resume", "--minutes", "1"], False),
    ],
    ids=str,
)
def test_what_a_training_could_begin_with_is_told_from_a_run_alone(
    options: list[str], alone: bool
) -> None:
    """Also where it is the default, as an environment's id may be."""
    assert EarlyOptions.read(options).name_a_run_alone is alone


def test_a_run_is_resumed_without_its_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["--run", str(tmp_path / "run")]
    arguments = ["reinforce", "--env-id", CENTRED, "--env-kwargs", "budget=3", "look=tiles"]
    train_main(*arguments, *run, *TINY)
    whole = open_run(tmp_path / "run")
    errors = [line["error"] for line in whole.read_metrics()]
    whole.checkpoint_path.unlink()
    train_main("reinforce", *run, "--resume", "--log-every=8")
    again = open_run(tmp_path / "run")
    assert again.config == whole.config
    (line,) = again.read_metrics()
    assert line["step"] == 64
    assert line["error"] == pytest.approx(sum(errors) / 2)

    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        train_main("reinforce", *run, "--resume", "--network.core=rnn", "--seed=3")
    assert ended.value.code == 2
    output = capsys.readouterr().err
    assert "another config: network.core ('gru', now 'rnn'), seed (0, now 3). Resume" in output


def test_the_command_that_began_a_run_resumes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    env_kwargs = {"budget": 3, "look": "tiles"}
    preset = ReinforceConfig(env_id=CENTRED, env_kwargs=env_kwargs)
    monkeypatch.setitem(PRESETS, "mine", (preset,))
    command = ["--preset", "mine", "--env-kwargs", "budget=2", "--run", str(tmp_path / "run")]
    train_main(*command, *TINY)
    run = open_run(tmp_path / "run")
    assert run.config["config"]["env_kwargs"] == {"budget": 2, "look": "tiles"}
    train_main(*command, *TINY, "--resume")
    assert open_run(tmp_path / "run").config == run.config
    with pytest.raises(SystemExit):
        train_main("--run", str(tmp_path / "run"), "--resume", "--env-kwargs", "budget=4")
    assert "env_kwargs.budget (2, now 4). Resume" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "other", "algorithm", "of_its_kind"),
    [
        (train, baselines_train, "reinforce", "actor_critic"),
        (baselines_train, train, "soft_tiles", "full_view"),
    ],
    ids=["agents", "baselines"],
)
def test_a_resumed_run_knows_its_algorithm(
    command: ModuleType,
    other: ModuleType,
    algorithm: str,
    of_its_kind: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = ["--run", str(tmp_path / "run")]
    command.main([algorithm, "--env-id", CENTRED, *run, *TINY])
    whole = open_run(tmp_path / "run")
    before = whole.read_metrics()
    whole.checkpoint_path.unlink()
    command.main([*run, "--resume"])
    assert open_run(tmp_path / "run").config == whole.config
    assert [line["step"] for line in whole.read_metrics()] == [line["step"] for line in before]

    for module, arguments, message in (
        (command, [of_its_kind, *run], f"another algorithm: of {algorithm}, not of {of_its_kind}"),
        (other, run, f"is a run of {algorithm}, which {other.__name__} does not train; it trains"),
        (
            command,
            ["--run", str(tmp_path / "none")],
            f"there is no run in {tmp_path / 'none'} to resume; to begin one, name an algorithm",
        ),
    ):
        with pytest.raises(SystemExit) as ended:
            module.main([*arguments, "--resume"])
        assert ended.value.code == 2
        assert message in capsys.readouterr().err


def test_episodes_do_not_lengthen_a_run_of_minutes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["--run", str(tmp_path / "run")]
    tiny = [option for option in TINY if not option.startswith("--episodes")]
    train_main("reinforce", "--env-id", CENTRED, "--minutes", "0.001", *run, *tiny)
    before = open_run(tmp_path / "run").config
    with pytest.raises(SystemExit) as ended:
        train_main("reinforce", *run, "--resume", "--episodes", "5000000")
    assert ended.value.code == 2
    assert "--episodes has no effect on this run, which is trained for minutes=0.001" in (
        capsys.readouterr().err
    )
    assert open_run(tmp_path / "run").config == before


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_training_says_how_to_go_on(
    number: int,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    update = Reinforce.update

    def interrupted(learner: Reinforce, progress: float) -> dict[str, float]:
        os.kill(os.getpid(), number)
        return update(learner, progress)

    folder = tmp_path / "my run"
    monkeypatch.setattr(Reinforce, "update", interrupted)
    with pytest.raises(SystemExit) as ended:
        train_main("reinforce", "--env-id", CENTRED, "--run", str(folder), *TINY)
    assert ended.value.code == status
    output = capsys.readouterr()
    command = f"python -m agents.train reinforce --run '{folder}' --resume"
    assert output.out.splitlines()[-1] == f"saved after 8 episodes; go on with {command}"
    assert output.err.splitlines()[-1] == "interrupted"
    monkeypatch.undo()
    train_main(*shlex.split(command)[3:])
    assert open_run(folder).load_checkpoint()[1]["episodes"] == 64


def test_a_run_that_is_not_there_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        evaluate_main([str(tmp_path / "nowhere")])
    output = capsys.readouterr().err
    assert ended.value.code == 2
    missing = tmp_path / "nowhere"
    assert output == f"error: There is no run at {missing}: the folder does not exist.\n"
    missing.touch()
    with pytest.raises(SystemExit):
        evaluate_main([str(missing)])
    assert f"no run at {missing}: it is a file, not a folder." in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_names_the_algorithms(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        train.main(arguments)
    assert ended.value.code == 0
    assert "{reinforce,actor_critic," in capsys.readouterr().out


def test_the_help_of_an_algorithm_is_its_config(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        train_main("reinforce", "--help")
    output = capsys.readouterr().out
    assert ended.value.code == 0
    assert "--answer-by {label,reward}" in output
    assert "--network.core {rnn,gru,lstm,dram,feedforward}" in output
    assert "Number of episodes of each scene" in output


@pytest.mark.parametrize(
    ("command", "texts"),
    [
        (
            train.main,
            [
                "stay unless they are given anew or --env-id changes.",  # inherited
                "rectifier RNN (RAM's), GRU, LSTM, or DRAM's two LSTMs (the lower for answers,",
                "Resume the run in the folder of --run, if there is one, with its own settings. O",
            ],
        ),
        (evaluate_main, ["What the film shows: all that is hidden, or what the agent has seen so"]),
    ],
)
def test_help_is_wrapped_at_the_terminals_width(
    command: Callable[[list[str]], None],
    texts: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    with pytest.raises(SystemExit):
        command(["reinforce", "--help"])
    output = capsys.readouterr().out
    for text in texts:
        assert text in output


def test_a_folder_is_named_after_environment_algorithm_and_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    train_main("reinforce", "--env-id", CENTRED, "--seed", "7", *TINY)
    assert open_run(tmp_path / "runs" / "CenteredGlyphs-v0-reinforce-7").config["seed"] == 7


def test_scripts_are_told_of_algorithms_and_configs(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'ppo' must be one of reinforce.* PPO is actor"):
        train.train_agent("ppo", ReinforceConfig(), tmp_path)
    with pytest.raises(ValueError, match="takes a ReinforceConfig, not TrainingConfig"):
        train.train_agent("reinforce", TrainingConfig(), tmp_path)


def test_errors_that_are_ours_are_not_hidden() -> None:
    def broken() -> None:
        raise KeyError("a bug")

    with pytest.raises(KeyError):
        run_command(broken)


def test_errors_that_are_the_users_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    def damaged() -> None:
        raise RunError("the run is damaged")

    with pytest.raises(SystemExit) as ended:
        run_command(damaged)
    assert ended.value.code == 2
    assert capsys.readouterr().err == "error: the run is damaged\n"


def test_a_run_to_resume_needs_its_folder(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        train_main("--resume")
    assert ended.value.code == 2
    assert "--resume needs the folder of the run: give --run" in capsys.readouterr().err
