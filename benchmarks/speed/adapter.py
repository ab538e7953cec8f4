"""What the adapter for Stable-Baselines3 costs: its steps a second against the environment's own.

    python -m benchmarks.speed.adapter [--rows 256] [--repeats 20] [--record results/benchmarks]

Both play the same environment with random actions drawn beforehand, the adapter's flat, and take
turns in one run. The adapter is also timed inside SB3's `VecMonitor`; that figure includes the cost
of `VecMonitor`.
"""

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass

import gymnasium as gym
import numpy as np
from stable_baselines3.common.vec_env import VecEnv, VecMonitor

from benchmarks.options import options_parser, write_benchmark
from benchmarks.speed.stepping import PREPARED, batch_burst, burst_of, whole_episodes
from benchmarks.speed.timing import Case, best_rates
from glimpse_envs.adapters.sb3 import make_sb3_env
from glimpse_envs.evaluation.provenance import hardware

ENV_IDS = ("Glimpse/ClutteredGlyphs-v0", "Glimpse/CircleSquare-v0")


@dataclass(frozen=True)
class AdapterSpeed:
    """Row steps a second of one environment on one core."""

    env_id: str
    rows: int
    bare: float
    adapter: float
    monitored: float
    """The adapter inside `VecMonitor`."""

    @property
    def ratio(self) -> float:
        """The adapter's speed as a share of the bare environment's."""
        return self.adapter / self.bare


def adapter_burst(venv: VecEnv) -> Callable[[], int]:
    """As many steps of a `VecEnv` as `batch_burst` takes."""
    venv.action_space.seed(0)
    actions = [
        np.stack([venv.action_space.sample() for _ in range(venv.num_envs)])
        for _ in range(PREPARED)
    ]
    venv.seed(0)
    venv.reset()
    return burst_of(venv.step, actions, whole_episodes(venv.num_envs), venv.num_envs)


def measure(env_id: str, rows: int, repeats: int) -> AdapterSpeed:
    """Time the bare environment, the adapter and the monitored adapter by turns."""
    envs = gym.make_vec(env_id, num_envs=rows, autoreset_mode="SameStep")
    venv = make_sb3_env(env_id, rows)
    with warnings.catch_warnings(action="ignore"):  # of counting returns twice
        monitored = VecMonitor(make_sb3_env(env_id, rows))
    cases = [
        Case("bare", batch_burst(envs)),
        Case("adapter", adapter_burst(venv)),
        Case("monitored", adapter_burst(monitored)),
    ]
    rates = best_rates(cases, repeats)
    for closed in (envs, venv, monitored):
        closed.close()
    return AdapterSpeed(env_id, rows, *rates)


def main() -> None:
    """The command line."""
    arguments = options_parser(__doc__, rows=256, repeats=20).parse_args()
    speeds = [measure(env_id, arguments.rows, arguments.repeats) for env_id in ENV_IDS]
    print(f"{hardware(1)}, {arguments.rows} rows, thousand steps a second")
    print(f"{'':30}{'bare':>9}{'adapter':>9}{'ratio':>7}{'monitored':>11}")
    for s in speeds:
        print(
            f"{s.env_id:30}{s.bare / 1e3:9,.0f}{s.adapter / 1e3:9,.0f}{s.ratio:7.2f}"
            f"{s.monitored / 1e3:11,.0f}"
        )
    entries = {"speeds": [{**asdict(s), "ratio": s.ratio} for s in speeds]}
    write_benchmark(arguments.record, "adapter", entries)


if __name__ == "__main__":
    main()
