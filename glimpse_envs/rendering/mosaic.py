"""Images of a source side by side."""

import numpy as np

from glimpse_envs.core.arrays import Bytes
from glimpse_envs.rendering.drawing import blank
from glimpse_envs.rendering.palette import BACKGROUND

LEAST, MOST, GAP = 48, 160, 4  # pixels


def mosaic(rows: list[Bytes]) -> Bytes:
    """Draw rows of images. The longer side of a small one is enlarged by a whole factor to at least
    48 pixels; of a large one every so many pixels are left out, to at most 160.

    Args:
        rows: for each row (n, C, h, w) uint8, where C is 1 for grey and 3 for RGB; n may differ.

    Returns:
        (height, width, 3) uint8 RGB.
    """
    every = -(-max(rows[0].shape[2:]) // MOST)
    rows = [images[:, :, ::every, ::every] for images in rows]
    channels, height, width = rows[0].shape[1:]
    factor = max(1, -(-LEAST // max(height, width)))
    high, wide = factor * height + GAP, factor * width + GAP
    drawn = blank(len(rows) * high + GAP, max(map(len, rows)) * wide + GAP, BACKGROUND)
    for i, images in enumerate(rows):
        for j, image in enumerate(images):
            colour = np.broadcast_to(image, (3, height, width)) if channels == 1 else image
            large = colour.repeat(factor, axis=1).repeat(factor, axis=2).transpose(1, 2, 0)
            top, left = i * high + GAP, j * wide + GAP
            drawn[top : top + large.shape[0], left : left + large.shape[1]] = large
    return drawn
