"""The glimpses at all tiles of a scene, for learners that read all of them while training.

The windows are those of `glimpse_envs.vision.sensors.retina`: each cell is the mean of the scene
over its square, zeros outside. Squares are products of intervals, so a window is two small matrix
products, and gradients flow through the scene.
"""

import numpy as np
import torch
from torch import Tensor, nn

from glimpse_envs.core.picture_view import PictureView

MOST_SHARES = 2**28
"""Most entries of a matrix that reads all tiles; making it takes up to 24 bytes an entry."""

AT_ONCE = 2**28
"""Most numbers between the two products of a reading, of as many scenes at once."""


class TileReader(nn.Module):
    """Reads the glimpses at all n tiles of scenes (B, C, H, W).

    Args:
        view: of the pictures, by tiles.

    Attributes:
        locations: (n, 2) in [-1, 1], the tiles' middles, (x, y).
        reading_multiply_adds: of reading all tiles of a scene as the retina does, four sums of
            pixels a cell.

    Raises:
        ValueError: the tiles of a scene are too many to be all read at once.
    """

    locations: Tensor
    down: Tensor  # (n, K, g, H), the share of each row of pixels in each row of cells
    across: Tensor  # (n, K, g, W)

    def __init__(self, view: PictureView) -> None:
        super().__init__()
        channels, height, width = view.scene_shape
        g, sides = view.windows()
        self.reading_multiply_adds = 4 * len(view.tile_locations) * len(sides) * channels * g * g
        tiles, scales = len(view.tile_locations), len(sides)
        if tiles * scales * g * max(height, width) > MOST_SHARES:
            raise ValueError(
                f"a scene of {height}x{width} pixels has {tiles:,} tiles, whose {scales} windows "
                "are too many to be all read at once: take a smaller scene, larger glimpses or "
                "fewer scales, or a learner that reads one glimpse at a time"
            )
        places = view.space.to_pixels(view.tile_locations)
        corners = places[:, None] - sides[:, None] / 2  # (n, K, 2), (x, y)
        self.register_buffer("locations", _float(view.tile_locations), persistent=False)
        for name, axis, pixels in (("across", 0, width), ("down", 1, height)):
            shares = interval_shares(corners[..., axis], sides / g, g, pixels)
            self.register_buffer(name, _float(shares), persistent=False)

    def forward(self, scene: Tensor) -> Tensor:
        """The glimpses (B, n, K C, g, g) at all tiles of `scene` (B, C, H, W)."""
        between = self.down[..., 0].numel() * scene.shape[1] * scene.shape[3]
        some = torch.split(scene, max(1, AT_ONCE // between))
        return torch.cat([self._read(scenes) for scenes in some])

    def _read(self, scene: Tensor) -> Tensor:
        rows = torch.einsum("nkih,bchw->bnkciw", self.down, scene)
        return torch.einsum("bnkciw,nkjw->bnkcij", rows, self.across).flatten(2, 3)


def interval_shares(starts: np.ndarray, cells: np.ndarray, count: int, pixels: int) -> np.ndarray:
    """The share of each cell that lies on each pixel of one axis.

    Args:
        starts: (n, K), starts of the windows in pixels.
        cells: (K,), length of a cell in pixels.
        count: g, number of cells in a window.
        pixels: P, number of pixels on the axis.

    Returns:
        (n, K, g, P) in [0, 1]; a cell that lies wholly within the scene sums to 1.
    """
    begins = starts[..., None, None] + np.arange(count)[:, None] * cells[:, None, None]
    ends = begins + cells[:, None, None]
    pixel = np.arange(pixels)
    covered = np.minimum(ends, pixel + 1) - np.maximum(begins, pixel)
    return np.clip(covered, 0.0, None) / cells[:, None, None]


def _float(array: np.ndarray) -> Tensor:
    return torch.as_tensor(np.asarray(array, np.float32))
