"""The tables of trained settings on the page on training.

They are drawn from `results/benchmarks/trials.json`, from the records in `OTHERS`, of trials whose
code was not kept, and from those of `python -m benchmarks.row_trials`.
"""

import json
from statistics import median
from typing import Any

from report.markdown import short_revision, table
from report.page import Places, Published
from report.references.pictures import LEARNED, REFERENCES

BLOCK = "docs/training.md:trials"
OTHERS = {
    "trials_regularisers": "Trials beside the preset on another machine, by code that was not kept",
    "trials_draw": "Trials of soft attention by DRAW's window",
    "trials_pairs": "Trials of looks at two digits",
    "trials_search": "Trials of what looks of a search earn, of which no seed was repeated",
    "trials_inhibition": "How far inhibition of return reaches, in a search",
    "trials_inhibition_sum": "How far inhibition of return reaches, in sums of two digits",
    "trials_search_cells": "How finely a search looks, its likeliest looks refined",
    "trials_gain_sum": "Trials of what looks at two digits are paid for",
    "trials_gain_pairs": "Trials of what looks at two digits in clutter are paid for",
    "trials_describe": "Trials of a memory that does not see classes, scored on new combinations",
    "trials_captioner": "What a captioner is taught of two right sentences, on new combinations",
    "trials_sequence": "Trials of finer looks at rows of digits, right as a whole or wrong",
    "trials_sort": "Trials of what an agent remembers that sorts",
    "trials_megapixel": "Trials of inhibition of return in scenes of 1,500 pixels",
    "trials_megapixel_gain": "What looks in scenes of 1,500 pixels are paid for and go by",
    "trials_earlier": "Earlier trials, with looks in the scene, some by code that was not kept",
}
"""Name of a record of other trials -> what they are, in the order of the page."""


def publish(places: Places) -> Published:
    """The block of the records, if there are any."""
    text = "Not measured yet (`python -m benchmarks.trials --record`)."
    path = places.benchmarks / "trials.json"
    if path.exists():
        text = _block(json.loads(path.read_text(encoding="utf-8")))
    found = {path.stem: path for path in sorted(places.benchmarks.glob("trials_*.json"))}
    of_rows = [name for name in found if name not in OTHERS]
    for name in (*filter(found.__contains__, OTHERS), *of_rows):
        about = OTHERS.get(name) or f"Trials of the row `{name.removeprefix('trials_')}`"
        text += f"\n\n{about}: {_block(json.loads(found[name].read_text(encoding='utf-8')))}"
    return Published({}, {BLOCK: text})


def _block(record: dict[str, Any]) -> str:
    rows = [
        (one["settings"], f"{one['episodes']:,}", f"{one['error']:.2%}", one["note"])
        for one in record["trials"]
    ]
    # Runs are kept, and may be of other revisions than their scores.
    revisions = ", ".join(map(short_revision, record.get("revisions", [record["revision"]])))
    length = record.get("length", f"{record['minutes']:g} core-minutes each")
    noise = record.get("noise", "differences below a percentage point are noise")
    about = (
        f"{len(rows)} trials of {length} on "
        f"`{record['env_id']}`, seed {record['seed']}, error on "
        f"{record['validation_episodes']:,} validation scenes; of these single runs, "
        f"{noise} ({record['hardware']}, revision {revisions})."
    )
    heads = ("settings", "episodes", "error", "")
    return "\n\n".join([about, table(heads, rows), *_longer(record)])


def _ram(record: dict[str, Any]) -> float | None:
    """RAM's error on the trials' environment, in percent."""
    asked = record["env_id"], record["glimpses"], LEARNED
    return next(r.paper for r in REFERENCES if (r.env_id, r.glimpses, r.model) == asked)


def _longer(record: dict[str, Any]) -> list[str]:
    """The preset's seeds in words, where there are some, and beside its rivals' in a table."""
    sentences = []
    for one in record.get("preset", ()):
        sentences.append(
            f"The preset after {one['minutes']:g} core-minutes, by seed: {_listed(one['errors'])}; "
            f"the median is {median(one['errors']):.2%}."
        )
    if not sentences:
        return []
    sentences.append(f"RAM's test error is {_ram(record):g} %.")
    text = [" ".join(sentences)]
    if record.get("rivals"):
        rows = []
        for one in [*record["rivals"], {"settings": "the preset", **record["preset"][-1]}]:
            errors = one["errors"]
            shown = (f"{one['minutes']:g}", _listed(errors), f"{median(errors):.2%}")
            rows.append((one["settings"], *shown))
        heads = ("settings", "core-minutes", "error by seed", "median")
        text += ["Beside other settings, with the same seeds (no claim):", table(heads, rows)]
    return text


def _listed(errors: list[float]) -> str:
    return ", ".join(f"{error:.2%}" for error in errors)
