"""Controls of a row: the same training, with looks that go by a rule in place of being learned."""

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.tables.table import Row

RULES = {"oracle": 7, "random": 7, "raster": 8, "static": 8}
"""Gaze -> the priority of its rows."""


def gaze_controls(row: Row) -> Iterator[Row]:
    """Rows of one seed that differ from a row in the gaze, and in the credit that only learned
    looks have."""
    changes = {name: value for name, value in row.changes.items() if name != "look_gain"}
    for rule, priority in RULES.items():
        yield replace(
            row,
            name=f"{row.name.removesuffix('-hard')}-gaze-{rule}",
            changes=changes | {"gaze": rule},
            priority=priority,
            seeds=1,
            reference=None,
        )
