"""Episodes through a glimpse: seeds, resets, batches, and what goes wrong in them."""

import copy
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import FrameStackObservation, TimeLimit

from glimpse_envs.testing import assert_same
from glimpse_envs.wrappers import GlimpseVectorWrapper, GlimpseWrapper, WrappedEnvError
from tests.support.pixel_world import SIDE, PixelWorld

OPTIONS: dict[str, Any] = {"glimpse_size": 8}


def stacked() -> gym.Env:
    return FrameStackObservation(PixelWorld(), 4)


@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
@pytest.mark.parametrize("options", [{}, {"look": "tiles"}, {"look": "static", "mask": True}])
def test_gymnasium_accepts_it(options: dict[str, Any]) -> None:
    check_env(GlimpseWrapper(stacked(), **OPTIONS, **options), skip_render_check=True)


def test_the_world_plays_as_without_the_wrapper() -> None:
    env, bare = GlimpseWrapper(PixelWorld(), **OPTIONS, mask=True, start=(0, 0)), PixelWorld()
    for seed in (4, None, None):
        env.reset(seed=seed)
        bare.reset(seed=seed)
        ended = False
        while not ended:
            observation, reward, ended, *_ = env.step({"look": np.zeros(2), "act": 1})
            frame, bare_reward, bare_ended, *_ = bare.step(1)
            window = slice(SIDE // 2 - 4, SIDE // 2 + 4)
            np.testing.assert_allclose(
                observation["glimpse"][0, window, window], frame[window, window] / 255, rtol=1e-6
            )
            assert (reward, ended) == (bare_reward, bare_ended)


def test_first_places_are_uniform_and_follow_the_seed() -> None:
    env = GlimpseWrapper(PixelWorld(), **OPTIONS)
    first = [env.reset(seed=seed)[0]["location"] for seed in range(300)]
    again = [env.reset(seed=seed)[0]["location"] for seed in range(300)]
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(env.reset()[0]["location"], env.reset()[0]["location"])
    quarters = (np.array(first) > 0) @ [1, 2]
    assert np.bincount(quarters, minlength=4).min() > 45


@pytest.mark.parametrize("look", ["continuous", "relative", "tiles", "static", "random", "raster"])
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_a_batch_equals_single_environments(mode: AutoresetMode, look: str) -> None:
    """Gymnasium's batch of single wrappers, and the wrapper over Gymnasium's batch."""

    def single() -> gym.Env:
        return GlimpseWrapper(stacked(), **OPTIONS, look=look)

    theirs = SyncVectorEnv([single] * 3, autoreset_mode=mode)
    inner = SyncVectorEnv([stacked] * 3, autoreset_mode=mode)
    ours = GlimpseVectorWrapper(inner, **OPTIONS, look=look)
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.single_action_space == theirs.single_action_space
    seeds: list[Any] = [5, [8, 1, 1]]
    for seed in seeds:
        assert_same(ours.reset(seed=seed)[0], theirs.reset(seed=seed)[0])
        ours.action_space.seed(0)
        for _ in range(15):
            actions = ours.action_space.sample()
            mine, other = ours.step(actions), theirs.step(actions)
            assert_same(mine[0], other[0])
            assert ours.observation_space.contains(mine[0])
            for part, expected in zip(mine[1:4], other[1:4], strict=True):
                np.testing.assert_array_equal(part, expected)
            ended = mine[2]
            if mode is AutoresetMode.SAME_STEP and ended.any():
                np.testing.assert_array_equal(mine[4]["_final_obs"], ended)
                for row in np.flatnonzero(ended):
                    assert_same(mine[4]["final_obs"][row], other[4]["final_obs"][row])
            if mode is AutoresetMode.DISABLED and ended.any():
                begun, other_begun = (
                    env.reset(options={"reset_mask": ended})[0] for env in (ours, theirs)
                )
                assert_same(begun, other_begun)


def test_a_seed_of_some_rows_leaves_the_others_theirs() -> None:
    def make(reseed: int | None) -> GlimpseVectorWrapper:
        inner = SyncVectorEnv([PixelWorld] * 2, autoreset_mode=AutoresetMode.DISABLED)
        envs = GlimpseVectorWrapper(inner, **OPTIONS)
        envs.reset(seed=3)
        envs.reset(seed=reseed, options={"reset_mask": np.array([True, False])})
        return envs

    last = {"reset_mask": np.array([False, True])}
    places = [make(reseed).reset(options=last)[0]["location"] for reseed in (8, None)]
    np.testing.assert_array_equal(places[0][1], places[1][1])
    assert (places[0][0] != places[1][0]).any()


def pickled(env: Any) -> Any:
    return pickle.loads(pickle.dumps(env))


def test_without_a_number_there_are_scales_enough_for_nearly_the_whole_frame() -> None:
    """As of the tasks on pictures: the widest window is at least 1.6 times as wide as the frame."""
    env = GlimpseWrapper(PixelWorld(), glimpse_size=6, scales=None)
    glimpse = env.observation_space["glimpse"]  # type: ignore[index] # of its Dict
    assert glimpse.shape == (4, 6, 6), "6, 12, 24 and 48 of 24 pixels"


@pytest.mark.parametrize("copied", [pickled, copy.deepcopy])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("options", [{"scales": 4}, {"mask": True}])
@pytest.mark.parametrize("batched", [False, True])
def test_a_copy_goes_on_as_the_first(
    batched: bool, options: dict[str, Any], dtype: str, copied: Callable[[Any], Any]
) -> None:
    world = partial(PixelWorld, dtype=dtype, steps=9)
    env: Any
    if batched:
        env = GlimpseVectorWrapper(SyncVectorEnv([world] * 2), **OPTIONS, **options)
    else:
        env = GlimpseWrapper(world(), **OPTIONS, **options)
    before = copied(env)
    assert_same(before.reset(seed=3)[0], env.reset(seed=3)[0])
    env.step(env.action_space.sample())
    after = copied(env)
    for _ in range(5):
        actions = env.action_space.sample()
        assert_same(env.step(actions)[0], after.step(actions)[0])
    assert_same(env.reset()[0], after.reset()[0])


def test_a_gaze_by_rule_needs_no_look() -> None:
    def places(look: str, seed: int, **options: Any) -> Any:
        env = GlimpseWrapper(PixelWorld(steps=20), **OPTIONS, look=look, **options)
        assert set(env.action_space.spaces) == {"act"}  # type: ignore[attr-defined]  # a Dict
        seen = [env.reset(seed=seed)[0]["location"]]
        seen += [env.step({"act": 0})[0]["location"] for _ in range(12)]
        return np.array(seen)

    raster = places("raster", 0)
    np.testing.assert_allclose(
        raster[:4], [[-2 / 3, -2 / 3], [0, -2 / 3], [2 / 3, -2 / 3], [-2 / 3, 0]]
    )
    np.testing.assert_array_equal(raster[:4], raster[9:])
    moving = places("random", 0)
    assert len(np.unique(moving, axis=0)) == 13
    np.testing.assert_array_equal(moving, places("random", 0))
    assert not np.array_equal(moving, places("random", 1))
    np.testing.assert_array_equal(places("static", 0, start=(0.5, -1)), [[0.5, -1]] * 13)


@pytest.mark.parametrize("mask", [True, False])
def test_a_picture_shows_the_frame_and_what_is_seen_of_it(mask: bool) -> None:
    env = GlimpseWrapper(PixelWorld((SIDE, SIDE, 3)), **OPTIONS, mask=mask)
    with pytest.raises(gym.error.ResetNeeded, match="no frame yet"):
        env.picture()
    env.reset(seed=0)
    observation, *_ = env.step({"look": np.array([0.5, 0]), "act": 2})
    picture = env.picture()
    assert picture.scene.shape == (3, SIDE, SIDE)
    assert picture.scene[0, 0, 0] == np.float32(2 / 255)
    np.testing.assert_array_equal(picture.path, [[18, 12]])
    np.testing.assert_array_equal(np.ptp(picture.outlines[0], axis=0), [8, 8])
    ((_, panel),) = picture.panels
    np.testing.assert_array_equal(panel, observation["glimpse"])
    window = picture.scene[:, 8:16, 14:22]
    np.testing.assert_allclose(panel[:, 8:16, 14:22] if mask else panel, window, atol=1e-6)


@pytest.mark.parametrize(("mask", "sides", "size"), [(True, (), 0), (False, (8.0,), 8)])
def test_a_masked_frame_is_no_glimpse_of_windows(
    mask: bool, sides: tuple[float, ...], size: int
) -> None:
    env = GlimpseWrapper(PixelWorld((SIDE, SIDE, 3)), **OPTIONS, mask=mask)
    view = env.picture_view
    assert view is not None
    assert (view.window_sides, view.glimpse_size) == (sides, size)


def test_what_was_returned_is_not_written_over() -> None:
    envs = GlimpseVectorWrapper(SyncVectorEnv([PixelWorld] * 2), **OPTIONS)
    first = envs.reset(seed=0)[0]
    kept = {name: part.copy() for name, part in first.items()}
    envs.step(envs.action_space.sample())
    assert_same(first, kept)


def test_remaining_is_shown_where_the_limit_is_known() -> None:
    world = "tests.support.pixel_world:PixelWorld"
    gym.register("GlimpseTest/Pixels-v0", entry_point=world, max_episode_steps=4)
    try:
        env = GlimpseWrapper(gym.make("GlimpseTest/Pixels-v0", steps=9), **OPTIONS)
        left = [env.reset(seed=0)[0]["remaining"]]
        ended = False
        while not ended:
            observation, _, ended, *_ = env.step(env.action_space.sample())
            left.append(observation["remaining"])
        np.testing.assert_array_equal(np.ravel(left), [1, 0.75, 0.5, 0.25, 0])
        batch = gym.make_vec("GlimpseTest/Pixels-v0", num_envs=2, steps=9)
        assert "remaining" in GlimpseVectorWrapper(batch, **OPTIONS).reset()[0]
        # By its spec: from Python 3.14 on, worker processes do not inherit the registry.
        make = partial(gym.make, gym.spec("GlimpseTest/Pixels-v0"), steps=9)
        expected = GlimpseVectorWrapper(SyncVectorEnv([make] * 2), **OPTIONS)
        found = GlimpseVectorWrapper(AsyncVectorEnv([make] * 2), **OPTIONS)
        assert found.observation_space == expected.observation_space
        assert_same(found.reset(seed=0)[0], expected.reset(seed=0)[0])
        assert "remaining" in found.step(found.action_space.sample())[0]
        found.close()
        for mode in ("sync", "async"):  # whose limit is not the registered one
            inner = gym.make_vec("GlimpseTest/Pixels-v0", 2, mode, max_episode_steps=2, steps=9)
            found = GlimpseVectorWrapper(inner, **OPTIONS)
            found.reset(seed=0)
            np.testing.assert_array_equal(
                found.step(found.action_space.sample())[0]["remaining"], [[0.5], [0.5]]
            )
            found.close()
    finally:
        gym.registry.pop("GlimpseTest/Pixels-v0")
    unknown = GlimpseWrapper(PixelWorld(), **OPTIONS)
    assert "remaining" not in unknown.observation_space.spaces  # type: ignore[attr-defined]  # a Dict


REPEATING = [
    getattr(gym.wrappers, name)
    for name in ("MaxAndSkipObservation", "RepeatAction")  # the second came with Gymnasium 1.3
    if hasattr(gym.wrappers, name)
]


@pytest.mark.parametrize("repeating", REPEATING)
@pytest.mark.parametrize("outside", [False, True])
def test_remaining_reckons_with_acts_that_are_repeated(outside: bool, repeating: Any) -> None:
    """Three steps of four acts, or ten acts, so that the third step is cut short."""
    world: gym.Env[Any, Any] = PixelWorld(steps=90)
    world = TimeLimit(repeating(world, 4), 3) if outside else repeating(TimeLimit(world, 10), 4)
    env = GlimpseWrapper(world, **OPTIONS)
    left, ended = [env.reset(seed=0)[0]["remaining"]], False
    while not ended:
        observation, _, ended, *_ = env.step(env.action_space.sample())
        left.append(observation["remaining"])
    np.testing.assert_allclose(np.ravel(left), [1, 2 / 3, 1 / 3, 0], atol=1e-6)


@pytest.mark.parametrize("fault", ["raise", "shape"])
@pytest.mark.parametrize("batched", [False, True])
def test_what_goes_wrong_inside_is_named(fault: str, batched: bool) -> None:
    env: Any
    if batched:
        inner = SyncVectorEnv([lambda: PixelWorld(fault=fault, steps=9)] * 2)
        env = GlimpseVectorWrapper(inner, **OPTIONS)
    else:
        env = GlimpseWrapper(PixelWorld(fault=fault, steps=9), **OPTIONS)
    env.reset(seed=0)
    env.step(env.action_space.sample())
    words = "PixelWorld.*the world broke" if fault == "raise" else "PixelWorld (raised|gave pixels)"
    with pytest.raises(WrappedEnvError, match=words):
        env.step(env.action_space.sample())
    with pytest.raises(gym.error.ResetNeeded):
        env.step(env.action_space.sample())
    env.reset()
    env.step(env.action_space.sample())


def test_bad_actions_change_nothing() -> None:
    env = GlimpseWrapper(PixelWorld(), **OPTIONS)
    env.reset(seed=0)
    good = {"look": np.zeros(2), "act": 1}
    for bad in (
        {"look": np.zeros(2)},
        {**good, "look": [0, 2]},
        {**good, "look": [0, np.nan]},
        {**good, "act": 3},
        {**good, "act": 0.5},
        1,
    ):
        with pytest.raises(ValueError, match="action"):
            env.step(bad)
    found = env.step(good)
    other = GlimpseWrapper(PixelWorld(), **OPTIONS)
    other.reset(seed=0)
    assert_same(found[0], other.step(good)[0])


def test_a_world_is_given_acts_as_numbers_whatever_they_came_as() -> None:
    given: list[Any] = []

    class Listening(PixelWorld):
        def step(self, action: Any) -> Any:
            given.append(action)
            return super().step(action)

    env = GlimpseWrapper(Listening(), **OPTIONS)
    env.reset(seed=0)
    for act in (np.array(1), np.uint8(2), 1):
        env.step({"look": [0.0, 0.0], "act": act})
    assert [int(act) for act in given] == [1, 2, 1]
    assert {np.asarray(act).dtype for act in given} == {np.dtype(np.int64)}
    batch = GlimpseVectorWrapper(SyncVectorEnv([Listening] * 2), **OPTIONS)
    batch.reset(seed=0)
    given.clear()
    batch.step({"look": np.zeros((2, 2)), "act": [2, 0]})
    assert [int(act) for act in given] == [2, 0]


@pytest.mark.parametrize("seed", [-1, "a", 1.0, True, [0], np.array(5)], ids=repr)
def test_a_bad_seed_is_the_callers_mistake_and_changes_nothing(seed: Any) -> None:
    """The episodes go on; the world is not blamed."""
    for env in (
        GlimpseWrapper(PixelWorld(), **OPTIONS),
        GlimpseVectorWrapper(SyncVectorEnv([PixelWorld] * 2), **OPTIONS),
    ):
        env.reset(seed=0)
        with pytest.raises(ValueError, match="seed"):
            env.reset(seed=seed)
        env.step(env.action_space.sample())


@pytest.mark.parametrize("options", [5, "reset_mask"])
def test_options_that_are_no_dict_are_the_callers_mistake(options: Any) -> None:
    envs = GlimpseVectorWrapper(SyncVectorEnv([PixelWorld] * 2), **OPTIONS)
    envs.reset(seed=0)
    with pytest.raises(TypeError, match=f"options={options!r} must be a dict, or None"):
        envs.reset(options=options)
    envs.step(envs.action_space.sample())


def test_integers_of_numpy_are_seeds() -> None:
    single: Any = GlimpseWrapper(PixelWorld(), **OPTIONS)
    assert_same(single.reset(seed=np.int64(3))[0], single.reset(seed=3)[0])
    envs: Any = GlimpseVectorWrapper(SyncVectorEnv([PixelWorld] * 2), **OPTIONS)
    expected = envs.reset(seed=3)[0]
    for seed in (np.int64(3), np.array([3, 4]), (3, 4)):
        assert_same(envs.reset(seed=seed)[0], expected)


@pytest.mark.parametrize(
    "mask", [None, [True, False], np.ones(2), np.zeros(2, np.bool_), np.ones(3, np.bool_)], ids=repr
)
def test_a_bad_mask_is_the_callers_mistake_and_changes_nothing(mask: Any) -> None:
    inner = SyncVectorEnv([PixelWorld] * 2, autoreset_mode=AutoresetMode.DISABLED)
    envs = GlimpseVectorWrapper(inner, **OPTIONS)
    envs.reset(seed=0)
    with pytest.raises((TypeError, ValueError), match="reset_mask"):
        envs.reset(options={"reset_mask": mask})
    envs.step(envs.action_space.sample())


def test_an_ended_episode_needs_a_reset() -> None:
    env = GlimpseWrapper(PixelWorld(steps=1), **OPTIONS)
    with pytest.raises(gym.error.ResetNeeded):
        env.step(env.action_space.sample())
    env.reset(seed=0)
    while not env.step(env.action_space.sample())[2]:
        pass
    with pytest.raises(gym.error.ResetNeeded):
        env.step(env.action_space.sample())


def test_some_rows_are_reset_only_where_all_have_begun() -> None:
    envs = GlimpseVectorWrapper(SyncVectorEnv([PixelWorld] * 2), **OPTIONS)
    options = {"reset_mask": np.array([True, False])}
    with pytest.raises(gym.error.ResetNeeded, match="reset all rows first"):
        envs.reset(options=options)
    first = envs.reset(seed=0)[0]["location"]
    second = envs.reset(options=options)[0]["location"]
    np.testing.assert_array_equal((first == second).all(axis=1), [False, True])


def test_values_outside_the_space_are_named() -> None:
    world = PixelWorld(dtype="float32")
    env = GlimpseWrapper(world, **OPTIONS)
    world._frame = lambda act: np.full((SIDE, SIDE), np.nan, np.float32)  # type: ignore[method-assign]
    with pytest.raises(WrappedEnvError, match="PixelWorld gave pixels outside its space's 0 to 1"):
        env.reset()


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_pixels_are_rescaled_by_the_bounds_of_their_space(dtype: type) -> None:
    world = PixelWorld()
    world.observation_space = gym.spaces.Box(0, 2, (SIDE, SIDE), dtype)
    world._frame = lambda act: np.ones((SIDE, SIDE), dtype)  # type: ignore[method-assign]
    observation, _ = GlimpseWrapper(world, look="static", glimpse_size=SIDE).reset(seed=0)
    np.testing.assert_allclose(observation["glimpse"], 0.5, rtol=1e-6)
