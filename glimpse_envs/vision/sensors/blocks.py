"""Blocks: tables of sums of those blocks of a large scene that are not black.

A table over a scene of a megapixel is several times as large as the processor's cache, so that
filling it costs more than drawing the scene, and every number read from it is fetched from memory.
Of scenes that are mostly black only some blocks of 32 x 32 pixels hold anything: each has a small
table (Crow 1984) of its own. A cell's sum is that over its parts of those blocks, exactly as of one
table; each block is read once for all cells that it touches.

A scene is a row of uint32: how many blocks it has, the places of their corners, (row << 16) +
column, and their tables, (33, 33) each. Where more than a quarter of the blocks hold something, the
number is `DENSE`, and the scene has a table of `glimpse_envs.vision.sensors.tables` instead.

Imported by `glimpse_envs.vision.sensors.retina` alone: this module needs Numba.
"""

import numpy as np

from glimpse_envs.core.arrays import Bytes, Float32s, Floats, Ints, Words
from glimpse_envs.core.kernels import kernel

SIDE = 32
DENSE = 2**32 - 1
_TABLE = (SIDE + 1) ** 2
_u = np.uint64


@kernel(inline="always")
def most_blocks(height: int, width: int) -> int:
    """Return how many blocks of a scene may hold something before it is dense."""
    return ((height + SIDE - 1) // SIDE) * ((width + SIDE - 1) // SIDE) // 4


def words_of_scene(height: int, width: int) -> int:
    """Return the numbers that a scene's row has."""
    return 1 + most_blocks(height, width) * (1 + _TABLE)


@kernel
def fill_blocks(canvas: Bytes, blocks: Words, which: Ints) -> Ints:
    """Sum the scenes `which` (n,) of `canvas` (scenes, C, H + 2, W + 2), pixels within a border,
    into the rows of `blocks` (scenes C, words), and return those that are dense (m,)."""
    channels, height, width = canvas.shape[1], canvas.shape[2] - 2, canvas.shape[3] - 2
    pixels, most = canvas.reshape(-1), most_blocks(height, width)
    across = (width + SIDE - 1) // SIDE
    held = np.empty(across * SIDE, np.uint8)
    dense, found = np.empty(len(which), np.int64), 0
    for scene in which:
        too_many = False
        for c in range(channels):
            plane = scene * channels + c
            row, count = blocks[plane], 0
            for y in range(0, height, SIDE):
                held[:] = 0
                for i in range(min(SIDE, height - y)):
                    begin = _u((plane * (height + 2) + y + i + 1) * (width + 2) + 1)
                    for x in range(_u(width)):
                        held[x] |= pixels[begin + x]
                for block in range(across):
                    if held[block * SIDE : (block + 1) * SIDE].any():
                        if count < most:
                            x = block * SIDE
                            row[1 + count] = (y << 16) + x
                            to = 1 + most + count * _TABLE
                            _fill_block(canvas[scene, c, 1:-1, 1:-1], y, x, row[to : to + _TABLE])
                        count += 1
            row[0] = count
            too_many |= count > most
        if too_many:
            for c in range(channels):
                blocks[scene * channels + c, 0] = DENSE
            dense[found] = scene
            found += 1
    return dense[:found]


@kernel
def _fill_block(pixels: Bytes, y: int, x: int, table: Words) -> None:
    """Fill a `table` (33 33,), whose first row and column are 0, with the block at (y, x)."""
    down, across = min(SIDE, pixels.shape[0] - y), min(SIDE, pixels.shape[1] - x)
    for i in range(SIDE):
        above, total = i * (SIDE + 1) + 1, np.uint32(0)
        entry = above + SIDE + 1
        for j in range(SIDE):
            if i < down and j < across:
                total += pixels[y + i, x + j]
            table[entry + j] = table[above + j] + total


@kernel(inline="always")
def read_blocks(
    g: int,
    scales: tuple[int, int],
    row: Words,
    shape: tuple[int, int, int],
    view: tuple[float, float, np.float32],
    scratch: tuple[Floats, Floats],
    cells: Float32s,
    to: int,
) -> None:
    """Fill the g x g cells of the scales from the first of `scales` up to the last, around a place
    in one channel of a scene.

    Args:
        g: the glimpse's side in cells.
        scales: (first, end).
        row: of the scene's blocks, not dense.
        shape: (H, W, C) of the scenes.
        view: (x, y, white): the place in pixels, and what stands for 1.
        scratch: sums of the cells of all scales, ((end - first) g g,), and of lines, (2 (g + 1),).
        cells: all glimpses.
        to: where this channel of the first of the scales begins in `cells`.
    """
    (first, end), (height, width, channels), (x, y, white) = scales, shape, view
    sums, lines = scratch
    sums[:] = 0.0
    most = most_blocks(height, width)
    for block in range(int(row[0])):
        place = int(row[1 + block])
        begin_y, begin_x = place >> 16, place & 0xFFFF
        table = _u(1 + most + block * _TABLE)
        for k in range(end - 1, first - 1, -1):
            s = float(1 << k)
            top, left = y - 0.5 * g * s - begin_y, x - 0.5 * g * s - begin_x
            # Cells that the block touches: from the one its first pixel lies in to its last's.
            i0, i1 = max(int(np.floor(-top / s)), 0), min(int(np.ceil((SIDE - top) / s)), g)
            j0, j1 = max(int(np.floor(-left / s)), 0), min(int(np.ceil((SIDE - left) / s)), g)
            if i0 >= i1 or j0 >= j1:
                break  # nor is it in a finer window
            at = (k - first) * g * g
            for i in range(i0, i1 + 1):
                down = min(max(top + i * s, 0.0), float(SIDE))
                upper = min(int(down), SIDE - 1)
                v = down - upper
                line = table + _u(upper * (SIDE + 1))
                this, last = (i & 1) * (g + 1), (1 - (i & 1)) * (g + 1)
                for j in range(j0, j1 + 1):
                    over = min(max(left + j * s, 0.0), float(SIDE))
                    column = min(int(over), SIDE - 1)
                    u = over - column
                    a = line + _u(column)
                    b = a + _u(SIDE + 1)
                    above = row[a] + u * (float(row[a + _u(1)]) - row[a])
                    below = row[b] + u * (float(row[b + _u(1)]) - row[b])
                    lines[this + j] = above + v * (below - above)
                if i > i0:
                    for j in range(j0, j1):
                        total = lines[this + j + 1] - lines[this + j]
                        total += lines[last + j] - lines[last + j + 1]
                        sums[at + (i - 1) * g + j] += total
    for k in range(first, end):
        scale = 1.0 / (float(white) * (1 << k) * (1 << k))
        begin, at = to + (k - first) * channels * g * g, (k - first) * g * g
        for i in range(g * g):
            cells[begin + i] = np.float32(max(sums[at + i] * scale, 0.0))
