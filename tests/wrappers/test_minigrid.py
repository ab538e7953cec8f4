"""MiniGrid's worlds through a glimpse."""

from importlib import import_module
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec, find_highest_version

from glimpse_envs.suite import MINIGRID
from glimpse_envs.testing import assert_same
from glimpse_envs.wrappers import GlimpseVectorWrapper
from glimpse_envs.wrappers.minigrid_pixels import AgentPixels, GridPixels

pytest.importorskip("minigrid")


def test_the_grid_is_seen_through_a_glimpse_of_three_cells() -> None:
    env = gym.make(MINIGRID, mask=True)
    observation, _ = env.reset(seed=0)
    assert observation["glimpse"].shape == (3, 48, 48)
    observation, *_ = env.step({"look": np.zeros(2), "act": 0})
    assert observation["glimpse"][:, 12:36, 12:36].any()
    observation["glimpse"][:, 12:36, 12:36] = 0
    assert not observation["glimpse"].any()


def test_the_agents_own_view_is_seen_as_a_whole() -> None:
    env = gym.make(MINIGRID, world="MultiRoom-N4-S5", view="agent", tile=4)
    assert env.observation_space["glimpse"].shape == (3, 28, 28)  # type: ignore[index]  # a Dict
    assert set(env.action_space.spaces) == {"act"}  # type: ignore[attr-defined]  # a Dict
    observation, _ = env.reset(seed=0)
    shown = env.get_wrapper_attr("picture")().scene
    np.testing.assert_allclose(observation["glimpse"], shown, atol=1e-6)


@pytest.mark.parametrize("view", ["grid", "agent"])
def test_small_integers_of_numpy_do_not_wrap_around(view: str) -> None:
    envs = [
        gym.make(MINIGRID, world="Empty-5x5", view=view, tile=tile)
        for tile in (np.uint8(100), np.int8(100), 100)
    ]
    first, second, expected = (env.reset(seed=0)[0] for env in envs)
    assert_same(first, expected)
    assert_same(second, expected)
    assert envs[0].observation_space == envs[2].observation_space


WORLDS = sorted(
    spec.id
    for spec in gym.registry.values()
    if spec.namespace is None
    and spec.name.startswith("MiniGrid-")
    and "WFC" not in spec.name  # it lacks files of these
    and spec.version == find_highest_version(None, spec.name)
)


@pytest.mark.parametrize("world", WORLDS)
def test_pixels_are_those_of_minigrids_own_wrappers(world: str) -> None:
    wrappers: Any = import_module("minigrid.wrappers")
    env = gym.make(world)
    ours = [GridPixels(env, 6), AgentPixels(env, 6)]
    theirs = [wrappers.RGBImgObsWrapper(env, 6), wrappers.RGBImgPartialObsWrapper(env, 6)]
    observation, _ = env.reset(seed=0)
    env.action_space.seed(0)
    inner: Any = env.unwrapped
    for number in range(20):
        if number == 10:  # random steps hardly ever take a thing
            inner.carrying = import_module("minigrid.core.world_object").Ball("purple")
            observation = inner.gen_obs()
        for drawn, wanted in zip(ours, theirs, strict=True):
            pixels = drawn.observation(observation)
            np.testing.assert_array_equal(pixels, wanted.observation(observation)["image"])
            assert drawn.observation_space == wanted.observation_space["image"]
        observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            observation, _ = env.reset()


def test_a_batch_equals_single_worlds() -> None:
    envs = gym.make_vec(MINIGRID, num_envs=2, autoreset_mode="SameStep", split="test")
    assert isinstance(envs, GlimpseVectorWrapper)
    seen = envs.reset(seed=4)[0]
    for row in range(2):
        alone = gym.make(MINIGRID, split="test").reset(seed=4 + row)[0]
        for name, part in alone.items():
            np.testing.assert_array_equal(part, seen[name][row])


def test_its_spec_makes_it_again() -> None:
    env = gym.make(MINIGRID, tile=4)
    spec = env.spec
    assert spec is not None
    assert spec.id == MINIGRID
    for read in (spec, EnvSpec.from_json(spec.to_json())):
        again = gym.make(read)
        assert again.spec == spec
        assert str(again) == str(env)
        assert_same(again.reset(seed=1), env.reset(seed=1))


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"view": "all"}, "view='all' must be one of"),
        ({"tile": 0}, "tile=0"),
        ({"tile": 10**6}, "tile=1000000 needs [0-9,]* bytes"),
        ({"split": "dev"}, "split='dev'"),
        ({"max_move": 0.1}, "max_move=0.1 is the longest move of look='relative'"),
        ({"world": "MiniGrid-DoorKey-6x6-v0"}, "must be the name alone, 'DoorKey-6x6'"),
        ({"world": "MultiRoom-N4-S5-v1"}, "must be the name alone, 'MultiRoom-N4-S5'"),
        ({"world": 5}, "world=5 must be a name, such as 'DoorKey-6x6'"),
        ({"world": ""}, "world='' must be a name"),
    ],
)
def test_what_cannot_be_is_refused(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gym.make(MINIGRID, **kwargs)
    with pytest.raises(ValueError, match=message):
        gym.make_vec(MINIGRID, num_envs=2, **kwargs)
    with pytest.raises(gym.error.Error, match="Nowhere"):
        gym.make(MINIGRID, world="Nowhere")
    with pytest.raises(TypeError, match=r"'colour'\. The arguments are world, view, tile, split, "):
        gym.make(MINIGRID, colour=True)
