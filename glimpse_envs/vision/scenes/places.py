"""Places of images, one after another, at which none overlaps another."""

from math import isqrt

import numpy as np

from glimpse_envs.core.arrays import Ints, KeyArrays
from glimpse_envs.core.kernels import kernel
from glimpse_envs.core.randomness import SCENE, below, keyed_block

_TRIES = 1000  # of places for an image, before one of those that are free is taken in turn


def room_for(size: int, height: int, width: int) -> int:
    """Return a number of images that always find a place each, wherever those before them lie: an
    image occupies all places at which others would overlap it."""
    if size < max(height, width):
        return 0
    places = (size - height + 1) * (size - width + 1)
    return 1 + (places - 1) // ((2 * height - 1) * (2 * width - 1))


def side_for(images: int, height: int, width: int) -> int:
    """Return the side of the smallest scene for which `room_for` is at least `images`."""
    places = 1 + (images - 1) * (2 * height - 1) * (2 * width - 1)
    more = abs(height - width)  # the number of places along the two axes differs by this
    few = (isqrt(more * more + 4 * places) - more) // 2
    while few * (few + more) < places:  # once or twice, because of rounding
        few += 1
    return max(height, width) - 1 + few


@kernel
def draw_free_place(
    corners: Ints,
    placed: int,
    block: int,
    n: int,
    keys: KeyArrays,
    sides: tuple[int, int, int, int],
    rounded: bool,
) -> tuple[np.int64, np.int64, int]:
    """Return y, x of a place at which an image overlaps none of those `placed` at `corners`
    (images, 2), and the number of the block after the last that was drawn of scene n's words.

    Places are drawn until one is free: uniform ones, or, with `rounded`, round(U most) along each
    axis, which is 0 or `most` half as often as any other number.

    `sides` are the height and width of the scene, then those of the image.
    """
    height, width, h, w = sides
    for tried in range(_TRIES + 1):
        draws = keyed_block(block + tried, n, keys, SCENE)
        if rounded:
            y, x = _rounded(draws[0], height - h), _rounded(draws[1], width - w)
        else:
            y, x = below(draws[0], height - h + 1), below(draws[1], width - w + 1)
        if _is_free(corners, placed, y, x, h, w):
            return y, x, block + tried + 1
    y, x = _next_free(corners, placed, y, x, sides)
    return y, x, block + _TRIES + 1


@kernel
def _is_free(corners: Ints, placed: int, y: int, x: int, h: int, w: int) -> bool:
    """Whether an image (h, w) at (y, x) overlaps none of those `placed` at `corners`."""
    for j in range(placed):
        if abs(corners[j, 0] - y) < h and abs(corners[j, 1] - x) < w:
            return False
    return True


@kernel
def _next_free(
    corners: Ints, placed: int, y: int, x: int, sides: tuple[int, int, int, int]
) -> tuple[int, int]:
    """Return the free place next to (y, x), row by row, continuing from the last to the first."""
    height, width, h, w = sides
    rows, columns = height - h + 1, width - w + 1
    for step in range(rows * columns):
        place = (y * columns + x + step) % (rows * columns)
        if _is_free(corners, placed, place // columns, place % columns, h, w):
            return place // columns, place % columns
    return y, x


@kernel(inline="always")
def _rounded(word: np.uint64, most: int) -> np.int64:
    """Map a word to round(U most), with U uniform in [0, 1)."""
    return np.int64(np.floor(float(word) / 4294967296.0 * most + 0.5))
