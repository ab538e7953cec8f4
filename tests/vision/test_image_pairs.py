"""Pairs of images against scenes pasted together in plain NumPy."""

from typing import Any

import numpy as np
import pytest

from glimpse_envs import sources
from glimpse_envs.testing import first_returns
from tests.support.episodes import hidden_of, make_vector

PAIR, SUM = "Glimpse/DigitPairGlyphs-v0", "Glimpse/DigitSumGlyphs-v0"
SIZE, SIDE = 100, 28


def in_pixels(boxes: Any) -> Any:
    return np.rint((np.asarray(boxes, np.float64) + 1) / 2 * SIZE).astype(int)


@pytest.mark.parametrize("split", ["train", "test"])
def test_two_images_lie_apart_and_are_asked_for(split: str) -> None:
    rows = 300
    hidden = hidden_of(SUM, rows, 3, split=split)
    examples = sources.load("glyphs", split)
    by_pixels = {image.tobytes(): int(label) for image, label in zip(
        examples.images[:, 0], examples.labels, strict=True)}  # fmt: skip
    boxes = in_pixels(hidden.boxes)  # (rows, 2, 4)
    for scene, pair, label in zip(hidden.scenes[:, 0], boxes, hidden.labels, strict=True):
        pixels = np.rint(scene * 255).astype(np.uint8)
        digits = []
        for x0, y0, x1, y1 in pair:
            assert (x1 - x0, y1 - y0) == (SIDE, SIDE)
            assert min(x0, y0) >= 0
            assert max(x1, y1) <= SIZE
            digits.append(by_pixels[pixels[y0:y1, x0:x1].tobytes()])
            pixels[y0:y1, x0:x1] = 0
        assert not pixels.any(), "without clutter nothing else is there"
        assert sum(digits) == label
    apart = np.abs(boxes[:, 0, :2] - boxes[:, 1, :2]).max(axis=1)
    assert apart.min() >= SIDE


def test_places_are_uniform_over_all_that_are_disjoint() -> None:
    boxes = in_pixels(hidden_of(SUM, 6000, 1).boxes)[..., :2]
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, SIZE - SIDE + 1, (60_000, 2, 2))
    allowed = drawn[np.abs(drawn[:, 0] - drawn[:, 1]).max(axis=1) >= SIDE]
    for moment in (1, 2):
        found, expected = (np.mean(places.astype(float) ** moment) for places in (boxes, allowed))
        assert found == pytest.approx(expected, rel=0.03)
    products = [np.mean(p[:, 0].astype(float) * p[:, 1]) for p in (boxes, allowed)]
    assert products[0] == pytest.approx(products[1], rel=0.04)


def test_the_two_questions_have_their_answers_in_any_order() -> None:
    pair, total = (make_vector(env_id, 1).task for env_id in (PAIR, SUM))
    names, sums = (task.components["answer"].names for task in (pair, total))
    assert len(names) == len(set(names)) == 55
    assert (names[0], names[1], names[-1]) == ("0 and 0", "0 and 1", "9 and 9")
    assert sums == tuple(map(str, range(19)))
    assert (pair.chance, total.chance) == (0.02, 0.1)
    assert (pair.question, total.question) == (
        "Which two digits are there?",
        "What is the sum of the two digits?",
    )


def test_the_first_image_of_a_fixed_scene_is_its_own() -> None:
    hidden = hidden_of(SUM, 20, 0, split="validation")
    boxes = in_pixels(hidden.boxes)
    images = sources.load("glyphs", "validation").images
    for k, (x0, y0, x1, y1) in enumerate(boxes[:, 0]):
        pixels = np.rint(hidden.scenes[k, 0, y0:y1, x0:x1] * 255)
        np.testing.assert_array_equal(pixels, images[k, 0])


def test_an_oracle_looks_at_both_in_turn() -> None:
    envs = make_vector(PAIR, 50, autoreset_mode="Disabled")
    envs.reset(seed=0)
    assert first_returns(envs, envs.task.oracle).mean() == 1


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"scene_size": 40}, "scene_size=40 has no room for two images .* at least 56"),
        ({"asked": "product"}, "asked='product' must be one of 'pair', 'sum'"),
        ({"source": "fashion_mnist", "asked": "sum"}, "needs classes that are numbers"),
    ],
)
def test_what_cannot_be_is_refused(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_vector(PAIR, 1, **kwargs)
