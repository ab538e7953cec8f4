"""Where metrics are sent, what a training prints, and completion in a shell."""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import plugin_data_pb2

from agents import train
from agents.algorithms.reinforce import Reinforce
from agents.training.announcing import plan_of
from agents.training.loggers import LOGGERS, import_wandb
from glimpse_envs.evaluation.runs import Run, open_run
from tests.support.episodes import CENTRED
from tests.support.tiny import tiny_config
from tests.support.trainings import trained

ROOT = Path(__file__).parents[2]
SCORES = {"validation/success": 0.25, "validation/return": 0.25, "validation/episodes": 10}


class _Noting:
    """A logger that keeps all that it is given."""

    def __init__(self, run: Run, step: int) -> None:
        self.begun, self.closed = step, 0
        self.lines: list[dict[str, float]] = []

    def add(self, line: Mapping[str, float], step: int) -> None:
        self.lines.append({"step": step, **line})

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> list[_Noting]:
    """What loggers of the name "noting" were given, one a training."""
    made: list[_Noting] = []

    def make(run: Run, step: int) -> _Noting:
        made.append(_Noting(run, step))
        return made[-1]

    monkeypatch.setitem(LOGGERS, "noting", make)
    return made


def test_a_logger_is_given_every_line_and_closed_once(noted: list[_Noting], tmp_path: Path) -> None:
    options: dict[str, Any] = {"loggers": ["noting"], "validate": lambda run: SCORES}
    run = trained(Reinforce, tiny_config(), tmp_path, stop_after=7, **options)
    run = trained(Reinforce, tiny_config(), tmp_path, resume=True, **options)
    assert [logger.begun for logger in noted] == [0, 56]
    assert [logger.closed for logger in noted] == [1, 1]
    assert noted[0].lines + noted[1].lines == run.read_metrics()
    assert not (tmp_path / "tensorboard").exists()


def test_a_logger_is_closed_after_an_error(noted: list[_Noting], tmp_path: Path) -> None:
    def broken(run: Run) -> dict[str, float]:
        raise FloatingPointError("broken")

    with pytest.raises(FloatingPointError):
        trained(Reinforce, tiny_config(), tmp_path, loggers=["noting"], validate=broken)
    assert noted[0].closed == 1


def test_tensorboard_has_the_settings_as_hyperparameters(tmp_path: Path) -> None:
    trained(Reinforce, tiny_config(), tmp_path, validate=lambda run: SCORES)
    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    contents = events.SummaryMetadata("_hparams_/session_start_info").plugin_data.content
    found = plugin_data_pb2.HParamsPluginData.FromString(contents).session_start_info.hparams
    assert found["batch_size"].number_value == 8
    assert found["network.core_units"].number_value == 8
    assert json.loads(found["minutes"].string_value) is None
    contents = events.SummaryMetadata("_hparams_/experiment").plugin_data.content
    experiment = plugin_data_pb2.HParamsPluginData.FromString(contents).experiment
    shown = {info.name.tag for info in experiment.metric_infos}
    assert shown == {"validation/success", "validation/return"}
    assert shown <= set(events.Tags()["scalars"])
    assert events.Scalars("validation/success")[-1].value == 0.25


@pytest.mark.learning
@pytest.mark.skipif(find_spec("wandb") is None, reason="wandb is not installed")
def test_weights_and_biases_has_the_run_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    folder = tmp_path / "run"
    program = (
        "from pathlib import Path\n"
        "from agents.algorithms.reinforce import Reinforce\n"
        "from tests.support.tiny import tiny_config\n"
        "from tests.support.trainings import trained\n"
        f"trained(Reinforce, tiny_config(), Path({str(folder)!r}), loggers=['wandb'])\n"
    )
    # In a process of its own: the package starts threads and a service.
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    (saved,) = folder.glob("wandb/offline-run-*/run-*.wandb")
    content = saved.read_bytes()
    for part in (b"gradient_norm", b"network.core_units", b"glimpse_envs"):
        assert part in content
    assert len(open_run(folder).read_metrics()) == 4


def test_a_logger_that_is_not_installed_is_named_before_a_run_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(SystemExit):
        train.main(["reinforce", "--env-id", CENTRED, "--run", str(tmp_path / "run"),
                    "--episodes", "8", "--batch-size", "8", "--wandb"])  # fmt: skip
    assert "pip install wandb" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


class Outdated(MetaPathFinder):
    """An import of wandb that fails, as that of old ones does beside a new NumPy."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> None:
        if name == "wandb":
            raise AttributeError("`np.float_` was removed in the NumPy 2.0 release")


def test_a_logger_that_cannot_be_imported_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "wandb", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Outdated(), *sys.meta_path])
    with pytest.raises(ValueError, match=r"AttributeError: `np.float_` was removed.*leave the opt"):
        import_wandb()


def test_a_module_that_wandb_lacks_is_not_taken_for_wandb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wandb.py").write_text("import google.no_such_module_as_this")
    monkeypatch.delitem(sys.modules, "wandb", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ValueError, match=r"cannot be imported \(ModuleNotFoundError.*google"):
        import_wandb()


def test_a_plan_says_what_is_trained_for_how_long_and_where(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = tiny_config(stop_at=0.9)
    plan = plan_of("reinforce", config, Path("runs/mine"))
    for part in ("reinforce on Glimpse/CenteredGlyphs-v0 budget=3, seed 0", "96 episodes, 8 at",
                 "90 % of validation", "cpu in float32, 1 thread", "runs/mine"):  # fmt: skip
        assert part in plan
    assert "2 minutes of CPU time" in plan_of("x", tiny_config(minutes=2.0), Path())
    assert "2 minutes of wall time" in plan_of("x", tiny_config(minutes=2.0, threads=2), Path())
    for module in ("announcing", "loop"):
        monkeypatch.setattr(f"agents.training.{module}.processes", lambda: 2)
    monkeypatch.setattr("torch.cpu.get_capabilities", dict, raising=False)
    emulated = plan_of("x", tiny_config(precision="bfloat16"), Path())
    assert "cpu in bfloat16 (emulated here, many times as slow as float32)" in emulated
    plan = plan_of("x", tiny_config(minutes=2.0), Path())
    assert "2 minutes of wall time" in plan
    assert "cpu in float32, 2 processes of 1 thread" in plan


@pytest.mark.learning
def test_the_command_says_its_plan_and_its_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train.main(["reinforce", "--env-id", CENTRED, "--run", str(tmp_path / "run"), "--episodes",
                "64", "--batch-size", "8", "--validation-episodes", "20", "--no-tensorboard",
                "--network.core-units", "8", "--network.glimpse-units", "8"])  # fmt: skip
    first, *_, score, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"reinforce on {CENTRED}")
    assert score.startswith("validation after 64 episodes: ")
    assert "on 20 episodes" in score
    assert last.startswith("the run is in")
    assert not (tmp_path / "run" / "tensorboard").exists()


@pytest.mark.learning
@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash is installed")
def test_bash_completes_an_option(tmp_path: Path) -> None:
    """As docs/training.md has it: of an alias of one word."""
    command = [sys.executable, "-m", "agents.train", "reinforce"]
    done = subprocess.run(
        [*command, "--tyro-print-completion", "bash"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    (tmp_path / "completion.sh").write_text(done.stdout)
    program = f"""
        source {tmp_path}/completion.sh
        handler=$(complete -p agents-train-reinforce | sed 's/.*-F \\([^ ]*\\).*/\\1/')
        COMP_WORDS=(agents-train-reinforce --learning) COMP_CWORD=1
        $handler; echo "${{COMPREPLY[@]}}"
    """
    shown = subprocess.run(
        ["bash", "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "--learning-rate" in shown.stdout
    assert shown.stderr == ""
