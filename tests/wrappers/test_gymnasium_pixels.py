"""Gymnasium's own environments with pixels, or drawn as pixels, through a glimpse."""

from collections.abc import Callable

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import AddRenderObservation

from glimpse_envs.wrappers import GlimpseVectorWrapper, GlimpseWrapper


def car_racing() -> gym.Env:
    pytest.importorskip("Box2D")
    return gym.make("CarRacing-v3", continuous=False)


def drawn_cart_pole() -> gym.Env:
    pytest.importorskip("pygame")
    return AddRenderObservation(gym.make("CartPole-v1", render_mode="rgb_array"), render_only=True)


@pytest.mark.parametrize("make", [car_racing, drawn_cart_pole])
def test_a_glimpse_shows_the_pixels_of_gymnasiums_frame_and_no_others(
    make: Callable[[], gym.Env],
) -> None:
    plain = make()
    env = GlimpseWrapper(make(), glimpse_size=16, mask=True, inside=True, start=(0.0, 0.0))
    frame, _ = plain.reset(seed=3)
    observation, _ = env.reset(seed=3)
    for look in ((0.3, -0.2), (0.0, 0.0), (-0.3, 0.2), (0.5, 0.5)):
        assert frame.dtype == np.uint8
        shown = observation["glimpse"]  # (3, H, W), black outside
        rows, columns = (np.flatnonzero(shown.any(axis=axes)) for axes in ((0, 2), (0, 1)))
        window = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        assert max(shown[0, *window].shape) <= 16  # less where the frame itself is black
        # With `inside` a look of 1 is half a window from the border.
        spans = np.array(frame.shape[1::-1]) - 16
        centre = 8 + (observation["location"] + 1) / 2 * spans
        corners = np.array([[columns[0], rows[0]], [columns[-1], rows[-1]]])
        assert np.abs(corners - centre).max() <= 8.6, "half a window, and rounding"
        np.testing.assert_allclose(shown[:, *window], frame[window].transpose(2, 0, 1) / 255)
        frame = plain.step(1)[0]
        observation = env.step({"look": np.array(look, np.float32), "act": 1})[0]
        np.testing.assert_allclose(observation["location"], look, atol=1e-6)
    plain.close()
    env.close()


def test_a_batch_of_car_races_is_seen_as_single_ones() -> None:
    pytest.importorskip("Box2D")
    envs = GlimpseVectorWrapper(
        gym.make_vec("CarRacing-v3", num_envs=2, continuous=False), glimpse_size=16
    )
    singles = [GlimpseWrapper(car_racing(), glimpse_size=16) for _ in range(2)]
    seen = envs.reset(seed=5)[0]
    alone = [env.reset(seed=5 + row)[0] for row, env in enumerate(singles)]
    for row in range(2):
        np.testing.assert_array_equal(seen["glimpse"][row], alone[row]["glimpse"])
    envs.close()
    for env in singles:
        env.close()
