"""Scenes against plain reimplementations which draw the same words, pixel by pixel."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs import sources
from glimpse_envs.core.randomness import SCENE, fill_words
from glimpse_envs.episodes.dealing import VALIDATION_SALT
from tests.support.episodes import (
    CENTRED,
    CIRCLE_SQUARE,
    CLUTTERED,
    TRANSLATED,
    hidden_of,
    make_vector,
    write_images,
)
from tests.support.reference import below, circle_square, cluttered, counts_in_grid

LARGE = "Glimpse/ClutteredGlyphsLarge-v0"


def words_of(
    count: int, seed: int, purpose: int, stream: int, episode: int = 0
) -> NDArray[np.uint32]:
    words = np.zeros(count, np.uint32)
    fill_words(words, np.uint64(seed), purpose, stream, episode)
    return words


def pixels(scenes: NDArray[np.float32]) -> NDArray[np.int64]:
    """Scenes in [0, 1] as the bytes that they are made of."""
    grey = np.rint(scenes * 255)
    np.testing.assert_allclose(scenes, grey / 255, atol=1e-7)
    return grey.astype(np.int64)


def in_pixels(boxes: NDArray[np.float32], size: int) -> NDArray[np.float64]:
    """`target_box` in pixels, where [-1, 1] spans the scene."""
    return (boxes.astype(np.float64) + 1) / 2 * size


@pytest.mark.parametrize("seed", [0, 1, 77, 2**63])
@pytest.mark.parametrize(
    ("env_id", "size", "clutter"), [(CLUTTERED, 60, 4), (LARGE, 100, 8), (TRANSLATED, 60, 0)]
)
def test_train_scenes_are_those_of_the_public_generator(
    env_id: str, size: int, clutter: int, seed: int
) -> None:
    rows, episodes = 4, 3
    examples = sources.load("glyphs", "train")
    envs = make_vector(env_id, rows, view="full", autoreset_mode="Disabled")
    observation, info = envs.reset(seed=seed)
    for episode in range(episodes):
        outcome = envs.step({"answer": np.zeros(rows, np.int64)})[4]
        scenes = pixels(observation["scene"])
        for row in range(rows):
            words = words_of(3 + 5 * clutter, seed, SCENE[0], row, episode)
            index = below(words[0], len(examples))
            expected, box = cluttered(words, examples.images, index, size, clutter, 8)
            np.testing.assert_array_equal(scenes[row], expected)
            assert outcome["target"][row] == examples.labels[index]
            np.testing.assert_allclose(in_pixels(info["target_box"][row], size), box, atol=1e-4)
        observation, info = envs.reset()


@pytest.mark.parametrize("split", ["validation", "test"])
def test_fixed_scenes_are_those_of_the_public_generator(split: str) -> None:
    examples = sources.load("glyphs", split)
    asked = np.array([0, 17, 9_999])
    envs = make_vector(CLUTTERED, 3, split=split, view="full")
    scenes = pixels(envs.reset(seed=6, options={"scene": asked})[0]["scene"])
    for scene, index in zip(scenes, asked.tolist(), strict=True):
        seed = 6 ^ (int(VALIDATION_SALT) if split == "validation" else 0)
        words = words_of(3 + 5 * 4, seed, SCENE[1], index)
        np.testing.assert_array_equal(scene, cluttered(words, examples.images, index, 60, 4, 8)[0])


def test_colour_pictures_are_cluttered_in_all_channels(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    source = write_images(tmp_path, rng.integers(0, 256, (9, 14, 11, 3), np.uint8))
    kwargs: dict[str, Any] = {"source": source, "clutter": 7, "clutter_size": 5, "scene_size": 23}
    examples = sources.load(source, "train")
    hidden = hidden_of(CLUTTERED, 5, 3, **kwargs)
    assert hidden.scenes.shape == (5, 3, 23, 23)
    for row, scene in enumerate(pixels(hidden.scenes)):
        words = words_of(3 + 5 * 7, 3, SCENE[0], row)
        index = below(words[0], 9)
        expected, box = cluttered(words, examples.images, index, 23, 7, 5)
        np.testing.assert_array_equal(scene, expected)
        np.testing.assert_allclose(in_pixels(hidden.boxes[row], 23), box, atol=1e-4)


def test_a_centred_picture_is_the_image() -> None:
    hidden = hidden_of(CENTRED, 8, 0)
    examples = sources.load("glyphs", "train")
    for row, scene in enumerate(pixels(hidden.scenes)):
        index = below(words_of(1, 0, SCENE[0], row)[0], len(examples))
        np.testing.assert_array_equal(scene, examples.images[index])
        assert hidden.labels[row] == examples.labels[index]
    np.testing.assert_array_equal(hidden.boxes, np.tile([-1, -1, 1, 1], (8, 1)))


def test_training_images_may_stick_out_and_test_images_do_not() -> None:
    examples = sources.load("glyphs", "train")
    hidden = hidden_of(CENTRED, 300, 0, overhang=2)
    moves = np.rint(in_pixels(hidden.boxes, 28)).astype(int)[:, :2]
    assert {tuple(move) for move in moves.tolist()} == {
        (x, y) for x in range(-2, 3) for y in range(-2, 3)
    }
    for row, (scene, (x, y)) in enumerate(zip(pixels(hidden.scenes), moves, strict=True)):
        index = below(words_of(1, 0, SCENE[0], row)[0], len(examples))
        padded = np.pad(examples.images[index], ((0, 0), (2, 2), (2, 2)))
        np.testing.assert_array_equal(scene, padded[:, 2 - y : 30 - y, 2 - x : 30 - x])
    tested = make_vector(CENTRED, 8, split="test", overhang=2).reset(seed=0)[1]["target_box"]
    np.testing.assert_array_equal(tested, np.tile([-1, -1, 1, 1], (8, 1)))
    with pytest.raises(ValueError, match="overhang=28 must be less than 28"):
        make_vector(CENTRED, 1, overhang=28)


def test_the_digit_lies_in_its_box_and_nothing_elsewhere() -> None:
    hidden = hidden_of(TRANSLATED, 50, 1)
    boxes = np.rint(in_pixels(hidden.boxes, 60)).astype(int)
    for scene, (x0, y0, x1, y1) in zip(hidden.scenes, boxes, strict=True):
        assert (x1 - x0, y1 - y0) == (28, 28)
        assert min(x0, y0) >= 0
        assert max(x1, y1) <= 60
        digit = scene[0, y0:y1, x0:x1].copy()
        assert digit.sum() > 10
        scene[0, y0:y1, x0:x1] = 0
        assert not scene.any()


def test_digits_stand_at_every_place_alike() -> None:
    """The 33 x 33 places, in 3 x 3 parts of 11 x 11."""
    n = 3600
    boxes = in_pixels(make_vector(TRANSLATED, n).reset(seed=0)[1]["target_box"], 60)
    parts = counts_in_grid(np.rint(boxes[:, :2]), 0, 33, 3)
    assert len(parts) == 9
    assert np.abs(parts - n / 9).max() < 4 * np.sqrt(n / 9 * 8 / 9)


@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize("size", [28, 41])
def test_circle_square_is_ap_gyms(seed: int, size: int) -> None:
    rows = 60
    hidden = hidden_of(CIRCLE_SQUARE, rows, seed, scene_size=size)
    wide = make_vector(CIRCLE_SQUARE, rows, scene_size=size, inside=False)
    boxes = in_pixels(wide.reset(seed=seed)[1]["target_box"], size)
    assert set(hidden.labels) == {0, 1}
    for scene, label, box in zip(hidden.scenes, hidden.labels, boxes, strict=True):
        column, row = np.rint((box[:2] + box[2:] - 1) / 2).astype(int)
        np.testing.assert_allclose(box, [column - 4, row - 4, column + 5, row + 5], atol=1e-4)
        assert 0 <= row < size
        assert 0 <= column < size
        expected = circle_square(label, row, column, size)
        np.testing.assert_allclose(scene[0], expected, atol=1e-6)


def test_circle_squares_box_is_in_the_looks_coordinates() -> None:
    """[-1, 1] spans 23 of the 28 pixels: those at which a 5 x 5 glimpse lies inside."""
    inner = make_vector(CIRCLE_SQUARE, 20).reset(seed=0)[1]["target_box"]
    whole = make_vector(CIRCLE_SQUARE, 20, inside=False).reset(seed=0)[1]["target_box"]
    np.testing.assert_allclose(inner, whole * 28 / 23, rtol=1e-5, atol=1e-6)


def test_the_objects_centre_is_uniform_over_all_pixels() -> None:
    n = 6000
    envs = make_vector(CIRCLE_SQUARE, n, inside=False)
    boxes = in_pixels(envs.reset(seed=0)[1]["target_box"], 28)
    centres = np.rint((boxes[:, :2] + boxes[:, 2:] - 1) / 2)
    assert centres.min() == 0
    assert centres.max() == 27
    parts = counts_in_grid(centres, 0, 28, 4)
    assert np.abs(parts - n / 16).max() < 4.5 * np.sqrt(n / 16 * 15 / 16)
