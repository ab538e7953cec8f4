"""The retina: K windows of g x g cells around one place, each covering twice the side of the last.

Each cell holds the mean of the scene over its square (RAM, Mnih et al. 2014, section 3), zeros
outside the scene, at any sub-pixel place. The mean of a piecewise constant image over a square of
side s at a real-valued place is the bilinear interpolation of its means at whole-pixel places; at
scale 1 this is bilinear reading (`pixels`). Small squares of a scene of bytes are summed while a
glimpse is read (`windows`); for larger ones, and those of other scenes, all scales share a table of
sums (`tables`), or, of large scenes that are mostly black, tables of its blocks (`blocks`).
"""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, field

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arguments import check_integers
from glimpse_envs.core.arrays import Float32s, Floats, Ints
from glimpse_envs.core.memory import check_memory
from glimpse_envs.vision.sensors.blocks import fill_blocks, words_of_scene
from glimpse_envs.vision.sensors.readers import (
    block_reader,
    byte_reader,
    pixel_reader,
    table_reader,
)
from glimpse_envs.vision.sensors.sensor import Sensor, square
from glimpse_envs.vision.sensors.tables import fill_tables
from glimpse_envs.vision.sensors.windows import slack

# The number of scales of a scene of bytes, 1, 2 and 4 pixels a cell, that need no table.
_WINDOWS = 3
# Scenes of bytes of at least so many pixels are summed in blocks: a table exceeds the cache.
_LARGE = 2**17
# Where pieces of scenes are not told.
_ANYWHERE = np.empty((0, 0, 4), np.int64)


def far_scales(side: int, glimpse_size: int) -> int:
    """Return the fewest scales of which the widest window is 1.6 times a scene's longer `side` in
    pixels, and shows nearly all of the scene from any place."""
    return 1 + max(0, math.ceil(math.log2(8 * side / (5 * glimpse_size))))


@dataclass(frozen=True)
class Retina(Sensor):
    """Multi-scale sensor: K windows of g x g cells around one place.

    Args:
        shape: (C, H, W) of the scenes, C = 1 (grey) or 3 (colour).
        glimpse_size: g, the side of a glimpse in cells.
        scales: K; scale k has cells of side 2**k pixels. None: `far_scales`.

    Attributes:
        num_scales: K.

    Raises:
        ValueError: a size is not positive, or needs more memory than there is.
    """

    shape: tuple[int, int, int]
    _: KW_ONLY
    glimpse_size: int
    scales: InitVar[int | None]
    num_scales: int = field(init=False)

    def __post_init__(self, scales: int | None) -> None:
        check_integers(1, glimpse_size=self.glimpse_size)
        if scales is None:
            scales = far_scales(max(self.shape[1:]), self.glimpse_size)
        check_integers(1, scales=scales)
        if scales > 12:
            raise ValueError(f"scales={scales} must be at most 12: scale k is 2**k pixels a cell")
        object.__setattr__(self, "num_scales", scales)
        _, height, width = self.shape
        larger = "scene_size" if height >= width else "scene_width"
        check_memory(9 * math.prod(self.shape), **{larger: max(height, width)})
        # A glimpse and the arrays of its computation.
        numbers = math.prod(self.glimpse_shape)
        check_memory(12 * numbers, glimpse_size=self.glimpse_size, scales=scales)

    @property
    def window_sides(self) -> tuple[float, ...]:  # type: ignore[override]  # computed
        """The side in pixels of each scale's window, finest first."""
        return tuple(float(self.glimpse_size << k) for k in range(self.num_scales))

    @property
    def outlines(self) -> tuple[Floats, ...]:
        return tuple(square(side) for side in self.window_sides)

    @property
    def glimpse_shape(self) -> tuple[int, int, int]:
        """(K * C, g, g), scale by scale, each with its channels."""
        return (self.num_scales * self.shape[0], self.glimpse_size, self.glimpse_size)

    @property
    def multiply_adds(self) -> int:
        """Each cell mixes four sums of pixels."""
        return 4 * math.prod(self.glimpse_shape)

    def panels(self, glimpse: Float32s) -> Sequence[tuple[str, Float32s]]:
        scales = glimpse.reshape(self.num_scales, self.shape[0], *glimpse.shape[1:])
        return [(f"{s:g} px", seen) for s, seen in zip(self.window_sides, scales, strict=True)]

    def allocate(self, scenes: int, dtype: type) -> tuple[NDArray, NDArray]:
        """Return zeroed arrays for `scenes` scenes: the scenes themselves, and their coarser sums.

        Returns:
            `canvas` (scenes, C, H + 2, W + 2) of `dtype`: the pixels within a border of zeros, in
            the middle of a larger array, so that a strip which begins or ends outside can be read;
            and `sums` (scenes, C, H + 1, W + 1), the tables, or (scenes, 0) where none is needed.
            Large scenes of bytes have sums (scenes, n): in memory the blocks of all scenes come
            first and then their tables; unused parts take no memory.
        """
        channels, height, width = self.shape
        shape = (scenes, channels, height + 2, width + 2)
        beyond = slack(self.glimpse_size)
        pixels: NDArray = np.zeros(int(np.prod(shape)) + 2 * beyond, dtype)
        canvas = pixels[beyond:-beyond].reshape(shape)
        if self.num_scales <= _first_scale(dtype):
            return canvas, np.zeros((scenes, 0))
        if self._in_blocks(dtype):
            words = words_of_scene(height, width) + (height + 1) * (width + 1)
            return canvas, np.zeros((scenes, channels * words), np.uint32)
        narrow = dtype == np.uint8 and _is_narrow(height, width)
        size = (scenes, channels, height + 1, width + 1)
        return canvas, np.zeros(size, np.uint32 if narrow else np.float64)

    def sum_scenes(self, canvas: NDArray, sums: NDArray, which: Ints) -> None:
        """Sum the scenes `which` (n,) of `canvas` into `sums` (both as `allocate` gave them)."""
        self._sum(canvas, sums, which, _ANYWHERE)

    def sum_pieces(self, canvas: NDArray, sums: NDArray, which: Ints, pieces: Ints) -> None:
        self._sum(canvas, sums, which, pieces)

    def _sum(self, canvas: NDArray, sums: NDArray, which: Ints, pieces: Ints) -> None:
        if self.num_scales <= _first_scale(canvas.dtype):
            return
        if self._in_blocks(canvas.dtype):
            blocks, sums = self._blocks_and_tables(sums)
            which = fill_blocks(canvas, blocks, which, pieces)
        if len(which):
            fill_tables(canvas, sums, which)

    def _in_blocks(self, dtype: np.typing.DTypeLike) -> bool:
        """Return whether sparse scenes of `dtype` are summed block by block."""
        _, height, width = self.shape
        large = height * width >= _LARGE and max(height, width) < 2**16
        return large and dtype == np.uint8 and _is_narrow(height, width)

    def _blocks_and_tables(self, sums: NDArray) -> tuple[NDArray, NDArray]:
        """Return blocks (scenes C, words) and tables (scenes, C, H + 1, W + 1), both in `sums`."""
        channels, height, width = self.shape
        words, every = words_of_scene(height, width), sums.reshape(-1)
        end = len(sums) * channels * words
        tables = every[end:].reshape(len(sums), channels, height + 1, width + 1)
        return every[:end].reshape(-1, words), tables

    def read(
        self,
        canvas: NDArray,
        sums: NDArray,
        scenes: Ints,
        centres: Floats,
        rows: Ints,
        glimpses: Float32s,
    ) -> None:
        """Read a glimpse for each of `rows` (n,): `glimpses[row]` (K * C, g, g) in [0, 1] shows
        `scenes[row]` around `centres[row]`, (x, y) in pixels from the scene's corner.

        Raises:
            ValueError: `canvas` is not one that `allocate` returned, but a copy or a part of one,
                or was unpickled.
        """
        self._check_canvas(canvas)
        bytewise = canvas.dtype == np.uint8
        # A little above white, so that rounding makes no mean exceed 1.
        white = np.float32((255.0 if bytewise else 1.0) * (1 + 2**-21))
        first, g = _first_scale(canvas.dtype), self.glimpse_size
        where = (scenes, centres, rows, glimpses)
        if bytewise:
            byte_reader(g)(canvas, canvas.base, *where, min(first, self.num_scales), white)
        else:
            pixel_reader(g)(canvas, *where, white)
        if first >= self.num_scales:
            return
        if self._in_blocks(canvas.dtype):
            block_reader(g)(*self._blocks_and_tables(sums), *where, first, self.num_scales, white)
        else:
            table_reader(g)(sums, *where, first, self.num_scales, white)

    def _check_canvas(self, canvas: NDArray) -> None:
        # The kernels read beyond both ends of the canvas, within the array that contains it.
        base, room = canvas.base, canvas.size + 2 * slack(self.glimpse_size)
        if (
            not isinstance(base, np.ndarray)
            or base.size != room
            or base.dtype != canvas.dtype
            or not canvas.flags.c_contiguous
        ):
            raise ValueError(
                f"the canvas {canvas.shape} of {canvas.dtype} must be one that Retina.allocate "
                "returned, not a copy or a part of one: allocate another and draw it there"
            )


def _first_scale(dtype: np.typing.DTypeLike) -> int:
    """The finest scale k that is read from a table."""
    return _WINDOWS if dtype == np.uint8 else 1


def _is_narrow(height: int, width: int) -> bool:
    """Return whether 32 bits hold the sum of a scene of bytes."""
    return 255 * height * width < 2**32
