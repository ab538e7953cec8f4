"""The page of trials: settings that were compared, those kept and those rejected.

It is drawn from `results/benchmarks/trials.json`, from the records in `OTHERS`, and from those of
`python -m benchmarks.row_trials`.
"""

from statistics import median
from typing import Any

from report.benchmark_records import read_benchmark
from report.markdown import short_revision, table
from report.page import Places, Published, page_of
from report.references.pictures import LEARNED, REFERENCES

PAGE = "docs/trials.md"
OTHERS = {
    "trials_regularisers": "Schedules and regularisation (another machine; code not kept)",
    "trials_draw": "DRAW's window",
    "trials_contenders": "Settings of the models in hard against soft",
    "trials_pairs": "Resolution of looks: two digits",
    "trials_search": "Reward of looks: search (no seed repeated)",
    "trials_inhibition": "Range of inhibition of return: search",
    "trials_inhibition_sum": "Range of inhibition of return: sums of two digits",
    "trials_search_cells": "Resolution of looks: search, likeliest looks refined",
    "trials_gain_sum": "Reward of looks: sums of two digits",
    "trials_gain_pairs": "Reward of looks: two digits in clutter",
    "trials_read_pairs": "Reading of glimpses: two digits in clutter",
    "trials_read_sums": "Reading of glimpses: sums of two digits",
    "trials_describe": "A memory that does not see classes: descriptions of new combinations",
    "trials_captioner": "Targets of the captioner: descriptions of new combinations",
    "trials_sequence": "Resolution of looks: rows of digits, scored as a whole",
    "trials_gaze_60": "Coordinates of looks: 60 pixels",
    "trials_gaze_480": "Coordinates of looks, an oracle's looks at first: 480 pixels",
    "trials_gaze_960": "Coordinates of looks: 960 pixels",
    "trials_gaze_large": "Inhibition of return, steps of the curriculum: 1,920 pixels, bfloat16",
    "trials_sort": "Memory for sorting",
    "trials_megapixel": "Inhibition of return: scenes of 1,500 pixels",
    "trials_megapixel_gain": "Reward and features of looks: scenes of 1,500 pixels",
    "trials_windows_1920": "Number of scales, resolution of looks: 1,920 pixels",
    "trials_windows_480": "Resolution of looks: 480 pixels, seven scales",
    "trials_megapixel_windows": "Number of scales: scenes of 1,500 pixels",
    "trials_earlier": "Earlier trials: looks in scene coordinates (some code was not kept)",
}
"""Name of a record of other trials -> its heading, in the order of the page."""

_HEAD = """# Trials of settings

<!-- Drawn by `python -m report` from results/benchmarks; do not edit. -->

Short trainings that compare settings of the agents and baselines of [training](training.md), for
equal time of one core. They were used to choose the settings of the presets and of the rows of the
results' tables. Most are single runs, so small differences are noise, and none is a claim; rejected
settings are listed as well. *The same* refers to a line above it, *the row* to one of the
results' tables, and *the preset* to that of the environment's family; row and preset are meant as
they were before the trials, and may have changed since."""


def publish(places: Places) -> Published:
    """The page, a section for each record."""
    text = "Not measured yet (`python -m benchmarks.trials --record`)."
    first = read_benchmark(places.benchmarks / "trials.json")
    if first is not None:
        text = _block(first)
    blocks = [_HEAD, "## Optimizer, batch and network size", text]
    paths = sorted(places.benchmarks.glob("trials_*.json"))
    found = {path.stem: record for path in paths if (record := read_benchmark(path)) is not None}
    of_rows = [name for name in found if name not in OTHERS]
    for name in (*filter(found.__contains__, OTHERS), *of_rows):
        about = OTHERS.get(name) or f"The row `{name.removeprefix('trials_')}`"
        blocks += [f"## {about}", _block(found[name])]
    return Published({PAGE: page_of(blocks)})


def _block(record: dict[str, Any]) -> str:
    measure = "return" if any("return" in one for one in record["trials"]) else "error"
    judged_on = "episodes" if measure == "return" else "scenes"
    rows = [
        (one["settings"], f"{one['episodes']:,}", _measured(one), one["note"])
        for one in record["trials"]
    ]
    # Runs are kept, and may be of other revisions than their scores.
    revisions = ", ".join(map(short_revision, record.get("revisions") or [record["revision"]]))
    length = record.get("length") or f"{record['minutes']:g} core-minutes each"
    noise = record.get("noise", "differences below a percentage point are noise")
    about = (
        f"{len(rows)} trials of {length} on "
        f"`{record['env_id']}`, seed {record['seed']}, {measure} on "
        f"{record['validation_episodes']:,} validation {judged_on}; of these single runs, "
        f"{noise} ({record['hardware']}, revision {revisions})."
    )
    heads = ("settings", "episodes", measure, "notes")
    return "\n\n".join([about, table(heads, rows), *_longer(record)])


def _measured(trial: dict[str, Any]) -> str:
    return f"{trial['return']:.3g}" if "return" in trial else f"{trial['error']:.2%}"


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
        text += [
            "Compared with other settings, with the same seeds (no claim):",
            table(heads, rows),
        ]
    return text


def _listed(errors: list[float]) -> str:
    return ", ".join(f"{error:.2%}" for error in errors)
