"""Published errors, and where our runs, grouped over seeds, stand beside them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from glimpse_envs.evaluation.records import Record, digest, settings_of, unpack_correct
from glimpse_envs.evaluation.statistics import (
    bootstrap_interval,
    bootstrap_interval_from_counts,
    interquartile_mean,
    wilson_interval,
)

Gaze = Literal["learned", "random"]
Scalar = str | int | float | bool
Verdict = Literal["under", "above", "overlaps"]

# The rules for a claim.
CLAIM_SEEDS = 5
CLAIM_SCENES = 10_000

# Arguments that change how an agent is trained or dealt scenes, not what the task is.
NEUTRAL_KWARGS = frozenset(
    {"budget", "split", "copies", "autoreset_mode", "render_mode", "reward", "history"}
)

# Words in a model's name that put it outside the glimpse-only rule of the references.
SEES_MORE = frozenset({"oracle", "raster", "soft", "full", "context"})

RAM = "RAM, Mnih et al., NIPS 2014"
TFRAM = "slundqui/tfRAM"


@dataclass(frozen=True)
class Reference:
    """Test errors in percent that others report for one environment, budget and kind of gaze."""

    env_id: str
    glimpses: int
    paper: float
    best_public: float | None
    """The best public number with the glimpse budget kept; None where there is none."""
    source: str
    setting: Mapping[str, Scalar]
    """The environment's arguments as in the source."""
    gaze: Gaze = "learned"
    from_memory: bool = False
    """The paper's number was not checked against the paper: shown with a dagger, no claim."""

    def fits(self, env_id: str, env_kwargs: Mapping[str, Any], model: str, glimpses: int) -> bool:
        """Whether a model's result is like with like: same task, budget and kind of gaze."""
        return (
            (env_id, glimpses) == (self.env_id, self.glimpses)
            and gaze_of(model) == self.gaze
            and all(
                name in NEUTRAL_KWARGS or (name in self.setting and self.setting[name] == value)
                for name, value in env_kwargs.items()
            )
        )


def gaze_of(model: str) -> Gaze | None:
    """How a model of this name looks; None where it sees more than its own glimpses."""
    words = set(re.split(r"[^a-z0-9]+", model.lower()))
    if words & SEES_MORE:
        return None
    return "random" if "random" in words else "learned"


def _setting(**kwargs: Scalar) -> Mapping[str, Scalar]:
    return MappingProxyType({"look": "continuous", "stop": False, "glimpse_cost": 0.0, **kwargs})


_CENTRED = _setting(source="mnist", scene_size=28, clutter=0, glimpse_size=8, scales=1)
_TRANSLATED = _setting(source="mnist", scene_size=60, clutter=0, glimpse_size=12, scales=3)
_CLUTTERED = _setting(
    source="mnist", scene_size=60, clutter=4, clutter_size=8, glimpse_size=12, scales=3
)
_LARGE = _setting(
    source="mnist", scene_size=100, clutter=8, clutter_size=8, glimpse_size=12, scales=4
)
_CIRCLE_SQUARE = MappingProxyType(
    {
        **_setting(scene_size=28, glimpse_size=5, scales=1, inside=True, max_move=0.2),
        "look": "relative",
    }
)

REFERENCES = (
    Reference(
        "Glimpse/ClutteredMNIST-v0", 8, 4.04, 2.63, f"{RAM} (one source); {TFRAM}", _CLUTTERED
    ),
    Reference(
        "Glimpse/ClutteredMNIST-v0", 8, 14.4, None, f"{RAM}, random glimpses (one source)",
        _CLUTTERED, gaze="random",
    ),
    Reference(
        "Glimpse/ClutteredMNIST-v0", 6, 4.08, 3.33, f"{RAM} (one source); {TFRAM}", _CLUTTERED
    ),
    Reference(
        "Glimpse/ClutteredMNIST-v0", 4, 4.96, 5.15, f"{RAM} (one source); {TFRAM}", _CLUTTERED
    ),
    Reference(
        "Glimpse/CenteredMNIST-v0", 6, 1.12, 1.21,
        f"{RAM}; kevinzakka/recurrent-visual-attention", _CENTRED,
    ),
    Reference("Glimpse/CenteredMNIST-v0", 7, 1.07, 0.80, f"{RAM}; MRAM (2025)", _CENTRED),
    Reference("Glimpse/TranslatedMNIST-v0", 8, 1.20, 0.94, f"{RAM}; {TFRAM}", _TRANSLATED),
    Reference(
        "Glimpse/ClutteredMNISTLarge-v0", 8, 8.11, 5.9, f"{RAM}; {TFRAM}", _LARGE, from_memory=True
    ),
    Reference(
        "Glimpse/ClutteredMNISTLarge-v0", 8, 28.4, None, f"{RAM}, random glimpses", _LARGE,
        gaze="random", from_memory=True,
    ),
    Reference(
        "Glimpse/CircleSquare-v0", 16, 0.9, 0.9,
        "APPLE (ICLR 2026), CrossQ after 1 M steps (SAC 1.8; PPO 21.3 after 10 M), from accuracies",
        _CIRCLE_SQUARE,
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Group:
    """Runs that differ in nothing but their seed: one row of the table."""

    records: tuple[Record, ...]
    settings: str = ""
    """What tells it from other groups of its model, "network.core=gru"; "" where it is alone."""

    @property
    def first(self) -> Record:
        return self.records[0]

    @property
    def model(self) -> str:
        """The model's name, with the settings that tell it from others of that name."""
        return f"{self.first.model} ({self.settings})" if self.settings else self.first.model

    @property
    def error_percent(self) -> float:
        """Inter-quartile mean over the seeds."""
        return interquartile_mean([record.error_percent for record in self.records])

    @property
    def error_by_glimpse(self) -> list[float]:
        """(glimpses,) inter-quartile mean over the seeds after each glimpse, in percent."""
        columns = zip(*(record.error_by_glimpse for record in self.records), strict=True)
        return [interquartile_mean(column) for column in columns]

    @cached_property
    def interval_percent(self) -> tuple[float, float]:
        """Wilson's for one run, else a bootstrap over seeds and, where known, shared scenes."""
        scenes = self.first.scenes
        errors = [round(record.error_percent / 100 * scenes) for record in self.records]
        if len(errors) == 1:
            low, high = wilson_interval(errors[0], scenes)
        elif all(record.correct_hex for record in self.records):
            correct = [unpack_correct(record.correct_hex, scenes) for record in self.records]
            low, high = bootstrap_interval(np.stack(correct))
        else:
            low, high = bootstrap_interval_from_counts(errors, scenes)
        return 100 * low, 100 * high

    @property
    def standing(self) -> str:
        """Whether the rules for a claim are met, and if not, why not."""
        runs = len(self.records)
        if runs == 1:
            return "one run, no claim"
        if runs < CLAIM_SEEDS:
            return f"{runs} runs, no claim"
        if self.first.scenes < CLAIM_SCENES:
            return f"{self.first.scenes} scenes, no claim"
        return f"{runs} runs"

    def fits(self, reference: Reference) -> bool:
        record = self.first
        return reference.fits(record.env_id, record.env_kwargs, record.model, record.glimpses)


def group_records(records: Iterable[Record]) -> list[Group]:
    """Records of the test split that have everything but seed and machine in common, together."""
    alike: dict[tuple[str, str, str, int, int], dict[str, list[Record]]] = {}
    for record in records:
        if record.split != "test":
            continue
        kwargs = json.dumps(record.env_kwargs, sort_keys=True)
        key = (record.env_id, kwargs, record.model, record.glimpses, record.scenes)
        settings = digest(settings_of(record.config))
        alike.setdefault(key, {}).setdefault(settings, []).append(record)
    groups: list[Group] = []
    for key in sorted(alike):
        runs = [alike[key][settings] for settings in sorted(alike[key])]
        for same, told in zip(runs, _differences([same[0] for same in runs]), strict=True):
            groups.append(Group(tuple(sorted(same, key=lambda record: record.seed)), told))
    return groups


def _differences(records: list[Record]) -> list[str]:
    """What each record's settings have that is not in all of the others: "look_weight=0.1"."""
    settings = [settings_of(record.config) for record in records]
    paths = sorted(set().union(*settings))
    differing = [p for p in paths if any(s.get(p) != settings[0].get(p) for s in settings)]
    return [", ".join(f"{p}={s.get(p, 'off')}" for p in differing) for s in settings]


def compare(interval: tuple[float, float], reference: float) -> Verdict:
    """Where a whole interval lies beside a reference; touching it is not clearing it."""
    low, high = interval
    if high < reference:
        return "under"
    return "above" if low > reference else "overlaps"
