"""Steps a second of every environment and of ap_gym 0.7.0, the cost of big scenes, time to start.

    python -m benchmarks.speed.throughput [--env-id ID ...] [--record FOLDER]

Actions are random and drawn beforehand. Rows reset themselves, so every episode's new scene is
within the time; most episodes on tapes and in tables end at a wrong answer, so dealing them takes
most of theirs (`benchmarks.speed.memory_speed` plays whole ones). Figures are the best of the
repeats, and competitors take turns. With one thread a second is one of CPU time, so figures are
those of one core; with two it is one on the wall.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version

import gymnasium as gym
import numpy as np
from gymnasium.vector import VectorEnv

from benchmarks.options import check_whole, options_parser, write_benchmark
from benchmarks.speed import peers
from benchmarks.speed.start import start_seconds
from benchmarks.speed.stepping import batch_burst, on_threads, single_burst
from benchmarks.speed.timing import Case, best_rates
from glimpse_envs.episodes.description import describe
from glimpse_envs.evaluation.provenance import hardware
from glimpse_envs.sources import SourceError
from glimpse_envs.suite import SUITE
from glimpse_envs.vision.sensors.retina import Retina

ROWS = (1, 16, 64, 256, 1024, 4096)
MOST_PIXELS = 2**29
"""Of all rows together: batches of larger scenes have fewer rows."""
THREADS = (1, 2)
SINGLE_STEPS = 2_000
START_ID = "Glimpse/ClutteredGlyphs-v0"
SCENE_SIDES = (60, 1000)

Maker = Callable[[int], VectorEnv]
"""Makes so many rows."""


@dataclass(frozen=True)
class Throughput:
    """Steps a second of one environment."""

    env_id: str
    rows: int | None
    """None is a single environment of `gymnasium.make`."""
    threads: int
    steps_per_second: float


@dataclass(frozen=True)
class Duel:
    """Our best number of rows against ap_gym's, on one core."""

    setting: str
    ours: float
    """Steps a second."""
    ap_gym: float | None
    """None where ap_gym cannot be imported, for the reason in `problem`."""
    problem: str = ""

    @property
    def ratio(self) -> float | None:
        return self.ours / self.ap_gym if self.ap_gym else None


def measure_environment(env_id: str, repeats: int) -> list[Throughput]:
    """One environment, single and batched, on one thread and on two.

    Raises:
        SourceError: its files are not there.
    """
    single = gym.make(env_id)
    cases = [Case("single", single_burst(single, SINGLE_STEPS))]
    results: list[tuple[int | None, int]] = [(None, 1)]
    view = describe(single).picture_view
    pixels = 1 if view is None else math.prod(view.scene_shape)
    fitting = [rows for rows in ROWS if rows * pixels <= MOST_PIXELS]
    envs = [gym.make_vec(env_id, num_envs=rows, autoreset_mode="SameStep") for rows in fitting]
    for batch in envs:
        burst = batch_burst(batch) if batch.num_envs > 1 else batch_burst(batch, SINGLE_STEPS)
        for threads in THREADS:
            cases.append(Case(f"{batch.num_envs}", on_threads(threads, burst), threads))
            results.append((batch.num_envs, threads))
    rates = best_rates(cases, repeats)
    single.close()
    for batch in envs:
        batch.close()
    return [
        Throughput(env_id, rows, threads, rate)
        for (rows, threads), rate in zip(results, rates, strict=True)
    ]


def measure_duel(setting: str, repeats: int) -> Duel:
    """CircleSquare, or the same glimpses of digits, by ap_gym and by this package."""
    makers: dict[str, tuple[Maker, Maker]] = {
        "CircleSquare": (partial(peers.ours, "Glimpse/CircleSquare-v0"), peers.circle_square),
        "digits": (peers.our_digits, peers.digits),
    }
    make_ours, make_theirs = makers[setting]
    ours = [make_ours(rows) for rows in ROWS[2:]]
    problem = ""
    theirs: list[VectorEnv] = []
    try:
        theirs = [make_theirs(rows) for rows in peers.ROWS]
    except ImportError as error:
        problem = f"ap_gym cannot be imported: {error}"
    cases = [Case("ours", batch_burst(envs)) for envs in ours]
    cases += [Case("ap_gym", batch_burst(envs, 4_000), own_threads=True) for envs in theirs]
    rates = best_rates(cases, repeats)
    for envs in (*ours, *theirs):
        envs.close()
    best = max(rates[len(ours) :]) if theirs else None
    return Duel(setting, max(rates[: len(ours)]), best, problem)


def measure_glimpse(repeats: int) -> dict[int, float]:
    """Nanoseconds a glimpse of three scales of 12 x 12 takes, by the scene's side in pixels."""
    cases = [Case(str(side), glimpse_burst(side)) for side in SCENE_SIDES]
    rates = best_rates(cases, 4 * repeats)
    return {side: 1e9 / rate for side, rate in zip(SCENE_SIDES, rates, strict=True)}


def glimpse_burst(side: int, rows: int = 16, batches: int = 64) -> Callable[[], int]:
    """Glimpses at random places of `rows` scenes of noise."""
    rng = np.random.default_rng(0)
    retina = Retina((1, side, side), glimpse_size=12, scales=3)
    canvas, sums = retina.allocate(rows, np.uint8)
    canvas[..., 1:-1, 1:-1] = rng.integers(0, 256, (rows, 1, side, side))
    every = np.arange(rows)
    retina.sum_scenes(canvas, sums, every)
    places = rng.uniform(0, side, (batches, rows, 2))
    glimpses = np.empty((rows, *retina.glimpse_shape), np.float32)

    def burst() -> int:
        for centres in places:
            retina.read(canvas, sums, every, centres, every, glimpses)
        return rows * batches

    return burst


def print_environments(speeds: Sequence[Throughput]) -> None:
    """A row for each environment and number of threads, in thousands of steps a second."""
    columns = [None, *ROWS]
    heads = ["gym.make", *(f"{rows} row" + "s" * (rows > 1) for rows in ROWS)]
    print(f"{'thousand steps/s':33}{'threads':>8}" + "".join(f"{head:>11}" for head in heads))
    table = {(s.env_id, s.threads, s.rows): s.steps_per_second / 1e3 for s in speeds}
    for env_id, threads in dict.fromkeys((s.env_id, s.threads) for s in speeds):
        cells = [table.get((env_id, threads, rows)) for rows in columns]
        texts = ["" if cell is None else f"{cell:,.0f}" for cell in cells]
        print(f"{env_id:33}{threads:8}" + "".join(f"{text:>11}" for text in texts))


def print_duels(duels: Sequence[Duel]) -> None:
    """A row for each setting: our best and ap_gym's best, in steps a second."""
    print(f"{'28x28, one 5x5 glimpse':33}{'ours':>12}{'ap_gym':>12}{'ratio':>8}")
    for duel in duels:
        if duel.ap_gym is None:
            print(f"{duel.setting:33}{duel.ours:12,.0f}   {duel.problem}")
        else:
            print(f"{duel.setting:33}{duel.ours:12,.0f}{duel.ap_gym:12,.0f}{duel.ratio:8.0f}")


def main() -> None:
    """The command line."""
    parser = options_parser(__doc__, repeats=8)
    parser.add_argument(
        "--env-id", nargs="+", metavar="ID", choices=list(SUITE), default=list(SUITE),
        help="ids of the environments to time (default: all of the suite)",
    )  # fmt: skip
    arguments = parser.parse_args()
    check_whole(parser, arguments, env_id=SUITE)
    print(hardware())

    duels = [measure_duel(setting, arguments.repeats) for setting in ("CircleSquare", "digits")]
    print_duels(duels)
    glimpse = measure_glimpse(arguments.repeats)
    small, big = (glimpse[side] for side in SCENE_SIDES)
    print(
        f"\na glimpse: {small:.0f} ns at 60 pixels, {big:.0f} ns at 1,000: {big / small:.2f} times"
    )
    seconds = start_seconds(START_ID)
    print("; ".join(f"{name} {value:.2f} s" for name, value in seconds.items()), end="\n\n")

    speeds: list[Throughput] = []
    missing: dict[str, str] = {}
    for env_id in arguments.env_id:
        try:
            speeds += measure_environment(env_id, arguments.repeats)
        except SourceError as error:
            missing[env_id] = str(error)
    print_environments(speeds)
    for env_id, problem in missing.items():
        print(f"{env_id}: {problem}")
    entries = {
        "steps_per_second": [asdict(speed) for speed in speeds],
        "missing": missing,
        "ap_gym_version": version("ap_gym") if any(duel.ap_gym for duel in duels) else None,
        "against_ap_gym": [{**asdict(duel), "ratio": duel.ratio} for duel in duels],
        "glimpse_nanoseconds": {str(side): value for side, value in glimpse.items()},
        "start_seconds": seconds,
    }
    write_benchmark(arguments.record, "throughput", entries, cores=None)


if __name__ == "__main__":
    main()
