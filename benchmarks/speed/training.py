"""Training speed: episodes a second, and their share of this machine's matrix-product peak.

    python -m benchmarks.speed.training [--repeats 8] [--record results/benchmarks]

Peak and training alternate in one run, so that a busy machine slows both. The model's arithmetic is
what torch's flop counter finds in one update, forward and backward: plain matrix products. The
environment's work and all overheads are time lost.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch.utils.flop_counter import FlopCounterMode

from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.policy.networks import NetworkConfig
from agents.training.host import settle_host
from agents.training.precision import UsedPrecision
from benchmarks.options import options_parser, write_benchmark
from glimpse_envs.evaluation.provenance import hardware

ENV_ID = "Glimpse/ClutteredGlyphs-v0"
Core = Literal["lstm", "gru", "rnn"]
CASES: tuple[tuple[Core, UsedPrecision], ...] = (
    ("lstm", "float32"),
    ("gru", "float32"),
    ("rnn", "float32"),
    ("lstm", "bfloat16"),
)
SIDE = 1024  # of the matrices whose product measures the peak


@dataclass(frozen=True)
class Speed:
    """Best speed of one model in several repeats."""

    core: str
    precision: str
    images_per_second: float
    gigaflops: float
    """The model's arithmetic, in 1e9 floating-point operations a second."""
    peak_gigaflops: float
    """The product of two square matrices in the same precision, in the same unit."""

    @property
    def share_of_peak(self) -> float:
        return self.gigaflops / self.peak_gigaflops


def matrix_peak(
    precision: torch.dtype, clock: Callable[[], float] = time.perf_counter, repeats: int = 4
) -> float:
    """Floating-point operations a second, by `clock`, of a matrix product, in 1e9."""
    a, b = (torch.randn(SIDE, SIDE).to(precision) for _ in range(2))
    best = float("inf")
    for _ in range(repeats):
        started = clock()
        a @ b
        best = min(best, clock() - started)
    return 2 * SIDE**3 / best / 1e9


def measure(core: Core, precision: UsedPrecision, repeats: int) -> Speed:
    """Train for a few updates, and measure the peak by turns."""
    config = ReinforceConfig(
        env_id=ENV_ID,
        precision=precision,
        network=NetworkConfig(core=core),
    )
    learner = Reinforce(config)
    learner.update(0.5)  # compiles the kernels
    with FlopCounterMode(display=False) as counter:
        learner.update(0.5)
    flops = counter.get_total_flops()
    best, peak = float("inf"), 0.0
    for _ in range(repeats):
        peak = max(peak, matrix_peak(config.torch_precision))
        started = time.perf_counter()
        for _ in range(3):
            learner.update(0.5)
        best = min(best, (time.perf_counter() - started) / 3)
    learner.close()
    return Speed(core, precision, config.batch_size / best, flops / best / 1e9, peak)


def main() -> None:
    """The command line."""
    arguments = options_parser(__doc__, repeats=8).parse_args()
    settle_host(1)
    speeds = [measure(core, precision, arguments.repeats) for core, precision in CASES]

    print(f"{ENV_ID}, batch {ReinforceConfig.batch_size}, one thread, {hardware(1)}")
    print(f"{'core':6}{'precision':12}{'episodes/s':>10}{'GFLOP/s':>10}{'peak':>8}{'share':>8}")
    for s in speeds:
        print(
            f"{s.core:6}{s.precision:12}{s.images_per_second:10,.0f}{s.gigaflops:10.1f}"
            f"{s.peak_gigaflops:8.1f}{s.share_of_peak:8.2f}"
        )
    found = [{**vars(s), "share_of_peak": s.share_of_peak} for s in speeds]
    write_benchmark(arguments.record, "training", {"env_id": ENV_ID, "speeds": found})


if __name__ == "__main__":
    main()
