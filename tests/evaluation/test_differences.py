"""Differences of models that were played on the same scenes."""

from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from glimpse_envs.evaluation.differences import compare, difference_interval
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.evaluation.result import Evaluation
from tests.evaluation.test_tape_scores import COPY, TAPES, Copier

PICTURES = "Glimpse/CenteredGlyphs-v0"


def played(env_id: str, **env_kwargs: Any) -> Evaluation:
    """Of a policy whose actions are zeros."""
    space = gym.make(env_id, **env_kwargs).action_space
    parts = space.spaces if isinstance(space, spaces.Dict) else {"act": space}

    def zeros(observation: Any) -> Any:
        rows = len(next(iter(observation.values())))
        return {n: np.zeros((rows, *(p.shape or ())), p.dtype) for n, p in parts.items()}

    return evaluate(zeros, env_id, episodes=20, **env_kwargs)


NORMAL = 1.959964  # the 97.5 % point


def test_the_interval_of_two_runs_is_agresti_and_mins() -> None:
    """By hand: of ten images the first errs alone on three, the second on one."""
    one = np.array([[0, 0, 0, 1, 1, 1, 1, 1, 1, 0]], np.bool_)
    two = np.array([[1, 1, 1, 0, 1, 1, 1, 1, 1, 0]], np.bool_)
    worse, better, images = 3.5, 1.5, 12
    middle = (worse - better) / images
    half = NORMAL * np.sqrt(worse + better - (worse - better) ** 2 / images) / images
    expected = pytest.approx((middle - half, middle + half), abs=1e-6)
    assert difference_interval(one, two) == expected
    low, high = difference_interval(two, one)
    assert (-high, -low) == expected


def test_equal_runs_do_not_differ_for_sure() -> None:
    low, high = difference_interval(np.ones((1, 50), np.bool_), np.ones((1, 50), np.bool_))
    assert low == -high < 0


def simulated(rng: np.random.Generator, images: int, *errors: float) -> list[np.ndarray]:
    """One run of each error rate, (1, images), on images of which some are hard for all."""
    hard = rng.beta(0.3, 3.0, images)
    hard /= hard.mean()
    return [rng.random((1, images)) >= np.clip(hard * error, 0, 1) for error in errors]


def test_the_interval_of_two_runs_holds_the_truth_as_often_as_it_says() -> None:
    """And it is narrower than one of unpaired error rates would be."""
    rng, held, widths = np.random.default_rng(0), 0, []
    hard = rng.beta(0.3, 3.0, 1_000_000)
    hard /= hard.mean()
    truth = float((np.clip(0.05 * hard, 0, 1) - np.clip(0.08 * hard, 0, 1)).mean())
    for _ in range(400):
        one, two = simulated(rng, 500, 0.05, 0.08)
        low, high = difference_interval(one, two)
        held += low <= truth <= high
        unpaired = NORMAL * np.sqrt(sum(rate * (1 - rate) for rate in (one.mean(), two.mean())))
        widths.append((high - low) / (2 * unpaired / np.sqrt(500)))
    assert 0.92 <= held / 400 <= 0.98
    assert np.mean(widths) < 0.97


def test_the_interval_of_several_seeds_is_of_images_and_seeds() -> None:
    """Seeds that differ widen it; images that are hard for all do not."""
    rng = np.random.default_rng(1)
    alike = np.repeat(rng.random((1, 400)) < 0.8, 5, axis=0)
    better = alike | (rng.random((1, 400)) < 0.5)
    low, high = difference_interval(alike, better)
    gained = float(better.mean() - alike.mean())
    assert 0 < low < gained < high
    narrow = high - low
    several = alike.copy()
    several[0] = ~several[0]
    several[1] = True
    low, high = difference_interval(several, better)
    assert high - low > 2 * narrow
    assert difference_interval(several, better) == (low, high)


def test_the_images_of_several_seeds_are_paired() -> None:
    """Of models that differ on few images, the same images are drawn for both."""
    alike = np.repeat(np.random.default_rng(0).random((1, 400)) < 0.7, 5, axis=0)
    other = alike.copy()
    other[:, :8] = ~other[:, :8]
    paired = np.ptp(difference_interval(alike, other))
    apart = np.ptp(difference_interval(alike, np.roll(other, 100, axis=1)))
    assert paired < 0.5 * apart


ALL_RIGHT = np.ones((5, 50), np.bool_)


@pytest.mark.parametrize("two", [ALL_RIGHT, ~ALL_RIGHT, ALL_RIGHT[:2]])
def test_where_nothing_varies_the_interval_is_that_of_one_run_each(two: np.ndarray) -> None:
    low, high = difference_interval(ALL_RIGHT, two)
    assert (low, high) == difference_interval(ALL_RIGHT[:1], two[:1])
    assert low < high


def test_seeds_that_all_answer_alike_are_compared_without_being_sure() -> None:
    some = np.repeat(np.arange(50)[None] % 5 > 0, 3, axis=0)
    low, high = difference_interval(some, some)
    assert low == -high < 0


@pytest.mark.parametrize(
    ("one", "two", "message"),
    [
        (ALL_RIGHT[:1], ALL_RIGHT, "correct has 1 run and other has 5 runs.*several of each"),
        (ALL_RIGHT[:2], ALL_RIGHT[:1], "correct has 2 runs and other has 1 run: a single run"),
        (np.ones((1, 3), np.bool_), np.ones((1, 4), np.bool_), "of 3 images and other of 4"),
        (np.ones((1, 3)), np.ones((1, 3), np.bool_), r"correct is float64 \(1, 3\)"),
        (np.ones((1, 3), np.bool_), np.ones(3, np.bool_), r"other is bool \(3,\)"),
    ],
)
def test_arrays_that_cannot_be_compared_are_refused(one: Any, two: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        difference_interval(one, two)


def test_two_evaluations_are_compared_in_words() -> None:
    sound, lapsing = (
        evaluate(copier, COPY, episodes=40, **TAPES)
        for copier in (Copier(), Copier(lapses=1, how="err"))
    )
    assert compare(sound, lapsing).startswith("success +100.00 points, 95 % interval +")
    assert compare(sound, lapsing).endswith("(above 0)")
    assert compare(lapsing, sound).endswith("(under 0)")
    assert compare(sound, sound).endswith("(contains 0)")
    paid = [replace(one, successes=None) for one in (sound, lapsing)]
    gain = float((sound.returns - lapsing.returns).mean())
    assert compare(*paid).startswith(f"return {gain:+.2f}, 95 % interval")
    with pytest.raises(ValueError, match="episodes is 40 of one and 20 of the other"):
        compare(sound, evaluate(Copier(), COPY, episodes=20, **TAPES))


@pytest.mark.parametrize(
    ("env_id", "other", "message"),
    [
        (COPY, {"length": 9}, "length is 5 of one and 9 of the other"),
        (PICTURES, {"scene_size": 40}, "scene_size is 28 of one and 40 of the other"),
        ("CartPole-v1", {"sutton_barto_reward": True}, "sutton_barto_reward is None of one and"),
    ],
)
def test_evaluations_of_unlike_tasks_are_not_compared(
    env_id: str, other: dict[str, Any], message: str
) -> None:
    of_both = {"length": 5, "min_length": 5} if env_id == COPY else {}
    one, two = (played(env_id, **{**of_both, **changed}) for changed in ({}, other))
    with pytest.raises(ValueError, match=message):
        compare(one, two)


def test_a_scene_without_a_source_is_compared() -> None:
    one, two = played("Glimpse/CircleSquare-v0"), played("Glimpse/CircleSquare-v0", budget=3)
    assert compare(one, two).startswith("success ")
    with pytest.raises(ValueError, match="scene_size is 28 of one and 60 of the other"):
        compare(one, played("Glimpse/CircleSquare-v0", scene_size=60))


@pytest.mark.parametrize(
    "other", [{"budget": 6}, {"budget": 3}, {"scales": 2, "glimpse_size": 5}, {"view": "full"}]
)
def test_unlike_views_of_a_task_are_compared(other: dict[str, Any]) -> None:
    one, two = played(PICTURES), played(PICTURES, **other)
    assert compare(one, two).startswith("success +0.00 points")
