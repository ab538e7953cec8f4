"""What is seen through a glimpse, held to plain slices of the frames."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import FrameStackObservation
from numpy.typing import NDArray

from glimpse_envs.wrappers import GlimpseWrapper
from tests.support.pixel_world import SIDE, PixelWorld

G = 8


def play(
    env: gym.Env, steps: int, seed: int = 0
) -> tuple[list[Any], list[dict[str, Any]], list[NDArray]]:
    """Play sampled actions; observations, actions and, of a world beside it, whole frames."""
    inner: gym.Env = env.env  # type: ignore[attr-defined]  # a wrapper
    whole = []
    watched = inner.step

    def step(action: Any) -> Any:
        result = watched(action)
        whole.append(np.array(result[0]))
        return result

    inner.step = step  # type: ignore[method-assign]
    env.action_space.seed(seed)
    observation, _ = env.reset(seed=seed)
    seen, actions = [observation], []
    for _ in range(steps):
        actions.append(env.action_space.sample())
        seen.append(env.step(actions[-1])[0])
    return seen, actions, whole


def crop(frame: NDArray, row: int, column: int, side: int) -> NDArray:
    return frame[row : row + side, column : column + side]


SUGARL = {20: [0, 16, 32, 48], 30: [0, 13, 26, 39], 50: [0, 8, 16, 24]}


@pytest.mark.parametrize("fovea", SUGARL)
def test_crops_of_sugarl(fovea: int) -> None:
    """The 4 x 4 corners, from (0, 0) on, with the whole stack cut at the place after the act."""
    world = FrameStackObservation(PixelWorld((84, 84), steps=20), 4, padding_type="zero")
    env = GlimpseWrapper(
        world,
        glimpse_size=fovea,
        look="corners",
        start=(-1.0, -1.0),
        inside=True,
        mask=True,
        recut=True,
    )
    assert env.action_space["look"] == gym.spaces.Discrete(16)  # type: ignore[index]  # a Dict
    seen, actions, whole = play(env, 12)
    first = seen[0]["glimpse"]
    assert not first[:3].any()
    assert first[3, :fovea, :fovea].any()
    assert not first[3, fovea:].any()
    assert not first[3, :, fovea:].any()
    for observation, action, stack in zip(seen[1:], actions, whole, strict=True):
        row, column = divmod(int(action["look"]), 4)
        top, left = SUGARL[fovea][row], SUGARL[fovea][column]
        expected = np.zeros((4, 84, 84), np.float32)
        inside = (slice(None), slice(top, top + fovea), slice(left, left + fovea))
        expected[inside] = stack[inside].astype(np.float32) / 255
        np.testing.assert_array_equal(observation["glimpse"], expected)
        assert stack[3, 0, 0] == action["act"], "the act is played before the gaze moves"


def test_a_glimpse_is_the_crop_at_its_corner() -> None:
    env = GlimpseWrapper(PixelWorld(steps=20), glimpse_size=G, look="corners")
    seen, actions, whole = play(env, 12)
    for observation, action, frame in zip(seen[1:], actions, whole, strict=True):
        row, column = divmod(int(action["look"]), 4)
        expected = crop(frame, row * 4, column * 4, G) / 255
        np.testing.assert_allclose(observation["glimpse"][0], expected, atol=1e-6)
        middle = np.array([column, row]) * 4 + G / 2  # (x, y) in pixels
        np.testing.assert_allclose(observation["location"], middle / (SIDE / 2) - 1, atol=1e-6)


def test_corners_of_a_wide_glimpse_stay_where_it_may_look() -> None:
    env = GlimpseWrapper(
        PixelWorld(steps=20), glimpse_size=G, scales=2, look="corners", inside=True
    )
    env.reset(seed=0)
    for corner in range(16):
        seen, *_ = env.step({"look": corner, "act": 0})
        assert env.observation_space.contains(seen)
        coarse = seen["glimpse"].reshape(2, G, G)[1]
        assert (coarse.sum(axis=0) > 0).all(), "all of it lies in the frame"
        assert (coarse.sum(axis=1) > 0).all()


def test_past_frames_stay_as_they_were_seen() -> None:
    world = FrameStackObservation(PixelWorld(steps=20), 4)
    env = GlimpseWrapper(world, glimpse_size=G, look="tiles", mask=True)
    seen, actions, whole = play(env, 8)
    newest = [seen[0]["glimpse"]] * 4
    for observation, action, stack in zip(seen[1:], actions, whole, strict=True):
        row, column = divmod(int(action["look"]), SIDE // G)
        alone = np.zeros((SIDE, SIDE), np.float32)
        window = (slice(row * G, row * G + G), slice(column * G, column * G + G))
        alone[window] = stack[-1][window].astype(np.float32) / 255
        newest = [*newest[1:], alone[None]]
        np.testing.assert_array_equal(observation["glimpse"][3], alone)
    for past, glimpse in zip(newest, observation["glimpse"], strict=True):
        np.testing.assert_array_equal(past[-1], glimpse)


def test_recut_shows_what_was_not_seen() -> None:
    world = FrameStackObservation(PixelWorld(steps=20), 4)
    env = GlimpseWrapper(world, glimpse_size=G, look="corners", recut=True)
    seen, actions, whole = play(env, 6)
    for observation, action, stack in zip(seen[1:], actions, whole, strict=True):
        row, column = divmod(int(action["look"]), 4)
        expected = [crop(frame, row * 4, column * 4, G) / 255 for frame in stack]
        np.testing.assert_allclose(observation["glimpse"], expected, atol=1e-6)


def test_the_periphery_is_the_whole_squeezed_around_the_window() -> None:
    """Squeezed by a whole factor, each square becomes its mean, of which the middle is kept."""
    env = GlimpseWrapper(
        PixelWorld(steps=20), glimpse_size=G, look="corners", mask=True, periphery=SIDE // 4
    )
    seen, actions, whole = play(env, 4)
    for observation, action, frame in zip(seen[1:], actions, whole, strict=True):
        row, column = divmod(int(action["look"]), 4)
        window = (slice(row * 4, row * 4 + G), slice(column * 4, column * 4 + G))
        pixels, glimpse = frame.astype(np.float32) / 255, observation["glimpse"][0]
        np.testing.assert_array_equal(glimpse[window], pixels[window])
        means = pixels.reshape(6, 4, 6, 4).mean(axis=(1, 3))
        # Between the middles of four squares the stretched picture mixes their means.
        near = glimpse.reshape(6, 4, 6, 4)[:, 1:3, :, 1:3].mean(axis=(1, 3))
        outside = np.ones((6, 6), np.bool_)
        outside[row : row + 2, column : column + 2] = False
        assert np.abs(near - means)[outside].max() < 0.25
        assert np.corrcoef(near[outside], means[outside])[0, 1] > 0.9


@pytest.mark.parametrize("look", ["continuous", "relative", "static"])
def test_looks_move_the_gaze(look: str) -> None:
    env = GlimpseWrapper(PixelWorld(steps=20), glimpse_size=G, look=look, start=(0.5, -0.25))
    seen, actions, _ = play(env, 10)
    place = np.array([0.5, -0.25])
    np.testing.assert_allclose(seen[0]["location"], place)
    for observation, action in zip(seen[1:], actions, strict=True):
        if look == "continuous":
            place = action["look"]
        elif look == "relative":
            move = action["look"] / max(1.0, np.linalg.norm(action["look"]))
            place = np.clip(place + 0.2 * move, -1, 1)
        else:
            assert list(action) == ["act"]
        np.testing.assert_allclose(observation["location"], place, atol=1e-6)


def test_a_static_gaze_is_in_the_middle() -> None:
    env = GlimpseWrapper(PixelWorld(), glimpse_size=G, look="static")
    seen, _, whole = play(env, 1)
    np.testing.assert_array_equal(seen[0]["location"], [0, 0])
    at = SIDE // 2 - G // 2
    np.testing.assert_allclose(seen[1]["glimpse"][0], crop(whole[0], at, at, G) / 255, atol=1e-6)


LAYOUTS: list[tuple[tuple[int, ...], str, str | None]] = [
    ((SIDE, SIDE), "HW", None),
    ((SIDE, SIDE, 1), "HWC", None),
    ((SIDE, SIDE, 3), "HWC", None),
    ((3, SIDE, SIDE), "CHW", "CHW"),
    ((3, SIDE, SIDE), "KHW", "KHW"),
    ((4, SIDE, SIDE), "KHW", None),
    ((SIDE, SIDE, 4), "HWK", "HWK"),
    ((SIDE, SIDE, 5), "HWK", None),
    ((SIDE + 1, SIDE, SIDE), "KHW", None),
    ((SIDE, SIDE, SIDE + 1), "HWK", None),
    ((4, SIDE, SIDE, 3), "KHWC", None),
    ((4, 3, SIDE, SIDE), "KCHW", None),
]


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize(("shape", "axes", "layout"), LAYOUTS)
def test_any_order_of_axes(
    shape: tuple[int, ...], axes: str, layout: str | None, dtype: str
) -> None:
    world = PixelWorld(shape, dtype)
    recut = "K" in axes
    env = GlimpseWrapper(world, glimpse_size=G, look="corners", recut=recut, layout=layout)
    seen, actions, whole = play(env, 2)
    row, column = divmod(int(actions[-1]["look"]), 4)
    frame = whole[-1] / 255 if dtype == "uint8" else whole[-1]
    planes = frame.transpose([axes.index(axis) for axis in "KCHW" if axis in axes])
    planes = planes.reshape(-1, SIDE, SIDE)
    expected = [crop(plane, row * 4, column * 4, G) for plane in planes]
    np.testing.assert_allclose(seen[-1]["glimpse"], expected, atol=1e-6)
    assert env.observation_space.contains(seen[-1])


@pytest.mark.parametrize("corner", [(-1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
def test_a_masked_view_over_the_border_shows_what_lies_inside(corner: tuple[float, float]) -> None:
    world = PixelWorld(dtype="float32")
    env = GlimpseWrapper(world, glimpse_size=G, mask=True, look="static", start=corner)
    seen = env.reset(seed=0)[0]["glimpse"][0]
    frame = PixelWorld(dtype="float32").reset(seed=0)[0]
    x, y = (slice(G // 2) if at < 0 else slice(SIDE - G // 2, SIDE) for at in corner)
    expected = np.zeros_like(frame)
    expected[y, x] = frame[y, x]
    np.testing.assert_array_equal(seen, expected)
