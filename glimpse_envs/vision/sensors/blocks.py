"""Blocks: tables of sums for only those blocks of a large scene that are not black.

A table over a scene of a megapixel is several times as large as the processor's cache, so that
filling it costs more than drawing the scene, and every number read from it is fetched from memory.
Scenes that are mostly black hold something only in some blocks of 16 x 16 pixels: each of these has
a small table (Crow 1984) of its own, of sums that 16 bits hold. A cell's sum is taken over its
parts of these blocks, and is exactly that of one table; each block is read once for all cells that
it touches.

A scene is a row of uint32: how many blocks it has, the places of their corners, (row << 16) +
column, and their sums; then, in halves, their tables, (17, 17) each. Where more than a quarter of
the blocks hold something, the number is `DENSE`, and the scene has a table of
`glimpse_envs.vision.sensors.tables` instead.

Imported only where glimpses are read: this module needs Numba.
"""

import numpy as np

from glimpse_envs.core.arrays import Bytes, Float32s, Floats, Halves, Ints, Words
from glimpse_envs.core.kernels import kernel

SIDE = 16  # lines, as bits of a half word
DENSE = 2**32 - 1
_TABLE = (SIDE + 1) ** 2 + 1  # halves of a word: an even number
_u = np.uint64


@kernel(inline="always")
def most_blocks(height: int, width: int) -> int:
    """Return the most blocks of a scene that may hold something; with more it is dense."""
    return ((height + SIDE - 1) // SIDE) * ((width + SIDE - 1) // SIDE) // 4


def words_of_scene(height: int, width: int) -> int:
    """Return the length of a scene's row, in numbers."""
    return 1 + most_blocks(height, width) * (2 + _TABLE // 2)


@kernel
def fill_blocks(canvas: Bytes, blocks: Words, which: Ints, pieces: Ints) -> Ints:
    """Sum the scenes `which` (n,) of `canvas` (scenes, C, H + 2, W + 2), pixels within a border,
    into the rows of `blocks` (scenes C, words), and return those that are dense (m,).

    Scenes with `pieces` (scenes, P, 4), rectangles x0, y0, x1, y1 outside which they are black, are
    searched there only; with none (0, 0, 4) everywhere.
    """
    channels, height, width = canvas.shape[1], canvas.shape[2] - 2, canvas.shape[3] - 2
    pixels, entries, most = canvas.reshape(-1), blocks.reshape(-1), most_blocks(height, width)
    halves = entries.view(np.uint16)
    down, across = (height + SIDE - 1) // SIDE, (width + SIDE - 1) // SIDE
    # Bit i of a block: its line i may hold something. The others are not read.
    held, line = np.zeros((down, across), np.uint16), np.zeros(across * SIDE, np.uint8)
    dense, found = np.empty(len(which), np.int64), 0
    for scene in which:
        too_many = False
        if pieces.shape[1]:
            held[:] = 0
            for x0, y0, x1, y1 in pieces[scene]:
                for i in range(y0 // SIDE, (y1 - 1) // SIDE + 1):
                    lines = _lines(max(y0 - i * SIDE, 0), min(y1 - i * SIDE, SIDE))
                    held[i, x0 // SIDE : (x1 - 1) // SIDE + 1] |= lines
        for c in range(channels):
            plane, count = scene * channels + c, 0
            row = plane * blocks.shape[1]
            if not pieces.shape[1]:
                _find_blocks(canvas[scene, c], line, held)
            for i in range(down):
                for j in range(across):
                    if not held[i, j]:
                        continue
                    y, x = i * SIDE, j * SIDE
                    begin = (plane * (height + 2) + y + 1) * (width + 2) + x + 1
                    shape = (held[i, j], min(SIDE, width - x), width + 2)
                    if pieces.shape[1] and _is_black(pixels, begin, shape):
                        continue
                    if count < most:
                        to = 2 * (row + 1 + 2 * most) + count * _TABLE
                        entries[row + 1 + 2 * count] = (y << 16) + x
                        entries[row + 2 + 2 * count] = _fill_block(pixels, begin, shape, halves, to)
                    count += 1
            entries[row] = count
            too_many |= count > most
        if too_many:
            for c in range(channels):
                blocks[scene * channels + c, 0] = DENSE
            dense[found] = scene
            found += 1
    return dense[:found]


@kernel(inline="always")
def _lines(begin: int, end: int) -> np.uint16:
    """Return the bits of the lines `begin` to `end - 1`."""
    return np.uint16((1 << end) - (1 << begin))


@kernel
def _find_blocks(plane: Bytes, line: Bytes, held: Halves) -> None:
    """Fill `held` (down, across): all lines where a block of `plane` (H + 2, W + 2) is not black;
    `line` is of the bytes of so many blocks across, whose last ones stay zero."""
    height, width = plane.shape[0] - 2, plane.shape[1] - 2
    words = line.view(np.uint64)
    for i in range(held.shape[0]):
        words[:] = 0
        for y in range(i * SIDE, min((i + 1) * SIDE, height)):
            for x in range(_u(width)):
                line[x] |= plane[y + 1, x + _u(1)]
        lines = _lines(0, min(SIDE, height - i * SIDE))
        for j in range(held.shape[1]):
            w = 2 * j
            held[i, j] = lines if words[w] | words[w + 1] else 0


@kernel
def _is_black(pixels: Bytes, begin: int, shape: tuple[np.uint16, int, int]) -> bool:
    """Return whether the block of `shape`, as below, at `pixels[begin:]` is black."""
    lines, across, stride = shape
    any_bits = np.uint8(0)
    for i in range(SIDE):
        if lines >> i & 1:
            pixel = _u(begin + i * stride)
            for j in range(_u(across)):
                any_bits |= pixels[pixel + j]
    return any_bits == 0


@kernel
def _fill_block(
    pixels: Bytes, begin: int, shape: tuple[np.uint16, int, int], entries: Halves, to: int
) -> np.uint16:
    """Fill the table (17, 17) at `entries[to:]`, whose first row and column are 0, with the block
    of `shape` (bits of its lines, width, pixels to the next line) at `pixels[begin:]`; return its
    sum."""
    lines, across, stride = shape
    for i in range(SIDE):
        entry, total = _u(to + (i + 1) * (SIDE + 1) + 1), np.uint32(0)
        above, pixel = entry - _u(SIDE + 1), _u(begin + i * stride)
        if lines >> i & 1:
            for j in range(_u(SIDE)):
                if j < across:
                    total += pixels[pixel + j]
                entries[entry + j] = entries[above + j] + total
        else:
            for j in range(_u(SIDE)):
                entries[entry + j] = entries[above + j]
    return entries[to + _TABLE - 2]


@kernel
def read_blocks(
    g: int,
    scales: tuple[int, int],
    row: Words,
    shape: tuple[int, int, int],
    view: tuple[float, float, np.float32],
    scratch: tuple[Floats, Ints, Floats, Floats],
    cells: Float32s,
    to: int,
) -> None:
    """Fill the g x g cells of scales `first` to `end - 1`, around a place in one channel of a
    scene.

    Args:
        g: the glimpse's side in cells.
        scales: (first, end), of which `end` is excluded.
        row: of the scene's blocks, not dense.
        shape: (H, W, C) of the scenes.
        view: (x, y, white): the place in pixels, and the sum that stands for 1.
        scratch: sums of the cells of all scales and of those around them, (end - first) (g + 2)
            (g + 2), and of lines: (SIDE,) of columns, of their remainders, and (2 SIDE,) of sums.
        cells: all glimpses.
        to: where this channel of the first of the scales begins in `cells`.
    """
    (first, end), (height, width, channels), (x, y, white) = scales, shape, view
    sums, padded, halves = scratch[0], g + 2, row.view(np.uint16)
    sums[:] = 0.0
    tables = 2 * (1 + 2 * most_blocks(height, width))
    for block in range(int(row[0])):
        place, total = int(row[1 + 2 * block]), float(row[2 + 2 * block])
        table = tables + block * _TABLE
        down, across = (place >> 16) - y, (place & 0xFFFF) - x
        for k in range(end - 1, first - 1, -1):
            side = 1 << k
            # From the window's corner to the block's, in pixels.
            most = float(g * side)
            top, left = down + 0.5 * most, across + 0.5 * most
            if not (-SIDE < top < most and -SIDE < left < most):
                break  # nor does it touch a finer window
            at = (k - first) * padded * padded
            if side >= SIDE:
                _add_to_wide(g, halves, table, total, (top, left, float(side)), sums, at)
            else:
                _add_to_narrow(g, halves, table, (top, left, float(side)), scratch, at)
    for k in range(first, end):
        scale = 1.0 / (float(white) * (1 << k) * (1 << k))
        begin, at = to + (k - first) * channels * g * g, (k - first) * padded * padded
        for i in range(g):
            line, cell = _u(at + (i + 1) * padded + 1), _u(begin + i * g)
            for j in range(_u(g)):
                cells[cell + j] = np.float32(max(sums[line + j] * scale, 0.0))


@kernel(inline="always")
def _add_to_wide(
    g: int,
    row: Halves,
    table: int,
    total: float,
    window: tuple[float, float, float],
    sums: Floats,
    at: int,
) -> None:
    """Add a block to a window whose cells are at least as wide: it touches one or two each way.

    Args:
        g: the glimpse's side in cells.
        row, table: the halves of the scene's row, and where the block's table begins.
        total: the block's sum.
        window: (top, left, side): the block's corner from the window's, and a cell's side.
        sums, at: of cells and of those around them, and where this window's (g + 2, g + 2) begin.
    """
    top, left, side = window
    i, j = int(top / side + 1.0), int(left / side + 1.0)  # counted from the row around the cells
    upper_left = _u(at + i * (g + 2) + j)
    lower_left = upper_left + _u(g + 2)
    v, u = i * side - top, j * side - left  # of the block above and left of its cell's end
    upper, lefter, both = total, total, total
    if v < SIDE:
        upper = both = _sum_to(row, table, v, float(SIDE))
    if u < SIDE:
        lefter = both = _sum_to(row, table, float(SIDE), u)
        if v < SIDE:
            both = _sum_to(row, table, v, u)
        sums[upper_left + _u(1)] += upper - both
    if v < SIDE:
        sums[lower_left] += lefter - both
        if u < SIDE:
            sums[lower_left + _u(1)] += total - upper - lefter + both
    sums[upper_left] += both


@kernel(inline="always")
def _sum_to(row: Halves, table: int, v: float, u: float) -> float:
    """Return the sum of a block above v and left of u, in pixels from 0 to SIDE."""
    i, j = min(int(v), SIDE - 1), min(int(u), SIDE - 1)
    a = _u(table + i * (SIDE + 1) + j)
    b = a + _u(SIDE + 1)
    above = row[a] + (u - j) * (float(row[a + _u(1)]) - row[a])
    below = row[b] + (u - j) * (float(row[b + _u(1)]) - row[b])
    return above + (v - i) * (below - above)


@kernel(inline="always")
def _add_to_narrow(
    g: int,
    row: Halves,
    table: int,
    window: tuple[float, float, float],
    scratch: tuple[Floats, Ints, Floats, Floats],
    at: int,
) -> None:
    """Add a block to a window whose cells are narrower; arguments as in `_add_to_wide`."""
    (top, left, side), (sums, columns, remainders, lines) = window, scratch
    i0, i1 = int(top / side + 5.0) - 5, int((top + SIDE) / side) + 1
    j0, j1 = int(left / side + 5.0) - 5, int((left + SIDE) / side) + 1
    i0, i1, j0, j1 = max(i0, 0), min(i1, g), max(j0, 0), min(j1, g)
    for j in range(j0, j1 + 1):
        across = min(max(j * side - left, 0.0), float(SIDE))
        column = min(int(across), SIDE - 1)
        columns[j - j0], remainders[j - j0] = table + column, across - column
    for i in range(i0, i1 + 1):
        down = min(max(i * side - top, 0.0), float(SIDE))
        upper = min(int(down), SIDE - 1)
        remainder = down - upper
        this, last = _u((i & 1) * SIDE), _u((1 - (i & 1)) * SIDE)
        for j in range(_u(j1 - j0 + 1)):
            a = _u(columns[j] + upper * (SIDE + 1))
            b = a + _u(SIDE + 1)
            above = row[a] + remainders[j] * (float(row[a + _u(1)]) - row[a])
            below = row[b] + remainders[j] * (float(row[b + _u(1)]) - row[b])
            lines[this + j] = above + remainder * (below - above)
        if i > i0:
            cell = _u(at + i * (g + 2) + j0 + 1)
            for j in range(_u(j1 - j0)):
                right = j + _u(1)
                sums[cell + j] += (
                    lines[this + right] - lines[this + j] - lines[last + right] + lines[last + j]
                )
