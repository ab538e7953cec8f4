"""Twins of tasks that need no files: built-in glyphs instead of digits, a few core-minutes each.

Each row has the settings of its twin's: for who has no files, or little time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.tables.pictures import PICTURES
from benchmarks.tables.scenes import SCENES
from benchmarks.tables.table import Row, Table

_OTHERS = {row.name: row for row in (*PICTURES.rows, *SCENES.rows)}


def _twin(other: str, name: str, *, minutes: float = 4, **changes: Any) -> Row:
    """The row of `name`, an environment, with the settings of its twin's row `other`."""
    return replace(
        _OTHERS[other],
        name=f"glyphs-{other}",
        env_id=f"Glimpse/{name}-v0",
        minutes=minutes,
        seeds=None,
        priority=4,
        reference=None,
        notes="",
        **changes,
    )


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
        _twin("sequence-hard", "DigitSequenceGlyphs"),
        _twin("moving-hard", "MovingDigitGlyphs"),
        _twin("search-hard", "SearchGlyphs"),
        _twin("describe-hard", "DescribeSceneGlyphs"),
        _twin("megapixel-hard", "MegapixelGlyphs", minutes=10),
    ),
)
