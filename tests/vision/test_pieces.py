"""Scenes in pieces: only these are cleared and summed, and nothing shows it."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs.core.keys import Keys
from glimpse_envs.vision.scenes.image_majority import ImageMajority
from glimpse_envs.vision.scenes.image_pairs import ImagePairs
from glimpse_envs.vision.scenes.image_search import ImageSearch
from glimpse_envs.vision.scenes.images import ImageScene
from glimpse_envs.vision.scenes.scene import Scene
from glimpse_envs.vision.scenes.stage import Stage
from glimpse_envs.vision.sensors.retina import Retina

ROWS = 70  # more than one chunk
LARGE = 370  # pixels: summed block by block
SCENES: list[Callable[..., Scene]] = [
    partial(ImageScene, clutter=9),
    partial(ImageScene, clutter=0, overhang=12),
    partial(ImageScene, clutter=400, clutter_size=20),  # too many blocks: one table
    partial(ImagePairs, clutter=5),
    partial(ImageSearch, images=12),
    partial(ImageMajority, noise="under", strokes=10),
    partial(ImageMajority, noise="over", strokes=10),
]


class Searching(Retina):
    """Is not told where a scene is black."""

    def sum_pieces(
        self,
        canvas: NDArray[np.generic],
        sums: NDArray[np.generic],
        which: NDArray[np.int64],
        pieces: NDArray[np.int64],
    ) -> None:
        self.sum_scenes(canvas, sums, which)


def deal(stage: Stage, episode: int) -> None:
    nothing = np.zeros(ROWS, np.int64)
    every = np.arange(ROWS)
    stage.draw(
        every, Keys(np.full(ROWS, 5, np.uint64), every, nothing + episode, nothing - 1, nothing)
    )


@pytest.mark.parametrize("size", [101, LARGE])
@pytest.mark.parametrize("make", SCENES)
def test_a_new_scene_is_that_of_a_canvas_that_was_black(
    make: Callable[..., Scene], size: int
) -> None:
    if size < LARGE and make.func in (ImageSearch, ImageMajority):  # type: ignore[attr-defined]
        pytest.skip("has no room")
    scene = make(split="train", source="glyphs", scene_size=size)
    assert scene.pieces
    arguments = {"shape": scene.shape, "glimpse_size": 12, "scales": 6}
    used, fresh = (
        scene.stage(sensor(**arguments), ROWS, 1)  # type: ignore[arg-type]
        for sensor in (Retina, Searching)
    )
    for episode in range(3):
        deal(used, episode)
    deal(fresh, 2)
    every = np.arange(ROWS)
    pictures = used.whole(every)
    np.testing.assert_array_equal(pictures, fresh.whole(every))
    assert pictures.any(axis=(1, 2, 3)).all()
    rng = np.random.default_rng(0)
    for _ in range(4):
        centres = rng.uniform(-20, size + 20, (ROWS, 2))
        np.testing.assert_array_equal(used.read(every, centres), fresh.read(every, centres))
