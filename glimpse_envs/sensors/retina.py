"""The retina: K windows of g x g cells around one place, each covering twice the side of the last.

Each cell holds the mean of the scene over its square (RAM, Mnih et al. 2014, section 3), zeros
outside the scene, at any sub-pixel place. The mean of a piecewise constant image over a square of
side s at a real-valued place is the bilinear interpolation of its means at whole-pixel places; at
scale 1 this is bilinear reading. So a scene is summed once, a plane a scale, and a cell at any scale
costs four reads.

A plane holds the sum of each s x s square; entry p stands for the square that begins at pixel
p - s, so both of its ends are zero. Its columns are stored by their phase p mod s, so that the cells
of one glimpse, s apart in the scene, are neighbours in memory.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numba import njit
from numpy.typing import NDArray

# Sums of bytes over squares of this side still fit into 16 bits; beyond, float32 is exact to 2**24.
_WIDEST_UINT16 = 16


@dataclass(frozen=True)
class Retina:
    """What one glimpse shows of a scene.

    Args:
        height, width: the scene's sides in pixels.
        channels: 1 (grey) or 3 (colour).
        glimpse_size: g, the side of a glimpse in cells.
        scales: K; scale k has cells of side 2**k pixels.
    """

    height: int
    width: int
    channels: int
    glimpse_size: int
    scales: int

    @property
    def sides(self) -> tuple[float, ...]:
        """The side in pixels of each scale's window, finest first."""
        return tuple(float(self.glimpse_size << k) for k in range(self.scales))

    @property
    def glimpse_shape(self) -> tuple[int, int, int]:
        """(K * C, g, g), scale by scale, each with its channels."""
        return (self.scales * self.channels, self.glimpse_size, self.glimpse_size)

    def allocate(self, scenes: int, dtype: type) -> tuple[NDArray, NDArray]:
        """Return zeroed planes for `scenes` scenes: the scenes themselves, and their coarser sums.

        Returns:
            `canvas` (scenes, C, H + 2, W + 2) of `dtype`: the pixels within a border of zeros; and
            `sums` (scenes, C, M): the planes of scales 2, 4, ... one after the other.
        """
        canvas = np.zeros((scenes, self.channels, self.height + 2, self.width + 2), dtype)
        size = sum(_plane_size(self.height, self.width, 1 << k) for k in range(1, self.scales))
        narrow = dtype == np.uint8 and 1 << (self.scales - 1) <= _WIDEST_UINT16
        sums_dtype = np.uint16 if narrow else np.float32
        return canvas, np.zeros((scenes, self.channels, size), sums_dtype)

    def sum_scenes(self, canvas: NDArray, sums: NDArray, which: NDArray[np.int64]) -> None:
        """Sum the scenes `which` (n,) of `canvas` into `sums` (both as `allocate` gave them)."""
        if self.scales > 1:
            _sum_scenes(canvas, sums, which, self.scales)

    def read(
        self,
        canvas: NDArray,
        sums: NDArray,
        scenes: NDArray[np.int64],
        centres: NDArray[np.float64],
        rows: NDArray[np.int64],
        glimpses: NDArray[np.float32],
    ) -> None:
        """Read a glimpse for each of `rows` (n,): `glimpses[row]` (K * C, g, g) in [0, 1] is
        what `scenes[row]` shows around `centres[row]`, (x, y) in pixels from the scene's corner."""
        # A little above white, so that rounding carries no mean beyond 1.
        white = (255.0 if canvas.dtype == np.uint8 else 1.0) * (1 + 2**-21)
        read = _reader(self.glimpse_size)
        read(canvas, sums, scenes, centres, rows, glimpses, self.scales, np.float32(white))


@njit(cache=True, nogil=True, inline="always")
def _pitch(side: int, s: int) -> int:
    """Entries in one phase of a plane's row: ceil((side + s + 1) / s)."""
    return (side + 2 * s) // s


@njit(cache=True, nogil=True)
def _plane_size(height: int, width: int, s: int) -> int:
    return (height + s + 1) * s * _pitch(width, s)


# Below, indices are unsigned where they are sums: Numba then leaves out the wrap-around of negative
# indices, and LLVM can vectorise.
_u = np.uint64


@njit(cache=True, nogil=True)
def _sum_scenes(canvas: NDArray, sums: NDArray, which: NDArray[np.int64], scales: int) -> None:
    channels, height, width = canvas.shape[1], canvas.shape[2] - 2, canvas.shape[3] - 2
    finest = canvas.reshape(canvas.shape[0], channels, -1)
    tall = np.empty(width + (1 << scales) + 4, sums.dtype)
    for scene in which:
        for c in range(channels):
            start, size = 0, _plane_size(height, width, 2)
            plane = sums[scene, c, :size]
            _sum_plane(finest[scene, c], plane, 2, height, width, tall)
            for k in range(2, scales):
                start, size = start + size, _plane_size(height, width, 1 << k)
                coarser = sums[scene, c, start : start + size]
                _sum_plane(plane, coarser, 1 << k, height, width, tall)
                plane = coarser


@njit(cache=True, nogil=True)
def _sum_plane(
    fine: NDArray, coarse: NDArray, s: int, height: int, width: int, tall: NDArray
) -> None:
    """Sum 2 x 2 squares of side s / 2 of the plane `fine` into squares of side s of `coarse`.

    Entry q = X s + phase of a coarse row is the sum of the fine row's entries q and q - s / 2, which
    are neighbours in the fine phase `phase % (s / 2)`. `tall` holds the sum of two fine rows behind
    a zero.
    """
    half = s >> 1
    fine_pitch, pitch = _pitch(width, half), _pitch(width, s)
    tall[:] = 0
    for p in range(height + s + 1):
        for phase in range(half):
            lower = (p * half + phase) * fine_pitch
            upper = ((p - half) * half + phase) * fine_pitch
            if p < half:
                for j in range(fine_pitch):
                    tall[j + 1] = fine[_u(lower + j)]
            elif p > height + half:
                for j in range(fine_pitch):
                    tall[j + 1] = fine[_u(upper + j)]
            else:
                for j in range(fine_pitch):
                    tall[j + 1] = fine[_u(lower + j)] + fine[_u(upper + j)]
            even, odd = (p * s + phase) * pitch, (p * s + half + phase) * pitch
            for i in range(pitch):
                coarse[_u(even + i)] = tall[2 * i] + tall[2 * i + 1]
            for i in range(pitch):
                coarse[_u(odd + i)] = tall[2 * i + 1] + tall[2 * i + 2]


@cache
def _reader(g: int) -> Callable[..., None]:
    """Compile the kernel that reads glimpses of side g (a constant in it: that halves its time)."""

    @njit(cache=True, nogil=True)
    def read_plane(
        plane: NDArray,
        s: int,
        height: int,
        width: int,
        x: float,
        y: float,
        white: np.float32,
        glimpse: NDArray[np.float32],
    ) -> None:
        """Fill `glimpse` (g, g) with the cells of side s around (x, y), bilinear between entries."""
        pitch = _pitch(width, s)
        line = s * pitch
        top, left = y - 0.5 * g * s, x - 0.5 * g * s
        p0, q0 = int(np.floor(top)), int(np.floor(left))
        fy, fx = np.float32(top - p0), np.float32(left - q0)
        p0, q0 = p0 + s, q0 + s
        # Columns in [j0, j1) touch the scene: their entry is in [0, width + s).
        j0 = min(g, max(0, -(q0 // s)))
        j1 = max(j0, min(g, (width + s - q0 + s - 1) // s))
        near = (q0 % s) * pitch + q0 // s
        far = ((q0 + 1) % s) * pitch + (q0 + 1) // s
        one, scale = np.float32(1.0), np.float32(1.0) / (white * np.float32(s * s))
        w00, w01 = (one - fy) * (one - fx) * scale, (one - fy) * fx * scale
        w10, w11 = fy * (one - fx) * scale, fy * fx * scale
        for i in range(g):
            p = p0 + i * s
            if p < 0 or p >= height + s:
                for j in range(g):
                    glimpse[i, j] = 0.0
                continue
            a, b = _u(p * line + near), _u(p * line + far)
            c, d = a + _u(line), b + _u(line)
            if j0 == 0 and j1 == g:
                for j in range(g):
                    glimpse[i, j] = (
                        w00 * np.float32(plane[a + _u(j)])
                        + w01 * np.float32(plane[b + _u(j)])
                        + w10 * np.float32(plane[c + _u(j)])
                        + w11 * np.float32(plane[d + _u(j)])
                    )
                continue
            for j in range(g):
                glimpse[i, j] = 0.0
            for j in range(j0, j1):
                glimpse[i, _u(j)] = (
                    w00 * np.float32(plane[a + _u(j)])
                    + w01 * np.float32(plane[b + _u(j)])
                    + w10 * np.float32(plane[c + _u(j)])
                    + w11 * np.float32(plane[d + _u(j)])
                )

    @njit(cache=True, nogil=True)
    def read(
        canvas: NDArray,
        sums: NDArray,
        scenes: NDArray[np.int64],
        centres: NDArray[np.float64],
        rows: NDArray[np.int64],
        glimpses: NDArray[np.float32],
        scales: int,
        white: np.float32,
    ) -> None:
        channels, height, width = canvas.shape[1], canvas.shape[2] - 2, canvas.shape[3] - 2
        finest = canvas.reshape(canvas.shape[0], channels, -1)
        for row in rows:
            scene, x, y = scenes[row], centres[row, 0], centres[row, 1]
            for c in range(channels):
                read_plane(finest[scene, c], 1, height, width, x, y, white, glimpses[row, c])
                start = 0
                for k in range(1, scales):
                    s = 1 << k
                    end = start + _plane_size(height, width, s)
                    plane, cells = sums[scene, c, start:end], glimpses[row, k * channels + c]
                    read_plane(plane, s, height, width, x, y, white, cells)
                    start = end

    return read
