"""What a table is: rows to train, each with its environment, recipe, seeds, budget and priority."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from agents.algorithms.algorithm import Trainable, find_algorithm
from agents.presets import PRESETS as AGENT_PRESETS
from agents.sb3.__main__ import ALGORITHMS as SB3
from agents.sb3.models import SB3Config, with_history
from agents.train import ALGORITHMS as AGENTS
from agents.train_settings import config_of_record
from agents.training.config import RunConfig
from baselines.presets import PRESETS as BASELINE_PRESETS
from baselines.train import ALGORITHMS as BASELINES
from glimpse_envs.evaluation.record import Model
from report.references.memory import MEMORY_REFERENCES, MemoryReference
from report.references.pictures import LEARNED, REFERENCES, Reference, Scalar
from report.references.scenes import SCENE_REFERENCES
from report.references.worlds import WorldReference

ALGORITHMS: dict[str, Trainable] = {**AGENTS, **BASELINES, **SB3}
"""All algorithms that a row may train."""


@dataclass(frozen=True)
class FromRecord:
    """The settings of a record.

    Args:
        file: its name in the table's folder of the results that are filled, or of this project's.
    """

    file: str


@dataclass(frozen=True)
class FromPreset:
    """The settings of a preset of `agents.presets` or `baselines.presets`.

    Args:
        preset: its name, such as pictures.
        algorithm: one that has this preset.
    """

    preset: str
    algorithm: str


@dataclass(frozen=True)
class FromDefaults:
    """The settings that an algorithm has of itself.

    Args:
        algorithm: its name in `ALGORITHMS`, or "module:NAME" of another package's.
    """

    algorithm: str


@dataclass(frozen=True, kw_only=True)
class Row:
    """Runs that differ in nothing but their seed."""

    name: str
    """Unlike that of any other row, and fit for the name of a folder."""
    env_id: str
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    """What differs from the id's defaults."""
    recipe: FromRecord | FromPreset | FromDefaults
    """The settings, but for environment and seed."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Settings that differ from the recipe's."""
    episodes: int | None = None
    """Budget, where it differs from the recipe's."""
    minutes: float | None = None
    """Budget in core-minutes, where it differs from the recipe's."""
    repeats: Literal["minutes", "episodes"] = "minutes"
    """What a budget in core-minutes fixes for all seeds: these; or the episodes that the first seed
    recorded saw in them, so that further ones repeat it on whatever machine."""
    seeds: int | None = None
    """Number of seeds, from 0 on; the table's where it is not given."""
    priority: int = 9
    """Rows of a smaller number are trained first."""
    reference: Reference | MemoryReference | WorldReference | None = None
    """What it is to be compared with."""
    scored: int | None = None
    """Episodes of its scores; None: the whole test split, which worlds of others do not have."""
    needs: str | None = None
    """An extra of this project, and the package that it installs: "atari: ale_py"."""
    notes: str = ""
    """Of its records: what differs from the reference's setting."""

    @property
    def lacks(self) -> str | None:
        """How to install the extra that it needs; None where nothing lacks."""
        if self.needs is None:
            return None
        extra, _, package = self.needs.partition(": ")
        return None if find_spec(package) else f"pip install 'glimpse-envs[{extra}]'"

    def config(self, *folders: Path) -> RunConfig:
        """The config with seed 0.

        Args:
            folders: folders of records; the recipe's is read from the first that has it.

        Raises:
            OSError, RecordError: the recipe's record cannot be read.
            ValueError: there is no such preset or algorithm, a change is none of the algorithm's
                options, or a learner of Stable-Baselines3 has no minutes.
        """
        budget = {"episodes": self.episodes, "minutes": self.minutes}
        changes = {
            "env_id": self.env_id,
            "env_kwargs": dict(self.env_kwargs),
            "seed": 0,
            "device": "cpu",
            "threads": 1,
            **self.changes,
            **{name: value for name, value in budget.items() if value is not None},
        }
        start = _start(self.recipe, folders)
        unknown = changes.keys() - {setting.name for setting in fields(start)}
        if unknown:
            names = ", ".join(sorted(unknown))
            hint = ", as in network=NetworkConfig(core_units=64)" if "." in names else ""
            raise ValueError(
                f"row {self.name!r}: {start.algorithm} has no {names}; settings are those of "
                f"{type(start).__name__}{hint}"
            )
        config: RunConfig = replace(start, **changes)
        if isinstance(config, SB3Config):
            if config.minutes is None:
                raise ValueError(f"row {self.name!r}: {config.algorithm} needs a budget in minutes")
            return with_history(config)  # as the run and its record will have it
        return config


@dataclass(frozen=True)
class Table:
    """Rows whose records lie in one folder."""

    name: str
    """On the command line."""
    rows: tuple[Row, ...]
    seeds: int
    """Of each row that does not say another number."""
    folder: str = "."
    """Of its records, in the folder of results."""


def published(env_id: str, glimpses: int, model: Model = LEARNED, **setting: Scalar) -> Reference:
    """The published errors of an environment, a budget and a kind of model, where the source's
    arguments hold those of `setting`; of several, those of the plainest setting.

    Raises:
        ValueError: neither `report.references.pictures` nor `.scenes` has one.
    """
    fitting = [
        reference
        for reference in (*REFERENCES, *SCENE_REFERENCES)
        if (reference.env_id, reference.glimpses, reference.model) == (env_id, glimpses, model)
        and setting.items() <= reference.setting.items()
    ]
    if not fitting:
        raise ValueError(f"no published number of {env_id} with {glimpses} glimpses, {model.name}")
    return min(fitting, key=lambda reference: len(reference.setting))


def reported(env_id: str, model: str) -> MemoryReference:
    """What others report of a memory task and a model.

    Raises:
        ValueError: `report.references.memory` has none.
    """
    for reference in MEMORY_REFERENCES:
        if (reference.env_id, reference.model) == (env_id, model):
            return reference
    raise ValueError(f"nothing reported of {env_id}, {model}")


def _start(recipe: FromRecord | FromPreset | FromDefaults, folders: Sequence[Path]) -> Any:
    """The config that a recipe stands for."""
    if isinstance(recipe, FromDefaults):
        return find_algorithm(recipe.algorithm, ALGORITHMS).config()
    if isinstance(recipe, FromRecord):
        paths = [folder / recipe.file for folder in folders]
        path = next((each for each in paths if each.exists()), paths[-1])
        return config_of_record(path, ALGORITHMS)
    if not isinstance(recipe, FromPreset):
        raise ValueError(f"recipe={recipe!r} must be a FromDefaults, FromPreset or FromRecord")
    return preset(recipe.preset, recipe.algorithm)


def preset(name: str, algorithm: str) -> Any:
    """The config of an algorithm in a preset of agents or baselines.

    Raises:
        ValueError: there is none.
    """
    config = find_preset(name, algorithm)
    if config is None:
        raise ValueError(f"there is no preset {name!r} of {algorithm!r}")
    return config


def find_preset(name: str, algorithm: str) -> Any | None:
    """As `preset`; None where there is none."""
    for presets in (AGENT_PRESETS, BASELINE_PRESETS):
        for config in presets.get(name, ()):
            if config.algorithm == algorithm:
                return config
    return None
