"""The table of trained settings on the page on training, from `results/benchmarks/trials.json`."""

import json
from statistics import median
from typing import Any

from report.markdown import short_revision, table
from report.page import Places, Published
from report.references.pictures import LEARNED, REFERENCES

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
    # Runs are kept, and may be of other revisions than their scores.
    revisions = ", ".join(map(short_revision, record.get("revisions", [record["revision"]])))
    about = (
        f"{len(rows)} trials of {record['minutes']:g} core-minutes each on "
        f"`{record['env_id']}`, seed {record['seed']}, error on "
        f"{record['validation_episodes']:,} validation scenes; differences below a percentage "
        f"point are noise ({record['hardware']}, revision {revisions})."
    )
    heads = ("settings", "episodes", "error", "")
    return "\n\n".join([about, table(heads, rows), *_longer(record)])


def _ram(record: dict[str, Any]) -> float | None:
    """RAM's error on the trials' environment, in percent."""
    asked = record["env_id"], record["glimpses"], LEARNED
    return next(r.paper for r in REFERENCES if (r.env_id, r.glimpses, r.model) == asked)


def _longer(record: dict[str, Any]) -> list[str]:
    """The sentence on the preset's longer runs, where there are some."""
    if not record.get("long_errors"):
        return []
    errors = ", ".join(f"{error:.2%}" for error in record["long_errors"])
    return [
        f"The preset after {record['long_minutes']:g} core-minutes, by seed: {errors}; the median "
        f"is {median(record['long_errors']):.2%} (RAM's test error is {_ram(record):g} %)."
    ]
