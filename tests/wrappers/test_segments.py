"""Segments of long episodes, which learners of whole episodes train on."""

from contextlib import closing

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import FrameStackObservation, TimeLimit

from glimpse_envs.suite import ATARI, MINIGRID
from glimpse_envs.testing import assert_same
from glimpse_envs.wrappers import GlimpseVectorWrapper, GlimpseWrapper, Segments
from tests.support.pixel_world import PixelWorld


def test_the_next_segment_goes_on_with_the_episode() -> None:
    env, whole = Segments(PixelWorld(steps=7), 3), PixelWorld(steps=7)
    first, _ = env.reset(seed=2)
    expected = whole.reset(seed=2)[0]
    np.testing.assert_array_equal(first, expected)
    for _ in range(2):
        for step in range(3):
            seen, reward, terminated, truncated, _ = env.step(step)
            expected, *_ = whole.step(step)
            np.testing.assert_array_equal(seen, expected)
            assert (reward, terminated, truncated) == (step, False, step == 2)
        np.testing.assert_array_equal(env.reset()[0], expected)


def test_a_segment_that_was_left_and_a_seed_begin_a_new_episode() -> None:
    env = Segments(PixelWorld(steps=7), 3)
    env.reset(seed=2)
    for act in (0, 0, 1):
        env.step(act)
    begun = env.reset()[0]
    assert begun[0, 0] == 1, "the last act is in the first pixel"
    env.step(1)
    assert env.reset()[0][0, 0] == 0
    for act in (0, 0, 1):
        env.step(act)
    assert env.reset(seed=5)[0][0, 0] == 0


def test_a_segment_begins_with_copies_and_where_no_options_are_given() -> None:
    env = Segments(PixelWorld(steps=7), 2)
    env.reset(seed=2)
    env.step(1)
    seen, *_, info = env.step(1)
    expected = seen.copy()
    seen[...] = 99
    info["episode"] = "written by a wrapper"
    for _ in range(2):
        again, begun = env.reset()
        np.testing.assert_array_equal(again, expected)
        assert "episode" not in begun
        again[...] = 99
        begun["episode"] = "written by a wrapper"
    assert env.reset(options={"any": 1})[0][0, 0] == 0, "options are for a new episode"


def test_an_episode_that_ends_is_not_gone_on_with() -> None:
    env = Segments(PixelWorld(steps=1), 2)
    ends = set()
    for seed in range(8):
        env.reset(seed=seed)
        _, _, terminated, truncated, _ = env.step(1)
        if not terminated:
            _, _, terminated, truncated, _ = env.step(1)
        ends.add((terminated, truncated))
        assert env.reset()[0][0, 0] == 0
    assert ends == {(True, False), (True, True)}


def test_rows_of_a_batch_go_on_when_all_have_ended_together() -> None:
    """As learners play them: all rows to their ends, then a reset of all."""
    mode = AutoresetMode.SAME_STEP
    envs = SyncVectorEnv([lambda: Segments(PixelWorld(steps=9), 2)] * 2, autoreset_mode=mode)
    envs.reset(seed=0)
    for _ in range(2):
        seen, *_, truncated, _ = envs.step(np.array([1, 2]))
    assert truncated.all()
    again, _ = envs.reset()
    np.testing.assert_array_equal(seen, again)
    np.testing.assert_array_equal(again[:, 0, 0], [1, 2])


def stack_in_segments() -> gym.Env:
    return Segments(FrameStackObservation(PixelWorld(steps=9), 4), 2)


def test_the_gaze_and_the_frames_that_it_saw_go_on() -> None:
    env = GlimpseWrapper(stack_in_segments(), glimpse_size=6)
    env.reset(seed=0)
    for side in (0.5, -0.5):
        seen, *_, truncated, _ = env.step({"act": 1, "look": np.full(2, side, np.float32)})
    assert truncated
    for _ in range(2):
        assert_same(env.reset()[0], seen)
    begun, _ = env.reset(seed=0)
    assert not np.array_equal(begun["location"], seen["location"])


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_the_gazes_of_a_batch_go_on(mode: AutoresetMode) -> None:
    inner = SyncVectorEnv([stack_in_segments] * 2, autoreset_mode=mode)
    envs = GlimpseVectorWrapper(inner, glimpse_size=6)
    envs.reset(seed=0)
    acts = {"act": np.array([1, 2]), "look": np.array([[0.5, 0.5], [-0.5, 0.25]], np.float32)}
    for _ in range(2):
        seen, *_, truncated, info = envs.step(acts)
    assert truncated.all()
    if mode is AutoresetMode.SAME_STEP:
        for row in range(2):
            assert_same(info["final_obs"][row], {name: part[row] for name, part in seen.items()})
    else:
        assert_same(envs.step(acts)[0], seen)
    assert_same(envs.reset()[0], seen)


def test_a_world_that_broke_after_a_cut_begins_anew() -> None:
    env = Segments(PixelWorld(steps=9, fault="raise"), 1)
    env.reset(seed=2)
    env.step(1)
    assert env.reset()[1]["continued"]
    for _ in range(2):
        with pytest.raises(RuntimeError, match="the world broke"):
            env.step(1)
        assert env.reset()[1] == {}
        env.step(1)


@pytest.mark.parametrize("limit", [2, 4])
def test_an_outer_limit_counts_anew_after_a_cut(limit: int) -> None:
    env = GlimpseWrapper(TimeLimit(stack_in_segments(), limit), glimpse_size=6)
    left = [env.reset(seed=0)[0]["remaining"].item()]
    for _ in range(2):
        for _ in range(2):
            seen, _, terminated, truncated, _ = env.step({"act": 1, "look": np.zeros(2, "f4")})
            left.append(seen["remaining"].item())
        assert (terminated, truncated) == (limit == 2, limit == 4), "as in the first segment"
        assert env.reset()[0]["remaining"] == 1
    assert left == [1, *[1 - 1 / limit, 1 - 2 / limit] * 2]


def test_a_world_that_was_cut_before_it_was_seen_begins() -> None:
    world = stack_in_segments()
    world.reset(seed=0)
    for _ in range(2):
        world.step(1)
    seen, info = GlimpseWrapper(world, glimpse_size=6).reset()
    assert info["continued"]
    assert seen["glimpse"].any()


def test_an_integer_of_numpy_is_a_length_that_a_spec_keeps() -> None:
    env = Segments(gym.make("CartPole-v1"), np.int64(3))  # type: ignore[arg-type]
    assert env.spec is not None
    assert '"segment": 3' in env.spec.to_json()


@pytest.mark.parametrize(("env_id", "needs"), [(ATARI, "ale_py"), (MINIGRID, "minigrid")])
def test_a_segment_must_be_a_number_of_steps(env_id: str, needs: str) -> None:
    pytest.importorskip(needs)
    with pytest.raises(ValueError, match="segment=0"):
        gym.make(env_id, segment=0)
    with pytest.raises(ValueError, match="segment=0"):
        gym.make(env_id, segment=0, split="test")


@pytest.mark.parametrize(("split", "cut_at"), [("train", 5), ("test", 360)])
def test_only_training_on_minigrid_is_cut(split: str, cut_at: int) -> None:
    pytest.importorskip("minigrid")
    with closing(gym.make(MINIGRID, world="DoorKey-6x6", segment=5, split=split)) as env:
        env.reset(seed=0)
        turn = {"act": 0, "look": np.zeros(2, np.float32)}
        ends = (env.step(turn)[2:4] for _ in range(1_000))
        assert next(step for step, end in enumerate(ends, 1) if any(end)) == cut_at


@pytest.mark.parametrize(("split", "cut"), [("train", True), ("test", False)])
def test_only_training_on_a_batch_is_cut(split: str, cut: bool) -> None:
    pytest.importorskip("minigrid")
    envs = gym.make_vec(MINIGRID, num_envs=2, segment=5, split=split)
    envs.reset(seed=0)
    turn = {"act": np.zeros(2, np.int64), "look": np.zeros((2, 2), np.float32)}
    truncated = [envs.step(turn)[3].tolist() for _ in range(5)]
    assert truncated == [[False] * 2] * 4 + [[cut] * 2]
