"""The page of how often intervals contain the truth, from the record of a simulation."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import Any

from report.benchmark_records import read_benchmark
from report.markdown import short_revision, table
from report.page import Places, Published, page_of

PAGE = "docs/intervals.md"
RECORD = "interval_coverage.json"
CLAIMED = 0.95

_HEAD = """# Coverage of the intervals

<!-- Drawn by `python -m report` from results/benchmarks; do not edit. -->

How often does an interval of 95 % contain the truth? `python -m benchmarks.interval_coverage` draws
results whose truth is known, and counts."""

_METHOD = """- **Seeds**: their error rates are normal around the true one. *Spread* is the standard
  deviation of the rates that are observed, in units of that which a finite number of images causes
  alone: at 1 all seeds are alike. A rate below 0, as are some at the greatest spread, counts as 0.
- **Images**: {images:,}, with difficulties from a beta distribution of concentration
  {concentration:g}, which all seeds share: the errors of two seeds that are alike have a
  correlation of {correlation:.2f}.
- **Counting**: {simulations:,} simulations of each case, with {resamples:,} bootstrap replicates
  each ({hardware}, revision {revision}). A coverage of 95 % is measured as {low:.1f} to
  {high:.1f} % in 95 of 100 cases."""

_SECTIONS = {
    "error": (
        "Error of a model",
        "`bootstrap_interval` of the inter-quartile mean over seeds, as in the tables. From five "
        "seeds on it is a plain percentile bootstrap; with fewer, their part is stretched. Below "
        "three errors a seed, Wilson's interval is joined.",
    ),
    "error, some fail": (
        "Error of a model of which some seeds do not learn",
        "The same where a share of the seeds, *failing*, errs in {failed:.0%} of the images, "
        "the others in the true error. The truth is the inter-quartile mean of infinitely many "
        "seeds. Of tasks that are learned or not, the pages count the seeds that did.",
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
        "`stratified_interval` of the inter-quartile mean over {tasks} tasks, whose true scores "
        "lie evenly from {lowest:g} to {highest:g}; the scores of a task's seeds are normal, with "
        "a standard deviation of {score_spread:g}.",
    ),
}
"""Interval -> its heading and what is said of it."""

Covered = Mapping[str, Any]
"""One entry of the record's coverages."""


def publish(places: Places) -> Published:
    """The page of the record in `places.benchmarks`."""
    record = read_benchmark(places.benchmarks / RECORD)
    if record is None:
        blocks = [_HEAD, "Not measured yet: `python -m benchmarks.interval_coverage`."]
        return Published(texts={PAGE: page_of(blocks)})
    lowest, highest = record["scores"]
    margin = 1.96 * (CLAIMED * (1 - CLAIMED) / _simulations(record)) ** 0.5
    blocks = [_HEAD, _method(record, margin)]
    for interval, (heading, about) in _SECTIONS.items():
        found = [one for one in record["coverages"] if one["case"]["interval"] == interval]
        if found:
            told = about.format_map(ChainMap({"lowest": lowest, "highest": highest}, record))
            blocks += [f"## {heading}", f"{told} {_lacking(found, margin)}", _table(found)]
    return Published(texts={PAGE: page_of(blocks)})


def _simulations(record: Mapping[str, Any]) -> int:
    return min(one["simulations"] for one in record["coverages"])


def _share(one: Covered) -> float:
    return float(one["covered"] / one["simulations"])


def _method(record: Mapping[str, Any], margin: float) -> str:
    return _METHOD.format(
        simulations=_simulations(record),
        images=record["images"],
        concentration=record["concentration"],
        correlation=1 / (1 + record["concentration"]),
        resamples=record["resamples"],
        hardware=record["hardware"],
        revision=short_revision(record["revision"]),
        low=100 * (CLAIMED - margin),
        high=100 * (CLAIMED + margin),
    )


def _lacking(found: Sequence[Covered], margin: float) -> str:
    """Which cases cover less than they should."""
    below = [one for one in found if _share(one) < CLAIMED - margin]
    if not below:
        return "None covers too little."
    cases = [
        f"{one['case']['seeds']} seeds"
        + (f", of which {failing:.0%} fail" if (failing := one["case"]["failing"]) else "")
        + ("" if one["case"]["spread"] is None else f" at spread {one['case']['spread']:g}")
        for one in below
    ]
    return f"Too little is covered with {'; '.join(cases)}."


def _table(found: Sequence[Covered]) -> str:
    """The columns in which the cases differ, and the coverage."""
    columns = {
        "seeds": [str(one["case"]["seeds"]) for one in found],
        "true error %": [_number(one["case"]["error"], times=100) for one in found],
        "spread": [_number(one["case"]["spread"]) for one in found],
        "failing %": [_number(one["case"]["failing"], times=100) for one in found],
        "contains the truth, %": [f"{100 * _share(one):.1f}" for one in found],
    }
    *names, last = columns
    shown = [name for name in names if len(set(columns[name])) > 1]
    heads = [*shown, last]
    return table(heads, zip(*(columns[name] for name in heads), strict=True))


def _number(value: float | None, times: float = 1) -> str:
    return "" if value is None else f"{times * value:g}"
