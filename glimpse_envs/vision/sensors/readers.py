"""The retina's compiled loops over rows and channels, one for each form in which scenes are summed.

Each is compiled for one side g of a glimpse, a constant in it, which makes reading much faster.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Bytes, Float32s, Floats, Ints
from glimpse_envs.core.kernels import kernel
from glimpse_envs.vision.sensors.blocks import DENSE, SIDE, read_blocks
from glimpse_envs.vision.sensors.pixels import read_pixels
from glimpse_envs.vision.sensors.tables import read_table
from glimpse_envs.vision.sensors.windows import read_window, scratch_sizes, slack


@cache
def byte_reader(g: int) -> Callable[..., None]:
    """Compile the kernel that reads up to three scales of g x g cells from scenes of bytes."""
    columns, lines, lanes, means = scratch_sizes(g)
    beyond = slack(g)

    @kernel
    def read(
        canvas: Bytes,
        pixels: Bytes,
        scenes: Ints,
        centres: Floats,
        rows: Ints,
        glimpses: Float32s,
        scales: int,
        white: np.float32,
    ) -> None:
        channels, height, width = canvas.shape[1], canvas.shape[2] - 2, canvas.shape[3] - 2
        cells = glimpses.reshape(-1)
        strips = np.zeros(lanes, np.uint16)
        pairs, fours = strips.view(np.uint32), strips.view(np.uint64)
        inside, begins = np.empty(columns, np.uint16), np.empty(lines, np.int64)
        scratch = (inside, begins, strips, np.empty(means, np.float32))
        step = channels * g * g  # from the cells of one scale to those of the next
        for row in rows:
            view = (centres[row, 0], centres[row, 1], white)
            for c in range(channels):
                at = beyond + (scenes[row] * channels + c) * (height + 2) * (width + 2)
                scene = (pixels, at, height, width)
                to = (row * glimpses.shape[1] + c) * g * g
                # The widest first: its many rows are fetched at once, and contain the others.
                if scales > 2:
                    read_window(g, 4, np.uint64, scene, view, scratch, fours, cells, to + 2 * step)
                if scales > 1:
                    read_window(g, 2, np.uint32, scene, view, scratch, pairs, cells, to + step)
                read_pixels(g, scene, view, cells, to)

    return read


@cache
def pixel_reader(g: int) -> Callable[..., None]:
    """Compile the kernel that reads the finest g x g cells of scenes of any dtype."""

    @kernel
    def read(
        canvas: NDArray,
        scenes: Ints,
        centres: Floats,
        rows: Ints,
        glimpses: Float32s,
        white: np.float32,
    ) -> None:
        channels, height, width = canvas.shape[1], canvas.shape[2] - 2, canvas.shape[3] - 2
        pixels, cells = canvas.reshape(-1), glimpses.reshape(-1)
        for row in rows:
            view = (centres[row, 0], centres[row, 1], white)
            for c in range(channels):
                at = (scenes[row] * channels + c) * (height + 2) * (width + 2)
                to = (row * glimpses.shape[1] + c) * g * g
                read_pixels(g, (pixels, at, height, width), view, cells, to)

    return read


@cache
def table_reader(g: int) -> Callable[..., None]:
    """Compile the kernel that reads the scales from `first` on from their scenes' tables."""

    @kernel
    def read(
        tables: NDArray,
        scenes: Ints,
        centres: Floats,
        rows: Ints,
        glimpses: Float32s,
        first: int,
        scales: int,
        white: np.float32,
    ) -> None:
        channels, height, width = tables.shape[1], tables.shape[2] - 1, tables.shape[3] - 1
        sums, cells = tables.reshape(-1), glimpses.reshape(-1)
        scratch = (np.empty(g + 1, np.int64), np.empty(g + 1), np.empty(2 * (g + 1)))
        for row in rows:
            view = (centres[row, 0], centres[row, 1], white)
            for c in range(channels):
                at = (scenes[row] * channels + c) * (height + 1) * (width + 1)
                scene = (sums, at, height, width)
                for k in range(first, scales):
                    to = (row * glimpses.shape[1] + k * channels + c) * g * g
                    read_table(g, 1 << k, scene, view, scratch, cells, to)

    return read


@cache
def block_reader(g: int) -> Callable[..., None]:
    """Compile the kernel that reads the scales from `first` on from their scenes' blocks, or, of
    dense scenes, from their tables."""

    @kernel
    def read(
        blocks: NDArray,
        tables: NDArray,
        scenes: Ints,
        centres: Floats,
        rows: Ints,
        glimpses: Float32s,
        first: int,
        scales: int,
        white: np.float32,
    ) -> None:
        channels, height, width = tables.shape[1], tables.shape[2] - 1, tables.shape[3] - 1
        entries, cells = tables.reshape(-1), glimpses.reshape(-1)
        scratch = (np.empty(g + 1, np.int64), np.empty(g + 1), np.empty(2 * (g + 1)))
        lines = (np.empty(SIDE, np.int64), np.empty(SIDE), np.empty(2 * SIDE))
        sums = (np.empty((scales - first) * (g + 2) ** 2), *lines)
        for row in rows:
            view = (centres[row, 0], centres[row, 1], white)
            for c in range(channels):
                plane = scenes[row] * channels + c
                to = (row * glimpses.shape[1] + first * channels + c) * g * g
                if blocks[plane, 0] != DENSE:
                    shape = (height, width, channels)
                    read_blocks(g, (first, scales), blocks[plane], shape, view, sums, cells, to)
                    continue
                scene = (entries, plane * (height + 1) * (width + 1), height, width)
                for k in range(first, scales):
                    begin = to + (k - first) * channels * g * g
                    read_table(g, 1 << k, scene, view, scratch, cells, begin)

    return read
