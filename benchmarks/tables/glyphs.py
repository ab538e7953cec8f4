"""Twins of tasks that need no files: built-in glyphs instead of digits, a few core-minutes each.

Each row has the settings of its twin's, with networks of half the units: for who has no files, or
little time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agents.policy.networks import NetworkConfig
from benchmarks.tables.pictures import PICTURES
from benchmarks.tables.scenes import SCENES
from benchmarks.tables.table import FromPreset, Row, Table, preset

_OTHERS = {row.name: row for row in (*PICTURES.rows, *SCENES.rows)}


def _twin(
    other: str, name: str, *, minutes: float = 4, env_kwargs: Mapping[str, Any] | None = None
) -> Row:
    """The row of `name`, an environment, with the settings of its twin's row `other`, and its
    arguments where they are not given."""
    row = _OTHERS[other]
    assert isinstance(row.recipe, FromPreset)
    network = row.changes.get("network", preset(row.recipe.preset, row.recipe.algorithm).network)
    return replace(
        row,
        name=f"glyphs-{other}",
        env_id=f"Glimpse/{name}-v0",
        env_kwargs=row.env_kwargs if env_kwargs is None else env_kwargs,
        minutes=minutes,
        repeats="episodes",
        seeds=None,
        priority=4,
        reference=None,
        notes="",
        changes={**row.changes, "network": _halved(network)},
    )


def _halved(network: NetworkConfig) -> NetworkConfig:
    sizes = ("what_units", "where_units", "glimpse_units", "core_units", "head_units")
    return replace(network, **{name: getattr(network, name) // 2 for name in sizes})


GLYPHS = Table(
    "glyphs",
    folder="glyphs",
    seeds=1,
    rows=(
        _twin("centred-6", "CenteredGlyphs", env_kwargs={}),
        _twin("translated-8", "TranslatedGlyphs"),
        _twin("cluttered-8", "ClutteredGlyphs"),
        _twin("large-8", "ClutteredGlyphsLarge"),
        _twin("pair-hard", "DigitPairGlyphs"),
        _twin("sum-hard", "DigitSumGlyphs"),
        _twin("sequence-hard", "DigitSequenceGlyphs", minutes=10),
        _twin("moving-hard", "MovingDigitGlyphs"),
        _twin("search-hard", "SearchGlyphs", minutes=10),
        _twin("describe-hard", "DescribeSceneGlyphs"),
        _twin("megapixel-hard", "MegapixelGlyphs", minutes=10),
    ),
)
