"""The suite score is the inter-quartile mean of normalised scores, and its interval a bootstrap's
within tasks."""

from typing import Any

import numpy as np
import pytest

import glimpse_envs  # noqa: F401  (registers the environments)
from glimpse_envs.evaluation.policy import Policy
from glimpse_envs.evaluation.statistics import stratified_interval
from glimpse_envs.evaluation.suite import TASK_SETS, combine, score_suite
from glimpse_envs.suite import SUITE

TAPES = ("Glimpse/Copy-v0", "Glimpse/Reverse-v0")


def still(observation: dict[str, Any]) -> dict[str, Any]:
    """Always answers the same symbol, wherever a head is."""
    zeros = np.zeros(len(observation["remaining"]), np.int64)
    return {"look": zeros, "answer": zeros + 1}


def nothing(env_id: str) -> Any:
    return still


def test_sets_are_of_the_suite_and_all_is_both() -> None:
    assert TASK_SETS["all"] == TASK_SETS["pictures"] + TASK_SETS["memory"]
    for ids in TASK_SETS.values():
        assert set(ids) <= SUITE.keys()


def test_a_single_policy_has_an_interval_over_episodes() -> None:
    found = score_suite(nothing, TAPES, episodes=50)
    assert [len(scores) for scores in found.tasks.values()] == [1, 1]
    each = [scores[0].normalised_score for scores in found.tasks.values()]
    assert found.score == pytest.approx(np.mean(each))
    assert found.interval[0] <= found.score <= found.interval[1]
    assert "inter-quartile mean" in found.summary()
    assert all(env_id in found.summary() for env_id in TAPES)


def test_several_policies_have_an_interval_over_policies() -> None:
    alike = score_suite(lambda env_id: [still, still], TAPES, episodes=50)
    low, high = alike.interval
    assert low == pytest.approx(high), "equal policies leave nothing to draw but the same scores"


def test_what_changes_a_task_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Copy-v0 with length=3 is another task"):
        score_suite(nothing, TAPES, env_kwargs={"Glimpse/Copy-v0": {"length": 3}})
    with pytest.raises(ValueError, match=r"tasks='tapes' must be one of pictures, memory, all"):
        score_suite(nothing, "tapes")
    with pytest.raises(ValueError, match="each once"):
        score_suite(nothing, (TAPES[0], TAPES[0]))
    with pytest.raises(ValueError, match="has no policy"):
        score_suite(lambda env_id: [], TAPES)
    with pytest.raises(ValueError, match="of no task"):
        combine({})


def test_a_policy_of_the_full_view_is_shown_everything() -> None:
    class Reader(Policy):
        view = "full"

        def predict(self, observation: Any, state: Any = None, *_: Any, **__: Any) -> Any:
            assert "scene" in observation
            return {"answer": np.zeros(len(observation["scene"]), np.int64)}, None

    score = score_suite(lambda env_id: Reader(), ("Glimpse/CenteredGlyphs-v0",), episodes=20)
    assert score.tasks["Glimpse/CenteredGlyphs-v0"][0].env_kwargs == {"view": "full"}


def test_strata_are_drawn_apart() -> None:
    """Drawing within tasks leaves the difference between tasks out of the interval."""
    low, high = stratified_interval([np.zeros(5), np.ones(5)])
    assert low == high == 0.5
    rng = np.random.default_rng(0)
    strata = [rng.normal(task, 0.1, 400) for task in range(4)]
    low, high = stratified_interval(strata, means=True)
    error = 0.1 / np.sqrt(400 * 2)  # of the mean of the two tasks in the middle
    assert (high - low) / (2 * 1.96 * error) == pytest.approx(1, abs=0.1)
    assert low < 1.5 < high
    with pytest.raises(ValueError, match="each needs at least 2"):
        stratified_interval([np.zeros(5), np.ones(1)])
