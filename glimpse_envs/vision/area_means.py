"""Area means: pictures scaled down, each new pixel the mean of the old ones that it covers.

Imported only by scenes and tasks: this module needs Numba.
"""

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Float32s, Floats, Ints
from glimpse_envs.core.kernels import kernel

Shares = tuple[Floats, Ints]
"""The share of each pixel in the mean of each cell, (cells, pixels), and the run of pixels that
have any, from the first to the end, (cells, 2)."""


def shares(pixels: int, cells: int) -> Shares:
    """Return the shares of so many `pixels` in the means of so many `cells`, in a row of the same
    length."""
    side = pixels / cells
    begins, places = np.arange(cells)[:, None] * side, np.arange(pixels)
    overlap = np.minimum(begins + side, places + 1.0) - np.maximum(begins, places)
    found = np.maximum(overlap, 0.0) / side
    first, behind = (found > 0).argmax(axis=1), (found > 0)[:, ::-1].argmax(axis=1)
    return found, np.stack([first, pixels - behind], axis=1)


@kernel(inline="always")
def area_mean(plane: NDArray, down: Shares, across: Shares, i: int, j: int) -> float:
    """Return the mean of `plane` (H, W) in the cell (i, j), by the shares of its rows and
    columns."""
    of_rows, rows = down
    of_columns, columns = across
    mean = 0.0
    for y in range(rows[i, 0], rows[i, 1]):
        for x in range(columns[j, 0], columns[j, 1]):
            mean += of_rows[i, y] * of_columns[j, x] * plane[y, x]
    return mean


@kernel
def _scale(pictures: Float32s, down: Shares, across: Shares, scaled: Float32s) -> None:
    for n in range(len(pictures)):
        for c in range(pictures.shape[1]):
            plane = pictures[n, c]
            for i in range(scaled.shape[2]):
                for j in range(scaled.shape[3]):
                    scaled[n, c, i, j] = area_mean(plane, down, across, i, j)


def scale_down(pictures: Float32s, side: int) -> Float32s:
    """Return `pictures` (m, C, H, W) as (m, C, side, side)."""
    channels, height, width = pictures.shape[1:]
    scaled = np.empty((len(pictures), channels, side, side), np.float32)
    _scale(pictures, shares(height, side), shares(width, side), scaled)
    return scaled
