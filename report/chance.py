"""What blind guesses earn, and which models did not begin to learn."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import gymnasium

from glimpse_envs.episodes.description import describe
from glimpse_envs.suite import SUITE, Row
from report.groups import Group
from report.markdown import listed


def scored_chance(row: Row) -> float:
    """The chance level, a mean return, in the test split."""
    with closing(gymnasium.make_vec(row.id, num_envs=1, split="test")) as env:
        return describe(env).chance


def blind_error(env_id: str) -> float | None:
    """The error in percent of blind guesses where an episode returns 1 for success, else 0; None in
    an environment of another package."""
    row = SUITE.get(env_id)
    return None if row is None else 100 * (1 - scored_chance(row))


def pays_for_success(groups: Sequence[Group]) -> bool:
    """Whether returns are the share of success, as far as they are recorded."""
    means = [(g.mean_return, g.mean(lambda r: r.headline.success)) for g in groups]
    return all(
        earned is None or success is None or abs(earned - success) < 1e-3
        for earned, success in means
    )


def mark_of_chance(high: float, blind: float | None) -> str:
    """What follows an error in a table whose interval, in percent, ends at `high`."""
    return " (at chance)" if blind is not None and high >= blind else ""


def at_chance(models: Sequence[str]) -> str:
    """The sentence about models, of which there is one or more, whose interval holds chance."""
    had, its = ("It had", "its") if len(models) == 1 else ("These had", "their")
    return f"At chance: {listed(models)}. {had} not begun to learn; {its} final error is unknown."
