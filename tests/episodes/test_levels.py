"""Which lengths are dealt: what shares the distributions draw, and when a curriculum goes on."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs.episodes.levels import (
    LEVEL_DISTRIBUTIONS,
    WORDS,
    Curriculum,
    LevelDistribution,
    MixtureLevels,
    NearestLevels,
    ThresholdLevels,
    UniformLevels,
)
from tests.support.levels import at_level, record

DRAWS = 100_000
TOP = 2**32 - 1  # the greatest word


def words(draws: int = DRAWS, seed: int = 0) -> NDArray[np.uint32]:
    return np.random.default_rng(seed).integers(2**32, size=(draws, WORDS), dtype=np.uint32)


def assert_shares(levels: LevelDistribution, expected: dict[int, float]) -> None:
    """Hold what is drawn to the shares `expected` by Pearson's chi-square."""
    drawn = levels.draw(words())
    assert drawn.dtype == np.int64
    found = np.array([(drawn == level).sum() for level in expected])
    assert found.sum() == DRAWS, "no other level is drawn"
    wanted = DRAWS * np.array(list(expected.values()))
    assert wanted.sum() == pytest.approx(DRAWS)
    freedom = len(expected) - 1
    # Of mean `freedom` and variance 2 `freedom`: five deviations above the mean.
    assert ((found - wanted) ** 2 / wanted).sum() < freedom + 5 * np.sqrt(2 * freedom)


def uniform(least: int, greatest: int) -> dict[int, float]:
    return {level: 1 / (greatest - least + 1) for level in range(least, greatest + 1)}


# --- what is drawn -------------------------------------------------------------------------------


@pytest.mark.parametrize(("least", "greatest"), [(0, 1), (1, 10), (3, 9)])
def test_uniform_levels_are_all_alike(least: int, greatest: int) -> None:
    levels = UniformLevels(least, greatest)
    assert_shares(levels, uniform(least, greatest))
    levels.record(np.full(10_000, greatest), np.ones(10_000, np.bool_))
    assert_shares(levels, uniform(least, greatest))


@pytest.mark.parametrize("present", [2, 3, 6, 8])
def test_threshold_levels_are_uniform_up_to_the_present_one(present: int) -> None:
    if present == 2:
        assert set(ThresholdLevels(2, 8).draw(words(1000)).tolist()) == {2}
        return
    assert_shares(at_level(present, ThresholdLevels, 2, 8), uniform(2, present))


@pytest.mark.parametrize("present", [1, 4, 10])
def test_the_mixture_has_the_shares_of_the_paper(present: int) -> None:
    """10 % of all levels, 25 % from the least to C + e, 65 % C + e; P(e) = 2^-(e + 1)."""
    least, greatest = 1, 10
    expected = {level: 0.10 / greatest for level in range(least, greatest + 1)}
    beyond = {present + e: 0.5 ** (e + 1) for e in range(greatest - present)}
    beyond[greatest] = 1 - sum(beyond.values())  # the tail is cut at the greatest level
    for top, share in beyond.items():
        expected[top] += 0.65 * share
        for level in range(least, top + 1):
            expected[level] += 0.25 * share / (top - least + 1)
    assert_shares(at_level(present, MixtureLevels, least, greatest), expected)


@pytest.mark.parametrize("present", [1, 4, 9])
def test_most_distances_are_the_present_one(present: int) -> None:
    """10 % of all levels, 30 % from the least to C, 60 % C."""
    expected = {level: 0.10 / 10 for level in range(1, 11)}
    for level in range(1, present + 1):
        expected[level] += 0.30 / present
    expected[present] += 0.60
    levels = NearestLevels(1, 10)
    levels.load_state_dict({"present": present, "seen": 0, "solved": 0})
    assert_shares(levels, expected)


def test_no_distance_but_the_greatest_is_dealt_once_it_is_reached() -> None:
    levels = NearestLevels(1, 10)
    levels.load_state_dict({"present": 10, "seen": 0, "solved": 0})
    drawn = levels.draw(words())
    assert drawn.dtype == np.int64
    assert (drawn == 10).all()


@pytest.mark.parametrize("kind", LEVEL_DISTRIBUTIONS.values())
def test_no_word_leads_out_of_the_range(kind: type[LevelDistribution]) -> None:
    corners = np.array(
        [(a, b, c) for a in (0, TOP) for b in (0, TOP) for c in (0, 1, 2**31 - 1, 2**31, TOP)],
        np.uint32,
    )
    corners = np.concatenate([corners, corners | [[2**29, 0, 0]]]).astype(np.uint32)  # each part
    for least, greatest in ((1, 1), (2, 5), (0, 1000)):
        drawn = kind(least, greatest).draw(corners)
        assert (drawn >= least).all()
        assert (drawn <= greatest).all()


def test_a_word_that_ends_a_share_is_of_the_next() -> None:
    """The extremes of each word, of the part that takes the level C + e itself."""
    levels = at_level(3, MixtureLevels, 1, 100)
    beyond = np.array([TOP, 2**31, 2**31 - 1, 2**30, 2**30 - 1, 1, 0], np.uint32)
    whole = np.stack([np.full_like(beyond, TOP), np.zeros_like(beyond), beyond], axis=1)
    assert (levels.draw(whole) - 3).tolist() == [0, 0, 1, 1, 2, 31, 32]


def test_drawing_learns_nothing() -> None:
    for kind in LEVEL_DISTRIBUTIONS.values():
        levels = kind(1, 9)
        first, before = levels.draw(words(100)), levels.state_dict()
        np.testing.assert_array_equal(levels.draw(words(100)), first)
        assert levels.state_dict() == before


# --- when it goes on -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [ThresholdLevels, MixtureLevels])
def test_the_present_level_grows_when_enough_of_it_is_solved(kind: type[Curriculum]) -> None:
    levels = kind(1, 3, solve_share=0.8, episodes=10)
    record(levels, 1, solved=9, failed=0)
    assert levels.present == 1, "nine are not yet enough"
    record(levels, 1, solved=0, failed=1)
    assert levels.present == 2
    record(levels, 2, solved=7, failed=3)
    assert levels.present == 2, "70 % are too few"
    record(levels, 2, solved=5, failed=0)
    assert levels.present == 2, "it is counted anew"
    record(levels, 2, solved=3, failed=2)
    assert levels.present == 3, "80 % are just enough"
    record(levels, 3, solved=10, failed=0)
    assert levels.present == 3, "it is the greatest"


def test_a_share_that_is_met_exactly_is_met() -> None:
    levels = ThresholdLevels(1, 5, solve_share=0.55, episodes=100)
    record(levels, 1, solved=54, failed=46)
    assert levels.present == 1
    record(levels, 1, solved=55, failed=45)
    assert levels.present == 2, "0.55 * 100 is above 55 in floating point"


def test_only_the_present_level_counts() -> None:
    levels = ThresholdLevels(1, 5, solve_share=1.0, episodes=4)
    for other in (2, 3, 5):
        record(levels, other, solved=100, failed=0)
        record(levels, other, solved=0, failed=100)
    assert levels.state_dict() == {"present": 1, "seen": 0, "solved": 0}
    mixed = np.array([1, 2, 1, 5, 1, 1])
    levels.record(mixed, mixed == 1)
    assert levels.present == 2


@pytest.mark.parametrize("solved", [[1.0, 0.0], [1, 0], [True], True])
def test_what_is_no_flag_for_each_level_is_not_recorded(solved: Any) -> None:
    levels = ThresholdLevels(1, 5)
    with pytest.raises(ValueError, match=r"solved is .*; it must be bool \(2,\)"):
        levels.record(np.array([1, 2]), solved)
    assert levels.state_dict() == {"present": 1, "seen": 0, "solved": 0}


@pytest.mark.parametrize("kind", [ThresholdLevels, MixtureLevels])
def test_what_was_learned_is_saved_and_goes_on(kind: type[Curriculum]) -> None:
    levels = kind(1, 9, episodes=10)
    record(levels, 1, solved=10, failed=0)
    record(levels, 2, solved=8, failed=1)
    other = kind(1, 9, episodes=10)
    other.load_state_dict(levels.state_dict())
    assert other.state_dict() == levels.state_dict() == {"present": 2, "seen": 9, "solved": 8}
    np.testing.assert_array_equal(other.draw(words(1000)), levels.draw(words(1000)))
    record(other, 2, solved=0, failed=1)
    assert other.present == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"least": -1, "greatest": 3}, "least=-1"),
        ({"least": 4, "greatest": 3}, "least=4 must be at most greatest=3"),
        ({"least": 1, "greatest": 2.5}, r"greatest=2\.5"),
        ({"least": 1, "greatest": 3, "episodes": 0}, "episodes=0"),
        ({"least": 1, "greatest": 3, "solve_share": 0.0}, r"solve_share=0\.0 must be .* above 0"),
        ({"least": 1, "greatest": 3, "solve_share": 1.1}, r"solve_share=1\.1 must be"),
        ({"least": 1, "greatest": 3, "solve_share": "most"}, "solve_share='most' must be a number"),
    ],
)
def test_what_cannot_be_is_named(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        ThresholdLevels(**arguments)
