"""The weights that are published of each environment's agent."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glimpse_envs.episodes.lookup import load_task
from glimpse_envs.suite import SUITE, Row
from report.markdown import ReportError, listed, setting

FOLDER = "weights"


@dataclass(frozen=True)
class TrainedRun:
    """Weights of an agent."""

    folder: Path
    changes: dict[str, Any]
    """Arguments of the environment that were not its own in training, name -> value."""

    @property
    def caption(self) -> str:
        """What a film of it shows."""
        if not self.changes:
            return "A trained agent"
        return f"An agent trained with {listed([setting(*one) for one in self.changes.items()])}"


def trained_runs(results: Path) -> dict[str, TrainedRun]:
    """Environment id -> the weights of its agent, where some are published; those that were trained
    with the environment's own arguments come first."""
    found: dict[str, TrainedRun] = {}
    for config in sorted(results.glob(f"{FOLDER}/*/config.json")):
        trained = _trained(config)
        row = SUITE.get(trained["env_id"])
        if row is None:
            continue
        own = own_arguments(row)
        given = trained["env_kwargs"].items()
        changes = {name: value for name, value in given if own.get(name) != value}
        if row.id not in found or (found[row.id].changes and not changes):
            found[row.id] = TrainedRun(config.parent, changes)
    return found


def _trained(path: Path) -> dict[str, Any]:
    """The training's settings in the config of a run.

    Raises:
        ReportError: it is damaged; the message names the file.
    """
    try:
        trained: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["config"]
        _ = trained["env_id"], trained["env_kwargs"]
    except (ValueError, KeyError, TypeError) as error:
        raise ReportError(f"{path}: holds no settings of a training: {error!r}") from error
    return trained


def own_arguments_of(env_id: str) -> dict[str, Any]:
    """`own_arguments` of an id; none of one that is not in the suite."""
    row = SUITE.get(env_id)
    return {} if row is None else own_arguments(row)


def own_arguments(row: Row) -> dict[str, Any]:
    """All arguments of a row's task, name -> value, whether the suite's or the default."""
    parameters = load_task(row.task).parameters(row.kwargs)
    return {name: one.default for name, one in parameters.items()} | row.kwargs
