"""Options of the wrappers, and worlds that cannot be wrapped, are refused by name."""

from types import MappingProxyType
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.wrappers import Autoreset, TimeLimit

from glimpse_envs.testing import assert_same
from glimpse_envs.vision.sensors.sensor import Sensor, square
from glimpse_envs.wrappers import GlimpseWrapper
from tests.support.pixel_world import SIDE, PixelWorld

OPTIONS: dict[str, Any] = {"glimpse_size": 8}


class Line(Sensor):
    """Reads a line of seven numbers."""

    glimpse_shape = (7,)
    outlines = (square(7.0),)
    multiply_adds = 0

    def __init__(self, shape: tuple[int, int, int]) -> None:
        self.shape = shape

    def read(self, *arrays: Any) -> None:
        arrays[-1][arrays[-2]] = 0.0


BAD_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"look": "left"}, "look='left' must be one of"),
    ({"glimpse_size": 0}, "glimpse_size=0"),
    ({"glimpse_size": 32, "inside": True}, "does not fit inside a scene of 24x24"),
    ({"glimpse_size": 22, "look": "corners"}, "frames 4 pixels larger"),
    ({"periphery": 6}, "periphery=6 is seen .*: give mask=True too, or leave periphery out"),
    ({"periphery": 40, "mask": True}, "periphery=40 must be at most 24"),
    ({"mask": True, "scales": 2}, "scales=1"),
    ({"mask": True, "scales": None}, "scales=1"),
    ({"recut": True}, "PixelWorld shows one frame at a time: stack frames"),
    ({"mask": 1}, "mask=1 must be True or False"),
    ({"start": (0, 2)}, "start="),
    ({"start": "corner"}, "start='corner'"),
    ({"start": np.array(0.5)}, "start="),
    ({"look": "relative", "max_move": 0}, "max_move=0 must be a number above 0"),
    ({"max_move": 0.5}, "max_move=0.5 is the longest move of look='relative'"),
    ({"look": "static", "max_move": 0.2}, "look='static' it has no effect: give"),
    ({"pixels": "image"}, "have no parts"),
    ({"layout": "HWC"}, "layout='HWC' does not fit the shape"),
    ({"layout": "XY"}, "layout='XY' must be one of"),
    ({"sensor": f"{__name__}:Line"}, "its glimpses have the shape (7,.*channels, height, width"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_bad_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        GlimpseWrapper(PixelWorld(), **{**OPTIONS, **options})


def test_a_start_from_numpy_is_written_into_the_spec(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "Tests/StartOfNumPy-v0"
    spec = EnvSpec(name, entry_point="tests.support.pixel_world:PixelWorld")
    monkeypatch.setitem(gym.registry, name, spec)
    env = GlimpseWrapper(gym.make(name), **OPTIONS, start=np.array([0.5, -0.5]))
    assert env.spec is not None
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    assert_same(again.reset(seed=1), env.reset(seed=1))


def test_unknown_options_are_named() -> None:
    with pytest.raises(TypeError, match="did you mean 'glimpse_size'"):
        GlimpseWrapper(PixelWorld(), glimps_size=8)
    with pytest.raises(TypeError, match="glimpse_size is missing"):
        GlimpseWrapper(PixelWorld())


@pytest.mark.parametrize(
    "space",
    [
        gym.spaces.Discrete(4),
        gym.spaces.Box(0, 255, (128,), np.uint8),
        gym.spaces.Box(-np.inf, np.inf, (SIDE, SIDE), np.float32),
        gym.spaces.Box(0, 9, (SIDE, SIDE), np.int64),
        gym.spaces.Dict(a=gym.spaces.Discrete(2)),
        gym.spaces.Box(0, 255, (3, SIDE, SIDE), np.uint8),
        gym.spaces.Box(0, 255, (SIDE, SIDE, 4), np.uint8),
    ],
)
def test_a_world_without_clear_pixels_is_refused(space: gym.Space) -> None:
    world = PixelWorld()
    world.observation_space = space
    with pytest.raises(ValueError, match="PixelWorld"):
        GlimpseWrapper(world, **OPTIONS)


def test_bounds_whose_difference_is_infinite_are_refused() -> None:
    world = PixelWorld()
    world.observation_space = gym.spaces.Box(-4e4, 4e4, (SIDE, SIDE), np.float16)
    with pytest.raises(ValueError, match="have bounds too far apart for float16: rescale them"):
        GlimpseWrapper(world, **OPTIONS)


def test_any_mapping_is_an_action() -> None:
    env, twin = (GlimpseWrapper(PixelWorld(), **OPTIONS) for _ in range(2))
    for each in (env, twin):
        each.reset(seed=0)
    action = env.action_space.sample()
    assert_same(env.step(MappingProxyType(action)), twin.step(action))


def test_parts_without_pixels_are_told_why() -> None:
    world = PixelWorld()
    plain = gym.spaces.Box(0, 255, (128,), np.uint8)
    world.observation_space = gym.spaces.Dict(a=gym.spaces.Discrete(2), b=plain)
    with pytest.raises(ValueError, match="those of 'a' are no Box; those of 'b' have no two to"):
        GlimpseWrapper(world, **OPTIONS)
    pixels = gym.spaces.Box(0, 255, (SIDE, SIDE), np.uint8)
    world.observation_space = gym.spaces.Dict(a=pixels, b=pixels, c=plain)
    with pytest.raises(ValueError, match=r"2 parts of pixels, \['a', 'b'\]: .* pixels='a'"):
        GlimpseWrapper(world, **OPTIONS)


def test_relative_moves_are_of_a_fifth_where_nothing_else_is_said() -> None:
    """A fifth of half the frame's side."""
    env = GlimpseWrapper(PixelWorld(), **OPTIONS, look="relative", start=(0, 0))
    env.reset(seed=0)
    observation, *_ = env.step({"look": np.array([1.0, 0.0]), "act": 1})
    np.testing.assert_allclose(observation["location"], [0.2, 0.0], rtol=1e-6)


def test_axes_that_are_not_clear_are_named() -> None:
    world = PixelWorld()
    pixels = gym.spaces.Box(0, 255, (3, SIDE, SIDE), np.uint8)
    world.observation_space = gym.spaces.Dict(glimpse=pixels)
    with pytest.raises(ValueError, match=r"the values of observation\['glimpse'\] have the shape"):
        GlimpseWrapper(world, **OPTIONS)


def test_a_world_that_resets_itself_is_refused() -> None:
    """Above the glimpse it is played."""
    env = Autoreset(GlimpseWrapper(PixelWorld(steps=1), **OPTIONS))
    env.reset(seed=0)
    for _ in range(6):
        env.step(env.action_space.sample())
    with pytest.raises(ValueError, match="Autoreset lies below the glimpse: wrap it the other way"):
        GlimpseWrapper(TimeLimit(Autoreset(PixelWorld()), 9), **OPTIONS)
