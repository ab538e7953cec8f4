"""Area means: pictures scaled down, each new pixel the mean of the old ones that it covers.

Imported by scenes and tasks alone: this module needs Numba.
"""

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Float32s, Floats
from glimpse_envs.core.kernels import kernel


def shares(pixels: int, cells: int) -> Floats:
    """Return the share of each of `pixels` in the mean of each of `cells`, which span the same
    length: (cells, pixels)."""
    side = pixels / cells
    begins, places = np.arange(cells)[:, None] * side, np.arange(pixels)
    overlap = np.minimum(begins + side, places + 1.0) - np.maximum(begins, places)
    return np.maximum(overlap, 0.0) / side


@kernel
def area_mean(plane: NDArray, down: Floats, across: Floats) -> float:
    """Return the mean of `plane` (H, W) with the shares `down` (H,) of rows, `across` (W,) of
    columns."""
    mean = 0.0
    for i in range(len(down)):
        if down[i] > 0.0:
            for j in range(len(across)):
                if across[j] > 0.0:
                    mean += down[i] * across[j] * plane[i, j]
    return mean


@kernel
def _scale(pictures: Float32s, down: Floats, across: Floats, scaled: Float32s) -> None:
    for n in range(len(pictures)):
        for c in range(pictures.shape[1]):
            for i in range(len(down)):
                for j in range(len(across)):
                    scaled[n, c, i, j] = area_mean(pictures[n, c], down[i], across[j])


def scale_down(pictures: Float32s, side: int) -> Float32s:
    """Return `pictures` (m, C, H, W) as (m, C, side, side)."""
    channels, height, width = pictures.shape[1:]
    scaled = np.empty((len(pictures), channels, side, side), np.float32)
    _scale(pictures, shares(height, side), shares(width, side), scaled)
    return scaled
