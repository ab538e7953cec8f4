"""The demo leaves all that it promises, and what it cannot do is refused before it begins."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from agents.demo import DemoConfig, run_demo
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.run_lock import writing
from glimpse_envs.evaluation.runs import open_run
from glimpse_envs.sources import SourceError


class FailedTwin:
    """A process that has failed, and notes what was asked of it."""

    exitcode = 1
    calls: ClassVar[list[str]] = []

    def __init__(self, target: object, args: object, daemon: bool) -> None:
        assert daemon, "it must not outlive the demo"

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_: self.calls.append(name)


@pytest.mark.parametrize(
    ("ours_fails", "error"), [(False, "twin's training failed"), (True, "loss is nan")]
)
def test_a_training_that_fails_ends_the_demo(
    ours_fails: bool, error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def train(*_: object, **__: object) -> None:
        if ours_fails:
            raise FloatingPointError("the answer loss is nan")

    monkeypatch.setattr(FailedTwin, "calls", [])
    monkeypatch.setattr("agents.demo.train", train)
    context = SimpleNamespace(Process=FailedTwin)
    monkeypatch.setattr("multiprocessing.get_context", lambda method: context)
    with pytest.raises((RunError, FloatingPointError), match=error):
        run_demo(DemoConfig(minutes=0.01, out=tmp_path / "demo"))
    assert FailedTwin.calls[0] == "start"
    assert FailedTwin.calls[-2:] == ["terminate", "join"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"episodes": 0}, "episodes=0 must be at least 1"),
        ({"minutes": float("nan")}, "minutes=nan must be above 0"),
        ({"seed": -1}, "seed=-1 must be an integer"),
        ({"env_id": "Glimpse/Copy-v0"}, "gaze='random' scans pictures"),
        ({"episodes": 20_000}, "episodes is 20000; the test split has 10000"),
        ({"env_id": "Glimpse/CenteredMNIST-v0"}, "train-images-idx3-ubyte.gz is missing"),
    ],
)
def test_what_the_demo_cannot_do_is_refused_before_it_trains(
    changes: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin(*_: object, **__: object) -> None:
        raise AssertionError("it is refused before it trains")

    monkeypatch.setattr("agents.demo.train", begin)
    monkeypatch.setattr("multiprocessing.get_context", begin)
    monkeypatch.setenv("GLIMPSE_DATA", str(tmp_path))
    with pytest.raises((ValueError, SourceError), match=message):
        run_demo(DemoConfig(**{"out": tmp_path / "demo", **changes}))
    assert not (tmp_path / "demo").exists()


def test_an_interrupted_demo_saves_both_models_and_scores_neither(tmp_path: Path) -> None:
    """A terminal's Ctrl-C reaches the demo and its twin at once."""
    out = tmp_path / "my demo"
    command = [sys.executable, "-m", "agents.demo", "--minutes", "5", "--out", str(out)]
    demo = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    runs = [out / name for name in ("run-learned", "run-random")]
    while demo.poll() is None and not all((run / "config.json").exists() for run in runs):
        time.sleep(0.1)
    time.sleep(1.0)
    os.killpg(demo.pid, signal.SIGINT)
    printed, errors = demo.communicate(timeout=120)
    assert demo.returncode == 128 + signal.SIGINT
    assert "Traceback" not in errors
    assert "Scoring" not in printed
    for run in runs:
        assert open_run(run).has_checkpoint
        assert f"--run {shlex.quote(str(run))} --resume" in printed


def test_the_demo_leaves_a_run_that_is_being_trained(tmp_path: Path) -> None:
    learned, twin = (tmp_path / "demo" / f"run-{name}" for name in ("learned", "random"))
    learned.mkdir(parents=True)
    (learned / "metrics.jsonl").write_text("{}")
    with writing(twin), pytest.raises(RunError, match="is being trained by another process"):
        run_demo(DemoConfig(minutes=0.01, out=tmp_path / "demo"))
    assert (learned / "metrics.jsonl").exists()


@pytest.mark.learning
def test_the_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    demo = DemoConfig(minutes=0.01, episodes=50, out=tmp_path / "demo")
    scores = run_demo(demo)
    assert list(scores) == [
        "learned glimpses",
        "random glimpses (trained so)",
        "raster scan (same model)",
        "chance",
    ]
    assert all(score.episodes == 50 for score in scores.values())
    printed = capsys.readouterr().out
    for name, score in scores.items():
        assert score.success is not None
        assert f"{100 * score.success:.2f}" in printed.partition(f"\n{name}")[2].splitlines()[0]
    assert "95 % interval" in printed

    learned, control = (open_run(demo.out / f"run-{name}") for name in ("learned", "random"))
    assert learned.config["config"]["gaze"] == "learned"
    assert control.config["config"] == {**learned.config["config"], "gaze": "random"}
    for name in ("film.mp4", "scanpaths.png"):
        assert (demo.out / name).stat().st_size > 0
        assert f"{demo.out / name}" in printed
