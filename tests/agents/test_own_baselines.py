"""What is wrong with a learner or baseline of another package is told before a run is made."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from agents import train
from baselines import train as baselines
from baselines.pictures.gaussian_window import GaussianWindowConfig
from glimpse_envs.evaluation import trust as trusting
from glimpse_envs.evaluation.record import Model
from tests.support.episodes import CENTRED

ROOT = Path(__file__).parents[2]
TINY = ["--env-id", CENTRED, "--batch-size", "8", "--episodes", "8", "--validation-episodes", "0"]


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of the guide."""
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "own_agent"))
    monkeypatch.setattr(trusting, "_trusted", set())
    return import_module("my_agents")


def refusal(
    main: Any, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], *arguments: str
) -> str:
    """The error with which a training ends before its run is made."""
    with pytest.raises(SystemExit):
        main([name, *TINY, *arguments, "--run", str(tmp_path / "run")])
    assert not list(tmp_path.iterdir())
    return " ".join(capsys.readouterr().err.split())


def test_a_forward_that_returns_no_answers_is_refused(
    own: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = own.Pool.forward
    monkeypatch.setattr(own.Pool, "forward", lambda self, seen: answers(self, seen).logits)
    said = refusal(baselines.main, "my_agents:POOL", tmp_path, capsys)
    assert "my_agents:Pool: `forward` returned a value of the type Tensor; it must return" in said
    assert "Answers, of baselines.model" in said


@pytest.mark.parametrize(
    ("main", "name", "kind"),
    [(train.main, "my_agents:SHRUNK", "Shrunk"), (baselines.main, "my_agents:POOL", "Pool")],
)
@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Model("Mine", sees="scene"), "sees is 'scene'; it must be 'glimpses', 'privileged' or"),  # type: ignore[arg-type]
        (Model("Mine", attention="harder"), "attention is 'harder'; it must be 'none', 'hard',"),  # type: ignore[arg-type]
        ("Mine", "is 'Mine'; it must be a Model, of glimpse_envs.evaluation.record"),
    ],
)
def test_a_model_that_no_record_can_hold_is_refused(
    own: Any,
    main: Any,
    name: str,
    kind: str,
    model: Any,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(getattr(own, kind), "model", model)
    said = refusal(main, name, tmp_path, capsys)
    assert f"error: {name}: " in said
    assert "the `model` of its learner" in said
    assert message in said


@pytest.mark.parametrize(
    ("config_class", "found"), [(GaussianWindowConfig, "GaussianWindowConfig"), (None, "missing")]
)
def test_a_baseline_is_read_back_by_the_config_that_it_is_trained_with(
    own: Any,
    config_class: type | None,
    found: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One that inherits another's config class is else a run of another algorithm when it is first
    validated."""
    if config_class is None:
        monkeypatch.delattr(own.Pool, "config_class")
    else:
        monkeypatch.setattr(own.Pool, "config_class", config_class)
    said = refusal(baselines.main, "my_agents:POOL", tmp_path, capsys)
    assert f"Pool: config_class is {found}, and algorithm my_agents:POOL trains it with" in said
    assert "Set config_class = PoolConfig in Pool" in said
