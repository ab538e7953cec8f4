"""Planes: a scene summed over the s x s squares at every whole-pixel place, for one scale each.

Entry p of a plane stands for the square that begins at pixel p - s, so both of its ends are zero.
Its columns are stored by their phase p mod s, so that the cells of one glimpse, s apart in the
scene, are neighbours in memory. The plane of scale 1 is the scene itself, within a border of zeros.

Kernels take flat arrays and places in them: a slice in an inner loop costs Numba a reference count.
Indices are unsigned where they are sums: Numba then leaves out the wrap-around of negative indices,
and LLVM can vectorise.

Imported by `glimpse_envs.vision.sensors.retina` alone: this module needs Numba.
"""

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Float32s, Ints
from glimpse_envs.core.kernels import kernel

_u = np.uint64


@kernel(inline="always")
def pitch_of(side: int, s: int) -> int:
    """Entries in one phase of a plane's row: ceil((side + s + 1) / s)."""
    return (side + 2 * s) // s


@kernel
def plane_size(height: int, width: int, s: int) -> int:
    """Entries in the plane of scale s of a scene."""
    return (height + s + 1) * s * pitch_of(width, s)


@kernel
def sum_scenes(canvas: NDArray, sums: NDArray, which: Ints, first: int, scales: int) -> None:
    """Sum the scenes `which` (n,), scale by scale, and keep the planes of `first` and coarser.

    Args:
        canvas: (scenes, C, H + 2, W + 2).
        sums: (scenes, C, M), the planes of side 2**first, ... 2**(scales - 1) one after the other.
        which: (n,) indices of scenes.
        first, scales: as above; `first` is at least 1.
    """
    channels, height, width = canvas.shape[1], canvas.shape[2] - 2, canvas.shape[3] - 2
    shape = (height, width)
    pixels, planes = canvas.reshape(-1), sums.reshape(-1)
    tall = np.empty(width + (1 << scales) + 4, sums.dtype)
    spare_size = 0  # Planes finer than `first` are only passed through.
    for k in range(1, first):
        spare_size += plane_size(height, width, 1 << k)
    spare = np.empty(spare_size, sums.dtype)
    for scene in which:
        for c in range(channels):
            plane = scene * channels + c
            begin = plane * sums.shape[2]
            fine, at = (planes, begin) if first == 1 else (spare, 0)
            _sum_plane(pixels, plane * plane_size(height, width, 1), fine, at, 2, shape, tall)
            for k in range(2, scales):
                coarse = spare if k < first else planes
                to = begin if k == first else at + plane_size(height, width, 1 << (k - 1))
                _sum_plane(fine, at, coarse, to, 1 << k, shape, tall)
                fine, at = coarse, to


@kernel
def _sum_plane(
    fine: NDArray,
    fine_at: int,
    coarse: NDArray,
    coarse_at: int,
    s: int,
    shape: tuple[int, int],
    tall: NDArray,
) -> None:
    """Sum 2 x 2 squares of side s / 2 of the plane at `fine[fine_at]` into squares of side s at
    `coarse[coarse_at]`.

    Entry q = X s + phase of a coarse row is the sum of the fine row's entries q and q - s / 2,
    which are neighbours in the fine phase `phase % (s / 2)`. `tall` holds the sum of two fine rows
    behind a zero.
    """
    height, width = shape
    half = s >> 1
    fine_pitch, pitch = pitch_of(width, half), pitch_of(width, s)
    tall[:] = 0
    for p in range(height + s + 1):
        for phase in range(half):
            lower = _u(fine_at + (p * half + phase) * fine_pitch)
            upper = _u(fine_at + ((p - half) * half + phase) * fine_pitch)
            one = _u(1)
            if p < half:
                for j in range(_u(fine_pitch)):
                    tall[j + one] = fine[lower + j]
            elif p > height + half:
                for j in range(_u(fine_pitch)):
                    tall[j + one] = fine[upper + j]
            else:
                for j in range(_u(fine_pitch)):
                    tall[j + one] = fine[lower + j] + fine[upper + j]
            even = _u(coarse_at + (p * s + phase) * pitch)
            odd = _u(coarse_at + (p * s + half + phase) * pitch)
            for i in range(_u(pitch)):
                middle = tall[i + i + one]
                coarse[even + i] = tall[i + i] + middle
                coarse[odd + i] = middle + tall[i + i + one + one]


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
def read_plane(
    g: int,
    s: int,
    scene: tuple[NDArray, int, int, int],
    view: tuple[float, float, np.float32],
    cells: Float32s,
    to: int,
) -> None:
    """Fill `cells[to:]` (g g,) with the g x g cells of side s around a place in one scene.

    Args:
        g: the glimpse's side in cells; a constant where this is called, which halves the time.
        s: a cell's side in pixels.
        scene: (planes, at, height, width): all planes, and where this scene's of scale s begins.
        view: (x, y, white): the place in pixels, and what stands for 1.
        cells: all glimpses.
        to: where this window of this glimpse begins.
    """
    (plane, at, height, width), (x, y, white) = scene, view
    pitch = pitch_of(width, s)
    line = s * pitch
    top, left = y - 0.5 * g * s, x - 0.5 * g * s
    p0, q0 = int(np.floor(top)), int(np.floor(left))
    w00, w01, w10, w11 = bilinear(top - p0, left - q0, s, white)
    p0, q0 = p0 + s, q0 + s
    # Columns in [j0, j1) touch the scene: their entry is in [0, width + s).
    j0 = min(g, max(0, -(q0 // s)))
    j1 = max(j0, min(g, (width + s - q0 + s - 1) // s))
    near = at + (q0 % s) * pitch + q0 // s
    far = at + ((q0 + 1) % s) * pitch + (q0 + 1) // s
    for i in range(g):
        p, row = p0 + i * s, _u(to + i * g)
        outside = p < 0 or p >= height + s
        if outside or j0 > 0 or j1 < g:
            for j in range(_u(g)):
                cells[row + j] = 0.0
        if outside:
            continue
        a, b = _u(p * line + near), _u(p * line + far)
        c, d = a + _u(line), b + _u(line)
        if j0 == 0 and j1 == g:
            for j in range(_u(g)):
                cells[row + j] = (
                    w00 * np.float32(plane[a + j])
                    + w01 * np.float32(plane[b + j])
                    + w10 * np.float32(plane[c + j])
                    + w11 * np.float32(plane[d + j])
                )
            continue
        for j in range(_u(j0), _u(j1)):
            cells[row + j] = (
                w00 * np.float32(plane[a + j])
                + w01 * np.float32(plane[b + j])
                + w10 * np.float32(plane[c + j])
                + w11 * np.float32(plane[d + j])
            )
