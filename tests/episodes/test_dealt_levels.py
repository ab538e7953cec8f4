"""Which lengths an environment deals: by its own or a given distribution, or as a reset asks."""

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.episodes.levels import (
    LEVEL_DISTRIBUTIONS,
    Curriculum,
    LevelDistribution,
    MixtureLevels,
    ThresholdLevels,
    UniformLevels,
)
from glimpse_envs.testing import assert_same, random_actions
from tests.support.episodes import CENTRED, make_single, make_vector, passing
from tests.support.levels import at_level, record

COPY, CHASE = "Glimpse/Copy-v0", "Glimpse/PointerChase-v0"


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
