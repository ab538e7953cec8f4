"""Summed-area tables (Crow 1984): entry (y, x) is the sum of the pixels above y and left of x.

The pixels are constant over their squares, so that the sum up to a place between whole pixels is
exactly the table's bilinear interpolation, and a cell of any side at any place costs the same. One
table serves all scales, and takes one pass over the scene.

Imported only where glimpses are read: this module needs Numba.
"""

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Float32s, Floats, Ints
from glimpse_envs.core.kernels import kernel

_u = np.uint64


@kernel
def fill_tables(canvas: NDArray, tables: NDArray, which: Ints) -> None:
    """Sum the scenes `which` (n,) of `canvas` (scenes, C, H + 2, W + 2), pixels within a border,
    into their `tables` (scenes, C, H + 1, W + 1), whose first row and column stay 0."""
    channels, height, width = canvas.shape[1], canvas.shape[2] - 2, canvas.shape[3] - 2
    pixels, sums = canvas.reshape(-1), tables.reshape(-1)
    zero = sums[0] - sums[0]
    for scene in which:
        for c in range(channels):
            plane = scene * channels + c
            for y in range(height):
                pixel = _u((plane * (height + 2) + y + 1) * (width + 2) + 1)
                above = _u((plane * (height + 1) + y) * (width + 1) + 1)
                entry = above + _u(width + 1)
                row = zero
                for x in range(_u(width)):
                    row += pixels[pixel + x]
                    sums[entry + x] = sums[above + x] + row


@kernel(inline="always")
def read_table(
    g: int,
    s: int,
    scene: tuple[NDArray, int, int, int],
    view: tuple[float, float, np.float32],
    scratch: tuple[Ints, Floats, Floats],
    cells: Float32s,
    to: int,
) -> None:
    """Fill `cells[to:]` (g g,) with the g x g cells of side s around a place in one scene.

    Args:
        g: the glimpse's side in cells; a constant where this is called.
        s: a cell's side in pixels.
        scene: (tables, at, height, width): all tables, and where this scene's begins.
        view: (x, y, white): the place in pixels, and the value that stands for 1.
        scratch: (g + 1,) of columns, (g + 1,) of their remainders, and (2 (g + 1),) of sums.
        cells: all glimpses.
        to: where this window of this glimpse begins.
    """
    (tables, at, height, width), (x, y, white) = scene, view
    columns, remainders, lines = scratch
    top, left = y - 0.5 * g * s, x - 0.5 * g * s
    scale = 1.0 / (np.float64(white) * s * s)
    for j in range(g + 1):  # cells outside the scene add nothing
        across = min(max(left + j * s, 0.0), np.float64(width))
        column = min(int(across), width - 1)
        columns[j], remainders[j] = at + column, across - column
    for i in range(g + 1):
        down = min(max(top + i * s, 0.0), np.float64(height))
        row = min(int(down), height - 1)
        remainder = down - row
        upper = row * (width + 1)
        this, last = _u((i & 1) * (g + 1)), _u((1 - (i & 1)) * (g + 1))
        for j in range(_u(g + 1)):
            a = _u(columns[j] + upper)
            c = a + _u(width + 1)
            fx = remainders[j]
            above = tables[a] + fx * (np.float64(tables[a + _u(1)]) - tables[a])
            below = tables[c] + fx * (np.float64(tables[c + _u(1)]) - tables[c])
            lines[this + j] = above + remainder * (below - above)
        if i > 0:
            begin = _u(to + (i - 1) * g)
            for j in range(_u(g)):
                right = j + _u(1)
                total = (
                    lines[this + right] - lines[this + j] - lines[last + right] + lines[last + j]
                )
                cells[begin + j] = np.float32(max(total * scale, 0.0))
