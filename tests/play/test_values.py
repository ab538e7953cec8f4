"""What the value of an agent is said to estimate is what its training pays."""

from contextlib import closing
from typing import Any

import gymnasium as gym
import pytest

from agents.play.values import value_meaning
from glimpse_envs.episodes.description import describe

PAID = {"answer_by": "label", "look_signal": "probability", "baseline_weight": 0.5}
PLAIN = "the return still to come"


@pytest.mark.parametrize(
    ("task", "config", "meaning"),
    [
        ("CenteredGlyphs", PAID | {"look_signal": "reward"}, PLAIN),
        ("CenteredGlyphs", PAID | {"answer_by": "reward"}, PLAIN),
        ("CenteredGlyphs", PAID, f"{PLAIN}, with right answers paid by their probability"),
        ("SearchGlyphs", PAID, f"{PLAIN}, with right stops paid by their probability"),
        (
            "DescribeSceneGlyphs",
            PAID,
            f"{PLAIN}, plus the mean over right answers of their probability",
        ),
        (
            "DigitPairGlyphs",
            PAID | {"look_signal": "log_likelihood", "look_gain": True},
            f"{PLAIN}, with right answers paid by their log-likelihood, less what the present "
            "answer would earn",
        ),
        ("Catch", {**PAID, "discount": 0.9}, f"{PLAIN}, discounted by 0.9 a step"),
        ("Catch", {**PAID, "curiosity": "rnd"}, f"{PLAIN}, without the bonus for curiosity"),
        (
            "Catch",
            {**PAID, "sugarl_weight": 0.1},
            f"{PLAIN}, less the costs of acts that the glimpses do not show",
        ),
        (
            "CenteredGlyphs",
            {"objective": "marginal_likelihood", "paths": "next", "baseline_weight": 0.5},
            f"{PLAIN}, with right answers paid by their log-likelihood",
        ),
        ("CenteredGlyphs", {"objective": "hybrid", "paths": "all", "baseline_weight": 0.5}, None),
        ("CenteredGlyphs", PAID | {"baseline": "leave_one_out"}, None),
        ("CenteredGlyphs", PAID | {"baseline_weight": 0.0}, None),
    ],
)
def test_a_value_is_named_by_what_was_paid(
    task: str, config: dict[str, Any], meaning: str | None
) -> None:
    with closing(gym.make(f"Glimpse/{task}-v0")) as env:
        assert value_meaning("reinforce", config, describe(env)) == meaning
        assert value_meaning("straight_through", config, describe(env)) is None
