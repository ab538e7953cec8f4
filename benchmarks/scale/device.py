"""Training speed on a device: images a second, and how busy the device and the environments are.

    python -m benchmarks.scale.device [--device cuda] [--rows 8192 16384] [--threads 16]

REINFORCE on cluttered MNIST with eight glimpses, by the preset of pictures. The environments run on
CPU threads; with two parts they play one part of the batch while the GPU computes another. The
device's share is the time of its kernels by torch's profiler; the environments' share is that of
their calls, as the training waits for them. Shares of the wall's time; the rest is the launching of
kernels.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.presets import PRESETS
from agents.training.host import hardware_with, settle_host
from benchmarks.options import check_whole, options_parser, write_benchmark
from glimpse_envs.core.threads import set_threads

ROWS = (8192, 16384, 32768)
PARTS = (1, 2)
WARM_UP = 3
PROFILED = 2


@dataclass
class Speed:
    """Of one training.

    Args:
        images_per_second: episodes trained on a second of the wall's time.
        environments: share of that time in the environments' calls.
        device: share of it in the GPU's kernels; None on the CPU.
    """

    images_per_second: float
    environments: float
    device: float | None


class Waiting:
    """Seconds spent in the calls of environments."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            started = time.perf_counter()
            try:
                return call(*args, **kwargs)
            finally:
                self.seconds += time.perf_counter() - started

        return timed


def config_of(device: str, rows: int, parts: int | None) -> ReinforceConfig:
    """The preset of pictures with batches of `rows` on a device."""
    (preset,) = (c for c in PRESETS["pictures"] if isinstance(c, ReinforceConfig))
    return replace(
        preset,
        env_id="Glimpse/ClutteredMNIST-v0",
        device=device,
        batch_size=rows,
        parts=parts,
        precision="bfloat16" if device.startswith("cuda") else "auto",
    )


def measure(config: ReinforceConfig, updates: int) -> Speed:
    """The speed of a training over `updates`, after a few others."""
    on_gpu = config.device.startswith("cuda")
    learner, waiting = Reinforce(config), Waiting()
    for env in learner.envs:
        for name in ("reset", "step"):
            setattr(env, name, waiting.timed(getattr(env, name)))

    def run(count: int) -> float:
        _synchronise(on_gpu)
        started = time.perf_counter()
        for _ in range(count):
            learner.update(0.5)
        _synchronise(on_gpu)
        return time.perf_counter() - started

    run(WARM_UP)
    waiting.seconds = 0.0
    seconds = run(updates)
    environments = waiting.seconds / seconds
    busy = None
    if on_gpu:  # the profiler lengthens all but the kernels
        with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as profiler:
            run(PROFILED)
        events = [e for e in profiler.key_averages() if e.device_type.name == "CUDA"]
        kernels = [e.self_device_time_total for e in events if not e.is_user_annotation]
        busy = sum(kernels) / 1e6 / PROFILED * updates / seconds
    learner.close()
    return Speed(config.batch_size * updates / seconds, environments, busy)


def _synchronise(on_gpu: bool) -> None:
    if on_gpu:
        torch.cuda.synchronize()


def main() -> None:
    """The command line."""
    parser = options_parser(__doc__)
    parser.add_argument(
        "--rows", type=int, nargs="+", default=ROWS, help="numbers of episodes played at once"
    )
    parser.add_argument("--device", default="cuda", help="torch's device of the model; cuda")
    parser.add_argument(
        "--parts", type=int, nargs="+", default=PARTS, help="parts of the batch, each in turn; 1 2"
    )
    parser.add_argument("--updates", type=int, default=20, help="number of updates timed; 20")
    cores = os.cpu_count() or 1
    parser.add_argument(
        "--threads", type=int, default=cores, help="CPU threads of the environments; all cores"
    )
    arguments = parser.parse_args()
    check_whole(parser, arguments, rows=ROWS, parts=PARTS)
    set_threads(arguments.threads)
    settle_host(threads=1)
    speeds = []
    for rows, parts in product(arguments.rows, arguments.parts):
        config = config_of(arguments.device, rows, parts)
        found = measure(config, arguments.updates)
        busy = "" if found.device is None else f", device {found.device:.0%}"
        print(f"{config.env_id}, batch {rows} in {parts} parts, {config.settled.precision}")
        print(
            f"{found.images_per_second:,.0f} images/s; environments {found.environments:.0%}{busy}"
        )
        speeds.append({"batch_size": rows, "parts": parts, **vars(found)})
    entries = {
        "hardware": hardware_with(arguments.device),
        "env_id": config.env_id,
        "precision": config.settled.precision,
        "threads": arguments.threads,
        "speeds": speeds,
    }
    write_benchmark(arguments.record, "device", entries, cores=None)


if __name__ == "__main__":
    main()
