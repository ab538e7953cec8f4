"""Every published number, read from the records in `results/`."""

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "results"


def published_numbers() -> dict[str, Any]:
    """Environment, model, seed and what was trained -> the scores and the cost of a run."""
    found: dict[str, Any] = {}
    for folder in (RESULTS, RESULTS / "comparison", RESULTS / "memory"):
        for path in sorted(folder.glob("*.json")):
            record = json.loads(path.read_text())
            if "env_id" not in record or "seed" not in record:
                continue
            found[_run_of(record)] = _numbers(record)
    return found


def _run_of(record: dict[str, Any]) -> str:
    """What tells a run from all others, whatever its file is called."""
    run = [record["env_id"], record["seed"], record["revision"][:12], record["seconds"]]
    run.append(record["images_seen"] if "images_seen" in record else record["episodes"])
    return " ".join(map(str, run))


def _numbers(record: dict[str, Any]) -> dict[str, Any]:
    shared = {name: record[name] for name in ("env_id", "seed", "hardware", "revision", "seconds")}
    if "error_percent" in record:
        error = [record[n] for n in ("error_percent", "interval_percent", "error_by_glimpse")]
        return shared | {
            "episodes": record["images_seen"],
            "split": record["split"],
            "scenes": record["scenes"],
            "error": error[0],
            "interval": error[1],
            "error_by_glimpse": error[2],
            "costs": record["costs"],
            "curve": record["curve"],
        }
    return shared | {
        "episodes": record["episodes"],
        "solved": record["solved"],
        "episodes_to_solve": record["episodes_to_solve"],
        "minutes_to_solve": record["minutes_to_solve"],
        "accuracy_by_length": record["accuracy_by_length"],
        "cells_read": record["cells_read"],
        "multiply_adds": record["multiply_adds"],
    }
