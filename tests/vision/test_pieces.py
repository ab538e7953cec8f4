"""Scenes in pieces: only these are cleared and summed, and nothing shows it."""

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs import sources
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


class Square(Scene):
    """A white square, in part outside the picture."""

    shape, dtype, pieces = (1, 101, 101), np.uint8, 1
    answers = ("square",)
    num_scenes = None
    told: tuple[int, ...] = (1, 4)
    """Shape of what `draw` returns, for one scene."""

    def draw(
        self,
        which: NDArray[np.int64],
        keys: Keys,
        canvas: NDArray[np.generic],
        labels: NDArray[np.int64],
        boxes: NDArray[np.float64],
    ) -> NDArray[np.int64]:
        places = [(-10, 5), (91, 40), (30, -10), (60, 91)]
        pieces = np.zeros((len(which), *self.told), np.int64)
        for m, n in enumerate(which):
            x, y = places[keys.episodes[n] % 4]
            pieces[m] = (x, y, x + 20, y + 20)[: self.told[-1]]
            x0, y0, x1, y1 = np.clip((x, y, x + 20, y + 20), 0, 101)
            canvas[n, :, 1 + y0 : 1 + y1, 1 + x0 : 1 + x1] = 255
        return pieces


def test_pieces_may_stick_out_and_must_be_as_many_as_stated() -> None:
    stage = Square().stage(None, ROWS, 1)
    for episode in range(8):
        deal(stage, episode)
        assert (stage.whole(np.arange(ROWS)).sum(axis=(1, 2, 3)) == 200).all()
    scene = Square()
    scene.told = (2, 4)
    with pytest.raises(ValueError, match=r"1 pieces must return .* returned \(64, 2, 4\)"):
        deal(scene.stage(None, ROWS, 1), 0)


@pytest.mark.parametrize("size", [101, LARGE])
def test_a_deal_that_is_broken_off_leaves_nothing_in_the_next(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = ImageScene(split="train", source="glyphs", scene_size=size, clutter=9)
    sensor = Retina(scene.shape, glimpse_size=12, scales=6)
    whole, calls = scene.draw, count()

    def interrupted(*args: Any) -> NDArray[np.int64]:
        drawn = whole(*args)
        if next(calls) == 2:
            raise KeyboardInterrupt
        return drawn

    monkeypatch.setattr(scene, "draw", interrupted)
    used, fresh = scene.stage(sensor, ROWS, 1), ImageScene(
        split="train", source="glyphs", scene_size=size, clutter=9
    ).stage(sensor, ROWS, 1)  # fmt: skip
    with pytest.raises(KeyboardInterrupt):
        deal(used, 0)
    deal(used, 1)
    deal(fresh, 1)
    every = np.arange(ROWS)
    np.testing.assert_array_equal(used.whole(every), fresh.whole(every))
    centres = np.full((ROWS, 2), size / 2)
    np.testing.assert_array_equal(used.read(every, centres), fresh.read(every, centres))


def test_a_source_that_cannot_be_read_leaves_the_scenes(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = ImageScene(split="train", source="glyphs", scene_size=101).stage(None, ROWS, 1)
    deal(stage, 0)
    before = stage.whole(np.arange(ROWS))

    def damaged(*_: Any) -> None:
        raise sources.SourceError("the images have changed")

    monkeypatch.setattr(sources, "load", damaged)
    with pytest.raises(sources.SourceError, match="have changed"):
        deal(stage, 1)
    np.testing.assert_array_equal(stage.whole(np.arange(ROWS)), before)
