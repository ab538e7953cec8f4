"""The variance of REINFORCE's gradient, and its growth with width, looks, batch size and more.

    python -m benchmarks.variance [--quick] [--only width ...] [--record results/benchmarks]

Reported are tr Cov of the gradient of one update of 64 episodes, for all estimators, split into the
noise of sampling looks (fixed scenes) and that of scenes; the squared norm of the true gradient;
and the exponents with which they grow. About ten minutes of one core.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from agents.training.host import settle_host
from benchmarks.options import check_whole, options_parser, record_header
from benchmarks.variance.enumerable import (
    BATCH,
    COPIES,
    GLIMPSES,
    PASSES,
    SCENES,
    TILES,
    Enumerable,
    assess,
)
from benchmarks.variance.estimators import GAE_LAMBDA
from benchmarks.variance.experiments import EXPERIMENTS, FULL, QUICK, TRAINED, Scale
from benchmarks.variance.frozen import LOOK_STD
from benchmarks.variance.measuring import UPDATE, Point
from benchmarks.variance.noise import fit_slope
from glimpse_envs.core.files import write_atomically
from report.variance_record import Slope, known_everywhere

FAR = 2.0
"""Offsets of the reward from which on the exponent is fitted."""
MEASURES: dict[str, Callable[[Point], float | None]] = {
    "variance": lambda point: point.variance,
    "per_parameter": lambda point: point.variance / point.parameters,
    "noise_to_signal": lambda point: point.noise_to_signal,
}


@dataclass(frozen=True)
class Series:
    """The points of one estimator and part in one setting of an experiment.

    Args:
        key: experiment, setting, estimator, part.
        points: at each x with each seed.
    """

    key: tuple[str, str, str, str]
    points: list[Point]

    def slopes(self) -> dict[str, Slope]:
        """The exponent of each measure, by its name, over the x where it is known for all seeds: at
        least two, of which one has repeats."""
        found = {}
        far = [p for p in self.points if p.experiment != "offset" or p.x >= FAR]
        for name, read in MEASURES.items():
            places = known_everywhere((p.x, read(p)) for p in far)
            known = [(x, value) for x, values in places.items() for value in values]
            if 2 <= len(places) < len(known) and min(value for _, value in known) > 0:
                found[name] = fit_slope([x for x, _ in known], [value for _, value in known])
        return found


def group(points: Sequence[Point]) -> list[Series]:
    """The series of `points`, in their order."""
    series: dict[tuple[str, str, str, str], list[Point]] = {}
    for p in points:
        series.setdefault((p.experiment, p.setting, p.estimator, p.part), []).append(p)
    return [Series(key, of_key) for key, of_key in series.items()]


def measure_enumerable(seeds: int, updates: int) -> dict[str, Any]:
    """All estimators on the enumerable task, for `seeds` policies, `updates` updates each."""
    rows = []
    for seed in range(seeds):
        task = Enumerable(seed=seed)
        truth, of_scenes = task.truth(), task.of_scenes()
        estimates = task.estimates(updates)
        for part, chosen in (("all", slice(None)), ("look", task.of_the_look)):
            scenes = assess(of_scenes[:, chosen], truth[chosen]).variance.value / BATCH
            for estimator, gradients in estimates.items():
                found = assess(gradients[:, chosen], truth[chosen])
                rows.append(
                    {
                        "seed": seed,
                        "estimator": estimator,
                        "part": part,
                        "parameters": len(truth[chosen]),
                        "signal": _short(truth[chosen].square().sum().item()),
                        "variance": _short(found.variance.value),
                        "variance_error": _short(found.variance.error),
                        "squared_bias": _short(found.squared_bias.value),
                        "squared_bias_error": _short(found.squared_bias.error),
                        "scenes": _short(scenes),
                    }
                )
    return {
        "tiles": TILES,
        "glimpses": GLIMPSES,
        "scenes": SCENES,
        "copies": COPIES,
        "updates": updates,
        "passes": {name: PASSES.get(name, GLIMPSES) for name in estimates},
        "results": rows,
    }


def _short(value: Any) -> Any:
    """Round numbers to four digits."""
    return float(f"{value:.4g}") if isinstance(value, float) else value


def print_slopes(series: Sequence[Series]) -> None:
    """The exponents of the parameters together."""
    for each in series:
        experiment, setting, estimator, part = each.key
        for measure, slope in each.slopes().items() if part == "all" else ():
            print(
                f"{experiment:11}{setting:48}{estimator:15}{measure:16}{slope.value:7.2f}  "
                f"[{slope.low:.2f}, {slope.high:.2f}]"
            )


def write_record(
    path: Path, series: Sequence[Series], enumerated: dict[str, Any] | None, scale: Scale
) -> None:
    """Write the record as JSON, a series a line, its points as rows of `columns`."""
    keys = ("experiment", "setting", "estimator", "part")
    columns = [field.name for field in fields(Point) if field.name not in keys]
    record = {
        **record_header("gradient_variance"),
        "episodes": UPDATE,
        "trained_updates": TRAINED,
        "gae_lambda": GAE_LAMBDA,
        "look_std": LOOK_STD,
        "scale": vars(scale),
        "enumerable": enumerated,
        "columns": columns,
    }
    lines = []
    for each in series:
        slopes = {
            name: [_short(slope.value), _short(slope.low), _short(slope.high)]
            for name, slope in each.slopes().items()
        }
        rows = [[_short(getattr(point, column)) for column in columns] for point in each.points]
        entry = {**dict(zip(keys, each.key, strict=True)), "slopes": slopes, "points": rows}
        lines.append(json.dumps(entry))
    joined = ",\n  ".join(lines)
    text = json.dumps(record, indent=1).removesuffix("\n}")
    write_atomically(path, f'{text},\n "series": [\n  {joined}\n ]\n}}\n'.encode())


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    names = [*EXPERIMENTS, "enumerable"]
    parser = options_parser(__doc__)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="measure roughly, at fewer places, with fewer seeds and updates",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=names,
        default=names,
        metavar="EXPERIMENT",
        help=f"experiments to run, of {', '.join(names)} (default: all)",
    )
    chosen = parser.parse_args(arguments)
    check_whole(parser, chosen, only=names)
    if chosen.record and chosen.quick:
        parser.error("--record is for the full measurement: leave --quick out")
    settle_host(1)
    scale = QUICK if chosen.quick else FULL

    points: list[Point] = []
    for name in names[:-1]:
        if name in chosen.only:
            started = time.process_time()
            points += EXPERIMENTS[name](scale)
            print(f"{name}: {time.process_time() - started:.0f} s", flush=True)
    series = group(points)
    print_slopes(series)
    enumerated = None
    if "enumerable" in chosen.only:
        enumerated = measure_enumerable(scale.seeds, 4 * scale.updates)
        for row in enumerated["results"]:
            print(*row.values(), sep="\t")
    if chosen.record:
        write_record(chosen.record / "gradient_variance.json", series, enumerated, scale)


if __name__ == "__main__":
    main()
