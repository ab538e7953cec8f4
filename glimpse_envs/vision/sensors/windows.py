"""Windows: sums over 2 x 2 and 4 x 4 squares of a scene of bytes, taken while a glimpse is read.

A table of sums would need less arithmetic, but several times the scene's memory: as bytes a
thousand scenes fit into the cache, and nothing has to be summed when a scene is dealt.

Squares are summed in lanes of 16 bits. First strips of s rows are added up, then s neighbours in a
strip: s lanes are one word, and its product with 0x...00010001 has their sum in the top lane. No
loop has a branch in it, and all are long or of constant length, so that LLVM vectorises them.

Imported only where glimpses are read: this module needs Numba.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Bytes, Float32s
from glimpse_envs.core.kernels import kernel
from glimpse_envs.vision.sensors.pixels import bilinear

_u = np.uint64


@kernel(inline="always")
def words_across(g: int, s: int) -> int:
    """Words of a strip: g + 1 or a few more, so that a strip fills whole vector registers."""
    return max(((g + 8) // 8) * 8, 32 // s)


def slack(g: int) -> int:
    """Bytes beyond both ends of all scenes that strips may reach; their content is not used."""
    return 4 * words_across(g, 4)


def scratch_sizes(g: int) -> tuple[int, int, int, int]:
    """Entries that `read_window` needs of `inside`, `lines`, `lanes` and `means`."""
    across = words_across(g, 2)  # the wider
    return 4 * across, 4 * g + 1, 2 * 4 * across * g + 8, across * g


@kernel(inline="always")
def read_window(
    g: int,
    s: int,
    word: Any,
    scene: tuple[Bytes, int, int, int],
    view: tuple[float, float, np.float32],
    scratch: tuple[NDArray, NDArray, NDArray, NDArray],
    words: NDArray,
    cells: Float32s,
    to: int,
) -> None:
    """Fill `cells[to:]` (g g,) with the g x g cells of side s around a place in one scene.

    Args:
        g: the glimpse's side in cells.
        s: a cell's side in pixels, 2 or 4.
        word: the type of s lanes, uint32 or uint64.
        scene: (pixels, at, height, width): all scenes with their borders, and where this begins.
        view: (x, y, white): the place in pixels, and the value that stands for 1.
        scratch: arrays of `scratch_sizes(g)`, uint16, int64, uint16 and float32.
        words: the third of them, seen as words.
        cells: all glimpses.
        to: where this window of this glimpse begins.
    """
    (pixels, at, height, width), (x, y, white) = scene, view
    inside, lines, lanes, means = scratch
    across = words_across(g, s)
    span: int = across * s  # lanes of a strip
    strips = across * g  # words of all strips
    top, left = y - 0.5 * g * s, x - 0.5 * g * s
    p0, q0 = int(np.floor(top)), int(np.floor(left))
    w00, w01, w10, w11 = bilinear(top - p0, left - q0, s, white)

    # Left and right of the scene a strip reads other pixels, masked out by `inside`; above and
    # below it reads the border of zeros.
    q0 = min(max(q0, -span), width)
    for j in range(_u(span)):
        column = np.int32(q0) + np.int32(j)
        inside[j] = 0xFFFF if (column >= 0) & (column < width) else 0
    first = at + q0 + 1
    for i in range(_u(g * s + 1)):
        lines[i] = first + min(max(p0 + 1 + int(i), 0), height + 1) * (width + 2)

    # The strips that begin at row i s of the window, and below all of them those one row lower.
    for i in range(_u(g)):
        upper, line = i * _u(span), i * _u(s)
        lower = upper + _u(g * span)
        r0, r1, end = _u(lines[line]), _u(lines[line + _u(1)]), _u(lines[line + _u(s)])
        if s == 2:
            for j in range(_u(span)):
                lanes[upper + j] = np.uint16(pixels[r0 + j] + pixels[r1 + j]) & inside[j]
                lanes[lower + j] = np.uint16(pixels[r1 + j] + pixels[end + j]) & inside[j]
        else:
            r2, r3 = _u(lines[line + _u(2)]), _u(lines[line + _u(3)])
            for j in range(_u(span)):
                total = pixels[r0 + j] + pixels[r1 + j] + pixels[r2 + j] + pixels[r3 + j]
                lanes[upper + j] = np.uint16(total) & inside[j]
                total = pixels[r1 + j] + pixels[r2 + j] + pixels[r3 + j] + pixels[end + j]
                lanes[lower + j] = np.uint16(total) & inside[j]

    # Sums of the squares at (p0, q0) + s (i, j), one to the right, one below, and both.
    ones, top_lane, low_lane = word(0x0001000100010001), word(16 * (s - 1)), word(0xFFFF)
    for j in range(_u(strips)):
        u, v = words[j], words[j + _u(strips)]
        a, c = word(u * ones) >> top_lane, word(v * ones) >> top_lane
        b = word(word(a - u) + words[j + _u(1)]) & low_lane
        d = word(word(c - v) + words[j + _u(strips + 1)]) & low_lane
        means[j] = (
            w00 * np.float32(np.int32(a))
            + w01 * np.float32(np.int32(b))
            + w10 * np.float32(np.int32(c))
            + w11 * np.float32(np.int32(d))
        )
    for i in range(_u(g)):
        for j in range(_u(g)):
            cells[_u(to) + i * _u(g) + j] = means[i * _u(across) + j]
