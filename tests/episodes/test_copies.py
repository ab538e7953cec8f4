"""`copies=M`: M rows share a scene, and wait for each other."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.testing import assert_same, random_actions
from tests.support.episodes import CLUTTERED, VARIANTS, make_vector, row_of


def stop(envs: GlimpseVectorEnv, rows: list[int]) -> Any:
    """Step, stopping in `rows`; every row looks at a place of its own."""
    n = envs.num_envs
    stops = np.zeros(n, np.int64)
    stops[rows] = 1
    looks = np.linspace(-0.9, 0.9, 2 * n).reshape(n, 2)
    return envs.step({"look": looks, "answer": np.zeros(n, np.int64), "stop": stops})


def group(values: NDArray[Any], copies: int) -> NDArray[Any]:
    return values.reshape(-1, copies, *values.shape[1:])


@pytest.mark.parametrize("variant", VARIANTS)
def test_copies_share_scene_and_first_glimpse(variant: str) -> None:
    env_id, kwargs = VARIANTS[variant]
    envs = make_vector(env_id, 6, copies=3, **kwargs)
    plain = make_vector(env_id, 2, **kwargs)
    rng = np.random.default_rng(0)
    for found, expected in zip(envs.reset(seed=1), plain.reset(seed=1), strict=True):
        for name, value in expected.items():
            shared = group(found[name], 3)
            np.testing.assert_array_equal(shared, np.repeat(value[:, None], 3, axis=1))
    for _ in range(8):
        info = envs.step(random_actions(envs, rng))[4]
        boxes = group(info["target_box"], 3)
        np.testing.assert_array_equal(boxes, np.repeat(boxes[:, :1], 3, axis=1))


def test_copies_look_and_are_judged_each_for_itself() -> None:
    envs = make_vector(CLUTTERED, 4, copies=2, reward="dense", autoreset_mode="Disabled")
    plain = make_vector(CLUTTERED, 4, reward="dense", autoreset_mode="Disabled")
    envs.reset(seed=[5, 5, 6, 6])
    plain.reset(seed=[5, 5, 6, 6])
    rng = np.random.default_rng(0)
    for _ in range(8):
        actions = random_actions(envs, rng)
        *found, info = envs.step(actions)
        *expected, expected_info = plain.step(actions)
        assert_same(tuple(found), tuple(expected))
        assert_same({name: info[name] for name in expected_info}, expected_info)


def test_a_row_that_has_ended_waits_for_its_copies_and_then_all_are_dealt_again() -> None:
    envs = make_vector(CLUTTERED, 4, copies=2, stop=True, glimpse_cost=0.1)
    envs.reset(seed=0)

    observation, reward, terminated, _, info = stop(envs, [0])
    assert terminated.tolist() == [True, False, False, False]
    assert info["waiting"].tolist() == [False] * 4
    assert info["_final_obs"].tolist() == [True, False, False, False]
    assert_same(info["final_obs"][0], row_of(observation, 0))
    waited_for = row_of(observation, 0)

    observation, reward, terminated, _, info = stop(envs, [2, 3])
    assert terminated.tolist() == [True, False, True, True]
    assert info["waiting"].tolist() == [True, False, False, False]
    assert info["_final_obs"].tolist() == [False, False, True, True]
    assert info["_target"].tolist() == [False, True, False, False]
    assert reward[0] == 0.0
    assert_same(row_of(observation, 0), waited_for)
    assert observation["remaining"][2:, 0].tolist() == [0.875, 0.875]
    assert_same(row_of(observation, 2), row_of(observation, 3))

    observation, reward, terminated, _, info = stop(envs, [0, 1])
    assert terminated.tolist() == [True, True, False, False]
    assert info["waiting"].tolist() == [True, False, False, False]
    assert info["_final_obs"].tolist() == [False, True, False, False]
    assert reward[0] == 0.0
    assert observation["remaining"][:2, 0].tolist() == [0.875, 0.875]
    assert_same(row_of(observation, 0), row_of(observation, 1))

    _, _, terminated, _, info = stop(envs, [])
    assert not terminated.any()
    assert not info["waiting"].any()


def test_the_next_scene_of_copies_is_the_groups_next_episode() -> None:
    envs = make_vector(CLUTTERED, 4, copies=2, stop=True)
    plain = make_vector(CLUTTERED, 2, stop=True)
    envs.reset(seed=0)
    plain.reset(seed=0)
    stop(envs, [0, 2])
    after = stop(envs, [1, 3])[0]
    expected = stop(plain, [0, 1])[0]
    for name, value in expected.items():
        np.testing.assert_array_equal(after[name], np.repeat(value, 2, axis=0))


def test_copies_are_dealt_on_the_step_after_under_next_step() -> None:
    envs = make_vector(CLUTTERED, 2, copies=2, stop=True, autoreset_mode="NextStep")
    envs.reset(seed=0)
    assert stop(envs, [1])[4]["waiting"].tolist() == [False, False]
    observation, _, terminated, _, info = stop(envs, [0])
    assert terminated.tolist() == [True, True]
    assert info["waiting"].tolist() == [False, True]
    assert not observation["remaining"].any()
    observation, reward, terminated, _, info = stop(envs, [0, 1])
    assert terminated.tolist() == [False, False]
    assert reward.tolist() == [0.0, 0.0]
    assert (observation["remaining"] == 0.875).all()
    assert info["waiting"].tolist() == [False, False]
    assert "target" not in info


def test_without_autoreset_only_a_group_that_has_ended_stands_still() -> None:
    envs = make_vector(CLUTTERED, 4, copies=2, stop=True, autoreset_mode="Disabled")
    envs.reset(seed=0)
    stop(envs, [0])
    assert stop(envs, [1])[2].tolist() == [True, True, False, False]
    with pytest.raises(gym.error.ResetNeeded, match=r"rows \[0, 1\]"):
        stop(envs, [])
    envs.reset(options={"reset_mask": np.array([True, True, False, False])})
    assert not stop(envs, [])[2].any()


def test_fixed_scenes_are_dealt_one_a_group() -> None:
    envs = make_vector(CLUTTERED, 6, copies=3, split="test")
    assert envs.reset(seed=0)[1]["scene"].tolist() == [0, 0, 0, 1, 1, 1]
    asked = np.repeat([9, 4], 3)
    assert envs.reset(options={"scene": asked})[1]["scene"].tolist() == asked.tolist()


def test_what_would_part_copies_is_refused() -> None:
    envs = make_vector(CLUTTERED, 4, copies=2, split="test")
    envs.reset(seed=0)
    before = envs.state_dict()
    with pytest.raises(ValueError, match=r"reset_mask.*all copies"):
        envs.reset(options={"reset_mask": np.array([True, False, True, True])})
    with pytest.raises(ValueError, match=r"scene.*all copies"):
        envs.reset(options={"scene": np.array([0, 1, 2, 2])})
    with pytest.raises(ValueError, match=r"seed.*all copies"):
        envs.reset(seed=[1, 2, 3, 3])
    assert_same(envs.state_dict(), before)


def test_nobody_waits_after_a_reset() -> None:
    envs = make_vector(CLUTTERED, 4, copies=2, stop=True)
    assert envs.reset(seed=0)[1]["waiting"].tolist() == [False] * 4
    assert stop(envs, [0])[4]["waiting"].tolist() == [False] * 4
    assert stop(envs, [])[4]["waiting"].tolist() == [True, False, False, False]
    assert "waiting" not in make_vector(CLUTTERED, 2).reset(seed=0)[1]
