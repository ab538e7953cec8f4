"""Catch against EnvPool's (Weng et al. 2022), both compiled (pip install --group peers).

    python -m benchmarks.speed.catch [--repeats 20] [--record results/benchmarks]

EnvPool's is DeepMind's Catch: a screen of 10x5, shown as a whole, and episodes of 9 steps. Ours is
RAM's: 24x24, of which each step draws a glimpse of three scales of 6x6, and episodes of 24. A
second is one of CPU time of the whole process, so that EnvPool's own thread counts. The programs
take turns, and of each the better of two numbers of rows counts.
"""

from collections.abc import Callable
from importlib.metadata import version

import gymnasium as gym
import numpy as np

from benchmarks.options import options_parser, write_benchmark
from benchmarks.speed.stepping import PREPARED, batch_burst, burst_of, whole_episodes
from benchmarks.speed.timing import Case, best_rates
from glimpse_envs.evaluation.provenance import hardware

ROWS = (256, 1024)
OURS = "Glimpse/Catch-v0"


def envpool_burst(rows: int) -> Callable[[], int]:
    """As many steps of EnvPool's Catch as `batch_burst` takes, on one thread of its own.

    Raises:
        ImportError: EnvPool is not installed, or what it needs is not.
    """
    import envpool

    envs = envpool.make("Catch-v0", env_type="gymnasium", num_envs=rows, num_threads=1)
    envs.reset()
    random = np.random.default_rng(0)
    actions = list(random.integers(3, size=(PREPARED, rows), dtype=np.int32))
    return burst_of(envs.step, actions, whole_episodes(rows), rows)


def measure(repeats: int) -> dict[str, dict[int, float]]:
    """Program -> rows -> steps a second on one core.

    Raises:
        ImportError: see `envpool_burst`.
    """
    ours = [gym.make_vec(OURS, num_envs=rows, autoreset_mode="SameStep") for rows in ROWS]
    cases = [Case("ours", batch_burst(envs), own_threads=True) for envs in ours]
    cases += [Case("envpool", envpool_burst(rows), own_threads=True) for rows in ROWS]
    rates = best_rates(cases, repeats)
    for envs in ours:
        envs.close()
    halves = (rates[: len(ROWS)], rates[len(ROWS) :])
    return {
        name: dict(zip(ROWS, half, strict=True))
        for name, half in zip(("ours", "envpool"), halves, strict=True)
    }


def main() -> None:
    """The command line."""
    arguments = options_parser(__doc__, repeats=20).parse_args()
    speeds = measure(arguments.repeats)
    released = version("envpool")
    print(f"{hardware(1)}, EnvPool {released}, thousand steps a second")
    print(f"{'rows':8}{'ours':>10}{'EnvPool':>10}")
    for rows in ROWS:
        print(
            f"{rows:<8,}{speeds['ours'][rows] / 1e3:10,.0f}{speeds['envpool'][rows] / 1e3:10,.0f}"
        )
    ratio = max(speeds["ours"].values()) / max(speeds["envpool"].values())
    print(f"best against best: {ratio:.1f} times as many")
    entries = {"envpool": released, "steps_per_second": speeds, "ratio": ratio}
    write_benchmark(arguments.record, "catch", entries)


if __name__ == "__main__":
    main()
