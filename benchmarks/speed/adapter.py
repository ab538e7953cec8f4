"""What the adapter of Stable-Baselines3 costs: its steps a second beside the bare environment's.

    python -m benchmarks.speed.adapter [--rows 256] [--repeats 20] [--record results/benchmarks]

Both play the same environment with random actions drawn beforehand, the adapter's flat, and take
turns in one run. With `VecMonitor`, which every training has, the adapter does what SB3 asks of it
in a training; what `VecMonitor` itself costs is then within the figure.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import gymnasium as gym
import numpy as np
from stable_baselines3.common.vec_env import VecEnv, VecMonitor

from benchmarks.speed.stepping import BURST, PREPARED, batch_burst
from benchmarks.speed.timing import Case, best_rates
from glimpse_envs.adapters.sb3 import make_sb3_env
from glimpse_envs.core.files import write_atomically
from glimpse_envs.evaluation.runs import git_revision, hardware

ENV_IDS = ("Glimpse/ClutteredGlyphs-v0", "Glimpse/CircleSquare-v0")


@dataclass(frozen=True)
class AdapterSpeed:
    """Steps a second of one environment on one core, counted in rows."""

    env_id: str
    rows: int
    bare: float
    adapter: float
    monitored: float
    """The adapter within a `VecMonitor`."""

    @property
    def ratio(self) -> float:
        """What the adapter keeps of the bare environment's speed."""
        return self.adapter / self.bare


def adapter_burst(venv: VecEnv) -> Callable[[], int]:
    """Steps of a `VecEnv`, as many as `batch_burst` takes."""
    venv.action_space.seed(0)
    actions = [
        np.stack([venv.action_space.sample() for _ in range(venv.num_envs)])
        for _ in range(PREPARED)
    ]
    venv.seed(0)
    venv.reset()
    steps = max(48, BURST // venv.num_envs // 48 * 48)

    def burst() -> int:
        for i in range(steps):
            venv.step(actions[i % PREPARED])
        return steps * venv.num_envs

    return burst


def measure(env_id: str, rows: int, repeats: int) -> AdapterSpeed:
    """The bare environment, the adapter, and the adapter monitored, in turns."""
    envs = gym.make_vec(env_id, num_envs=rows)
    venv, monitored = make_sb3_env(env_id, rows), VecMonitor(make_sb3_env(env_id, rows))
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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--record", type=Path, help="folder for a JSON record")
    arguments = parser.parse_args()

    speeds = [measure(env_id, arguments.rows, arguments.repeats) for env_id in ENV_IDS]
    print(f"{hardware(1)}, {arguments.rows} rows, thousand steps a second")
    print(f"{'':30}{'bare':>9}{'adapter':>9}{'ratio':>7}{'monitored':>11}")
    for s in speeds:
        print(
            f"{s.env_id:30}{s.bare / 1e3:9,.0f}{s.adapter / 1e3:9,.0f}{s.ratio:7.2f}"
            f"{s.monitored / 1e3:11,.0f}"
        )
    if arguments.record:
        record = {
            "benchmark": "adapter",
            "hardware": hardware(1),
            "revision": git_revision(),
            "speeds": [{**asdict(s), "ratio": s.ratio} for s in speeds],
        }
        text = json.dumps(record, indent=1) + "\n"
        write_atomically(arguments.record / "adapter.json", text.encode())


if __name__ == "__main__":
    main()
