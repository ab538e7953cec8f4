"""The page of measured speeds, drawn from the records in `results/benchmarks`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from report.benchmark_records import read_benchmark
from report.markdown import UNKNOWN, count, listed, short_revision, table
from report.page import Places, Published

PAGE = "docs/speed.md"
SHOWN = "Glimpse/ClutteredGlyphs-v0"
"""Environment whose speed stands in the README."""

_HEAD = """# Speed

<!-- Drawn by `python -m report` from results/benchmarks; do not edit. -->

Measured by `python -m benchmarks.speed.throughput`, `benchmarks.speed.large_scenes`,
`benchmarks.speed.catch`, `benchmarks.speed.adapter`, `benchmarks.speed.training`,
`benchmarks.speed.models`, `benchmarks.speed.processes` and `benchmarks.scale.device`.
Environments are timed by CPU time with one thread and by wall-clock time with two, and trainings
by wall-clock time where nothing else is said. Each speed is the best of several
repeats, in which the programs that are compared take turns; the first start, which compiles, is
timed once."""


def publish(places: Places) -> Published:
    """The page of `places.benchmarks`."""
    throughput = read_benchmark(places.benchmarks / "throughput.json")
    return Published(
        texts={PAGE: make_page(places.benchmarks)}, blocks={"speed": speed_in_short(throughput)}
    )


def speed_in_short(record: dict[str, Any] | None) -> str:
    """The README's point about environments."""
    begin = "- **Environments**: batched and compiled"
    end = "; a single environment is a batch of one"
    if record is None:
        return f"{begin}{end}."
    fastest = max(
        (s for s in record["steps_per_second"] if s["env_id"] == SHOWN and s["threads"] == 1),
        key=lambda speed: speed["steps_per_second"],
    )
    ratios = sorted(round(duel["ratio"]) for duel in record["against_ap_gym"] if duel["ratio"])
    peer = (
        f"; {' and '.join(map(str, ratios))} times as many as ap_gym on two kinds of scenes of "
        "28x28 pixels"
        if ratios
        else ""
    )
    return (
        f"{begin}, {count(fastest['steps_per_second'])} steps a second on one core "
        f"(`{SHOWN}`, {fastest['rows']:,} rows){peer} ([speed]({PAGE})){end}."
    )


def make_page(folder: Path) -> str:
    """Return the Markdown page of the records in `folder`; it says which is missing."""
    blocks = [_HEAD]
    sections = (
        ("throughput", _throughput),
        ("large_scenes", _large_scenes),
        ("catch", _catch),
        ("adapter", _adapter),
        ("training", _training),
        ("models", _models),
        ("processes", _processes),
        ("device", _device),
    )
    for name, draw in sections:
        record = read_benchmark(folder / f"{name}.json")
        if record is not None:
            blocks += draw(record)
        else:
            package = "scale" if name == "device" else "speed"
            command = f"`python -m benchmarks.{package}.{name} --record`"
            blocks.append(f"{name}: not measured yet ({command}).")
    return "\n\n".join(blocks) + "\n"


def _throughput(record: dict[str, Any]) -> list[str]:
    speeds = {
        (s["env_id"], s["threads"], s["rows"]): s["steps_per_second"]
        for s in record["steps_per_second"]
    }
    rows = list(dict.fromkeys(key[2] for key in speeds))
    heads = ["environment", "threads", *("gym.make" if n is None else f"{n:,}" for n in rows)]
    lines = [
        (f"`{env_id}`", str(threads), *(_thousands(speeds.get((env_id, threads, n))) for n in rows))
        for env_id, threads in dict.fromkeys(key[:2] for key in speeds)
    ]
    duels = [
        (
            duel["setting"],
            _thousands(duel["ours"]),
            _thousands(duel["ap_gym"]),
            "" if duel["ratio"] is None else f"{duel['ratio']:.0f}",
        )
        for duel in record["against_ap_gym"]
    ]
    glimpse = record["glimpse_nanoseconds"]
    (small, few), (big, many) = sorted(glimpse.items(), key=lambda item: int(item[0]))
    seconds = [(name, f"{value:.2f}") for name, value in record["start_seconds"].items()]
    return [
        "## Environments\n\nThousands of steps a second, summed over the rows, by the number of "
        f"rows; drawing new scenes is included ("
        f"{record['hardware']}, revision {short_revision(record['revision'])}).",
        table(heads, lines),
        *_missing(record["missing"]),
        f"## Compared with ap_gym {record.get('ap_gym_version') or ''}".rstrip(),
        "Thousands of steps a second on one "
        "core, each at its best number of rows. Scenes of 28x28 pixels, one 5x5 glimpse a step, 16 "
        "steps an episode.",
        table(("scenes", "glimpse_envs", "ap_gym", "ratio"), duels),
        "The two programs of a row take turns, so that other work on the machine slows both "
        "alike: the ratio holds, but speeds should not be compared with those of other rows and "
        "tables, which were timed at other moments.",
        "## Large scenes and start-up",
        f"A glimpse of 3 scales of 12x12 takes {few:.0f} ns in a scene of {small}x{small} pixels "
        f"and {many:.0f} ns in one of {big}x{big}: {many / few:.2f} times as long.",
        table(("fresh process", "CPU seconds"), seconds),
    ]


def _missing(env_ids: Iterable[str]) -> list[str]:
    """What is said of environments whose files were not there, where there are any."""
    names = [f"`{env_id}`" for env_id in env_ids]
    return [f"Not measured, for want of their files: {listed(names)}."] if names else []


def _large_scenes(record: dict[str, Any]) -> list[str]:
    small, large = record["scenes"]
    lines = [
        (
            f"{s['side']}x{s['side']}",
            f"{s['look_microseconds']:.1f}",
            f"{s['deal_microseconds']:,.1f}",
            f"{s['writing_microseconds']:,.1f}",
            f"{s['mebibytes']:,.0f}",
        )
        for s in record["scenes"]
    ]
    heads = ("scene", "look, µs", "deal, µs", "writing its pixels, µs", "memory of all rows, MiB")
    ratio = large["look_microseconds"] / small["look_microseconds"]
    return [
        f"## Megapixel scenes\n\n{record['rows']} rows, {record['scales']} scales of 12x12, on one "
        "core: a look at a uniform place, a deal (drawing a scene and summing it), and for "
        "comparison a copy of the scene's bytes "
        f"({record['hardware']}, revision {short_revision(record['revision'])}).",
        table(heads, lines),
        f"A look costs {ratio:.1f} times as much as in the small scene.",
    ]


def _catch(record: dict[str, Any]) -> list[str]:
    speeds = record["steps_per_second"]
    lines = [
        (f"{int(rows):,}", _thousands(ours), _thousands(speeds["envpool"][rows]))
        for rows, ours in speeds["ours"].items()
    ]
    return [
        f"## Compared with EnvPool {record['envpool']}'s Catch\n\nThousands of steps a second on "
        f"one core ({record['hardware']}, revision {short_revision(record['revision'])}). That is "
        "DeepMind's, a screen of 10x5 that is shown as a whole; ours is RAM's, 24x24, of which "
        "each step draws a glimpse of three scales of 6x6.",
        table(("rows", "glimpse_envs", "EnvPool"), lines),
        "By CPU time of the process, and at the better of these numbers of rows, ours takes "
        f"{record['ratio']:.1f} times as many steps.",
    ]


def _adapter(record: dict[str, Any]) -> list[str]:
    lines = [
        (
            f"`{s['env_id']}`",
            f"{s['rows']:,}",
            _thousands(s["bare"]),
            _thousands(s["adapter"]),
            f"{s['ratio']:.2f}",
            _thousands(s["monitored"]),
        )
        for s in record["speeds"]
    ]
    heads = ("environment", "rows", "bare", "adapter", "share", "with VecMonitor")
    return [
        "## Stable-Baselines3\n\nThousands of steps a second on one core: the batched environment "
        "(bare), and inside Stable-Baselines3's `VecEnv` with flat actions (adapter) "
        f"({record['hardware']}, revision {short_revision(record['revision'])}).",
        table(heads, lines),
    ]


def _training(record: dict[str, Any]) -> list[str]:
    lines = [
        (
            s["core"],
            s["precision"],
            f"{s['images_per_second']:,.0f}",
            f"{s['gigaflops']:.0f}",
            f"{s['peak_gigaflops']:.0f}",
            f"{s['share_of_peak']:.2f}",
        )
        for s in record["speeds"]
    ]
    return [
        f"## Training\n\nREINFORCE with its default settings on `{record['env_id']}`, one thread "
        f"({record['hardware']}, revision {short_revision(record['revision'])}). *GFLOP/s* counts "
        "the model's arithmetic over the whole time of training, environment included; *peak* is "
        "that of a large matrix product in the same precision, timed in turns with the training.",
        table(
            ("core", "precision", "episodes/s", "GFLOP/s", "peak GFLOP/s", "share of peak"), lines
        ),
    ]


def _models(record: dict[str, Any]) -> list[str]:
    peak = record["peak_gigaflops"]
    lines = [
        (
            s["model"].replace("_", " "),
            f"`{s['env_id']}`",
            f"{s['batch_size']:,}",
            f"{s['images_per_second']:,.0f}",
            f"{s['megaflops']:,.1f}",
            f"{s['gigaflops'] / peak:.2f}",
        )
        for s in record["speeds"]
    ]
    return [
        f"### Each model\n\nWith the settings of its preset, one thread, {record['precision']} "
        f"({record['hardware']}, revision {short_revision(record['revision'])}), by the core's "
        "time. *Mflop*: matrix products and convolutions of an update (forward, backward, "
        "optimizer), per scene. *Share "
        f"of peak*: of a large matrix product's {peak:,.0f} GFLOP/s. Tables compare these models "
        "at equal core-minutes. Small products, element-wise work and the dealing of scenes lower "
        "a share.",
        table(("model", "scenes", "batch", "scenes/s", "Mflop", "share of peak"), lines),
    ]


def _processes(record: dict[str, Any]) -> list[str]:
    one, several = (record["images_per_second"][name] for name in ("one", "several"))
    return [
        "## Training in several processes",
        f"`{record['env_id']}` by the preset, a batch of {record['batch_size']:,} shared out: "
        f"{one:,.0f} images a second by one process, {several:,.0f} by {record['processes']}, "
        f"{record['ratio']:.2f} times as many, by wall-clock time ({record['hardware']}, "
        "revision "
        f"{short_revision(record['revision'])}). The optimizer's step, which every process takes "
        "for itself, and the memory that the cores share are not divided.",
    ]


def _device(record: dict[str, Any]) -> list[str]:
    lines = [
        (
            f"{s['batch_size']:,}",
            str(s["parts"]),
            f"{s['images_per_second']:,.0f}",
            f"{s['environments']:.0%}",
            UNKNOWN if s["device"] is None else f"{s['device']:.0%}",
        )
        for s in record["speeds"]
    ]
    return [
        f"## Training on a GPU\n\nREINFORCE on `{record['env_id']}` by the preset in "
        f"{record['precision']}, environments on {record['threads']} threads "
        f"({record['hardware']}, revision {short_revision(record['revision'])}). Shares of the "
        "wall-clock time in which the training waits for the environments' calls, and in which the "
        "GPU computes. In the rest of it kernels are launched, one after another.",
        table(("batch", "parts", "images/s", "environments", "GPU"), lines),
        *([record["notes"]] if "notes" in record else []),
    ]


def _thousands(speed: float | None) -> str:
    return "" if speed is None else f"{speed / 1e3:,.0f}"
