"""Slow, plain implementations that the fast ones are compared with."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def philox(counter: tuple[int, int, int, int], key: tuple[int, int]) -> tuple[int, int, int, int]:
    """Philox 4x32-10 in whole numbers (Salmon et al., SC 2011, section 3.3)."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * c0, 1 << 32)
        high1, low1 = divmod(0xCD9E8D57 * c2, 1 << 32)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + 0x9E3779B9) % (1 << 32), (k1 + 0xBB67AE85) % (1 << 32)
    return c0, c1, c2, c3


def overlaps(begins: Array, side: float, length: int) -> Array:
    """How much of [begin, begin + side) lies in each pixel [i, i + 1): (cells, length)."""
    pixels = np.arange(length)
    right = np.minimum(begins[:, None] + side, pixels + 1.0)
    left = np.maximum(begins[:, None], pixels)
    return np.maximum(right - left, 0.0)


def area_means(image: Array, x: float, y: float, cells: int, scale: int) -> Array:
    """The retina's definition: `image` (H, W) averaged over (cells, cells) squares of side 2**scale
    around the place (x, y) in pixels, zeros outside."""
    side = float(2**scale)
    offsets = (np.arange(cells, dtype=np.float64) - cells / 2) * side
    rows = overlaps(y + offsets, side, image.shape[0])
    columns = overlaps(x + offsets, side, image.shape[1])
    return np.asarray(rows @ image @ columns.T / side**2)


def retina(scene: Array, x: float, y: float, cells: int, scales: int) -> Array:
    """A glimpse (scales * C, cells, cells) of `scene` (C, H, W) around (x, y) in pixels."""
    views = [area_means(plane, x, y, cells, k) for k in range(scales) for plane in scene]
    return np.stack(views)


def below(word: np.uint32, n: int) -> int:
    """A word as a whole number in [0, n)."""
    return (int(word) * n) >> 32


def cluttered(
    words: NDArray[np.uint32],
    images: NDArray[np.uint8],
    index: int,
    size: int,
    clutter: int,
    piece: int,
) -> tuple[NDArray[np.int64], tuple[int, int, int, int]]:
    """The public generator of cluttered MNIST: pieces first, then the digit, added and clipped.

    Args:
        words: (3 + 5 clutter,): of the digit its number, row and column; then of each piece the
            number of its image, its row and column in it, and in the scene.
        images: (N, C, h, w).
        index: the digit's number.
        size: the scene's side.
        clutter: number of pieces.
        piece: a piece's side.

    Returns:
        The scene (C, size, size) in 0 to 255, and the digit's box x0, y0, x1, y1 in pixels.
    """
    count, channels, h, w = images.shape
    scene = np.zeros((channels, size, size), np.int64)
    for draws in words[3 : 3 + 5 * clutter].reshape(clutter, 5):
        image = images[below(draws[0], count)]
        r, c = below(draws[1], h - piece + 1), below(draws[2], w - piece + 1)
        crop = image[:, r : r + piece, c : c + piece]
        r, c = below(draws[3], size - piece + 1), below(draws[4], size - piece + 1)
        place = scene[:, r : r + piece, c : c + piece]
        np.minimum(place + crop, 255, out=place)
    r, c = below(words[1], size - h + 1), below(words[2], size - w + 1)
    place = scene[:, r : r + h, c : c + w]
    np.minimum(place + images[index], 255, out=place)
    return scene, (c, r, c + w, r + h)


def circle_square(label: int, row: int, column: int, size: int) -> Array:
    """ap_gym's CircleSquare (size, size): object at (row, column), label 0 the square."""
    rows, columns = np.mgrid[:size, :size].astype(np.float64)
    distance = np.hypot(rows - row, columns - column)
    scene = 1.0 - distance / np.hypot(size, size)
    square = np.maximum(np.abs(rows - row), np.abs(columns - column)) <= 4
    scene[square if label == 0 else distance <= 4] = 1.0
    return scene


def counts_in_grid(points: Array, low: float, high: float, parts: int) -> NDArray[np.int64]:
    """How many of `points` (n, 2) fall into each cell of a grid over [low, high): (parts**2,)."""
    cells = np.floor((points - low) / (high - low) * parts).astype(np.int64)
    return np.bincount(cells[:, 1] * parts + cells[:, 0], minlength=parts**2)
