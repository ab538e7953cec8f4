"""What blind guesses earn, and which models are hardly better."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import gymnasium

from glimpse_envs.episodes.description import describe
from glimpse_envs.suite import SUITE, Row
from report.groups import Group
from report.markdown import listed

NEAR = 3.0
"""Points of error, in percent, by which what is near chance is better than it."""
NEAR_CHANCE = (
    "*Near chance*: the interval of the error ends at most "
    f"{NEAR:g} points under the error of blind guesses."
)


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


def is_near_chance(high: float, blind: float | None) -> bool:
    """Whether an interval of errors in percent, which ends at `high`, shows hardly any learning."""
    return blind is not None and high >= blind - NEAR


def mark_of_chance(high: float, blind: float | None) -> str:
    """What follows an error in a table whose interval, in percent, ends at `high`."""
    return " (near chance)" if is_near_chance(high, blind) else ""


def near_chance(models: Sequence[str]) -> str:
    """The sentence about models, of which there is one or more, that are near chance."""
    its = "its" if len(models) == 1 else "their"
    return (
        f"Near chance, with an interval that ends at most {NEAR:g} points under the error of blind "
        f"guesses: {listed(models)}. This shows what {its} training costs, not {its} error after "
        "longer training, which is unknown."
    )
