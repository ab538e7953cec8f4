"""Pictures: five seeds a row, beside the numbers of RAM, DRAW and public repositories."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agents.policy.networks import NetworkConfig
from benchmarks.tables.table import FromPreset, FromRecord, Row, Table, published
from glimpse_envs.evaluation.record import Model
from report.references.pictures import (
    FULL_CONV,
    FULL_DENSE,
    FULL_STRONG,
    LEARNED,
    RANDOM,
    SOFT_DRAW,
    Reference,
)

_CLUTTERED = "Glimpse/ClutteredMNIST-v0"
_LARGE = "Glimpse/ClutteredMNISTLarge-v0"
_TRANSLATED = "Glimpse/TranslatedMNIST-v0"
_CENTRED = "Glimpse/CenteredMNIST-v0"
_CIRCLES = "Glimpse/CircleSquare-v0"
_QUARTER = NetworkConfig(
    contrast=True,
    look_std=0.7,
    what_units=64,
    where_units=32,
    glimpse_units=128,
    core_units=64,
    head_units=32,
)
_SHIFTED: dict[str, Any] = {"overhang": 2}
_SHIFTS = "trained on digits shifted by up to 2 pixels; tested on those of the test set, unshifted"
_OF_RAM = {
    "conv": "RAM's convolutional network, on fresh clutter every image, by Muon",
    "dense": "RAM's network of two layers of 256, on fresh clutter every image, by Muon",
}
_CONTROL = "control: trained and tested with random glimpses, the same network, images and schedule"


def _of_record(model: str, env_id: str, identity: str) -> FromRecord:
    return FromRecord(f"{env_id.replace('/', '-')}_{model}_seed0_{identity}.json")


def _hard(name: str, env_id: str, glimpses: int, kind: Model = LEARNED, **row: Any) -> Row:
    """Of the hard agent, by the preset."""
    row["changes"] = {"precision": "bfloat16", **row.get("changes", {})}
    recipe, reference = FromPreset("pictures", "reinforce"), published(env_id, glimpses, kind)
    return Row(name=name, env_id=env_id, recipe=recipe, reference=reference, **row)


def _from_defaults(name: str, env_id: str, algorithm: str, episodes: int) -> Row:
    """Of an environment that has no record yet."""
    return Row(
        name=name,
        env_id=env_id,
        recipe=FromPreset("pictures", algorithm),
        # As in the records of the other rows; "auto" would depend on the machine.
        changes={"precision": "bfloat16"},
        episodes=episodes,
        priority=7,
    )


def _of_ram(name: str, env_id: str, kind: str, reference: Reference | None = None) -> Row:
    """One of the RAM paper's own networks that see the whole scene."""
    return Row(
        name=name,
        env_id=env_id,
        recipe=FromPreset("pictures", "full_view"),
        changes={
            "kind": kind,
            "precision": "bfloat16",
            "optimizer": "muon",
            "batch_size": 1024,
            "learning_rate": 5e-3,
        },
        minutes=10.0,
        priority=6,
        reference=reference,
        notes=_OF_RAM[kind],
    )


def _agent(name: str, env_id: str, identity: str, glimpses: int, **row: Any) -> Row:
    recipe = _of_record("Reinforce-LSTM", env_id, identity)
    return Row(
        name=name, env_id=env_id, recipe=recipe, reference=published(env_id, glimpses), **row
    )


def _random(row: Row, reference: Reference | None = None, priority: int = 7) -> Row:
    """The control of a row: the same training with random glimpses."""
    name, _, glimpses = row.name.rpartition("-")
    return replace(
        row,
        name=f"{name}-random-{glimpses}",
        changes={**row.changes, "gaze": "random"},
        reference=reference,
        priority=priority,
        notes="; ".join(filter(None, (_CONTROL, row.notes))),
    )


_TRANSLATED_8 = _hard("translated-8", _TRANSLATED, 8, priority=3)
_CENTRED_6 = _hard(
    "centred-6", _CENTRED, 6, env_kwargs=_SHIFTED, priority=4, notes=_SHIFTS, seeds=10
)
_CIRCLES_16 = _agent("circle-square-16", _CIRCLES, "c965b34e", 16, priority=6, seeds=10)
_FASHION = _from_defaults("fashion-12", "Glimpse/FashionMNIST-v0", "reinforce", 4_000_000)
_CIFAR = _from_defaults("cifar-8", "Glimpse/CIFAR10-v0", "reinforce", 4_000_000)

PICTURES = Table(
    "pictures",
    seeds=5,
    rows=(
        _hard("cluttered-8", _CLUTTERED, 8, priority=1),
        _hard("cluttered-6", _CLUTTERED, 6, env_kwargs={"budget": 6}, priority=1),
        _hard("cluttered-4", _CLUTTERED, 4, env_kwargs={"budget": 4}, priority=1, seeds=10),
        _hard("large-8", _LARGE, 8, priority=2),
        _random(_hard("large-8", _LARGE, 8), published(_LARGE, 8, RANDOM), priority=2),
        Row(
            name="large-draw-8",
            env_id=_LARGE,
            recipe=FromPreset("pictures", "gaussian_window"),
            changes={"precision": "bfloat16"},
            episodes=4_000_000,
            priority=2,
            reference=published(_LARGE, 8, SOFT_DRAW),
        ),
        _TRANSLATED_8,
        _CENTRED_6,
        _hard(
            "centred-7",
            _CENTRED,
            7,
            env_kwargs={"budget": 7, **_SHIFTED},
            priority=4,
            notes=_SHIFTS,
            seeds=10,
        ),
        _random(_hard("cluttered-8", _CLUTTERED, 8), published(_CLUTTERED, 8, RANDOM), priority=6),
        Row(
            name="cluttered-draw-8",
            env_id=_CLUTTERED,
            recipe=FromPreset("pictures", "gaussian_window"),
            changes={"precision": "bfloat16"},
            priority=6,
        ),
        _CIRCLES_16,
        _agent(
            "circle-square-small",
            _CIRCLES,
            "c965b34e",
            16,
            priority=6,
            seeds=1,
            changes={"network": _QUARTER},
            notes="a quarter of the units, for shipped weights",
        ),
        Row(
            name="cluttered-full-strong",
            env_id=_CLUTTERED,
            recipe=_of_record("Full-view-strong", _CLUTTERED, "34050bfb"),
            priority=6,
        ),
        _of_ram("cluttered-full-conv", _CLUTTERED, "conv", published(_CLUTTERED, 1, FULL_CONV)),
        _of_ram("cluttered-full-dense", _CLUTTERED, "dense", published(_CLUTTERED, 1, FULL_DENSE)),
        Row(
            name="large-full-strong",
            env_id=_LARGE,
            recipe=_of_record("Full-view-strong", _LARGE, "c57bd41f"),
            episodes=1_200_000,
            priority=6,
            reference=published(_LARGE, 1, FULL_STRONG),
        ),
        _of_ram("large-full-conv", _LARGE, "conv", published(_LARGE, 1, FULL_CONV)),
        _of_ram("large-full-dense", _LARGE, "dense"),
        _FASHION,
        _CIFAR,
        *(_random(row) for row in (_TRANSLATED_8, _CENTRED_6, _CIRCLES_16, _FASHION, _CIFAR)),
        _from_defaults("fashion-full", "Glimpse/FashionMNIST-v0", "full_view", 1_200_000),
        _from_defaults("cifar-full", "Glimpse/CIFAR10-v0", "full_view", 1_200_000),
    ),
)
