"""Which tables are dealt: by which keys, of which length, in which split, to which copies."""

from typing import Any

import numpy as np
import pytest

from glimpse_envs.episodes.levels import ThresholdLevels
from glimpse_envs.testing import assert_same, first_rows
from tests.support.episodes import make_single, make_vector, oracle, row_of
from tests.support.table_episodes import LENGTHS, SHORTEST, TABLES, looking, passing, whole_table


@pytest.fixture(params=TABLES)
def env_id(request: pytest.FixtureRequest) -> str:
    """Each table in turn."""
    name: str = request.param
    return name


# --- keys, copies, states ------------------------------------------------------------------------


def rollout(envs: Any, rng: np.random.Generator, steps: int = 12) -> tuple[Any, ...]:
    return tuple(envs.step(passing(envs, rng)) for _ in range(steps))


def test_episodes_depend_neither_on_the_number_of_rows_nor_on_their_batch(env_id: str) -> None:
    many, few = make_vector(env_id, 6), make_vector(env_id, 2)
    assert_same(first_rows(many.reset(seed=7), 2), few.reset(seed=7))
    rng = np.random.default_rng(0)
    for _ in range(20):
        actions = passing(many, rng)
        *found, info = many.step(actions)
        *expected, expected_info = few.step(first_rows(actions, 2))
        assert_same(first_rows(tuple(found), 2), tuple(expected))
        for name in ("target_cell", "length"):
            np.testing.assert_array_equal(info[name][:2], expected_info[name])


def test_the_single_environment_is_a_batch_of_one(env_id: str) -> None:
    envs, single = make_vector(env_id, 2, autoreset_mode="Disabled"), make_single(env_id)
    batched, _ = envs.reset(seed=[3, 4])
    observation, info = single.reset(seed=4)
    assert_same(observation, row_of(batched, 1))
    done = False
    while not done:
        actions = oracle(envs, batched)
        observation, reward, done, _, info = single.step(row_of(actions, 1))
        if envs.ended[0]:
            break
        batched, rewards, terminated, _, expected_info = envs.step(actions)
        assert_same(observation, row_of(batched, 1))
        assert (reward, done) == (rewards[1], terminated[1])
        assert info["target_cell"] == expected_info["target_cell"][1]
        if terminated.any():
            break


def test_equal_seeds_deal_equal_tables_and_others_do_not(env_id: str) -> None:
    one, target = whole_table(env_id, 50, 11)
    again, same = whole_table(env_id, 50, 11)
    other, _ = whole_table(env_id, 50, 12)
    assert_same(one, again)
    np.testing.assert_array_equal(target, same)
    assert not any((one["scene"][i] == other["scene"][i]).all() for i in range(50))
    assert len({one["scene"][i].tobytes() for i in range(50)}) == 50


def test_the_full_view_asks_what_glimpses_are_asked(env_id: str) -> None:
    _, target = whole_table(env_id, 40, 5)
    full, envs = make_vector(env_id, 40, view="full"), make_vector(env_id, 40)
    assert_same(full.reset(seed=5)[1]["length"], envs.reset(seed=5)[1]["length"])
    info = envs.step(looking(envs, 0, target))[4]
    np.testing.assert_array_equal(info["final_info"]["target"], target)


def test_copies_share_the_table_and_act_each_for_itself(env_id: str) -> None:
    envs = make_vector(env_id, 6, copies=3, min_length=3, autoreset_mode="Disabled")
    plain = make_vector(env_id, 6, min_length=3, autoreset_mode="Disabled")
    assert_same(envs.reset(seed=[5, 5, 5, 6, 6, 6])[0], plain.reset(seed=[5, 5, 5, 6, 6, 6])[0])
    rng = np.random.default_rng(0)
    for _ in range(3):
        actions = passing(envs, rng)
        *found, info = envs.step(actions)
        *expected, expected_info = plain.step(actions)
        assert_same(tuple(found), tuple(expected))
        assert_same({name: info[name] for name in expected_info}, expected_info)


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("split", ["train", "test"])
def test_a_state_goes_on_exactly_elsewhere(env_id: str, split: str, copies: int) -> None:
    envs = make_vector(env_id, 6, split=split, copies=copies)
    other = make_vector(env_id, 6, split=split, copies=copies)
    envs.reset(seed=1)
    other.reset(seed=2)
    rollout(envs, np.random.default_rng(0), 9)
    other.load_state_dict(envs.state_dict())
    mine = rollout(envs, np.random.default_rng(1))
    assert_same(rollout(other, np.random.default_rng(1)), mine)


# --- splits and lengths --------------------------------------------------------------------------


def test_fixed_splits_hold_10000_tables_of_their_own(env_id: str) -> None:
    assert make_vector(env_id, 1).num_scenes is None
    shown = []
    for split in ("validation", "test"):
        envs = make_vector(env_id, 30, split=split, view="full", autoreset_mode="Disabled")
        assert envs.num_scenes == 10_000
        observation, info = envs.reset(seed=0)
        np.testing.assert_array_equal(info["scene"], np.arange(30))
        shown.append(observation["scene"])
        asked = np.arange(30)[::-1].copy()
        backwards, info = envs.reset(seed=0, options={"scene": asked})
        np.testing.assert_array_equal(info["scene"], asked)
        np.testing.assert_array_equal(backwards["scene"], observation["scene"][::-1])
        with pytest.raises(ValueError, match=r"between 0 and 9999; it is 10000"):
            envs.reset(options={"scene": 10_000})
    train, _ = whole_table(env_id, 30, 0)
    shown.append(train["scene"])
    # Short tables may come twice by chance.
    assert len({scene.tobytes() for split in shown for scene in split}) >= 85


def test_lengths_are_uniform_asked_for_or_set_by_a_curriculum(env_id: str) -> None:
    greatest = LENGTHS[env_id]
    envs = make_vector(env_id, 600, min_length=2)
    _, info = envs.reset(seed=0)
    counts = np.bincount(info["length"], minlength=greatest + 1)
    assert counts[:2].sum() == 0
    assert counts[2:].min() > 0.6 * 600 / (greatest - 1)

    asked = np.resize(np.arange(2, greatest + 1), 600)
    _, info = envs.reset(options={"length": asked})
    np.testing.assert_array_equal(info["length"], asked)
    np.testing.assert_array_equal(
        envs.task.budgets, [2 * SHORTEST[env_id](n) for n in asked.tolist()]
    )
    with pytest.raises(ValueError, match=rf"between 2 and {greatest}; it is 1"):
        envs.reset(options={"length": 1})

    envs.level_distribution = ThresholdLevels(2, greatest)
    _, info = envs.reset()
    assert (info["length"] == 2).all()
