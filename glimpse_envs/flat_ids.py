"""Ids of the suite with plain spaces, for clients that accept only an id.

Gymnasium imports this module where an id names it:

    gymnasium.make("glimpse_envs.flat_ids:GlimpseBox/ClutteredGlyphs-v0")
    gymnasium.make("glimpse_envs.flat_ids:GlimpseDiscrete/Reverse-v0")

Observations are one `Box`; for pictures it holds all glimpses so far, since many of these
clients have no memory. Actions are one `Box` or `MultiDiscrete` under "GlimpseBox", one
`Discrete` under "GlimpseDiscrete", where looks at pictures are tiles.
"""

from glimpse_envs.episodes.lookup import load_task
from glimpse_envs.suite import SUITE, Row, register


def _flat_rows(row: Row) -> list[Row]:
    name = row.id.removeprefix("Glimpse/")
    plain = {**row.kwargs, "flat_observation": True}
    tiles = {}
    if "history" in load_task(row.task).glimpse_arguments:
        plain["history"], tiles = True, {"look": "tiles"}
    return [
        Row(f"GlimpseBox/{name}", row.task, {**plain, "flat": True}),
        Row(f"GlimpseDiscrete/{name}", row.task, {**plain, **tiles, "flat": "discrete"}),
    ]


FLAT_SUITE: dict[str, Row] = {flat.id: flat for row in SUITE.values() for flat in _flat_rows(row)}

for _row in FLAT_SUITE.values():
    register(_row.id, task=_row.task, **_row.kwargs)
