"""Texts: stories and bAbI's questions, read by hard attention and by models that see everything."""

from __future__ import annotations

from typing import Any

from benchmarks.tables.table import FromPreset, Row, Table

KINDS = (1, 4, 6, 9, 11, 12, 13)
"""Kinds of bAbI's questions: those on which published hard and soft readers differ least."""

_MODELS = {"hard": "actor_critic", "soft": "key_value_memory", "lstm": "lstm_memory"}


def _rows(name: str, env_id: str, priority: int, **env_kwargs: Any) -> tuple[Row, ...]:
    """A row of each model on one task."""
    return tuple(
        Row(
            name=f"{name}-{model}",
            env_id=env_id,
            env_kwargs=env_kwargs,
            recipe=FromPreset("texts", algorithm),
            # Texts of published files have lengths of their own, so that there is no curriculum.
            changes={} if "kind" not in env_kwargs else _UNORDERED.get(model, {}),
            priority=priority,
        )
        for model, algorithm in _MODELS.items()
    )


_UNORDERED: dict[str, dict[str, Any]] = {"hard": {"curriculum": None}}

TEXTS = Table(
    "texts",
    folder="texts",
    seeds=5,
    rows=(
        *_rows("stories", "Glimpse/Stories-v0", 3),
        *_rows("stories-two-facts", "Glimpse/Stories-v0", 3, facts=2),
        *(row for kind in KINDS for row in _rows(f"babi-{kind}", "Glimpse/Babi-v0", 4, kind=kind)),
    ),
)
