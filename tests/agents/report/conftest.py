"""Runs that reports are written of."""

import pytest

from agents.algorithms.reinforce import Reinforce
from glimpse_envs.evaluation.runs import Run
from tests.support.tiny import tiny_config
from tests.support.trainings import trained


@pytest.fixture(scope="session")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Two seeds of one config, and one of another."""
    folder = tmp_path_factory.mktemp("runs")
    configs = [tiny_config(), tiny_config(seed=1), tiny_config(learning_rate=1e-4)]
    return [trained(Reinforce, c, folder / f"run{k}") for k, c in enumerate(configs)]
