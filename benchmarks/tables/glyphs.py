"""Twins of tasks that need no files: built-in glyphs instead of digits, a few core-minutes each.

Each row is the row of its twin with a smaller network: for who has no files, or little time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.tables.pictures import PICTURES
from benchmarks.tables.scenes import SCENES
from benchmarks.tables.table import Row, Table, preset

_NETWORK = preset("pictures", "reinforce").network
_UNITS = {"what_units": 128, "where_units": 64, "glimpse_units": 256, "core_units": 128}
_OTHERS = {row.name: row for row in (*PICTURES.rows, *SCENES.rows)}


def _twin(other: str, name: str, *, minutes: float = 4, **changes: Any) -> Row:
    """The row of `name`, an environment, with the settings of its twin's row `other`."""
    row = _OTHERS[other]
    network = replace(row.changes.get("network", _NETWORK), **_UNITS)
    changes = {"changes": {**row.changes, "network": network}, **changes}
    return replace(
        row,
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
