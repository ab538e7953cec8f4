"""The page of what memory costs, from results/benchmarks.

Drawn from the records of `benchmarks.speed.memory_speed` and `benchmarks.cost.read_cost`; it says
which is missing.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from report.benchmark_records import read_benchmark, with_short_revision
from report.figures.read_cost import draw_figure
from report.markdown import digits, short_revision, table
from report.page import Places, Published

PAGE = "docs/memory_cost.md"
FIGURE = "docs/read_cost.svg"
READ_COST_FILE = "read_cost.json"

Curve = dict[int, float]
"""Microseconds a read, by the number of cells."""

TOTALS: dict[str, tuple[str, ...]] = {
    "move, one cell": ("move", "gather"),
    "bits, one cell": ("bits", "gather"),
    "softmax over addresses, one cell": ("softmax", "gather"),
    "soft look-up": ("soft weights", "weighted sum"),
    "soft look-up, torch's fused kernel": ("attend",),
}
"""Whole reads, and the measured parts that each consists of."""

CHOOSING: dict[str, tuple[str, ...]] = {
    "choosing: a move, 3 logits": ("move",),
    "choosing: an address's bits": ("bits",),
    "choosing: a softmax over addresses": ("softmax",),
    "choosing: a weight for each cell": ("soft weights",),
}
READING: dict[str, tuple[str, ...]] = {
    "reading: one cell": ("gather",),
    "reading: all cells by their weights": ("weighted sum",),
}
"""Parts of a read, and the measured part that each is."""

_HEAD = """# The cost of memory

<!-- Drawn by `python -m report` from results/benchmarks; do not edit. -->

Hard attention reads one cell of a memory at a time; soft attention takes a weighted sum over all
cells. This page shows what each costs: first the speed of Copy, a tape that is read cell by cell,
beside a memory task of popgym; then the time of one read by the number of cells, for several ways
to choose what is read."""

_METHOD = """`python -m benchmarks.cost.read_cost` ({hardware}, torch {torch}, revision {revision}).

- **Timing**: microseconds of CPU time on one thread for one read of one row; medians of {repeats}
  repeats, in which all methods take turns.
- **Batch**: {reads} rows are read at once, which share torch's overhead of a call. Where {reads}
  memories do not fit in {gibibytes:g} GiB, soft methods have fewer rows, and several hard reads
  share a memory.
- **Model**: the controller's state has {units} units, keys and values have {size} entries, all
  float32. One linear layer maps the state to moves, bits, logits or a query. Addresses are sampled
  by `torch.multinomial`, as by the agents.
- **Gradients**: those of a hard read flow through the log-probability of the choice, those of a
  soft look-up through its weights, to the linear layer and the state but not to the memory. The
  fused kernel always computes the memory's gradient too."""


def publish(places: Places) -> Published:
    """The page of `places.benchmarks`, and its figure where the cost of a read was measured."""
    record = read_benchmark(places.benchmarks / READ_COST_FILE)
    figures = {} if record is None else {FIGURE: partial(_draw, record)}
    return Published({PAGE: make_page(places.benchmarks)}, figures=figures)


def _draw(record: Mapping[str, Any], path: Path) -> None:
    columns = {"Whole reads": TOTALS, "Choosing": CHOOSING, "Reading": READING}
    draw_figure(
        {
            title: [curves(record, rows, gradients) for gradients in (False, True)]
            for title, rows in columns.items()
        },
        path,
    )


def make_page(folder: Path) -> str:
    """Return the Markdown page of the records in `folder`."""
    blocks = [_HEAD, "## Steps of Copy"]
    speed, cost = (
        read_benchmark(folder / f"{name}.json") for name in ("memory_speed", "read_cost")
    )
    blocks += speed_section(speed) if speed else [_missing("speed.memory_speed")]
    blocks.append("## One read, by the number of cells")
    blocks += cost_section(cost) if cost else [_missing("cost.read_cost")]
    return "\n\n".join(blocks) + "\n"


def _missing(name: str) -> str:
    return f"Not measured yet (`python -m benchmarks.{name} --record results/benchmarks`)."


# --- Copy -----------------------------------------------------------------------------------------


def speed_section(record: Mapping[str, Any]) -> list[str]:
    """Speed of Copy and of popgym's RepeatPrevious, by autoreset mode and kind of actions."""
    lines = [
        (
            s["mode"],
            s["actions"],
            f"{s['steps_an_episode']:.1f}",
            f"{s['ours'] / 1e3:,.0f}",
            "" if s["popgym"] is None else f"{s['popgym'] / 1e3:,.0f}",
            "" if s["ratio"] is None else f"{s['ratio']:.1f}",
        )
        for s in record["speeds"]
    ]
    heads = ("autoreset", "actions", "steps an episode", "Copy", "RepeatPrevious", "ratio")
    arguments = ", ".join(f"`{name}={value!r}`" for name, value in record["kwargs"].items())
    return [
        f"Speed of `{record['env_id']}` ({arguments}) and of popgym {record['popgym']}'s "
        "RepeatPrevious (one deck, k = 4) in Gymnasium's `SyncVectorEnv`, in thousands of steps a "
        f"second, summed over {record['rows']} rows, on one core. The two are timed in turns: "
        f"medians of {record['repeats']} turns, and of their ratios ({record['hardware']}, "
        f"revision {short_revision(record['revision'])}).",
        table(heads, lines),
        "Actions are recorded beforehand. Random actions end most episodes at once by a wrong "
        "answer, so that nearly every step draws a new tape.",
    ]


# --- one read -------------------------------------------------------------------------------------


def curve(record: Mapping[str, Any], ways: Sequence[str], gradients: bool) -> Curve:
    """The sum over `ways` at each number of cells at which all of them were measured."""
    each: list[Curve] = [
        {
            cost["cells"]: cost["microseconds"]
            for cost in record["costs"]
            if cost["way"] == way and cost["gradients"] is gradients
        }
        for way in ways
    ]
    shared = sorted(set.intersection(*(set(one) for one in each)))
    return {cells: sum(one[cells] for one in each) for cells in shared}


def curves(
    record: Mapping[str, Any], rows: Mapping[str, Sequence[str]], gradients: bool
) -> dict[str, Curve]:
    """The curve of each row of `TOTALS`, `CHOOSING` or `READING`, by its name."""
    return {name: curve(record, ways, gradients) for name, ways in rows.items()}


def cost_section(record: dict[str, Any]) -> list[str]:
    """The figure, tables of whole reads and of their parts, and how it was measured."""
    blocks = [f"![The cost of one read]({Path(FIGURE).name})", verdict(record)]
    for gradients in (False, True):
        title = "With gradients" if gradients else "Without gradients"
        blocks.append(f"{title}, whole reads, in microseconds, by the number of cells:")
        blocks.append(_cost_table(record, TOTALS, gradients))
        blocks.append(f"{title}, choosing and reading apart, in microseconds:")
        blocks.append(_cost_table(record, CHOOSING | READING, gradients))
    if record["skipped"]:
        skipped = "; ".join(
            f"{each['way']} at {each['cells']:,} cells ({each['problem']})"
            for each in record["skipped"]
        )
        blocks.append(f"Not measured, because memory does not suffice: {skipped}.")
    blocks.append(_METHOD.format_map(with_short_revision(record)))
    return blocks


def verdict(record: Mapping[str, Any]) -> str:
    """How many times more each whole read costs among the most cells than among the fewest."""
    sayings = []
    for name, ways in TOTALS.items():
        without, with_gradients = (curve(record, ways, gradients) for gradients in (False, True))
        if len(without) > 1 and len(with_gradients) > 1:
            few, many = min(without), max(without)
            sayings.append(
                f"- {name}: {_times(without)} times, with gradients {_times(with_gradients)}"
                f" ({few:,} to {many:,} cells)"
            )
    return "Time of a read among the most cells, relative to one among the fewest:\n\n" + (
        "\n".join(sayings)
    )


def _times(costs: Curve) -> str:
    times = costs[max(costs)] / costs[min(costs)]
    return f"{times:,.1f}" if times < 10 else f"{times:,.0f}"


def _cost_table(
    record: Mapping[str, Any], rows: Mapping[str, Sequence[str]], gradients: bool
) -> str:
    cells = sorted({cost["cells"] for cost in record["costs"]})
    lines = [
        (name, *(digits(costs[n]) if n in costs else "" for n in cells))
        for name, costs in curves(record, rows, gradients).items()
    ]
    return table(("", *(f"{n:,}" for n in cells)), lines)
