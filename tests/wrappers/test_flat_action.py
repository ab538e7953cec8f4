"""Wrapped worlds with plain actions, which learners without Dict actions take."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env

from glimpse_envs.flat import FlatActions
from glimpse_envs.testing import assert_same
from glimpse_envs.wrappers import FlatAction, GlimpseWrapper
from tests.support.pixel_world import PixelWorld


def world(look: str) -> GlimpseWrapper:
    return GlimpseWrapper(PixelWorld(), glimpse_size=8, look=look)


SPACES: dict[str, tuple[str, bool, spaces.Space]] = {
    "places": ("continuous", False, spaces.Box(-1.0, 1.0, (5,), np.float32)),
    "choices": ("tiles", False, spaces.MultiDiscrete([9, 3])),
    "a rule": ("static", False, spaces.MultiDiscrete([3])),
    "joint": ("tiles", True, spaces.Discrete(27)),
}


@pytest.mark.parametrize(("look", "joint", "space"), SPACES.values(), ids=SPACES)
def test_flat_actions_play_what_those_of_the_dict_do(
    look: str, joint: bool, space: spaces.Space
) -> None:
    env, twin = FlatAction(world(look), joint), world(look)
    assert env.action_space == space
    flat = FlatActions(twin.action_space, joint)
    assert_same(env.reset(seed=3), twin.reset(seed=3))
    twin.action_space.seed(3)
    ended = False
    while not ended:
        action = twin.action_space.sample()
        (encoded,) = flat.encode({name: np.asarray(part)[None] for name, part in action.items()})
        found, expected = env.step(encoded), twin.step(action)
        assert_same(found, expected)
        ended = expected[2]


@pytest.mark.parametrize(
    ("look", "joint"), [("continuous", False), ("tiles", False), ("tiles", True)]
)
def test_stable_baselines3_takes_what_it_refuses_without(look: str, joint: bool) -> None:
    with pytest.raises(AssertionError, match=r"Dict.* was provided"):
        PPO("MultiInputPolicy", world(look), device="cpu")
    check_env(FlatAction(world(look), joint), warn=False)


REFUSED: dict[str, tuple[gym.Env[Any, Any], Any, str]] = {
    "no Dict": (PixelWorld(), False, r"only a Dict of actions can be flattened, not Discrete\(3\)"),
    "joint places": (
        world("continuous"),
        True,
        "joint=True: look has real numbers; .* or joint=False",
    ),
    "no flag": (world("tiles"), "yes", "joint='yes' must be True or False"),
}


@pytest.mark.parametrize(("env", "joint", "says"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_flat_is_refused(env: gym.Env[Any, Any], joint: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        FlatAction(env, joint)


def test_a_bad_action_is_refused_and_changes_nothing() -> None:
    env, twin = FlatAction(world("tiles")), FlatAction(world("tiles"))
    env.reset(seed=0)
    twin.reset(seed=0)
    with pytest.raises(ValueError, match=r"is \[9, 0\]; it must hold integers from 0 to \[8, 2\]"):
        env.step(np.array([9, 0]))
    assert_same(env.step(np.array([1, 0])), twin.step(np.array([1, 0])))
