"""Steps a second of Copy, beside popgym's RepeatPrevious in a `SyncVectorEnv` of as many rows.

    python -m benchmarks.speed.memory_speed [--rows 256] [--record FOLDER]

Both are played on one core, turn by turn in one run, by every autoreset mode ("Disabled" resets the
rows that have ended by a mask, within the time; a waiting row's step counts as one, as Gymnasium
counts it, ours and popgym's alike). Copy is played twice: by the shortest solution, whose actions
were recorded before in the same episodes, and by random actions drawn before, of which most err at
once, so that nearly each step deals a new tape. RepeatPrevious (`RepeatPreviousEasy`, one deck,
k = 4) is played at random, which changes nothing about its episodes. Figures are medians, those
beside popgym of the ratios of each turn. popgym is of the extra `peers`.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from benchmarks.speed.stepping import BURST
from benchmarks.speed.timing import Case, best_rates
from glimpse_envs.core.files import write_atomically
from glimpse_envs.evaluation.runs import git_revision, hardware
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
    """The actions of so many steps from `reset(seed=SEED)` on, and how many episodes they ended."""

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
    """Copy by both kinds of actions, and popgym, in turns."""
    steps = max(1, BURST // rows)
    envs = gym.make_vec(ENV_ID, num_envs=rows, autoreset_mode=mode)
    envs.action_space.seed(SEED)
    task: Any = envs.unwrapped.task  # type: ignore[attr-defined]
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
        import popgym  # noqa: F401
    except ImportError as error:
        return f"cannot be imported: {error}"
    return version("popgym")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--record", type=Path, help="folder for a JSON record")
    arguments = parser.parse_args()

    peer = popgym_version()
    speeds = [s for mode in MODES for s in measure(mode, arguments.rows, arguments.repeats)]
    print(f"{hardware(1)}, {ENV_ID}, {arguments.rows} rows, popgym {peer}")
    print(f"{'thousand steps/s':29}{'steps/episode':>14}{'ours':>9}{'popgym':>9}{'ratio':>7}")
    for s in speeds:
        beside = "" if s.popgym is None else f"{s.popgym / 1e3:9,.0f}{s.ratio:7.1f}"
        name = f"{s.mode}, {s.actions}"
        print(f"{name:29}{s.steps_an_episode:14.1f}{s.ours / 1e3:9,.0f}{beside}")

    if arguments.record:
        record = {
            "benchmark": "memory_speed",
            "env_id": ENV_ID,
            "kwargs": SUITE[ENV_ID].kwargs,
            "hardware": hardware(1),
            "revision": git_revision(),
            "rows": arguments.rows,
            "repeats": arguments.repeats,
            "popgym": peer,
            "speeds": [asdict(speed) for speed in speeds],
        }
        text = json.dumps(record, indent=1) + "\n"
        write_atomically(arguments.record / "memory_speed.json", text.encode())


if __name__ == "__main__":
    main()
