"""Tables of trainings that take seconds."""

from typing import Any

from benchmarks.tables.table import FromPreset, Row, Table
from tests.support.tiny import tiny_network

_SHORT: dict[str, Any] = {
    "batch_size": 8,
    "learning_rate": 3e-3,
    "log_every": 25,
    "checkpoint_every": 50,
    "precision": "float32",
    "validation_episodes": 50,
    "network": tiny_network(),
}


def _row(name: str, **row: Any) -> Row:
    fields: dict[str, Any] = {
        "env_id": "Glimpse/CenteredGlyphs-v0",
        "env_kwargs": {"budget": 2},
        "recipe": FromPreset("pictures", "reinforce"),
        "episodes": 400,
        **row,
    }
    return Row(**{**fields, "name": name, "changes": {**_SHORT, **fields.get("changes", {})}})


QUICK = Table("quick", (_row("quick"),), seeds=2)

# Its second seed repeats the episodes that the first saw in a second of a core.
REPEATED = Table(
    "repeated", (_row("repeated", minutes=1 / 60, repeats="episodes", episodes=None),), seeds=3
)

# Long enough to be broken off in the middle.
LONG = Table("long", (_row("long", episodes=4_000),), seeds=2)

# None of its runs ends before another has begun, however far apart they start.
ENDLESS = Table("endless", (_row("long", episodes=4_000_000),), seeds=2)

# The first row cannot be trained.
BROKEN = Table(
    "broken",
    (
        _row("sound", priority=2),
        _row("broken", env_kwargs={"budget": 0}, priority=1),
    ),
    seeds=1,
)

# The second row has a slip that its config alone tells.
SLIP = Table(
    "slip",
    (_row("sound", priority=1), _row("slip", env_kwargs={"bugdet": 2}, priority=2)),
    seeds=1,
)

EMPTY = Table("empty", (), seeds=1)
