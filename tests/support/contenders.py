"""Synthetic records of a comparison: models of every family, with costs and learning curves."""

from typing import Any

import numpy as np

from glimpse_envs.evaluation.records import Record
from glimpse_envs.evaluation.statistics import wilson_interval

ENV_ID = "Glimpse/ClutteredGlyphs-v0"
SCENES = 10_000
TIMES = (1.0, 2.0, 4.0, 8.0, 16.0)

MODELS = (
    *("Reinforce LSTM", "Reinforce LSTM, random glimpses", "A2C LSTM", "PPO LSTM"),
    *("Exact LSTM, trained on all tiles", "Straight-through LSTM, trained on all tiles"),
    *("Soft tiles LSTM", "Soft tiles by content LSTM", "Soft DRAW window LSTM"),
    *("Soft retina LSTM", "Full view spatial transformer", "Full view strong"),
    *("Full view conv", "Full view dense"),
)


def a_record(model: str = "Reinforce LSTM", error: float = 4.0, **changes: Any) -> Record:
    """A run whose error falls glimpse by glimpse to `error` percent, and as it is trained."""
    glimpses = 1 if model.startswith("Full") else 8
    sees_all = model.startswith(("Full", "Soft"))
    steps = np.arange(1, glimpses + 1)
    by_glimpse = np.geomspace(max(60, error), max(error, 0.01), glimpses)
    by_glimpse[-1] = error
    low, high = wilson_interval(round(error / 100 * SCENES), SCENES)
    costs = {
        "values_delivered": (432.0 * steps).tolist(),
        "pixels_covered": (3600.0 + 0 * steps if sees_all else 3500 * (1 - 0.5**steps)).tolist(),
        "multiply_adds": (1e6 * steps).tolist(),
    }
    fields: dict[str, Any] = {
        "env_id": ENV_ID,
        "env_kwargs": {"view": "full"} if sees_all else {},
        "model": model,
        "seed": 0,
        "glimpses": glimpses,
        "error_percent": error,
        "interval_percent": (100 * low, 100 * high),
        "error_by_glimpse": tuple(by_glimpse.tolist()),
        "images_seen": 200_000,
        "seconds": 60.0,
        "hardware": "2-core x86-64",
        "revision": "abc1234",
        "config": {"batch": 128},
        "costs": {name: values[-1] for name, values in costs.items()}
        | {"multiply_adds_reading": 7_000.0},
        "costs_by_glimpse": costs,
        "curve": [
            [time, round(3_000 * time), round(max(error, 80.0 / time**1.2), 1), 2_000]
            for time in TIMES
        ],
    }
    return Record(**{**fields, **changes})


def many_records() -> list[Record]:
    """A run of each model; the first has three seeds."""
    errors = np.geomspace(20, 0.8, len(MODELS))
    records = [
        a_record(model, round(float(error), 2)) for model, error in zip(MODELS, errors, strict=True)
    ]
    return records + [a_record(MODELS[0], error, seed=s) for s, error in ((1, 18.0), (2, 22.0))]
