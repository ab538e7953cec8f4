"""The retina against its definition: means over squares, zeros outside the scene."""

import copy
import pickle
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates

from glimpse_envs.vision.sensors.retina import Retina
from tests.support.reference import area_means, retina

CASES = [
    # height, width, channels, glimpse_size, scales
    (28, 28, 1, 8, 1),
    (60, 60, 1, 12, 3),
    (17, 31, 1, 5, 4),
    (31, 17, 3, 8, 3),
    (9, 9, 3, 5, 6),
    (1, 6, 1, 5, 2),
    (50, 23, 1, 1, 6),
    (100, 100, 1, 12, 5),
]


def pictures(dtype: type, *shape: int) -> NDArray[np.generic]:
    """Noise, of which one picture is all white."""
    rng = np.random.default_rng(0)
    scenes: NDArray[np.generic]
    if dtype is np.uint8:
        scenes = rng.integers(0, 256, shape, np.uint8)
        scenes[0] = 255
    else:
        scenes = rng.random(shape, np.float32)
        scenes[0] = 1
    return scenes


def see(
    sensor: Retina,
    scenes: NDArray[np.generic],
    which: NDArray[np.int64],
    places: NDArray[np.float64],
) -> NDArray[np.float32]:
    """Glimpses (m, K * C, g, g) of `scenes[which]` at `places` (m, 2) in pixels."""
    canvas, sums = sensor.allocate(len(scenes), scenes.dtype.type)
    canvas[:, :, 1:-1, 1:-1] = scenes
    sensor.sum_scenes(canvas, sums, np.arange(len(scenes)))
    glimpses = np.full((len(places), *sensor.glimpse_shape), np.nan, np.float32)
    sensor.read(canvas, sums, which, places, np.arange(len(places)), glimpses)
    return glimpses


def places_around(height: int, width: int, count: int) -> NDArray[np.float64]:
    """Places (count, 2) in, around and far outside a scene; some at whole and half pixels."""
    rng = np.random.default_rng(1)
    size = np.array([width, height])
    places = rng.uniform(-0.5, 1.5, (count, 2)) * size
    places[::5] = np.rint(places[::5])
    places[1::5] = np.rint(places[1::5]) + 0.5
    places[2::10] += np.array([1000.0, -3000.0])
    places[0], places[3], places[4] = (0.0, 0.0), size, size / 2
    return places


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize(("height", "width", "channels", "cells", "scales"), CASES)
def test_every_cell_is_the_mean_of_its_square(
    dtype: type, height: int, width: int, channels: int, cells: int, scales: int
) -> None:
    scenes = pictures(dtype, 3, channels, height, width)
    places = places_around(height, width, 40)
    which = np.arange(40) % 3
    glimpses = see(
        Retina((channels, height, width), glimpse_size=cells, scales=scales), scenes, which, places
    )
    light = scenes.astype(np.float64) / (255 if dtype is np.uint8 else 1)
    expected = [
        retina(light[n], x, y, cells, scales) for n, (x, y) in zip(which, places, strict=True)
    ]
    np.testing.assert_allclose(glimpses, expected, atol=1e-5)
    assert glimpses.min() >= 0.0
    assert glimpses.max() <= 1.0


@pytest.mark.parametrize("channels", [1, 3])
def test_large_scenes_are_read_exactly_whether_they_are_sparse_or_dense(channels: int) -> None:
    """Sparse scenes block by block; one has nothing, one is dense in its last channel alone."""
    height, width, cells, scales = 363, 395, 12, 7
    rng = np.random.default_rng(2)
    scenes = np.zeros((5, channels, height, width), np.uint8)
    for y, x in [(0, 0), (height - 28, width - 28), (31, 33), (64, 96), (200, 380), (50, 40)]:
        shown = scenes[1:3, :, y : y + 28, x : x + 28]
        shown[:] = rng.integers(0, 256, shown.shape)
    scenes[2, 0, -1, -1] = 255
    scenes[3] = 255
    scenes[4, -1] = rng.integers(0, 256, (height, width))
    places = places_around(height, width, 60)
    which = np.arange(60) % 5
    sensor = Retina((channels, height, width), glimpse_size=cells, scales=scales)
    canvas, sums = sensor.allocate(5, np.uint8)
    canvas[:, :, 1:-1, 1:-1] = 255 - scenes[::-1]  # what was there before leaves nothing
    sensor.sum_scenes(canvas, sums, np.arange(5))
    canvas[:, :, 1:-1, 1:-1] = scenes
    sensor.sum_scenes(canvas, sums, np.arange(5))
    glimpses = np.full((60, *sensor.glimpse_shape), np.nan, np.float32)
    sensor.read(canvas, sums, which, places, np.arange(60), glimpses)
    light = scenes.astype(np.float64) / 255
    expected = [
        retina(light[n], x, y, cells, scales) for n, (x, y) in zip(which, places, strict=True)
    ]
    np.testing.assert_allclose(glimpses, expected, atol=1e-5)
    assert glimpses.min() >= 0.0
    assert glimpses.max() <= 1.0
    assert not glimpses[which == 0].any()


@pytest.mark.learning
def test_the_definition_is_what_averaging_many_points_gives() -> None:
    """The reference itself, against a count of points in each cell's square."""
    rng = np.random.default_rng(0)
    image, x, y, cells, finer = rng.random((6, 9)), 3.3, 1.7, 3, 400
    for scale in (0, 1, 2):
        side = cells * 2**scale
        steps = (np.arange(side * finer) + 0.5) / finer - side / 2
        rows, columns = np.floor(y + steps).astype(int), np.floor(x + steps).astype(int)
        inside = ((rows >= 0) & (rows < 6))[:, None] & ((columns >= 0) & (columns < 9))
        points = np.where(inside, image[np.clip(rows, 0, 5)][:, np.clip(columns, 0, 8)], 0.0)
        means = points.reshape(cells, -1, cells, 2**scale * finer).mean(axis=(1, 3))
        np.testing.assert_allclose(area_means(image, x, y, cells, scale), means, atol=5e-3)


def test_scale_one_is_bilinear_reading() -> None:
    scenes = pictures(np.float32, 2, 1, 13, 21)
    places = places_around(13, 21, 60)
    glimpses = see(
        Retina((1, 13, 21), glimpse_size=8, scales=1), scenes, np.ones(60, np.int64), places
    )
    # A pixel's value stands at its middle, half a pixel from its corner.
    cells = np.arange(8) - 3.5
    for glimpse, (x, y) in zip(glimpses, places, strict=True):
        rows, columns = np.meshgrid(y + cells - 0.5, x + cells - 0.5, indexing="ij")
        image = scenes[1, 0].astype(np.float64)
        expected = map_coordinates(image, [rows, columns], order=1, mode="grid-constant")
        np.testing.assert_allclose(glimpse[0], expected, atol=1e-5)


def test_a_scale_covers_twice_the_side_of_the_last() -> None:
    """The middle of a coarser scale is the finer one, averaged over 2 x 2 cells."""
    scenes = pictures(np.uint8, 1, 1, 64, 64)
    scenes[0] = pictures(np.uint8, 2, 1, 64, 64)[1]
    sensor = Retina((1, 64, 64), glimpse_size=8, scales=4)
    assert sensor.window_sides == (8.0, 16.0, 32.0, 64.0)
    (glimpse,) = see(sensor, scenes, np.zeros(1, np.int64), np.array([[31.3, 33.8]]))
    for fine, coarse in pairwise(glimpse):
        averaged = fine.reshape(4, 2, 4, 2).mean(axis=(1, 3))
        np.testing.assert_allclose(coarse[2:6, 2:6], averaged, atol=1e-5)


def test_channels_are_seen_apart_scale_by_scale() -> None:
    colours = pictures(np.uint8, 2, 3, 20, 20)
    places = np.array([[9.4, 11.1]])
    which = np.ones(1, np.int64)
    (together,) = see(Retina((3, 20, 20), glimpse_size=5, scales=3), colours, which, places)
    for channel in range(3):
        grey = np.ascontiguousarray(colours[:, channel : channel + 1])
        (alone,) = see(Retina((1, 20, 20), glimpse_size=5, scales=3), grey, which, places)
        np.testing.assert_array_equal(together[channel::3], alone)


def test_only_the_rows_asked_for_are_read_and_one_scene_can_be_drawn_anew() -> None:
    sensor = Retina((1, 12, 12), glimpse_size=5, scales=5)
    canvas, sums = sensor.allocate(3, np.uint8)
    canvas[:, :, 1:-1, 1:-1] = pictures(np.uint8, 3, 1, 12, 12)
    sensor.sum_scenes(canvas, sums, np.arange(3))
    which, middle = np.array([0, 1, 2, 1]), np.full((4, 2), 6.0)
    before = np.full((4, *sensor.glimpse_shape), 7.0, np.float32)
    sensor.read(canvas, sums, which, middle, np.array([1, 2]), before)
    assert (before[[0, 3]] == 7.0).all()
    canvas[2, :, 1:-1, 1:-1] = 0
    sensor.sum_scenes(canvas, sums, np.array([2]))
    after = np.ones_like(before)
    sensor.read(canvas, sums, which, middle, np.arange(4), after)
    np.testing.assert_array_equal(after[[1, 3]], before[[1, 1]])
    assert not after[2].any()


@pytest.mark.parametrize(
    ("shape", "glimpse_size", "widest"),
    [((1, 60, 60), 12, 96), ((3, 61, 20), 12, 192), ((1, 20, 1920), 12, 3072), ((1, 9, 9), 16, 16)],
)
def test_without_a_number_of_scales_the_widest_shows_nearly_all(
    shape: tuple[int, int, int], glimpse_size: int, widest: int
) -> None:
    """It is the narrowest window of at least 1.6 times the longer side."""
    sensor = Retina(shape, glimpse_size=glimpse_size, scales=None)
    assert sensor.window_sides[-1] == widest
    assert widest >= 1.6 * max(shape[1:]) > widest / 2 or len(sensor.window_sides) == 1
    assert sensor.glimpse_shape[0] == sensor.num_scales * shape[0]


def test_a_scene_drawn_anew_leaves_nothing_of_the_last() -> None:
    sensor = Retina((1, 12, 12), glimpse_size=5, scales=3)
    canvas, sums = sensor.allocate(1, np.uint8)
    canvas[:, :, 1:-1, 1:-1] = 255
    one = np.zeros(1, np.int64)
    sensor.sum_scenes(canvas, sums, one)
    canvas[:, :, 1:-1, 1:-1] = 0
    sensor.sum_scenes(canvas, sums, one)
    glimpses = np.ones((1, *sensor.glimpse_shape), np.float32)
    sensor.read(canvas, sums, one, np.full((1, 2), 6.0), one, glimpses)
    assert not glimpses.any()


def without_slack(canvas: NDArray[np.generic]) -> NDArray[np.generic]:
    return pickle.loads(pickle.dumps(canvas))


def in_part(canvas: NDArray[np.generic]) -> NDArray[np.generic]:
    return canvas[:1]


def backwards(canvas: NDArray[np.generic]) -> NDArray[np.generic]:
    return canvas[::-1]


@pytest.mark.parametrize("change", [copy.copy, copy.deepcopy, without_slack, in_part, backwards])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_only_canvases_that_it_allocated_are_read(
    dtype: type, change: Callable[[NDArray[np.generic]], NDArray[np.generic]]
) -> None:
    """Others lack the room around their scenes in which glimpses begin and end."""
    sensor = Retina((1, 12, 12), glimpse_size=5, scales=2)
    canvas, sums = sensor.allocate(2, dtype)
    one, place = np.zeros(1, np.int64), np.full((1, 2), 6.0)
    glimpses = np.ones((1, *sensor.glimpse_shape), np.float32)
    with pytest.raises(ValueError, match=r"must be one that Retina\.allocate returned"):
        sensor.read(change(canvas), sums, one, place, one, glimpses)
    wider = Retina((1, 12, 12), glimpse_size=40, scales=2).allocate(2, dtype)[0]
    with pytest.raises(ValueError, match=r"must be one that Retina\.allocate returned"):
        sensor.read(wider, sums, one, place, one, glimpses)
    sensor.read(canvas, sums, one, place, one, glimpses)
    assert not glimpses.any()
