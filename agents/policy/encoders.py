"""Encoders of glimpses: from a glimpse, or a whole scene, to its code."""

import numpy as np
import torch
from torch import Tensor, nn

from agents.policy.networks import GLIMPSE_NETWORKS
from glimpse_envs.core.classes import find_class

ATARI_SIDE = 36
"""The smallest side of pictures, in pixels, that the convolutions of Mnih et al. (2015) read."""


def check_picture(shape: tuple[int, ...], option: str, cure: str) -> None:
    """Raise a ValueError unless `shape` is that of square pictures, which `option` needs."""
    if len(shape) < 3 or shape[-2] != shape[-1]:
        raise ValueError(
            f"{option} is for square pictures (..., side, side); what is seen here has the shape "
            f"{shape}: {cure}"
        )


def _own_encoder(name: str, shape: tuple[int, ...], units: int) -> nn.Module:
    """The encoder of another package, from (B, *shape) to (B, units).

    Raises:
        ValueError: there is no such class, it does not read `shape`, or its codes have another
            shape.
    """
    kind = find_class("glimpse_network", name, nn.Module, {})
    try:
        encoder: nn.Module = kind(shape, units)
        with torch.no_grad():
            coded = encoder.eval()(torch.zeros(2, *shape))
    except (RuntimeError, ValueError) as error:  # torch's own, of shapes that do not fit
        raise ValueError(
            f"glimpse_network={name!r} does not read what is seen here, of the shape {shape}: "
            f"{error}"
        ) from error
    encoder.train()
    if coded.shape != (2, units):
        raise ValueError(
            f"glimpse_network={name!r} turns glimpses {(2, *shape)} into {tuple(coded.shape)}; "
            f"codes must be (rows, units), {(2, units)}"
        )
    return encoder


class _Planes(nn.Module):
    """From pictures (B, ..., g, g) to (B, channels, g, g), laid out for convolutions."""

    def forward(self, seen: Tensor) -> Tensor:
        return channels_last(seen.flatten(1, -3))


def make_encoder(shape: tuple[int, ...], kind: str, units: int) -> nn.Module:
    """An encoder of `kind` (see `NetworkConfig.glimpse_network`), from (B, *shape) to (B, units).

    Raises:
        ValueError: there is no such class, its codes have another shape, or `shape` is no picture
            and convolutions need one, or one too small for Atari's.
    """
    if kind not in GLIMPSE_NETWORKS:
        return _own_encoder(kind, shape, units)
    if kind == "dense":
        return nn.Sequential(nn.Flatten(), nn.Linear(int(np.prod(shape)), units))
    check_picture(shape, f"glimpse_network={kind!r}", "take 'dense'")
    channels, side = int(np.prod(shape[:-2])), shape[-1]
    layers = _atari(channels, side) if kind == "atari" else _conv(channels, max(8, units // 4))
    with torch.no_grad():
        coded = layers(torch.zeros(1, *shape)).shape[1]
    return nn.Sequential(*layers, nn.Linear(coded, units))


def _conv(channels: int, width: int) -> nn.Sequential:
    return nn.Sequential(
        _Planes(),
        nn.Conv2d(channels, width // 2, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(width // 2, width, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
    )


def _atari(channels: int, side: int) -> nn.Sequential:
    if side < ATARI_SIDE:
        raise ValueError(
            f"glimpse_network='atari' needs glimpses of at least {ATARI_SIDE} pixels a side, and "
            f"these have {side}: take 'conv'"
        )
    return nn.Sequential(
        _Planes(),
        nn.Conv2d(channels, 32, 8, stride=4),
        nn.ReLU(),
        nn.Conv2d(32, 64, 4, stride=2),
        nn.ReLU(),
        nn.Conv2d(64, 64, 3),
        nn.ReLU(),
        nn.Flatten(),
    )


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


def local_contrast(seen: Tensor, axes: tuple[int, ...] = (-2, -1)) -> Tensor:
    """`seen` (..., g, g) less its mean over the `axes` of a picture, divided by its standard
    deviation; of the same shape."""
    centred = seen - seen.mean(dim=axes, keepdim=True)
    # The smallest step of a picture is of the order of 1 / 255; an even picture stays even.
    return centred / (centred.square().mean(dim=axes, keepdim=True) + 1e-4).sqrt()
