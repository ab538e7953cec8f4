"""Area means: pictures scaled down, each new pixel the mean of the old ones that it covers.

Imported only by scenes and tasks: this module needs Numba.
"""

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Float32s, Floats
from glimpse_envs.core.kernels import kernel


def shares(pixels: int, cells: int) -> Floats:
    """Return the share of each of `pixels` in the mean of each of `cells`, (cells, pixels); pixels
    and cells span the same length."""
    side = pixels / cells
    begins, places = np.arange(cells)[:, None] * side, np.arange(pixels)
    overlap = np.minimum(begins + side, places + 1.0) - np.maximum(begins, places)
    return np.maximum(overlap, 0.0) / side


@kernel
def area_mean(plane: NDArray, down: Floats, across: Floats) -> float:
    """Return the mean of `plane` (H, W) with the shares `down` (H,) of rows, `across` (W,) of
    columns."""
    return _mean_within(plane, down, across, _span(down), _span(across))


@kernel
def _span(shares: Floats) -> tuple[int, int]:
    """Return the first index and the end of the run of `shares` (n,) that are above 0."""
    begin, end = 0, len(shares)
    while begin < end and shares[begin] <= 0.0:
        begin += 1
    while end > begin and shares[end - 1] <= 0.0:
        end -= 1
    return begin, end


@kernel
def _mean_within(
    plane: NDArray,
    down: Floats,
    across: Floats,
    rows: tuple[int, int],
    columns: tuple[int, int],
) -> float:
    mean = 0.0
    for i in range(rows[0], rows[1]):
        for j in range(columns[0], columns[1]):
            mean += down[i] * across[j] * plane[i, j]
    return mean


@kernel
def _scale(pictures: Float32s, down: Floats, across: Floats, scaled: Float32s) -> None:
    for i in range(len(down)):
        rows = _span(down[i])
        for j in range(len(across)):
            columns = _span(across[j])
            for n in range(len(pictures)):
                for c in range(pictures.shape[1]):
                    scaled[n, c, i, j] = _mean_within(
                        pictures[n, c], down[i], across[j], rows, columns
                    )


def scale_down(pictures: Float32s, side: int) -> Float32s:
    """Return `pictures` (m, C, H, W) as (m, C, side, side)."""
    channels, height, width = pictures.shape[1:]
    scaled = np.empty((len(pictures), channels, side, side), np.float32)
    _scale(pictures, shares(height, side), shares(width, side), scaled)
    return scaled
