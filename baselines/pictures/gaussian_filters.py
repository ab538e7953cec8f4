"""Gaussian filters along one axis of a picture, with their derivative worked out by hand.

They are most of the work of a window that is read through them, all of it element-wise, and torch's
automatic derivative takes several times as many passes over it.
"""

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from agents.training.precision import LEAST_EXPONENT

LEAST_SUM = 1e-8
"""Of a filter's values: one that has left the scene is not made to sum to 1."""


class _GaussianFilters(Function):
    @staticmethod
    def forward(ctx: Any, centres: Tensor, width: Tensor, pixels: int, unit: bool) -> Tensor:
        places = torch.arange(pixels, device=centres.device, dtype=centres.dtype) + 0.5
        of_width = width[..., None, None].reciprocal()
        # (B, K, g, pixels)
        z = (places - centres[..., None]).mul_(of_width)
        filters = torch.addcmul(z.new_zeros(()), z, z, value=-0.5)
        filters.clamp_(min=LEAST_EXPONENT).exp_()
        inside: Tensor | None = None
        if unit:
            total = filters.sum(dim=-1, keepdim=True)
            inside = total > LEAST_SUM
            filters.div_(total.clamp_(min=LEAST_SUM))
        else:
            filters.mul_(of_width / math.sqrt(2 * math.pi))
        ctx.save_for_backward(z, filters, width, inside)
        return filters

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_filters: Tensor) -> tuple[Tensor, Tensor, None, None]:
        z, filters, width, inside = ctx.saved_tensors
        by_exponent = by_filters * filters
        total = by_exponent.sum(dim=-1, keepdim=True)  # (B, K, g, 1)
        if inside is not None:  # the sum of all values goes with each
            by_exponent.addcmul_(filters, total * inside, value=-1.0)
        by_exponent.mul_(z)
        by_centres = by_exponent.sum(dim=-1) / width[..., None]
        by_width = by_exponent.mul_(z).sum(dim=(-2, -1))
        if inside is None:
            by_width = by_width - total.sum(dim=(-2, -1))
        return by_centres, by_width / width, None, None


def gaussian_filters(centres: Tensor, width: Tensor, pixels: int, unit: bool) -> Tensor:
    """DRAW, equations 25 and 26 (Gregor et al. 2015): the filters (B, K, g, pixels) of one axis.

    They have first derivatives alone.

    Args:
        centres: (B, K, g), in pixels from the scene's border.
        width: (B, K), their deviations in pixels, above 0.
        pixels: of the scene along the axis.
        unit: make each sum to 1 within the scene, as in DRAW; else over the whole axis, so that
            everything outside the scene is black.
    """
    filters: Tensor = _GaussianFilters.apply(centres, width, pixels, unit)  # type: ignore[no-untyped-call]  # untyped
    return filters
