"""Our runs, grouped over seeds, and where a group stands beside a published error."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from glimpse_envs.evaluation.records import Record, digest, settings_of, unpack_correct
from glimpse_envs.evaluation.statistics import (
    bootstrap_interval,
    bootstrap_interval_from_counts,
    interquartile_mean,
    wilson_interval,
)
from report.references.pictures import Reference, sees_whole

Verdict = Literal["under", "above", "overlaps"]

# The rules for a claim.
CLAIM_SEEDS = 5
CLAIM_SCENES = 10_000


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
    def glimpses(self) -> str:
        """The budget, for people: a network that sees all at once has none."""
        return "whole" if sees_whole(self.first.model) else str(self.first.glimpses)

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
