"""Texts, ten seeds a row: stories and bAbI, read by hard attention and by who sees everything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.tables.table import FromPreset, Row, Table, preset

KINDS = (1, 4, 6, 9, 11, 12, 13)
"""Kinds of bAbI's questions whose facts are few and near, as readers without a tool to count, order
or deduce can use them."""

_EPISODES = 200_000
"""Of bAbI: 222 times through the 900 training questions."""

_MODELS = {"hard": "actor_critic", "soft": "key_value_memory", "lstm": "lstm_memory"}


def _stories(name: str, priority: int, **env_kwargs: Any) -> tuple[Row, ...]:
    """A row of each model."""
    return tuple(
        Row(
            name=f"{name}-{model}",
            env_id="Glimpse/Stories-v0",
            env_kwargs=env_kwargs,
            recipe=FromPreset("texts", algorithm),
            priority=priority,
        )
        for model, algorithm in _MODELS.items()
    )


def _babi(kind: int, priority: int) -> tuple[Row, ...]:
    """A row of each model; these texts have lengths of their own, so there is no curriculum. Few
    questions are soon learned by heart: validations are close."""
    return tuple(
        Row(
            name=f"babi-{kind}-{model}",
            env_id="Glimpse/Babi-v0",
            env_kwargs={"kind": kind},
            recipe=FromPreset("texts", algorithm),
            changes={
                "minutes": None,
                "validate_every": 20,
                **({"curriculum": None} if model == "hard" else {}),
            },
            episodes=_EPISODES,
            priority=priority,
        )
        for model, algorithm in _MODELS.items()
    )


# The holder's place was read before it was known who holds the thing: it is recalled.
_RECALL = Row(
    name="stories-two-facts-recall",
    env_id="Glimpse/Stories-v0",
    env_kwargs={"facts": 2},
    recipe=FromPreset("texts", "actor_critic"),
    changes={
        "network": replace(
            preset("texts", "actor_critic").network, recall_glimpses=20, recall_units=64
        ),
    },
    minutes=15.0,
    repeats="episodes",
    seeds=5,
    priority=3,
    notes="recalls what it has read, and is trained three times as long as the others; tried once "
    "for 3 and once for 15 minutes, with another seed, on validation",
)

TEXTS = Table(
    "texts",
    folder="texts",
    seeds=10,  # of short trainings
    rows=(
        *_stories("stories", 3),
        *_stories("stories-two-facts", 3, facts=2),
        _RECALL,
        *(row for kind in KINDS for row in _babi(kind, 4)),
    ),
)
