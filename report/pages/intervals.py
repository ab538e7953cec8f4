"""The page of how often intervals contain the truth, from the record of a simulation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from report.benchmark_records import read_benchmark
from report.markdown import short_revision, table
from report.page import Places, Published, page_of

PAGE = "docs/intervals.md"
RECORD = "interval_coverage.json"

_HEAD = """# Coverage of the intervals

<!-- Drawn by `python -m report` from results/benchmarks; do not edit. -->

How often does an interval of 95 % contain the truth? `python -m benchmarks.interval_coverage` draws
the error rates of seeds, and the difficulties of images, which all seeds share, from known
distributions, and counts."""

_METHOD = """{simulations:,} simulations of each case, with {images:,} images and {resamples:,}
bootstrap replicates ({hardware}, revision {revision}). By chance alone, a share of 95 % is measured
as {low:.1f} to {high:.1f} %, in 95 of 100 cases.

*Spread* is the standard deviation of the seeds' observed error rates, in units of that which a
finite number of images causes alone: at 1 all seeds are alike."""

_SECTIONS = {
    "error": (
        "Error of a model",
        "`bootstrap_interval` of the inter-quartile mean over seeds, as in the tables. From five "
        "seeds on it is a plain percentile bootstrap; with fewer, their part is stretched.",
    ),
    "error, by counts": (
        "Error of a model, by counts",
        "`bootstrap_interval_from_counts`, where only each seed's number of errors is known.",
    ),
    "difference": (
        "Difference of two models",
        "`difference_interval` of two equally good models, with so many seeds each. With one seed "
        "each it is an interval of the difference of these two runs.",
    ),
    "suite": (
        "Score of a suite",
        "`stratified_interval` of the inter-quartile mean over ten tasks, which differ more than "
        "the seeds of a task.",
    ),
}
"""Interval -> its heading and what is said of it."""


def publish(places: Places) -> Published:
    """The page of the record in `places.benchmarks`."""
    record = read_benchmark(places.benchmarks / RECORD)
    if record is None:
        blocks = [_HEAD, "Not measured yet: `python -m benchmarks.interval_coverage`."]
    else:
        blocks = [_HEAD, _method(record)]
        for interval, (heading, about) in _SECTIONS.items():
            found = [one for one in record["coverages"] if one["case"]["interval"] == interval]
            blocks += [f"## {heading}", about, _table(found)] if found else []
    return Published(texts={PAGE: page_of(blocks)})


def _method(record: Mapping[str, Any]) -> str:
    simulations = min(one["simulations"] for one in record["coverages"])
    margin = 1.96 * (0.95 * 0.05 / simulations) ** 0.5
    return _METHOD.format(
        simulations=simulations,
        images=record["images"],
        resamples=record["resamples"],
        hardware=record["hardware"],
        revision=short_revision(record["revision"]),
        low=100 * (0.95 - margin),
        high=100 * (0.95 + margin),
    )


def _table(coverages: Iterable[Mapping[str, Any]]) -> str:
    rows = [
        (
            str(one["case"]["seeds"]),
            f"{100 * one['case']['error']:g}",
            f"{one['case']['ratio']:g}",
            f"{100 * one['covered'] / one['simulations']:.1f}",
        )
        for one in coverages
    ]
    heads = ("seeds", "true error %", "spread", "contains the truth, %")
    if len({error for _, error, _, _ in rows}) == 1:
        return table(
            (heads[0], *heads[2:]), [(seeds, spread, share) for seeds, _, spread, share in rows]
        )
    return table(heads, rows)
