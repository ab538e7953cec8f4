"""Rows of the tables of results can be trained: their learners are built and take a step."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.algorithms.algorithm import Algorithm
from agents.sb3.models import SB3Config, make_model
from benchmarks.tables.leaderboard import LEADERBOARD
from benchmarks.tables.planning import TABLES
from benchmarks.tables.table import (
    ALGORITHMS,
)
from benchmarks.whole_runs import train_to_end
from glimpse_envs.adapters.sb3 import make_sb3_env
from glimpse_envs.evaluation.suite import TASK_SETS
from glimpse_envs.sources import SourceError
from glimpse_envs.suite import SUITE
from report.learners import LEARNERS
from report.page import ROOT
from tests.support.records import a_record

RESULTS = ROOT / "results"


def unlike_rows() -> list[tuple[str, str]]:
    """Table and name of a row of each sort: games, worlds and swept weights are alike."""
    found = {}
    for table in TABLES.values():
        for row in table.rows:
            kwargs = {k: v for k, v in row.env_kwargs.items() if k not in ("game", "world")}
            changes = {k: v for k, v in row.changes.items() if k != "curiosity_weight"}
            env_id = "" if table is LEADERBOARD else row.env_id  # its learners take every task
            found[str((table.name, env_id, kwargs, row.recipe, changes))] = table.name, row.name
    return list(found.values())


@pytest.mark.learning
@pytest.mark.parametrize(("table", "name"), unlike_rows())
def test_every_sort_of_row_starts(table: str, name: str, tmp_path: Path) -> None:
    """Its learner is built and takes a step, on a batch of a few rows."""
    (row,) = (row for row in TABLES[table].rows if row.name == name)
    config: Any = row.config(RESULTS / TABLES[table].folder)
    if isinstance(config, SB3Config):
        try:
            run = train_to_end(
                ALGORITHMS[config.algorithm], replace(config, minutes=1e-3), tmp_path
            )
        except SourceError as error:
            pytest.skip(f"files are absent: {error}")
        assert run.load_checkpoint()[1]["timesteps"] > 0
        return
    rows = config.copies * getattr(config, "minibatches", 1)
    fields: dict[str, Any] = {"batch_size": 2 * rows, "precision": "float32"}
    if "segment" in config.env_kwargs:
        fields["env_kwargs"] = {**config.env_kwargs, "segment": 16}
    if hasattr(config, "at_once"):
        fields["kept"] = fields["at_once"] = 4
    try:
        algorithm = ALGORITHMS[config.algorithm]
        assert isinstance(algorithm, Algorithm)
        learner = algorithm.make(replace(config, **fields))
        metrics = learner.update(0.5)
    except SourceError as error:
        pytest.skip(f"files are absent: {error}")
    learner.close()
    assert np.isfinite(metrics["gradient_norm"])


@pytest.mark.learning
@pytest.mark.parametrize("name", [learner.name for learner in LEARNERS])
def test_learners_of_the_leaderboard_take_every_task(name: str) -> None:
    (learner,) = (each for each in LEARNERS if each.name == name)
    ids = [i for i in TASK_SETS["all"] if SUITE[i].family in learner.algorithms]
    assert len(ids) in (len(TASK_SETS["pictures"]), len(TASK_SETS["all"]))
    for env_id in ids:
        rows = (row for row in LEADERBOARD.rows if row.env_id == env_id)
        configs: list[Any] = [row.config(RESULTS / LEADERBOARD.folder) for row in rows]
        (config,) = (
            config
            for config in configs
            if learner.fits(
                a_record(env_id=env_id, algorithm=config.algorithm, config=vars(config))
            )
        )
        algorithm = ALGORITHMS[config.algorithm]
        try:
            if isinstance(algorithm, Algorithm):
                few = 2 * config.copies * getattr(config, "minibatches", 1)
                algorithm.make(replace(config, batch_size=few)).close()
            else:
                with closing(make_sb3_env(env_id, 2, **config.env_kwargs)) as env:
                    make_model(replace(config, n_envs=2, minibatch_size=2), env)
        except SourceError as error:
            pytest.skip(f"files are absent: {error}")
