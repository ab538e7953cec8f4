"""What one read costs by the number of cells: a move, bits, softmax over addresses, soft look-up.

    python -m benchmarks.cost.read_cost [--repeats 9] [--gibibytes 2] [--record results/benchmarks]

Choosing and reading are timed apart, without and with gradients, on one thread, each way as defined
in `reads.py`. Figures are microseconds of one core a read, median and quartiles of the repeats; all
ways take turns. Where memories of READS rows need more than the given gibibytes, soft ways have
fewer rows (each cost is recorded with its number of reads); where not even one row fits, ways that
need it are recorded as skipped.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch

from benchmarks.cost.reads import READS, SIZE, UNITS, WAYS, Reads, Way, bytes_needed, rows_that_fit
from benchmarks.options import check_whole, options_parser, write_benchmark
from benchmarks.speed.timing import Case, best_rates
from glimpse_envs.evaluation.provenance import hardware

CELLS = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
BURST_SECONDS = 0.01


@dataclass(frozen=True)
class Cost:
    """Cost of one read of one row, in microseconds of one core."""

    way: str
    part: str
    """"choosing", "reading" or "both"."""
    cells: int
    gradients: bool
    reads: int
    """Number of reads in one call of torch, whose overhead they share."""
    microseconds: float
    quartiles: tuple[float, float]


@dataclass(frozen=True)
class Skipped:
    """A way that was not measured, and the reason."""

    way: str
    cells: int
    problem: str


def measure(cells: int, repeats: int, limit: float) -> tuple[list[Cost], list[Skipped]]:
    """Time all ways among `cells` cells by turns; skip those that need more than `limit` bytes."""
    rows = rows_that_fit(cells, limit)
    reads = Reads(cells, rows)
    timed = [(way, gradients) for gradients in (False, True) for way in WAYS]
    timed = [(way, gradients) for way, gradients in timed if rows or not way.needs_memory]
    prepared = [reads.prepare(way, gradients) for way, gradients in timed]
    cases = [
        Case(way.name, make_burst(*once)) for (way, _), once in zip(timed, prepared, strict=True)
    ]
    rates = np.array([best_rates(cases, 1) for _ in range(repeats)])  # (repeats, cases), reads/s
    costs = [
        summarise(way, cells, gradients, count, 1e6 / rates[:, i])
        for i, ((way, gradients), (_, count)) in enumerate(zip(timed, prepared, strict=True))
    ]
    problem = f"{bytes_needed(cells, 1) / 2**30:.1f} GiB for one row"
    skipped = [Skipped(way.name, cells, problem) for way in WAYS if not rows and way.needs_memory]
    return costs, skipped


def make_burst(once: Callable[[], object], reads: int) -> Callable[[], int]:
    """Repeat `once`, of so many reads, for about `BURST_SECONDS`."""
    once()
    started = time.thread_time()
    once()
    spent = time.thread_time() - started
    times = max(1, math.ceil(BURST_SECONDS / max(spent, 1e-6)))

    def burst() -> int:
        for _ in range(times):
            once()
        return times * reads

    return burst


def summarise(way: Way, cells: int, gradients: bool, reads: int, microseconds: np.ndarray) -> Cost:
    """The median and the quartiles of `microseconds` (repeats,)."""
    low, median, high = (float(value) for value in np.quantile(microseconds, (0.25, 0.5, 0.75)))
    return Cost(way.name, way.part, cells, gradients, reads, median, (low, high))


def print_costs(costs: Sequence[Cost]) -> None:
    """A row for each way, with and without gradients; a column for each number of cells."""
    columns = sorted({cost.cells for cost in costs})
    print(f"{'microseconds a read':26}" + "".join(f"{cells:>13,}" for cells in columns))
    table = {(cost.way, cost.gradients, cost.cells): cost.microseconds for cost in costs}
    for way, gradients in dict.fromkeys((cost.way, cost.gradients) for cost in costs):
        values = [table.get((way, gradients, cells)) for cells in columns]
        name = f"{way}, gradients" if gradients else way
        texts = ["" if value is None else f"{value:,.2f}" for value in values]
        print(f"{name:26}" + "".join(f"{text:>13}" for text in texts))


def main() -> None:
    """The command line."""
    parser = options_parser(__doc__, repeats=9)
    parser.add_argument(
        "--cells",
        type=int,
        nargs="+",
        default=CELLS,
        metavar="N",
        help=f"numbers of cells of the memories to time (default: {' '.join(map(str, CELLS))})",
    )
    parser.add_argument(
        "--gibibytes",
        type=float,
        default=2.0,
        help="greatest memory of all ways together, in GiB (default: 2)",
    )
    arguments = parser.parse_args()
    check_whole(parser, arguments, cells=CELLS)
    torch.set_num_threads(1)
    torch.manual_seed(0)

    costs: list[Cost] = []
    skipped: list[Skipped] = []
    for cells in arguments.cells:
        found, left_out = measure(cells, arguments.repeats, arguments.gibibytes * 2**30)
        costs += found
        skipped += left_out
    print(hardware(1))
    print_costs(costs)
    for each in skipped:
        print(f"{each.way}, {each.cells:,} cells: not measured, {each.problem}")
    entries = {
        "torch": torch.__version__,
        "reads": READS,
        "units": UNITS,
        "size": SIZE,
        "gibibytes": arguments.gibibytes,
        "repeats": arguments.repeats,
        "costs": [asdict(cost) for cost in costs],
        "skipped": [asdict(each) for each in skipped],
    }
    write_benchmark(arguments.record, "read_cost", entries)


if __name__ == "__main__":
    main()
