"""Gaussian filters and their derivative, against the formulas that torch differentiates itself."""

import math

import pytest
import torch
from torch import Tensor

from baselines.pictures.gaussian_filters import gaussian_filters

PIXELS = 20


def plain(centres: Tensor, width: Tensor, unit: bool) -> Tensor:
    """DRAW, equations 25 and 26."""
    places = torch.arange(PIXELS) + 0.5
    z = (places - centres[..., None]) / width[..., None, None]
    filters = torch.exp(-0.5 * z * z)
    if unit:
        return filters / filters.sum(dim=-1, keepdim=True).clamp(min=1e-8)
    return filters / (math.sqrt(2 * math.pi) * width[..., None, None])


def drawn(low: float, high: float, *shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(3)
    numbers = torch.rand(shape, generator=generator, dtype=torch.float64)
    return (low + (high - low) * numbers).requires_grad_()


@pytest.mark.parametrize("unit", [True, False])
def test_values_and_gradients_are_those_of_the_formula(unit: bool) -> None:
    centres, width = drawn(-5, PIXELS + 5, 4, 3, 6), drawn(0.5, 4, 4, 3)
    weights = drawn(-1, 1, 4, 3, 6, PIXELS).detach()
    filters, expected = gaussian_filters(centres, width, PIXELS, unit), plain(centres, width, unit)
    torch.testing.assert_close(filters, expected, rtol=1e-9, atol=1e-12)
    ours, theirs = (
        torch.autograd.grad((each * weights).sum(), (centres, width))
        for each in (filters, expected)
    )
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-8)


def test_a_filter_that_has_left_the_scene_reads_next_to_nothing_and_comes_to_no_harm() -> None:
    centres = torch.tensor([[[-300.0, 5.0, 1e4]]], requires_grad=True)
    width = torch.tensor([[0.5]], requires_grad=True)
    filters = gaussian_filters(centres, width, PIXELS, unit=True)
    sums = filters.sum(dim=-1)[0, 0]
    assert sums.tolist() == pytest.approx([0.0, 1.0, 0.0], abs=1e-6)
    (filters[..., 3] * 2).sum().backward()  # type: ignore[no-untyped-call]  # untyped in torch
    for found in (centres.grad, width.grad):
        assert found is not None
        assert torch.isfinite(found).all()
