"""Pixels: cells of side 1, read bilinearly.

Kernels take flat arrays and places in them: a slice in an inner loop costs Numba a reference count.
Indices are unsigned where they are sums: Numba then leaves out the wrap-around of negative indices,
and LLVM can vectorise.

Imported only where glimpses are read: this module needs Numba.
"""

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Float32s
from glimpse_envs.core.kernels import kernel

_u = np.uint64


@kernel(inline="always")
def bilinear(
    fy: float, fx: float, s: int, white: np.float32
) -> tuple[np.float32, np.float32, np.float32, np.float32]:
    """Weights of the four entries around a place (fy, fx) past the first, for sums of side s where
    `white` stands for 1."""
    y, x, one = np.float32(fy), np.float32(fx), np.float32(1.0)
    scale = one / (white * np.float32(s * s))
    return (
        (one - y) * (one - x) * scale,
        (one - y) * x * scale,
        y * (one - x) * scale,
        y * x * scale,
    )


@kernel(inline="always")
def read_pixels(
    g: int,
    scene: tuple[NDArray, int, int, int],
    view: tuple[float, float, np.float32],
    cells: Float32s,
    to: int,
) -> None:
    """Fill `cells[to:]` (g g,) with the g x g cells of side 1 around a place in one scene.

    Args:
        g: the glimpse's side in cells; a constant where this is called, which halves the time.
        scene: (pixels, at, height, width): all scenes with their borders of zeros, and where this
            begins.
        view: (x, y, white): the place in pixels, and the value that stands for 1.
        cells: all glimpses.
        to: where this window of this glimpse begins.
    """
    (pixels, at, height, width), (x, y, white) = scene, view
    line = width + 2
    top, left = y - 0.5 * g, x - 0.5 * g
    p0, q0 = int(np.floor(top)), int(np.floor(left))
    w00, w01, w10, w11 = bilinear(top - p0, left - q0, 1, white)
    p0, q0 = p0 + 1, q0 + 1  # skip the border
    # Columns in [j0, j1) touch the scene: their pixel is in [0, width + 1).
    j0 = min(g, max(0, -q0))
    j1 = max(j0, min(g, width + 1 - q0))
    for i in range(g):
        p, row = p0 + i, _u(to + i * g)
        outside = p < 0 or p >= height + 1
        if outside or j0 > 0 or j1 < g:
            for j in range(_u(g)):
                cells[row + j] = 0.0
        if outside:
            continue
        a = _u(at + p * line + q0)
        b, c, d = a + _u(1), a + _u(line), a + _u(line + 1)
        for j in range(_u(j0), _u(j1)):
            cells[row + j] = (
                w00 * np.float32(pixels[a + j])
                + w01 * np.float32(pixels[b + j])
                + w10 * np.float32(pixels[c + j])
                + w11 * np.float32(pixels[d + j])
            )
