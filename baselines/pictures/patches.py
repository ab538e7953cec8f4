"""Square patches of pictures, for models that read some of them."""

import torch
from torch import Tensor


def patches_at(scene: Tensor, corners: Tensor, side: int) -> Tensor:
    """Return the patches (B, n, C, side, side) of `scene` (B, C, H, W), zeros outside it.

    Args:
        scene: any pictures.
        corners: (B, n, 2) int64, each patch's top-left pixel (row, column), anywhere.
        side: in pixels.
    """
    channels, height, width = scene.shape[1:]
    steps = torch.arange(side, device=scene.device)
    rows, columns = (corners[..., axis, None] + steps for axis in (0, 1))  # (B, n, side)
    down, across = (rows >= 0) & (rows < height), (columns >= 0) & (columns < width)
    places = rows.clamp(0, height - 1)[..., None] * width
    places = places + columns.clamp(0, width - 1)[..., None, :]  # (B, n, side, side)
    seen = scene.flatten(2).gather(2, places.flatten(1)[:, None].expand(-1, channels, -1))
    seen = seen.view(*seen.shape[:2], *places.shape[1:]).transpose(1, 2)  # (B, n, C, side, side)
    return seen * (down[..., :, None] & across[..., None, :])[:, :, None]


def grid_corners(height: int, width: int, side: int, stride: int) -> Tensor:
    """Return the corners (n, 2), (row, column), of the patches at every `stride` pixels which cover
    a picture, row by row; the last ones may reach beyond it."""
    down, across = (
        torch.arange(max(-(-(length - side) // stride), 0) + 1) * stride
        for length in (height, width)
    )
    return torch.cartesian_prod(down, across)
