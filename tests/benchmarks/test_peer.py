"""CircleSquare against ap_gym's own (pip install --group peers)."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.speed.peers import our_digits
from glimpse_envs.episodes.description import describe
from tests.support.episodes import CIRCLE_SQUARE, make_single

# Its own dependencies warn at import.
pytestmark = pytest.mark.filterwarnings("default")


def peers_module(image: NDArray[np.float64], label: int) -> Any:
    """ap_gym's image and sensor, dealing the one picture `image` (28, 28, 1)."""
    from ap_gym.envs.image import (
        ImageClassificationDataset,
        ImagePerceptionConfig,
        ImagePerceptionModule,
    )

    class OnePicture(ImageClassificationDataset):  # type: ignore[misc]  # ap_gym has no types
        def _get_num_channels(self) -> int:
            return 1

        def _get_num_classes(self) -> int:
            return 2

        def _get_length(self) -> int:
            return 1

        def _get_data_point(self, idx: int) -> tuple[NDArray[np.float64], int]:
            return image, label

    return ImagePerceptionModule(1, ImagePerceptionConfig(OnePicture(), prefetch=False))


def test_our_side_of_the_digits_deals_digits() -> None:
    envs = our_digits(2)
    assert envs.single_action_space["answer"].n == 10  # type: ignore[index]
    assert describe(envs).budget == 16
    glimpses = envs.single_observation_space["glimpse"]  # type: ignore[index]
    assert glimpses.shape == (1, 5, 5)


@pytest.mark.parametrize("seed", range(6))
def test_circle_square_is_ap_gyms_in_scene_sensor_and_motion(seed: int) -> None:
    pytest.importorskip("ap_gym")
    from ap_gym.envs.image import CircleSquareDataset

    full = make_single(CIRCLE_SQUARE, view="full")
    scene = full.reset(seed=seed)[0]["scene"]
    label = int(full.step({"answer": 0})[4]["target"])
    env = make_single(CIRCLE_SQUARE)
    observation, info = env.reset(seed=seed)
    # [-1, 1] spans 23 pixels; the box is 9 pixels wide with the object's pixel in its middle.
    left, top = info["target_box"][:2].astype(np.float64) * 11.5 + 14
    column, row = round(left) + 4, round(top) + 4

    image, drawn = CircleSquareDataset()[label + 2 * (column + 28 * row)]
    assert drawn == label
    np.testing.assert_allclose(scene[0], image[:, :, 0], atol=1e-6)

    module = peers_module(image, label)
    module.seed(0)
    module.reset()
    start = observation["location"][None].astype(np.float64)
    module._ImagePerceptionModule__current_sensor_pos_norm = start
    np.testing.assert_allclose(
        observation["glimpse"][0], module.get_glimpse(start)[0, :, :, 0], atol=1e-5
    )
    rng = np.random.default_rng(seed)
    for _ in range(15):
        move = np.clip(rng.uniform(-1, 1, 2) + np.array([0.5, -0.3]), -1, 1)
        ours = env.step({"look": move, "answer": label})[0]
        theirs = module.step(move[None], np.ones(1))[0]
        np.testing.assert_allclose(ours["location"], theirs["glimpse_pos"][0], atol=1e-6)
        np.testing.assert_allclose(ours["glimpse"][0], theirs["glimpse"][0, :, :, 0], atol=1e-5)
    module.close()
