"""Training speed of several processes against one, on one machine.

    python -m benchmarks.speed.processes [--processes 2] [--repeats 3] [--record results/benchmarks]

The same training, by one process with all rows and by N with a share each, started by torchrun in
turns, so that a busy machine slows both. Each is timed by the clock on the wall, in bursts of a few
updates, of which the fastest is taken. Needs N idle cores.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace

from agents.algorithms.reinforce import Reinforce
from agents.training.distributed import connected, from_first, is_first, processes, share_of
from agents.training.host import settle_host
from benchmarks.options import options_parser, write_benchmark
from benchmarks.tables.table import preset
from glimpse_envs.evaluation.provenance import hardware

CONFIG = replace(
    preset("pictures", "reinforce"), env_id="Glimpse/ClutteredMNIST-v0", env_kwargs={"budget": 8}
)
BURSTS, UPDATES = 8, 2
_WORKER = "--as-one-of-them"


def images_per_second() -> float:
    """The speed of this process, or of all that are connected, in `CONFIG`'s training."""
    settle_host(1)
    learner = Reinforce(share_of(CONFIG))
    learner.update(0.5)  # compiles the kernels
    best = float("inf")
    for _ in range(BURSTS):
        from_first(lambda: None)  # all begin together
        started = time.perf_counter()
        for _ in range(UPDATES):
            learner.update(0.5)
        from_first(lambda: None)
        best = min(best, time.perf_counter() - started)
    learner.close()
    return CONFIG.batch_size * UPDATES / best


def measure(count: int) -> float:
    """Images a second of `count` fresh processes.

    Raises:
        subprocess.CalledProcessError: they have failed.
    """
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    done = subprocess.run(
        [*start, "--nproc-per-node", str(count), "-m", __spec__.name, _WORKER],
        check=True,
        stdout=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    return float(json.loads(done.stdout)["images_per_second"])


def main() -> None:
    """The command line."""
    if sys.argv[1:] == [_WORKER]:
        with connected():
            found = {"images_per_second": images_per_second(), "processes": processes()}
            if is_first():
                print(json.dumps(found))
        return
    parser = options_parser(__doc__, repeats=3)
    parser.add_argument(
        "--processes",
        type=int,
        default=2,
        help="number of processes to compare with one (default: 2)",
    )
    arguments = parser.parse_args()
    one = many = 0.0
    for _ in range(arguments.repeats):
        one, many = max(one, measure(1)), max(many, measure(arguments.processes))
    print(f"{CONFIG.env_id}, batch {CONFIG.batch_size}, {hardware(arguments.processes)}")
    print(f"1 process: {one:,.0f} images/s")
    print(f"{arguments.processes} processes: {many:,.0f} images/s, {many / one:.2f} times as many")
    entries = {
        "env_id": CONFIG.env_id,
        "env_kwargs": CONFIG.env_kwargs,
        "batch_size": CONFIG.batch_size,
        "precision": CONFIG.settled.precision,
        "processes": arguments.processes,
        "images_per_second": {"one": one, "several": many},
        "ratio": many / one,
    }
    write_benchmark(arguments.record, "processes", entries, cores=arguments.processes)


if __name__ == "__main__":
    main()
