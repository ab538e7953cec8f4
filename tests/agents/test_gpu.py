"""Trainings on a GPU, where there is one: as on the CPU but for rounding, and resumable."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from agents.algorithms.actor_critic import ActorCritic
from agents.algorithms.reinforce import Reinforce
from agents.training.host import hardware_with
from benchmarks.tables.command import main
from glimpse_envs.evaluation.records import read_record
from tests.support import baselines
from tests.support.same_runs import assert_repeats_and_resumes, metrics_of
from tests.support.tiny import PPO, tiny_actor_critic, tiny_config, tiny_network
from tests.support.trainings import trained

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
    pytest.mark.learning,
]

CELLS = tiny_network(look_coordinates="cells")
TAPE: dict[str, Any] = {"env_id": "Glimpse/Copy-v0", "env_kwargs": {"length": 4}}
AGENTS = {
    "places": (Reinforce, tiny_config()),
    "cells": (Reinforce, tiny_config(env_id="Glimpse/ClutteredGlyphs-v0", network=CELLS)),
    "tape": (ActorCritic, tiny_actor_critic(**TAPE)),
    "ppo": (ActorCritic, tiny_actor_critic(**PPO)),
}


@pytest.fixture(autouse=True)
def whole_float32() -> Iterator[None]:
    with torch.backends.cudnn.flags(allow_tf32=False):
        yield


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_trains_as_on_the_cpu(name: str, tmp_path: Path) -> None:
    learner, config = AGENTS[name]
    ours, theirs = (
        trained(learner, replace(config, device=device), tmp_path / device)
        for device in ("cpu", "cuda")
    )
    for line, other in zip(metrics_of(ours), metrics_of(theirs), strict=True):
        assert other == pytest.approx(line, rel=2e-3, abs=1e-4)


@pytest.mark.parametrize("kind", baselines.KINDS)
def test_a_baseline_updates_as_on_the_cpu(kind: str) -> None:
    lines = []
    for device in ("cpu", "cuda"):
        learner = baselines.learner_of(kind, baselines.tiny_config(kind, device=device))
        lines.append([learner.update(progress) for progress in (0.0, 0.1)])
        learner.close()
    for line, other in zip(*lines, strict=True):
        assert other == pytest.approx(line, rel=2e-3, abs=1e-4)


@pytest.mark.parametrize("name", ["places", "tape"])
def test_a_run_on_a_gpu_repeats_and_resumes(name: str, tmp_path: Path) -> None:
    learner, config = AGENTS[name]
    assert_repeats_and_resumes(learner, replace(config, device="cuda"), tmp_path)


def test_a_tables_runs_share_a_gpu_and_their_records_name_it(tmp_path: Path) -> None:
    folders = ["--runs", str(tmp_path / "runs"), "--results", str(tmp_path / "results")]
    main(["tests.support.tables:QUICK", "--gpu", "0.5", *folders])
    records = [read_record(path) for path in sorted((tmp_path / "results").rglob("*.json"))]
    assert records
    for record in records:
        assert record.hardware == hardware_with("cuda")
        assert torch.cuda.get_device_name() in record.hardware
