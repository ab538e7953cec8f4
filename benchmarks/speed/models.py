"""Training speed of every model of pictures: scenes a second, and its arithmetic in that time.

    python -m benchmarks.speed.models [--models full_strong draw] [--record results/benchmarks]

The contenders of `benchmarks.comparison`, by their settings there, and the models of other scenes.
Tables compare them at equal core-minutes, so that a model whose code is slow would be told to be
worse than it is: a share of the peak far below the others' asks for a profile. The peak is that of
`benchmarks.speed.training`, and alternates with the trainings. Counted are products and
convolutions, forward, backward and of the optimizer; small ones, element-wise work and the dealing
of scenes are time lost.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from torch.utils.flop_counter import FlopCounterMode

from agents.algorithms.algorithm import Algorithm
from agents.scoring.multiply_adds import FORMULAS
from agents.train import ALGORITHMS as AGENTS
from agents.training.config import TrainingConfig
from agents.training.host import settle_host
from agents.training.precision import UsedPrecision, fastest_precision
from baselines.train import ALGORITHMS as BASELINES
from benchmarks.comparison.contenders import CONTENDERS
from benchmarks.options import check_whole, options_parser, write_benchmark
from benchmarks.speed.training import matrix_peak
from benchmarks.tables.table import preset
from glimpse_envs.evaluation.provenance import hardware

KNOWN: dict[str, Algorithm] = {**AGENTS, **BASELINES}
ENV_ID = "Glimpse/ClutteredGlyphs-v0"
OF_OTHER_SCENES = {
    "pointer": ("pictures", "Glimpse/SearchGlyphs-v0"),
    "captioner": ("pictures", "Glimpse/DescribeSceneGlyphs-v0"),
    "attention_sampling": ("megapixel", "Glimpse/MegapixelGlyphs-v0"),
    "patch_selection": ("megapixel", "Glimpse/MegapixelGlyphs-v0"),
}
"""Algorithm -> its preset and the scenes that it is for."""

SHORTEST = 1.0
"""Seconds of a burst of updates, at least; one update may take longer."""


@dataclass(frozen=True)
class Speed:
    """Of one model's training, the best of several bursts."""

    model: str
    env_id: str
    batch_size: int
    images_per_second: float
    """Scenes trained on."""
    megaflops: float
    """The arithmetic of an update, in 1e6 floating-point operations a scene."""

    @property
    def gigaflops(self) -> float:
        """The arithmetic of a second, in 1e9 operations."""
        return self.megaflops * self.images_per_second / 1e3


def configs(precision: UsedPrecision) -> dict[str, Callable[[], TrainingConfig]]:
    """Name of a model -> its config."""
    of_glyphs: dict[str, Callable[[], TrainingConfig]] = {
        name: partial(contender.config, ENV_ID, {}, precision=precision)
        for name, contender in CONTENDERS.items()
    }
    others: dict[str, Callable[[], TrainingConfig]] = {
        name: partial(replace, preset(family, name), env_id=env_id, precision=precision)
        for name, (family, env_id) in OF_OTHER_SCENES.items()
    }
    return of_glyphs | others


def measure(
    name: str, config: TrainingConfig, repeats: int, shortest: float = SHORTEST
) -> tuple[Speed, float]:
    """Train for a few updates, and measure by turns the peak, in 1e9 operations a second."""
    learner = KNOWN[config.algorithm].make(config)
    try:
        learner.update(0.5)  # compiles the kernels
        with FlopCounterMode(display=False, custom_mapping=FORMULAS) as counter:
            started = time.process_time()
            learner.update(0.5)
            took = time.process_time() - started
        updates = max(1, round(shortest / took))
        best, peak = float("inf"), 0.0
        for _ in range(repeats):
            peak = max(peak, matrix_peak(config.torch_precision, time.process_time))
            started = time.process_time()
            for _ in range(updates):
                learner.update(0.5)
            best = min(best, (time.process_time() - started) / updates)
    finally:
        learner.close()
    rows = config.batch_size
    flops = counter.get_total_flops() / rows / 1e6
    return Speed(name, config.env_id, rows, rows / best, flops), peak


def main() -> None:
    """The command line."""
    precision = fastest_precision()
    known = configs(precision)
    parser = options_parser(__doc__, repeats=3)
    parser.add_argument("--models", nargs="+", default=list(known), choices=known, help="which")
    arguments = parser.parse_args()
    check_whole(parser, arguments, models=known)
    settle_host(1)
    print(f"one thread, {precision}, {hardware(1)}")
    print(f"{'model':24}{'batch':>7}{'scenes/s':>10}{'Mflop':>10}{'GFLOP/s':>10}")
    speeds, peak = [], 0.0
    for name in arguments.models:
        found, near = measure(name, known[name](), arguments.repeats)
        peak = max(peak, near)
        print(
            f"{name:24}{found.batch_size:7,}{found.images_per_second:10,.0f}"
            f"{found.megaflops:10.1f}{found.gigaflops:10.1f}",
            flush=True,
        )
        speeds.append({**vars(found), "gigaflops": found.gigaflops})
    print(f"a product of two matrices: {peak:.1f} GFLOP/s")
    entries = {"precision": precision, "peak_gigaflops": peak, "speeds": speeds}
    write_benchmark(arguments.record, "models", entries)


if __name__ == "__main__":
    main()
