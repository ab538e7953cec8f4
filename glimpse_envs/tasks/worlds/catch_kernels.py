"""Kernels of Catch: flights drawn from keys, and glimpses computed from ball and paddle."""

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Float32s, Floats, Ints, KeyArrays
from glimpse_envs.core.kernels import kernel
from glimpse_envs.core.randomness import SCENE, keyed_block, symmetric


def column_of(places: Floats, size: int) -> Ints:
    """Return the columns (n,) of balls that would be at `places` (n,) without bouncing off the
    sides at 0 and `size`."""
    folded = np.mod(places, 2 * size)
    folded = np.minimum(folded, 2 * size - folded)
    return np.minimum(folded, size - 1).astype(np.int64)


@kernel
def draw_flights(rows: Ints, copies: int, keys: KeyArrays, size: int, flights: Floats) -> None:
    """Fill `flights[row]` (num_envs, 2) with a start uniform over [0, size) and a speed uniform in
    (-1, 1), from the key of the row's group."""
    for row in rows:
        words = keyed_block(0, row // copies, keys, SCENE)
        flights[row, 0] = (symmetric(np.uint32(words[0])) + 1) / 2 * size
        flights[row, 1] = symmetric(np.uint32(words[1]))


@kernel
def read_screens(
    rows: Ints,
    centres: Floats,
    places: tuple[Ints, Ints, Ints],
    sizes: tuple[int, int],
    glimpses: Float32s,
) -> None:
    """Read the glimpses (m, K, g, g) of `rows` (m,), equal to a retina's of the drawn screens.

    Args:
        rows: indices into the arrays below.
        centres: (num_envs, 2), (x, y) in pixels.
        places: the balls' columns and lines, and the paddles' leftmost columns, (num_envs,) each.
        sizes: the screen's side and the paddle's width.
        glimpses: the array to fill.
    """
    columns, lines, paddles = places
    size, width = sizes
    for i, row in enumerate(rows):
        glimpses[i] = 0.0
        x, y, column, line, left = (
            centres[row, 0], centres[row, 1], columns[row], lines[row], paddles[row]
        )  # fmt: skip
        covered = line == size - 1 and left <= column < left + width
        if not covered:
            _add_box(glimpses[i], x, y, column, line, 1)
        _add_box(glimpses[i], x, y, left, size - 1, width)


@kernel
def _add_box(
    glimpse: NDArray[np.float32], x: float, y: float, left: int, top: int, width: int
) -> None:
    """Add a white box one pixel high to the means of a glimpse (K, g, g) around (x, y)."""
    g = glimpse.shape[1]
    for k in range(len(glimpse)):
        side = 1 << k
        x0, y0 = (left - x) / side + g / 2, (top - y) / side + g / 2  # in cells
        x1, y1 = x0 + width / side, y0 + 1 / side
        for i in range(max(0, int(np.floor(y0))), min(g, int(np.ceil(y1)))):
            high = min(y1, i + 1) - max(y0, i)
            for j in range(max(0, int(np.floor(x0))), min(g, int(np.ceil(x1)))):
                glimpse[k, i, j] += np.float32(high * (min(x1, j + 1) - max(x0, j)))
