"""Runs that are small enough for a test: an agent, and a model with soft glimpses."""

import pytest

from agents.algorithms.reinforce import Reinforce
from glimpse_envs.evaluation.runs import Run
from tests.support import baselines
from tests.support.tiny import tiny_config
from tests.support.trainings import trained


@pytest.fixture(scope="session")
def hard_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(Reinforce, tiny_config(), tmp_path_factory.mktemp("runs") / "hard")


@pytest.fixture(scope="session")
def soft_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    config = tiny_config()
    soft = baselines.tiny_config("retina", env_id=config.env_id, env_kwargs=config.env_kwargs)
    return baselines.trained(soft, "retina", tmp_path_factory.mktemp("runs") / "soft")
