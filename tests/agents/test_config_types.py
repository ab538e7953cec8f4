"""A config whose values have other types than it says is refused before anything is trained."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.sb3.models import PPOConfig, check_config
from agents.train import train_agent
from agents.training.checks import check_types
from tests.support.tiny import tiny_config, tiny_network

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "float for a count": ({"episodes": 1e3}, "episodes is 1000.0; it must be a valid integer"),
    "text for a number": ({"learning_rate": "1e-3"}, "learning_rate is '1e-3'; it must be a valid"),
    "none for a number": ({"max_gradient_norm": None}, "max_gradient_norm is None; it must be"),
    "no network": ({"network": None}, "network is None; it must be"),
    "text for a choice": (
        {"network": replace(tiny_network(), skip="yes")},  # type: ignore[arg-type]
        "network.skip is 'yes'; it must be a valid boolean",
    ),
    "NumPy's integer": ({"seed": np.int64(3)}, "seed is .*3.*, of the type int64; it must be a pl"),
    "NumPy's number in a dict": (
        {"env_kwargs": {"budget": np.int64(3)}},
        "env_kwargs.budget is .*3.*, of the type int64; it must be a plain number",
    ),
    "an array in a list": (
        {"env_kwargs": {"budget": [np.zeros(2)]}},
        r"env_kwargs.budget\[0\] is array\(\[0., 0.\]\), of the type ndarray",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_types_are_named_and_no_run_is_made(case: str, tmp_path: Path) -> None:
    changes, message = WRONG[case]
    with pytest.raises(ValueError, match=message):
        train_agent("reinforce", replace(tiny_config(), **changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_stable_baselines_configs_are_checked_too() -> None:
    with pytest.raises(ValueError, match=r"n_envs is 2\.5; it must be a valid integer"):
        check_config(replace(PPOConfig(), n_envs=2.5))  # type: ignore[arg-type]  # wrong on purpose


def test_whole_numbers_are_numbers() -> None:
    check_types(replace(tiny_config(), learning_rate=1, minutes=2, env_kwargs={"budget": 3}))
