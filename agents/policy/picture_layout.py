"""How pictures lie in memory."""

import torch
from torch import Tensor


def channels_last(pictures: Tensor) -> Tensor:
    """`pictures` (B, C, H, W) with each pixel's channels side by side in memory, as convolutions
    are fastest, above all in training.

    Torch takes pictures of one channel to lie so already and leaves their strides, by which the
    layers that follow would lay their channels one after the other, and take longer.
    """
    rows, channels, height, width = pictures.shape
    if channels == 1:
        return pictures.contiguous().view(rows, height, width, 1).permute(0, 3, 1, 2)
    return pictures.contiguous(memory_format=torch.channels_last)
