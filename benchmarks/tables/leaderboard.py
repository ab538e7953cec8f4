"""Learners on all tasks of the suite's score, ten minutes of a core each, three seeds."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.tables.table import FromDefaults, FromPreset, Row, Table
from glimpse_envs.evaluation.suite import TASK_SETS
from glimpse_envs.suite import SUITE
from report.learners import LEARNERS, MINUTES, Learner
from report.markdown import short

PRESETS = {"pictures": "pictures", "tape": "tapes", "table": "tables"}
"""Family -> its preset."""


def _rows() -> Iterator[Row]:
    for env_id in TASK_SETS["all"]:
        for learner in LEARNERS:
            if SUITE[env_id].family in learner.algorithms:
                yield _row(env_id, learner)


def _row(env_id: str, learner: Learner) -> Row:
    family = SUITE[env_id].family
    algorithm = learner.algorithms[family]
    changes = dict(learner.settings)
    if learner.has_presets and family == "pictures":
        changes["precision"] = "bfloat16"  # "auto" would depend on the machine
    task, _, _ = short(env_id).rpartition("-v")
    words = f"{task} {learner.name}".translate(str.maketrans("", "", "(),"))
    return Row(
        name="board-" + words.lower().replace(" ", "-"),
        env_id=env_id,
        recipe=(
            FromPreset(PRESETS[family], algorithm)
            if learner.has_presets
            else FromDefaults(algorithm)
        ),
        changes=changes,
        minutes=MINUTES,
    )


LEADERBOARD = Table("leaderboard", folder="leaderboard", seeds=3, rows=tuple(_rows()))
