"""The table of trained settings on the page on training, from `results/benchmarks/trials.json`."""

import json
from typing import Any

from report.markdown import short_revision, table
from report.page import Places, Published

BLOCK = "docs/training.md:trials"


def publish(places: Places) -> Published:
    """The block of the record, if there is one."""
    path = places.benchmarks / "trials.json"
    if not path.exists():
        return Published({}, {BLOCK: "Not measured yet (`python -m benchmarks.trials --record`)."})
    return Published({}, {BLOCK: _block(json.loads(path.read_text(encoding="utf-8")))})


def _block(record: dict[str, Any]) -> str:
    rows = [
        (one["settings"], f"{one['episodes']:,}", f"{one['error']:.2%}", one["note"])
        for one in record["trials"]
    ]
    about = (
        f"{len(rows)} trials of {record['minutes']:g} core-minutes each on "
        f"`{record['env_id']}`, seed {record['seed']}, error on "
        f"{record['validation_episodes']:,} validation scenes; differences below a percentage "
        f"point are noise ({record['hardware']}, revision {short_revision(record['revision'])})."
    )
    heads = ("settings", "episodes", "error", "")
    return f"{about}\n\n{table(heads, rows)}"
