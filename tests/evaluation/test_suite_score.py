"""The suite score is the inter-quartile mean of normalised scores, and its interval a bootstrap's
within tasks."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from glimpse_envs.evaluation.policy import Policy
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.evaluation.statistics import interquartile_mean
from glimpse_envs.evaluation.strata import stratified_interval, stratified_mean
from glimpse_envs.evaluation.suite import TASK_SETS, combine, score_suite
from glimpse_envs.suite import SUITE

TAPES = ("Glimpse/Copy-v0", "Glimpse/Reverse-v0")


def still(observation: dict[str, Any]) -> dict[str, Any]:
    """Always answers the same symbol, wherever a head is."""
    zeros = np.zeros(len(observation["remaining"]), np.int64)
    return {"look": zeros, "answer": zeros + 1}


def nothing(env_id: str) -> Any:
    return still


IN_NO_SET = {
    "of several objects, or that move": {
        "DigitPair", "DigitSum", "DigitSequence", "MegapixelMNIST", "MovingDigit", "Search",
        "DescribeScene",
    },
    "worlds": {"Catch"},
    "texts": {"Stories", "Babi"},
}  # fmt: skip


def test_each_id_is_in_a_set_or_left_out_for_a_reason() -> None:
    left_out = {f"Glimpse/{name}-v0" for names in IN_NO_SET.values() for name in names}
    in_sets = {env_id for name, ids in TASK_SETS.items() if name != "all" for env_id in ids}
    twins = {env_id for env_id in SUITE if "Glyphs" in env_id}
    assert in_sets | left_out | twins == SUITE.keys()
    assert not in_sets & (left_out | twins)
    assert sorted(TASK_SETS["all"]) == sorted(in_sets)


def test_a_single_policy_has_an_interval_over_episodes() -> None:
    found = score_suite(nothing, TAPES, episodes=50)
    assert [len(scores) for scores in found.tasks.values()] == [1, 1]
    each = [scores[0].normalised_score for scores in found.tasks.values()]
    assert found.score == pytest.approx(np.mean(each))
    assert found.interval[0] <= found.score <= found.interval[1]
    assert "inter-quartile mean" in found.summary()
    assert found.summary().endswith("so that training seeds do not count")
    assert all(env_id in found.summary() for env_id in TAPES)


def test_several_policies_have_an_interval_over_policies() -> None:
    alike = score_suite(lambda env_id: [still, still], TAPES, episodes=50)
    low, high = alike.interval
    assert low == pytest.approx(high), "equal policies leave nothing to draw but the same scores"
    assert alike.summary().endswith("over the policies of each task")


def test_one_task_of_a_single_policy_leaves_seeds_out_and_says_so() -> None:
    found = score_suite(
        lambda env_id: [still, still] if env_id == TAPES[0] else still, TAPES, episodes=50
    )
    assert found.summary().endswith("over episodes alone: a task has one policy, so that training "
                                    "seeds do not count")  # fmt: skip


def evaluated(*scores: float) -> list[Evaluation]:
    """Policies with normalised `scores`, of a task whose chance is 0 and whose ceiling is 1."""
    made = score_suite(nothing, TAPES[:1], episodes=200).tasks[TAPES[0]][0]
    noise = np.random.default_rng(0).normal(0, 0.1, 200)
    noise -= noise.mean()
    return [
        replace(made, scale=(0.0, 1.0), normalised_score=score, returns=score + noise)
        for score in scores
    ]


@pytest.mark.parametrize("seeds", [(6, 1), (6, 2), (1, 2, 3)])
def test_the_interval_is_of_the_score_whatever_the_number_of_policies(
    seeds: tuple[int, ...],
) -> None:
    """Policies near 1 on the first task and lower ones on the others."""
    spread = np.linspace(-0.01, 0.01, 6)
    tasks = {
        str(task): evaluated(*(1 / (1 + 9 * task) + spread[:count]))
        for task, count in enumerate(seeds)
    }
    found = combine(tasks)
    low, high = found.interval
    assert low <= found.score <= high
    assert high - low < 0.1
    if len(seeds) == 2:
        assert found.score == pytest.approx((1 + 0.1) / 2, abs=0.02)


def test_a_stratum_weighs_the_same_whatever_the_number_of_its_values() -> None:
    rng = np.random.default_rng(0)
    strata = [rng.normal(size=count) for count in (1, 2, 5)]
    repeated = [np.repeat(values, 40 // len(values)) for values in strata]
    of_all = interquartile_mean(np.concatenate(repeated))
    assert stratified_mean(strata) == pytest.approx(of_all)
    for times in (2, 3, 5):
        again = [np.repeat(values, times) for values in strata]
        assert stratified_mean(again) == pytest.approx(of_all), "as with one run of each"
    # Of three values a quarter of the least and of the greatest counts: the middle half of 3.
    assert stratified_mean([[0.0], [1.0], [5.0]]) == pytest.approx((1 + 5 / 4) / 1.5)
    with pytest.raises(ValueError, match="must be finite"):
        stratified_mean([[1.0, np.nan], [2.0]])
    with pytest.raises(ValueError, match="with n at least 1"):
        stratified_mean([np.zeros(2), np.zeros(0)])


def test_unlike_numbers_of_episodes_cannot_be_drawn_together() -> None:
    """Where each task has several policies, episodes are not drawn."""
    one, other = evaluated(0.5, 0.6)
    fewer = replace(other, episodes=100, returns=other.returns[:100])
    assert combine({"first": [one, fewer], "second": [one, fewer]}).score == pytest.approx(0.55)
    with pytest.raises(ValueError, match="policies played 100 and 200 episodes of first: they"):
        combine({"first": [one, fewer], "second": [one]})


def test_what_changes_a_task_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Copy-v0 with length=3 is another task"):
        score_suite(nothing, TAPES, env_kwargs={"Glimpse/Copy-v0": {"length": 3}})
    with pytest.raises(ValueError, match=r"tasks='tapes' must be one of pictures, memory, all"):
        score_suite(nothing, "tapes")
    with pytest.raises(ValueError, match=r"'Glimpse/Copy-v0' is an id: .*\('Glimpse/Copy-v0',\)"):
        score_suite(nothing, TAPES[0])
    with pytest.raises(ValueError, match="each once"):
        score_suite(nothing, (TAPES[0], TAPES[0]))
    with pytest.raises(ValueError, match="has no policy"):
        score_suite(lambda env_id: [], TAPES)
    with pytest.raises(ValueError, match="of no task"):
        combine({})


class Predicting:
    """What has a memory."""

    def predict(self, observation: Any, **_: Any) -> Any:
        return still(observation), None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (still, "called with 'Glimpse/Copy-v0' it raised: string indices must be"),
        (Predicting(), "give lambda env_id: policy, in place of <.*Predicting"),
        (None, "give lambda env_id: policy, in place of None"),
        (lambda env_id: None, "for 'Glimpse/Copy-v0' it returned None: .* NoneType is neither"),
        (lambda env_id: "still", "it returned 'still': .* str is neither"),
        (lambda env_id: [still, 3], "int is neither"),
    ],
)
def test_what_makes_no_policy_is_told_of_ids(given: Any, message: str) -> None:
    start = r"make_policies must take an id and return its policy: "
    with pytest.raises(TypeError, match=f"{start}.*{message}"):
        score_suite(given, TAPES, episodes=5)


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
    assert stratified_mean([[1.0, 2.0], [3.0]]) == 2.5, "lists of lists are strata, too"
    assert stratified_interval([[0.0] * 5, [1.0] * 5]) == (0.5, 0.5)
    low, high = stratified_interval([np.zeros(5), np.ones(5)])
    assert low == high == 0.5
    rng = np.random.default_rng(0)
    strata = [rng.normal(task, 0.1, 400) for task in range(4)]
    low, high = stratified_interval([values[None] for values in strata])
    error = 0.1 / np.sqrt(400 * 2)  # of the mean of the two tasks in the middle
    assert (high - low) / (2 * 1.96 * error) == pytest.approx(1, abs=0.1)
    assert low < 1.5 < high
    with pytest.raises(ValueError, match="with at least 2 entries"):
        stratified_interval([np.zeros(5), np.ones(1)])


TWO_SEEDS = [(2, 0.05)] * 7
ONE_OF_TWO_SEEDS = [*[(5, 0.03)] * 4, (2, 0.15), *[(5, 0.03)] * 4]


@pytest.mark.parametrize("tasks", [TWO_SEEDS, ONE_OF_TWO_SEEDS])
def test_the_interval_of_few_training_seeds_covers_the_truth(tasks: list[Any]) -> None:
    """Seeds and spread of each task: a plain percentile bootstrap holds it 75 times, and with one
    stretch for all strata, unlike as they are, 68 times."""
    rng = np.random.default_rng(0)
    levels = np.linspace(0.2, 0.9, len(tasks))

    def drawn(seeds: int | None = None) -> list[Any]:
        return [
            level + spread * rng.normal(size=seeds or few)
            for level, (few, spread) in zip(levels, tasks, strict=True)
        ]

    truth = stratified_mean(drawn(20_000))
    held = 0
    for trial in range(100):
        low, high = stratified_interval(drawn(), resamples=200, seed=trial)
        held += low <= truth <= high
    assert held >= 88
