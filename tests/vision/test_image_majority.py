"""Megapixel MNIST against a plain reimplementation which draws the same words, and its sets."""

import re
import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs import sources
from glimpse_envs.core import memory
from glimpse_envs.core.randomness import SCENE
from glimpse_envs.episodes.dealing import VALIDATION_SALT
from glimpse_envs.vision.scenes.image_majority import make_patterns
from tests.support.episodes import make_vector
from tests.support.reference import below
from tests.vision.test_scenes import in_pixels, pixels, words_of

GLYPHS = "Glimpse/MegapixelGlyphs-v0"
SIDE, SIZE, STROKES = 28, 160, 7
SMALL: dict[str, Any] = dict(scene_size=SIZE, strokes=STROKES, view="full")


def plain_scene(
    words: NDArray[np.uint32], split: str, patterns: NDArray[np.uint8], noise: str
) -> tuple[NDArray[np.uint8], int, list[tuple[int, int]]]:
    """The picture, its label, and the corners (y, x) of the five images."""
    examples = sources.load("glyphs", split)
    label = below(words[0], 10)
    alike = np.flatnonzero(examples.labels == label)
    others = [i for c in range(10) if c != label for i in np.flatnonzero(examples.labels == c)]
    of_images = [
        (alike if i < 3 else others)[below(words[1 + i], len(alike if i < 3 else others))]
        for i in range(5)
    ]
    first = 4 * ((6 + 3 * STROKES + 3) // 4)
    corners: list[tuple[int, int]] = []
    while len(corners) < 5:
        shares = words[first : first + 2] / 2**32
        y, x = np.floor(shares * (SIZE - SIDE) + 0.5).astype(int).tolist()
        first += 4
        if all(max(abs(y - v), abs(x - u)) >= SIDE for v, u in corners):
            corners.append((y, x))
    digits = [(y, x, examples.images[i, 0]) for (y, x), i in zip(corners, of_images, strict=True)]
    strokes = []
    for a, b, c in words[6 : 6 + 3 * STROKES].reshape(-1, 3):
        y, x = (SIDE + below(word, SIZE - 2 * SIDE) for word in (a, b))
        strokes.append((y, x, patterns[below(c, STROKES)]))
    picture = np.zeros((SIZE, SIZE), np.uint8)
    for y, x, pasted in strokes + digits if noise == "under" else digits + strokes:
        picture[y : y + SIDE, x : x + SIDE] = pasted
    return picture, label, corners


@pytest.mark.parametrize("noise", ["under", "over"])
@pytest.mark.parametrize("split", ["train", "validation", "test"])
@pytest.mark.parametrize("fixed", [False, True])
def test_scenes_are_those_of_the_generator(split: str, noise: str, fixed: bool) -> None:
    rows, seed = 6, 11
    envs = make_vector(
        GLYPHS, rows, split=split, noise=noise, fixed=fixed, autoreset_mode="Disabled", **SMALL
    )
    observation, info = envs.reset(seed=seed)
    shown = pixels(observation["scene"])[:, 0]
    labels = envs.step({"answer": np.zeros(rows, np.int64)})[-1]["target"]
    patterns = make_patterns(STROKES, SIDE, SIDE, {"train": 1, "validation": 2, "test": 0}[split])
    for row in range(rows):
        number = int(info["scene"][row]) if split != "train" else row
        key = (seed, SCENE[0], number)
        if fixed:
            if split == "train":
                number = below(words_of(1, *key)[0], 5_000)
            key = ({"train": 1, "validation": 2, "test": 0}[split], SCENE[1], number)
        elif split != "train":
            salt = int(VALIDATION_SALT) if split == "validation" else 0
            key = (seed ^ salt, SCENE[1], number)
        picture, label, corners = plain_scene(words_of(4_000, *key), split, patterns, noise)
        np.testing.assert_array_equal(shown[row], picture)
        assert labels[row] == label
        expected = [(x, y, x + SIDE, y + SIDE) for y, x in corners]
        np.testing.assert_allclose(in_pixels(info["target_box"][row], SIZE), expected, atol=1e-3)


def test_a_fixed_set_is_of_five_thousand_scenes_and_the_same_for_all_seeds() -> None:
    """Of the scenes that two seeds deal, as many are alike as of 5,000 drawn with replacement."""
    rows = 2_000
    kwargs: dict[str, Any] = dict(scene_size=100, images=1, majority=1, strokes=0)
    places: dict[bool, list[set[bytes]]] = {True: [], False: []}
    for fixed, found in places.items():
        for seed in (0, 1):
            envs = make_vector(GLYPHS, rows, view="full", fixed=fixed, **kwargs)
            scenes = np.packbits(pixels(envs.reset(seed=seed)[0]["scene"]) > 0, axis=-1)
            found.append({scene.tobytes() for scene in scenes})
    assert not places[False][0] & places[False][1]
    expected = 5_000 * (1 - np.exp(-rows / 5_000)) ** 2
    assert len(places[True][0] & places[True][1]) == pytest.approx(expected, rel=0.15)
    for split in ("validation", "test"):
        assert make_vector(GLYPHS, 1, split=split, fixed=True, **kwargs).num_scenes == 1_000
        assert make_vector(GLYPHS, 1, split=split, **kwargs).num_scenes == 10_000


def test_patterns_are_pairs_of_straight_strokes() -> None:
    patterns = make_patterns(50, SIDE, SIDE, 1)
    assert patterns.shape == (50, SIDE, SIDE)
    drawn = patterns > 0
    assert patterns[drawn].min() >= int(0.8 * 255)
    assert drawn[:, 0, [0, -1]].any(axis=1).all(), "each begins in an upper corner"
    assert drawn.sum(axis=(1, 2)).min() > 20
    assert drawn.sum(axis=(1, 2)).max() < 4 * SIDE
    assert (make_patterns(50, SIDE, SIDE, 0) != patterns).any()
    assert make_patterns(0, SIDE, SIDE, 0).shape == (0, SIDE, SIDE)


def test_the_memory_that_patterns_need_is_known_before_they_are_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count = 2_000
    tracemalloc.start()
    make_patterns(count, SIDE, SIDE, 1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    monkeypatch.setattr(memory, "memory_of_machine", lambda: int(0.9 * peak))
    with pytest.raises(ValueError, match=r"strokes=2000 needs [0-9,]+ bytes") as refusal:
        make_vector(GLYPHS, 1, scene_size=1500, strokes=count)
    found = re.search(r"needs ([0-9,]+) bytes", str(refusal.value))
    assert found is not None
    assert 0.98 * peak < int(found[1].replace(",", "")) < 1.2 * peak


def test_the_oracle_looks_at_the_majority_first() -> None:
    envs = make_vector(GLYPHS, 8, scene_size=SIZE, strokes=0, scales=2)
    _, info = envs.reset(seed=1)
    seen = []
    for _ in range(15):
        observation, *_ = envs.step(envs.task.oracle())
        seen.append(observation["location"])
    boxes = info["target_box"]
    middles = (boxes[:, :, :2] + boxes[:, :, 2:]) / 2
    for turn in range(5):  # fifteen looks, three at each of five images
        np.testing.assert_allclose(seen[3 * turn], middles[:, turn], atol=1e-6)


@pytest.mark.parametrize(
    ("kwargs", "named"),
    [
        ({"noise": "none"}, "noise='none' must be one of 'under', 'over'"),
        ({"majority": 2}, "majority=2 must be more than half of images=5"),
        ({"majority": 6}, "majority=6 .* from 3 to 5"),
        ({"scene_size": 100}, "scene_size=100 may have no room for 5 images and strokes .* 138"),
        ({"scene_size": 30, "images": 1, "majority": 1}, "no room for 1 images and strokes .* 57"),
        ({"images": 10**15, "majority": 10**15}, "no room for 1000000000000000 images .* 17"),
        ({"strokes": -1}, "strokes=-1 must be an integer of at least 0"),
        ({"fixed": "yes"}, "fixed='yes' must be True or False"),
    ],
)
def test_what_cannot_be_is_refused(kwargs: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        make_vector(GLYPHS, 1, **kwargs)
