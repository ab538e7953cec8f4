"""A run made by hand, as in docs/own_policy.md, is scored and recorded; what it lacks is named."""

from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest

from agents.evaluate import main
from glimpse_envs.evaluation.policy import Policy
from glimpse_envs.evaluation.record import Model
from glimpse_envs.evaluation.records import read_records
from glimpse_envs.evaluation.runs import Run, create_run
from tests.support.episodes import CENTRED


class Fixed(Policy):
    """Answers three."""

    @classmethod
    def from_run(cls, run: Run, device: str = "cpu") -> Self:
        return cls()

    def predict(
        self,
        observation: dict[str, Any],
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[dict[str, Any], None]:
        rows = len(observation["remaining"])
        return {"look": np.zeros((rows, 2), np.float32), "answer": np.full(rows, 3)}, None


CONFIG: dict[str, Any] = {
    "policy": f"{__name__}:Fixed",
    "algorithm": "by hand",
    "seed": 0,
    "model": asdict(Model("Always three")),
    "config": {"env_id": CENTRED, "env_kwargs": {"budget": 2}},
}
METADATA = {"episodes": 0, "seconds": 0.0}


def recorded(folder: Path, config: dict[str, Any], metadata: dict[str, Any] = METADATA) -> None:
    run = create_run(folder / "run", config)
    run.save_checkpoint({"nothing": np.zeros(1)}, metadata)
    main([str(run.folder), "--episodes", "20", "--record", str(folder / "results")])


def test_it_is_recorded(tmp_path: Path) -> None:
    recorded(tmp_path, CONFIG)
    (record,), _ = read_records(tmp_path / "results")
    assert (record.algorithm, record.model.name) == ("by hand", "Always three")


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in CONFIG.items() if key != name}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (without("seed"), "it lacks seed, and a record needs the random seed of its training"),
        (without("algorithm"), "it lacks algorithm, and a record needs a name such as 'by hand'"),
        ({**CONFIG, "seed": "0"}, "seed is '0', and a record needs the random seed"),
        (
            {**CONFIG, "model": {**CONFIG["model"], "sees": "scene"}},
            "of the model, sees is 'scene'; it must be 'glimpses', 'privileged' or 'everything'",
        ),
        (
            {**CONFIG, "config": {"env_id": CENTRED, "env_kwargs": {"budgte": 2}}},
            f"its env_kwargs do not fit its env_id: {CENTRED}: unexpected keyword argument "
            "'budgte': did you mean 'budget'?",
        ),
    ],
)
def test_what_it_lacks_is_told_before_it_is_played(
    config: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        recorded(tmp_path, config)
    shown = capsys.readouterr()
    assert f"error: {tmp_path / 'run' / 'config.json'}: {message}" in shown.err
    assert not shown.out


def test_a_checkpoint_without_the_length_of_the_training_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        recorded(tmp_path, CONFIG, {"episodes": 0})
    assert "checkpoint.safetensors: its metadata lack seconds of the" in capsys.readouterr().err
