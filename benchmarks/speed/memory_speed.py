"""Steps a second of Copy, against popgym's RepeatPrevious in a `SyncVectorEnv` of as many rows.

    python -m benchmarks.speed.memory_speed [--rows 256] [--record FOLDER]

Both are played on one core, by turns in one run, in every autoreset mode ("Disabled" resets the
rows that have ended by a mask, within the time; a step of a waiting row is a step, in both). Copy
is played twice: by the shortest solution, recorded before in the same episodes, and by random
actions drawn before, most of which err at once, so that nearly every step deals a new tape.
RepeatPrevious (`RepeatPreviousEasy`, one deck, k = 4) is played at random, which does not change
its episodes. Figures are medians of the turns; the ratio is the median of each turn's. popgym is in
the dependency group `peers`.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from benchmarks.options import options_parser, write_benchmark
from benchmarks.speed.stepping import BURST
from benchmarks.speed.timing import Case, best_rates
from glimpse_envs.episodes.description import task_of
from glimpse_envs.evaluation.provenance import hardware
from glimpse_envs.suite import SUITE

ENV_ID = "Glimpse/Copy-v0"
MODES = ("SameStep", "NextStep", "Disabled")
SEED = 0

Chooser = Callable[[], Any]


@dataclass(frozen=True)
class MemorySpeed:
    """Row steps a second on one core, medians of the turns."""

    mode: str
    actions: str
    """"shortest solution" or "random"."""
    steps_an_episode: float
    ours: float
    popgym: float | None
    """None where popgym cannot be imported."""
    ratio: float | None


@dataclass(frozen=True)
class Played:
    """Actions from `reset(seed=SEED)` on, and the number of episodes that ended."""

    actions: list[Any]
    episodes: int


def play(envs: VectorEnv, choose: Chooser, steps: int) -> Played:
    """Play `steps` steps of all rows by what `choose` returns before each."""
    disabled = envs.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    envs.reset(seed=SEED)
    actions, episodes = [], 0
    for _ in range(steps):
        actions.append(choose())
        ended = _step(envs, actions[-1], disabled)
        episodes += int(ended.sum())
    return Played(actions, episodes)


def replay_burst(envs: VectorEnv, actions: Sequence[Any], seed: int | None) -> Callable[[], int]:
    """Step through `actions`, from `reset(seed=seed)` on where there is a seed."""
    disabled = envs.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    envs.reset(seed=SEED)

    def burst() -> int:
        if seed is not None:
            envs.reset(seed=seed)
        for action in actions:
            _step(envs, action, disabled)
        return len(actions) * envs.num_envs

    return burst


def _step(envs: VectorEnv, action: Any, disabled: bool) -> np.ndarray:
    """Step, reset what has ended where the environment does not, and return (n,) what has."""
    _, _, terminated, truncated, _ = envs.step(action)
    ended: np.ndarray = terminated | truncated
    if disabled and ended.any():
        envs.reset(options={"reset_mask": ended})
    return ended


def repeat_previous(rows: int, mode: str) -> SyncVectorEnv:
    """popgym's RepeatPrevious.

    Raises:
        ImportError: popgym is not installed.
    """
    from popgym.envs.repeat_previous import RepeatPreviousEasy

    return SyncVectorEnv([RepeatPreviousEasy] * rows, autoreset_mode=AutoresetMode(mode))


def measure(mode: str, rows: int, repeats: int) -> list[MemorySpeed]:
    """Time Copy with both kinds of actions, and popgym, by turns."""
    steps = max(1, BURST // rows)
    envs = gym.make_vec(ENV_ID, num_envs=rows, autoreset_mode=mode)
    envs.action_space.seed(SEED)
    task = task_of(envs)
    assert task is not None
    played = {
        "shortest solution": play(envs, task.oracle, steps),
        "random": play(envs, envs.action_space.sample, steps),
    }
    cases = [Case(name, replay_burst(envs, each.actions, SEED)) for name, each in played.items()]
    closing: list[VectorEnv] = [envs]
    try:
        peer = repeat_previous(rows, mode)
    except ImportError:
        pass
    else:
        peer.action_space.seed(SEED)
        random = [peer.action_space.sample() for _ in range(steps)]
        cases.append(Case("popgym", replay_burst(peer, random, None)))
        closing.append(peer)
    rates = np.array([best_rates(cases, 1) for _ in range(repeats)])  # (repeats, cases)
    for each in closing:
        each.close()
    return summarise(mode, rows * steps, played, rates)


def summarise(
    mode: str, row_steps: int, played: dict[str, Played], rates: np.ndarray
) -> list[MemorySpeed]:
    """Medians of `rates` (repeats, cases): a case for each of `played`, and popgym's if it is."""
    speeds = []
    for i, (actions, each) in enumerate(played.items()):
        length = row_steps / max(1, each.episodes)
        popgym = ratio = None
        if rates.shape[1] > len(played):
            popgym = float(np.median(rates[:, -1]))
            ratio = float(np.median(rates[:, i] / rates[:, -1]))
        ours = float(np.median(rates[:, i]))
        speeds.append(MemorySpeed(mode, actions, length, ours, popgym, ratio))
    return speeds


def popgym_version() -> str:
    """popgym's version, or why there is none."""
    try:
        import popgym  # noqa: F401  (whether it can be)
    except ImportError as error:
        return f"cannot be imported: {error}"
    return version("popgym")


def main() -> None:
    """The command line."""
    arguments = options_parser(__doc__, rows=256, repeats=15).parse_args()
    peer = popgym_version()
    speeds = [s for mode in MODES for s in measure(mode, arguments.rows, arguments.repeats)]
    print(f"{hardware(1)}, {ENV_ID}, {arguments.rows} rows, popgym {peer}")
    print(f"{'thousand steps/s':29}{'steps/episode':>14}{'ours':>9}{'popgym':>9}{'ratio':>7}")
    for s in speeds:
        popgym = "" if s.popgym is None else f"{s.popgym / 1e3:9,.0f}{s.ratio:7.1f}"
        name = f"{s.mode}, {s.actions}"
        print(f"{name:29}{s.steps_an_episode:14.1f}{s.ours / 1e3:9,.0f}{popgym}")
    entries = {
        "env_id": ENV_ID,
        "kwargs": SUITE[ENV_ID].kwargs,
        "rows": arguments.rows,
        "repeats": arguments.repeats,
        "popgym": peer,
        "speeds": [asdict(speed) for speed in speeds],
    }
    write_benchmark(arguments.record, "memory_speed", entries)


if __name__ == "__main__":
    main()
