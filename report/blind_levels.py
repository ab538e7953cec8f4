"""What worlds return to an agent that sees nothing: the record of `benchmarks.blind_play`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from glimpse_envs.episodes.lookup import spec_of
from glimpse_envs.evaluation.record import Score
from report.benchmark_records import read_benchmark
from report.gaze_findings import difference, mean_of_episodes
from report.groups import Group
from report.markdown import UNKNOWN, digits

RECORD = "blind_play.json"
RANDOM = "random"
"""Name of uniformly random acts in the record."""


class BlindLevel(NamedTuple):
    """A world's score without looking."""

    acts: str
    """In words."""
    episodes: int
    mean_return: float
    interval: tuple[float, float] | None
    """Student's, of 95 %."""


BlindLevels = Mapping[str, Sequence[BlindLevel]]
"""World's name -> its scores without looking."""


def read_blind_levels(folder: Path) -> dict[str, list[BlindLevel]]:
    """World's name -> its score by random acts, and by the best act of all that were taken for
    ever; nothing where there is no record.

    Raises:
        ReportError: the record is damaged.
    """
    record = read_benchmark(folder / RECORD)
    found: dict[str, list[Mapping[str, Any]]] = {}
    for played in [] if record is None else record["plays"]:
        found.setdefault(world_of(played["env_id"], played["env_kwargs"]), []).append(played)
    return {world: _random_and_best(plays) for world, plays in found.items()}


def world_of(env_id: str, env_kwargs: Mapping[str, Any]) -> str:
    """The name of a game or grid, given or the id's own; "" in an environment that has neither."""
    arguments = {**spec_of(env_id).kwargs, **env_kwargs}
    return str(arguments.get("world") or arguments.get("game", ""))


def as_blind(group: Group, blind: BlindLevels) -> bool:
    """Whether no seed of a group scores more than the best of blind play in its world, as far as
    Welch's interval of the difference of episodes tells; False where that is not known."""
    levels = blind.get(world_of(group.first.env_id, group.first.env_kwargs), ())
    scores = [record.headline for record in group.records]
    if not levels or any(score.mean_return is None for score in scores):
        return False
    best = max(levels, key=lambda level: level.mean_return)
    return not any(_is_above(score, best) for score in scores)


def _is_above(score: Score, level: BlindLevel) -> bool:
    assert score.mean_return is not None
    if score.return_interval is None or level.interval is None:
        return score.mean_return > level.mean_return
    played = mean_of_episodes(score.mean_return, score.return_interval, score.episodes)
    blind = mean_of_episodes(level.mean_return, level.interval, level.episodes)
    return difference(played, blind)[0] > 0


def row_of_level(world: str, level: BlindLevel, heads: Sequence[str], link: str) -> dict[str, str]:
    """The row of a way to act without looking in a table whose first column are the worlds.

    Args:
        heads: of the table.
        link: to the record.
    """
    without = f"none: {level.acts}"
    known = {
        heads[0]: world,
        "gaze": without,
        "model": without,
        "bonus": "",
        "return": digits(level.mean_return),
        "interval": interval_cell(level.interval),
        "records": f"[{level.episodes} episodes]({link})",
    }
    return {head: known.get(head, UNKNOWN) for head in heads}


def interval_cell(interval: tuple[float, float] | None) -> str:
    """The interval of a mean return; equal returns tell nothing of how far others may lie."""
    if interval is None or interval[0] == interval[1]:
        return UNKNOWN
    return " to ".join(map(digits, interval))


def _random_and_best(plays: Sequence[Mapping[str, Any]]) -> list[BlindLevel]:
    by_chance = [play for play in plays if play["acts"] == RANDOM]
    others = [play for play in plays if play["acts"] != RANDOM]
    best = sorted(others, key=lambda play: play["mean_return"])[-1:]
    alike = len({play["mean_return"] for play in others}) == 1
    named = [("random acts", play) for play in by_chance]
    named += [("any one act" if alike else f"always {play['acts']}", play) for play in best]
    return [
        BlindLevel(
            acts,
            play["episodes"],
            play["mean_return"],
            None if play["return_interval"] is None else tuple(play["return_interval"]),
        )
        for acts, play in named
    ]
