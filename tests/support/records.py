"""Synthetic records of pictures and of memory, with costs and learning curves."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from glimpse_envs.evaluation.record import NTM_COPY, Model, Record, Score, Validation
from glimpse_envs.evaluation.records import pack
from glimpse_envs.evaluation.statistics import wilson_interval
from report.runs import Run

ENV_ID = "Glimpse/ClutteredGlyphs-v0"
EPISODES = 10_000
TIMES = (1.0, 2.0, 4.0, 8.0, 16.0)
LENGTH = 10
FILE = Path(__file__).parents[2] / "results" / "a.json"


def _everything(name: str, attention: Any, kind: str = "") -> Model:
    return Model(name, "everything", attention=attention, reference_kind=kind)


REINFORCE = Model("Reinforce LSTM")
RANDOM = Model("Reinforce LSTM, random glimpses", gaze="random")
SOFT_DRAW = _everything("Soft DRAW window LSTM", "soft", "DRAW")
SOFT_TILES = _everything("Soft tiles LSTM", "soft")
FULL_CONV, FULL_DENSE, FULL_STRONG = (
    _everything(f"Full view {kind}", "none", kind) for kind in ("conv", "dense", "strong")
)
MODELS = (
    *(REINFORCE, RANDOM, Model("A2C LSTM"), Model("PPO LSTM")),
    Model("Exact LSTM, trained on all tiles", "privileged"),
    Model("Straight-through LSTM, trained on all tiles", "privileged"),
    *(SOFT_TILES, _everything("Soft tiles by content LSTM", "soft"), SOFT_DRAW),
    *(_everything("Soft retina LSTM", "soft"), FULL_STRONG, FULL_CONV, FULL_DENSE),
)


def a_score(success: float, episodes: int = EPISODES, **changes: Any) -> Score:
    """A score whose first episodes went wrong."""
    count = round(success * episodes)
    fields: dict[str, Any] = {
        "split": "test",
        "episodes": episodes,
        "success": success,
        "success_interval": wilson_interval(count, episodes),
        "mean_return": success,
        "return_interval": (success, success),
        "glimpses": None,
        "successes": pack(np.arange(episodes) >= episodes - count),
    }
    return Score(**{**fields, **changes})


def a_record(
    model: Model = REINFORCE,
    error: float = 4.0,
    score: dict[str, Any] | None = None,
    **changes: Any,
) -> Record:
    """A run on a picture whose error falls glimpse by glimpse to `error` percent, and as it is
    trained; `score` changes its headline."""
    full = model.attention == "none"
    budget = changes.get("budget", 1 if full else 8)
    steps = np.arange(1, budget + 1)
    by_glimpse = np.geomspace(max(60, error), max(error, 0.01), budget)
    by_glimpse[-1] = error
    covered = 3600.0 + 0 * steps if model.sees == "everything" else 3500 * (1 - 0.5**steps)
    costs = {
        "values_delivered": tuple((432.0 * steps).tolist()),
        "pixels_covered": tuple(covered.tolist()),
        "multiply_adds": tuple((1e6 * steps).tolist()),
    }
    headline: dict[str, Any] = {
        "success_by_glimpse": tuple((1 - by_glimpse / 100).tolist()),
        "costs": {name: values[-1] for name, values in costs.items()}
        | {"multiply_adds_reading": 7_000.0},
        "costs_by_glimpse": costs,
    }
    curve = tuple(
        Validation(time, round(3_000 * time), 1 - max(error, 80.0 / time**1.2) / 100, None, 2_000)
        for time in TIMES
    )
    return _record(
        model,
        {
            "env_id": ENV_ID,
            "budget": budget,
            "levels": None,
            "scores": (replace(a_score(1 - error / 100, **headline), **(score or {})),),
            "curve": curve,
        }
        | changes,
    )


def many_records() -> list[Record]:
    """A run of each model; the first has three seeds."""
    errors = np.geomspace(20, 0.8, len(MODELS))
    records = [
        a_record(model, round(float(error), 2)) for model, error in zip(MODELS, errors, strict=True)
    ]
    return records + [a_record(MODELS[0], error, seed=s) for s, error in ((1, 18.0), (2, 22.0))]


def memory_record(
    seed: int = 0,
    right: float = 0.995,
    model: Model = REINFORCE,
    length: int = LENGTH,
    multiples: Sequence[int] = (1, 2, 4, 6),
    costs: dict[str, float] | None = None,
    **changes: Any,
) -> Record:
    """A run on Copy, that solved it where 99 % are right at the greatest trained length."""
    found = Validation(90.0 * (seed + 1), 20_000 * (seed + 1), right, None, 1_000)
    scores = [
        a_score(right / multiple, 1_000, level=multiple * length, costs=costs or {"cells_read": 12})
        for multiple in multiples
    ]
    walks = model.sees == "glimpses"
    fields = {
        "env_id": "Glimpse/Copy-v0",
        "seed": seed,
        "budget": 2 * length if walks else 1,
        "levels": (1, length),
        "config": {"batch_size": 256, "curriculum": "mixture" if walks else None},
        "scores": tuple(scores),
        "curve": (found,) if right >= 0.99 else (),
    }
    return _record(model, fields | changes)


def bits_record(seed: int = 0, wrong: float = 0.5) -> Record:
    """A neural Turing machine that gets `wrong` bits of each 20 vectors wrong."""
    scores = [
        a_score(
            0.75, 500, level=level,
            costs={"wrong_bits": wrong * level / 20, "wrong_bits_greatest": 7.0},
        )
        for level in (20, 40, 80, 120)
    ]  # fmt: skip
    fields = {"env_id": NTM_COPY, "seed": seed, "levels": (1, 20), "scores": tuple(scores)}
    fields |= {
        "budget": 1,
        "seconds": 1_200.0,
        "config": {"minutes": 20.0, "cells": 128, "bits": 8},
    }
    return _record(_everything("NTM LSTM", "soft"), fields)


def as_runs(records: Iterable[Record]) -> list[Run]:
    """Runs whose files are not there."""
    return [Run(record, FILE) for record in records]


def _record(model: Model, changes: dict[str, Any]) -> Record:
    fields: dict[str, Any] = {
        "env_kwargs": {},
        "model": model,
        "algorithm": "reinforce",
        "command": "",
        "seed": 0,
        "episodes": 200_000,
        "seconds": 600.0,
        "cores": 1,
        "hardware": "2-core x86-64",
        "revision": "abc1234",
        "versions": {},
        "config": {"batch_size": 128},
    }
    return Record(**fields | changes)
