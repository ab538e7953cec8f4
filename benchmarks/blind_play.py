"""What games and grids return to an agent that sees nothing: the floor of their table.

    python -m benchmarks.blind_play [--record results/benchmarks]

In each world of the table of worlds that is paid by what happens there, uniformly random acts are
played, and each act for ever. A score that is no higher shows no use of what is seen.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

import gymnasium
import numpy as np

from agents.training.command_line import run_command
from benchmarks.options import options_parser, write_benchmark
from benchmarks.tables.worlds import WORLDS
from glimpse_envs.core.arrays import Ints
from glimpse_envs.evaluation.policy import Action, Observation
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.suite import ATARI, MINIGRID
from report.blind_levels import RANDOM

BENCHMARK = "blind_play"
_OF_AGENTS = ("look", "segment")
"""Arguments that change how an agent sees or learns, not what a world returns."""


@dataclass(frozen=True)
class BlindPlay:
    """The test score of one way to act.

    Args:
        env_id: of the world.
        env_kwargs: its arguments.
        acts: `RANDOM`, or the name of the act that was taken for ever.
        episodes: whole games.
        mean_return: of them.
        return_interval: Student's, of 95 %.
    """

    env_id: str
    env_kwargs: dict[str, Any]
    acts: str
    episodes: int
    mean_return: float
    return_interval: tuple[float, float] | None


class RandomActs:
    """A policy of uniformly random acts.

    Args:
        acts: number of them.
    """

    def __init__(self, acts: int) -> None:
        self.acts, self._random = acts, np.random.default_rng(0)

    def __call__(self, observation: Observation) -> Action:
        return {"act": self._random.integers(self.acts, size=len(observation["glimpse"]))}


class OneAct:
    """A policy of one act for ever.

    Args:
        act: its number.
    """

    def __init__(self, act: int) -> None:
        self.act = act

    def __call__(self, observation: Observation) -> Action:
        acts: Ints = np.full(len(observation["glimpse"]), self.act)
        return {"act": acts}


def worlds() -> list[tuple[str, dict[str, Any]]]:
    """(id, arguments) of each world, in the table's order."""
    found: list[tuple[str, dict[str, Any]]] = []
    for row in WORLDS.rows:
        kwargs = {n: value for n, value in row.env_kwargs.items() if n not in _OF_AGENTS}
        if row.env_id in (ATARI, MINIGRID) and (row.env_id, kwargs) not in found:
            found.append((row.env_id, kwargs))
    return found


def names_of_acts(env_id: str, env_kwargs: dict[str, Any]) -> list[str]:
    """The names of a world's acts, in the order of their numbers."""
    with closing(gymnasium.make(env_id, **env_kwargs)) as env:
        world: Any = env.unwrapped
        if env_id == ATARI:
            return list(world.get_action_meanings())
        return [act.name for act in world.actions]


def play(env_id: str, env_kwargs: dict[str, Any], episodes: int) -> Iterator[BlindPlay]:
    """Play random acts for so many episodes, and each act for a third of them."""
    # Nothing looks at the glimpses; a game's cost least in the middle.
    kwargs = {**env_kwargs, "look": "static"} if env_id == ATARI else env_kwargs
    names = names_of_acts(env_id, kwargs)
    policies: list[tuple[str, Callable[..., Action], int]] = [
        (RANDOM, RandomActs(len(names)), episodes),
        *((name, OneAct(act), max(2, episodes // 3)) for act, name in enumerate(names)),
    ]
    for name, policy, games in policies:
        score = evaluate(policy, env_id, episodes=games, **kwargs)
        yield BlindPlay(env_id, env_kwargs, name, games, score.mean_return, score.return_interval)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = options_parser(__doc__)
    parser.add_argument(
        "--episodes", type=int, default=30, help="of random acts, a third of each act (default: 30)"
    )
    options = parser.parse_args(arguments)
    if options.episodes < 2:
        parser.error(f"--episodes {options.episodes} must be at least 2, for an interval")
    plays = []
    for env_id, env_kwargs in worlds():
        for played in play(env_id, env_kwargs, options.episodes):
            plays.append(asdict(played))
            named = ", ".join(str(value) for value in env_kwargs.values())
            print(f"{env_id} ({named}), {played.acts}: {played.mean_return:.3g}", flush=True)
    write_benchmark(options.record, BENCHMARK, {"plays": plays})


if __name__ == "__main__":
    run_command(main)
