"""Runs of one config, which differ in their seeds, and their metrics joined."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.training.checkpoints import leaves_of
from agents.training.config import TrainingConfig
from agents.training.resuming import FREE
from glimpse_envs.evaluation.runs import Run

OTHER_METRICS = ("seconds", "episodes", "new_episodes", "validation/episodes")
"""Metrics that are not drawn as curves."""
TASK = ("env_id", "env_kwargs")
"""Settings that are named wherever they differ, though the models differ too."""
_OF_EVERY_TRAINING = frozenset(each.name for each in fields(TrainingConfig))
MOST_LETTERS = 72
"""Maximum length of a name."""
LEAST_LETTERS = 16
"""Length down to which a model's name is shortened beside what differs."""


@dataclass(frozen=True)
class Curve:
    """A mean over seeds, at (n,) numbers of episodes; `low` and `high` are the least and the
    greatest of the seeds."""

    episodes: NDArray[np.float64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    seeds: int


@dataclass(frozen=True)
class Group:
    """Runs of one config that differ only in the seed."""

    name: str
    runs: tuple[Run, ...]

    def curve(
        self, metric: str, change: Callable[[float], float] = lambda value: value
    ) -> Curve | None:
        """The curve of a metric, `change` applied to each value; None where it was logged fewer
        than twice. Runs logged at other times are compared up to the end of the shortest."""
        tracks = []
        for run in self.runs:
            points = [
                # Stable-Baselines3's steps are of the environment, and its lines tell the episodes.
                (line.get("episodes", line["step"]), change(line[metric]))
                for line in run.read_metrics()
                if metric in line and np.isfinite(line[metric])
            ]
            if len(points) >= 2:
                tracks.append(np.array(points, np.float64).T)
        if not tracks:
            return None
        end = min(steps[-1] for steps, _ in tracks)
        times = tracks[0][0]
        times = times[times <= end]
        values = np.stack([np.interp(times, steps, track) for steps, track in tracks])
        return Curve(times, values.mean(0), values.min(0), values.max(0), len(tracks))


def group_runs(runs: Sequence[Run]) -> list[Group]:
    """Runs of one config together, in the order in which the configs first come; each named by its
    model and by what differs between the groups of that model.

    Older or newer code may have other settings. A setting that a run lacks takes the default that
    other runs recorded; where none did, it is not compared.
    """
    settings = _comparable(runs)
    groups: dict[str, list[Run]] = {}
    for run, setting in zip(runs, settings, strict=True):
        groups.setdefault(json.dumps(setting, sort_keys=True), []).append(run)
    shared = [json.loads(key) for key in groups]
    models = [_model_name(members[0]) for members in groups.values()]
    names = []
    for model, setting in zip(models, shared, strict=True):
        alike = [other for name, other in zip(models, shared, strict=True) if name == model]
        differing = _differing(alike) | (_differing(shared) & set(TASK))
        changed = [
            _told(key, setting[key]) for key in sorted(differing, key=_rank) if key in setting
        ]
        names.append(_short(model, ", ".join(filter(None, changed))))
    return [
        Group(name if names.count(name) == 1 else f"{name} ({number})", tuple(members))
        for number, (name, members) in enumerate(zip(names, groups.values(), strict=True), 1)
    ]


def check_seeds(runs: Sequence[Run]) -> None:
    """Raise a `ValueError` where two runs of one config have the same seed: they are not two
    training seeds."""
    found: dict[int, Run] = {}
    for run in runs:
        seed = run.config.get("config", {}).get("seed")
        same = run if seed is None else found.setdefault(seed, run)
        if same is not run:
            raise ValueError(
                f"{same.folder} and {run.folder} are of one config and seed {seed}, "
                "so they are not two training seeds: name only one of them"
            )


def _differing(settings: Sequence[Mapping[str, Any]]) -> set[str]:
    """The names of the settings that have several values where they are known."""
    names = {name for setting in settings for name in setting} - {"algorithm", "policy"}
    return {
        name
        for name in names
        if len({json.dumps(setting[name]) for setting in settings if name in setting}) > 1
    }


def _rank(name: str) -> tuple[bool, bool, str]:
    """The task's settings first, then an algorithm's own, then those of every training."""
    return name not in TASK, name in _OF_EVERY_TRAINING, name


def _short(model: str, changed: str) -> str:
    """A model's name and what differs, which is shortened less: it tells groups apart."""
    room = max(LEAST_LETTERS, MOST_LETTERS - len(changed) - 3)
    if changed and len(model) + len(changed) + 2 > MOST_LETTERS and len(model) > room:
        model = model[:room].rstrip(" ,") + "…"
    name = ", ".join(filter(None, (model, changed)))
    return name if len(name) <= MOST_LETTERS else f"{name[:MOST_LETTERS]}…"


def _told(name: str, value: object) -> str:
    return str(value) if name in TASK else f"{name.rpartition('.')[2]}={value}"


def _comparable(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The settings of each run, name -> value, that are known of all runs of its algorithm."""
    settings = [leaves_of(_shared(run), ".") for run in runs]
    found = []
    for setting in settings:
        alike = [
            (other, leaves_of(run.config.get("defaults", {}), "."))
            for other, run in zip(settings, runs, strict=True)
            if other["algorithm"] == setting["algorithm"]
        ]
        defaults: dict[str, Any] = {}
        for _, theirs in alike:
            defaults = {**theirs, **defaults}
        kept = {name for other, _ in alike for name in other}
        found.append({
            name: setting.get(name, defaults.get(name))
            for name in kept
            if all(name in other or name in defaults for other, _ in alike)
        })  # fmt: skip
    return found


def metric_names(groups: Sequence[Group]) -> list[str]:
    """The metrics that any run logged, in the order of the first line that has each."""
    names: dict[str, None] = {}
    for group in groups:
        for run in group.runs:
            for line in run.read_metrics():
                names |= dict.fromkeys(line)
    return [name for name in names if name not in ("step", *OTHER_METRICS)]


def _model_name(run: Run) -> str:
    model = run.config.get("model")
    named = model.get("name") if isinstance(model, Mapping) else None
    return str(named or run.config.get("algorithm") or run.folder.name)


def _shared(run: Run) -> dict[str, Any]:
    """What runs of one group have in common."""
    config = run.config.get("config", {})
    kept = {name: value for name, value in config.items() if name not in FREE | {"seed"}}
    # Joined into one setting: different arguments are another environment, not settings that older
    # code lacked.
    kept["env_kwargs"] = " ".join(
        f"{name}={value}" for name, value in sorted(kept.get("env_kwargs", {}).items())
    )
    return {"policy": run.config["policy"], "algorithm": run.config.get("algorithm"), **kept}
