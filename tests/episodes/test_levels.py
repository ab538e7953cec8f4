"""Which lengths are dealt: what shares the distributions draw, and when a curriculum goes on."""

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs.env import GlimpseVectorEnv
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
from glimpse_envs.testing import assert_same, random_actions
from tests.support.episodes import CENTRED, make_single, make_vector, passing

COPY, CHASE = "Glimpse/Copy-v0", "Glimpse/PointerChase-v0"
DRAWS = 100_000
TOP = 2**32 - 1  # the greatest word


def words(draws: int = DRAWS, seed: int = 0) -> NDArray[np.uint32]:
    return np.random.default_rng(seed).integers(2**32, size=(draws, WORDS), dtype=np.uint32)


def at_level(present: int, kind: type[Curriculum], least: int, greatest: int) -> Curriculum:
    """A curriculum that has come to the level `present`."""
    levels = kind(least, greatest)
    levels.load_state_dict({"present": present, "seen": 0, "solved": 0})
    return levels


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


@pytest.mark.parametrize("present", [1, 4, 10])
def test_most_distances_are_the_present_one(present: int) -> None:
    """10 % of all levels, 30 % from the least to C, 60 % C."""
    expected = {level: 0.10 / 10 for level in range(1, 11)}
    for level in range(1, present + 1):
        expected[level] += 0.30 / present
    expected[present] += 0.60
    levels = NearestLevels(1, 10)
    levels.load_state_dict({"present": present, "seen": 0, "solved": 0})
    assert_shares(levels, expected)


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


def record(levels: Curriculum, level: int, solved: int, failed: int) -> None:
    outcome = np.arange(solved + failed) < solved
    levels.record(np.full(solved + failed, level), outcome)


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


# --- in the environment --------------------------------------------------------------------------


def lengths_of(envs: GlimpseVectorEnv, **reset: Any) -> list[int]:
    found: list[int] = envs.reset(**reset)[1]["length"].tolist()
    return found


def test_only_what_can_be_dealt_is_set() -> None:
    envs = make_vector(COPY, 2, min_length=2, length=6)
    assert isinstance(envs.level_distribution, UniformLevels)
    for least, greatest in ((1, 6), (2, 7)):
        says = f"goes from {least} to {greatest}; this environment deals lengths from 2 to 6"
        with pytest.raises(ValueError, match=says):
            envs.level_distribution = ThresholdLevels(least, greatest)
    with pytest.raises(TypeError, match=r"such as MixtureLevels\(1, 10\) .*, not 'mixture'"):
        envs.level_distribution = "mixture"  # type: ignore[assignment]
    envs.level_distribution = ThresholdLevels(3, 4)
    assert set(lengths_of(envs, seed=0)) == {3}


def test_pictures_have_no_length() -> None:
    envs = make_vector(CENTRED, 2)
    assert envs.level_distribution is None
    with pytest.raises(ValueError, match="level_distribution: this environment has no lengths"):
        envs.level_distribution = UniformLevels(1, 2)
    with pytest.raises(ValueError, match=r"options\['length'\]: this environment has no lengths"):
        envs.reset(options={"length": 1})


@pytest.mark.parametrize("env_id", [COPY, CHASE])
@pytest.mark.parametrize("kind", LEVEL_DISTRIBUTIONS.values())
def test_a_rows_lengths_are_drawn_from_its_own_key(
    env_id: str, kind: type[LevelDistribution]
) -> None:
    def drawn(rows: int, seed: int = 4) -> NDArray[np.int64]:
        """(9, rows) of the first episodes."""
        envs = make_vector(env_id, rows, min_length=1, length=5)
        levels = kind(1, 5)
        if isinstance(levels, Curriculum):
            levels.load_state_dict({"present": 3, "seen": 0, "solved": 0})
        envs.level_distribution = levels
        first = lengths_of(envs, seed=seed)
        return np.array([first, *(lengths_of(envs) for _ in range(8))])

    whole = drawn(6)
    assert len(set(whole.ravel().tolist())) > 2
    np.testing.assert_array_equal(drawn(2), whole[:, :2])
    assert (drawn(6, seed=5) != whole).any()


def test_lengths_that_are_asked_for_are_dealt_once() -> None:
    envs = make_vector(CHASE, 4, length=5, autoreset_mode="Disabled")
    envs.level_distribution = ThresholdLevels(2, 5)
    assert lengths_of(envs, seed=0, options={"length": 4}) == [4, 4, 4, 4]
    assert lengths_of(envs, options={"length": np.array([1, 5, 3, 1])}) == [1, 5, 3, 1]
    assert lengths_of(envs) == [2, 2, 2, 2], "the next ones are drawn again"
    mask = np.array([True, False, False, True])
    assert lengths_of(envs, options={"length": 5, "reset_mask": mask})[::3] == [5, 5]


@pytest.mark.parametrize(
    ("length", "says"),
    [
        (0, "must lie between 1 and 5; it is 0"),
        (6, "must lie between 1 and 5; it is 6"),
        ([1, 2, 6], "must lie between 1 and 5"),
        ([1, 2], "must be an integer or 3 of them"),
        (2.0, r"must be an integer or 3 of them; it is 2\.0"),
        ([1, [2], 3], "must be an integer or 3 of them"),
        ("long", "must be an integer"),
        (True, "must be an integer"),
    ],
)
def test_a_length_that_cannot_be_is_refused_and_nothing_has_changed(length: Any, says: str) -> None:
    envs = make_vector(COPY, 3, length=5)
    envs.reset(seed=1)
    before = envs.state_dict()
    with pytest.raises(ValueError, match=rf"options\['length'\] {says}"):
        envs.reset(options={"length": length})
    assert_same(envs.state_dict(), before)


def test_copies_share_their_length() -> None:
    envs = make_vector(COPY, 6, copies=3, length=9)
    for _ in range(5):
        found = np.reshape(lengths_of(envs), (2, 3))
        assert (found == found[:, :1]).all()
    assert lengths_of(envs, options={"length": [2, 2, 2, 7, 7, 7]}) == [2, 2, 2, 7, 7, 7]
    with pytest.raises(ValueError, match="must be the same for all copies"):
        envs.reset(options={"length": [2, 2, 3, 7, 7, 7]})


def test_fixed_splits_do_not_follow_a_curriculum() -> None:
    usual, led = (make_vector(COPY, 200, split="validation", length=6) for _ in range(2))
    led.level_distribution = ThresholdLevels(1, 6)
    expected = lengths_of(usual, seed=0)
    assert set(expected) == {1, 2, 3, 4, 5, 6}
    assert lengths_of(led, seed=0) == expected


def test_the_single_environment_has_the_same_curriculum() -> None:
    env = make_single(COPY, length=6)
    envs = make_vector(COPY, 1, length=6)
    env.level_distribution = at_level(4, ThresholdLevels, 1, 6)
    envs.level_distribution = at_level(4, ThresholdLevels, 1, 6)
    assert env.level_distribution is env.batch.level_distribution
    alone = [int(env.reset(seed=seed)[1]["length"]) for seed in range(20)]
    assert alone == [lengths_of(envs, seed=[seed])[0] for seed in range(20)]
    assert set(alone) == {1, 2, 3, 4}
    assert int(env.reset(options={"length": 6})[1]["length"]) == 6
    with pytest.raises(ValueError, match=r"options\['length'\] must be an integer; it is \[2\]"):
        env.reset(options={"length": [2]})


def led() -> GlimpseVectorEnv:
    """Episodes under way of a curriculum that has learned something."""
    envs = make_vector(COPY, 5, length=8)
    envs.level_distribution = levels = MixtureLevels(1, 8, episodes=10)
    envs.reset(seed=2)
    record(levels, 1, solved=10, failed=0)
    record(levels, 2, solved=3, failed=1)
    rng = np.random.default_rng(0)
    for _ in range(7):
        envs.step(passing(envs, random_actions(envs, rng)))
    return envs


def assert_goes_on_alike(envs: GlimpseVectorEnv, other: GlimpseVectorEnv) -> None:
    rng, again = np.random.default_rng(1), np.random.default_rng(1)
    for _ in range(40):
        assert_same(other.step(random_actions(other, again)), envs.step(random_actions(envs, rng)))
    assert_same(other.state_dict(), envs.state_dict())


def test_a_saved_curriculum_goes_on_in_the_middle_of_episodes() -> None:
    envs = led()
    state = pickle.loads(pickle.dumps(envs.state_dict()))
    other = make_vector(COPY, 5, length=8)
    own = other.level_distribution
    assert own is not None
    for unlike in (own, MixtureLevels(1, 7, episodes=10), MixtureLevels(1, 8, episodes=11)):
        other.level_distribution = unlike
        with pytest.raises(ValueError, match=r"another kind of level_distribution, or .* set one"):
            other.load_state_dict(state)
    other.level_distribution = levels = MixtureLevels(1, 8, episodes=10)
    other.load_state_dict(state)
    assert levels.state_dict() == {"present": 2, "seen": 4, "solved": 3}
    assert_goes_on_alike(envs, other)


def test_a_pickle_keeps_its_curriculum() -> None:
    envs = led()
    other = pickle.loads(pickle.dumps(envs))
    assert isinstance(other.level_distribution, MixtureLevels)
    assert other.level_distribution.state_dict() == {"present": 2, "seen": 4, "solved": 3}
    assert other.level_distribution is not envs.level_distribution
    assert_goes_on_alike(envs, other)


class Drawing(UniformLevels):
    """Draws what it was given."""

    def __init__(self, drawn: Any) -> None:
        super().__init__(1, 10)
        self.drawn = drawn

    def draw(self, words: NDArray[np.uint32]) -> Any:
        return self.drawn


@pytest.mark.parametrize("env_id", [COPY, CHASE, "Glimpse/DictionaryLookup-v0"])
@pytest.mark.parametrize(
    "drawn",
    [[1, 11], [1, 10**6], [0, -1], [1], 1, [1.0, 2.0], [True, True], [[1], [2]], [1, [2]], None],
    ids=str,
)
def test_a_curriculum_cannot_draw_a_length_that_has_no_room(env_id: str, drawn: Any) -> None:
    envs = make_vector(env_id, 2, length=10, **({"cells": 16} if "Look" in env_id else {}))
    least, _ = envs.task.levels or (0, 0)
    levels = Drawing(drawn)
    levels.least = least
    envs.level_distribution = levels
    if drawn == [0, -1] and least == 0:
        drawn = levels.drawn = [-1, 0]
    with pytest.raises(ValueError, match=r"Drawing\.draw must return 2 integers from [01] to 10"):
        envs.reset(seed=0)
    levels.drawn = np.array([10, 1])
    assert envs.reset(seed=0)[1]["length"].tolist() == [10, 1]


@pytest.mark.parametrize(
    "change", [{"present": 11}, {"present": -1}, {"solved": 3}, {"seen": "2"}, {"present": 1.5}]
)
def test_a_curriculum_refuses_a_state_that_it_could_not_have(change: dict[str, Any]) -> None:
    levels = at_level(3, ThresholdLevels, 1, 10)
    before = levels.state_dict()
    with pytest.raises(ValueError, match="state"):
        levels.load_state_dict(before | change)
    assert levels.state_dict() == before
