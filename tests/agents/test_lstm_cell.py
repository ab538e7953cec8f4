"""The LSTM's element-wise half against its formula, and its derivative against differences."""

import pytest
import torch
from torch import Tensor

from agents.policy.lstm_cell import lstm_cell

ROWS, UNITS = 5, 7


def formula(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Hochreiter & Schmidhuber (1997), with the forget gate of Gers et al. (2000)."""
    write, keep, show = gates[:, : 3 * UNITS].sigmoid().chunk(3, dim=1)
    cell = keep * cell + write * gates[:, 3 * UNITS :].tanh()
    return show * cell.tanh(), cell


def numbers(dtype: torch.dtype, scale: float = 1.0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    gates = scale * torch.randn(ROWS, 4 * UNITS, generator=generator)
    cell = scale * torch.randn(ROWS, UNITS, generator=generator)
    return gates.to(dtype).requires_grad_(), cell.double().requires_grad_()


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_a_step_is_the_formulas(scale: float) -> None:
    gates, cell = numbers(torch.float64, scale)
    for mine, theirs in zip(lstm_cell(gates, cell), formula(gates, cell), strict=True):
        torch.testing.assert_close(mine, theirs)


def test_single_precision_is_near_it_in_absolute_terms() -> None:
    gates, cell = numbers(torch.float64)
    mine = lstm_cell(gates.float(), cell.float())
    for found, exact in zip(mine, formula(gates, cell), strict=True):
        assert found.dtype == torch.float32
        torch.testing.assert_close(found.double(), exact, rtol=0.0, atol=1e-6)


def test_the_derivative_is_that_of_the_step() -> None:
    gates, cell = numbers(torch.float64)
    assert torch.autograd.gradcheck(lstm_cell, (gates, cell))


@pytest.mark.parametrize("wide", [torch.float32, torch.float64])
def test_gates_in_half_precision_get_their_gradient_in_it(wide: torch.dtype) -> None:
    gates, cell = (part.detach().requires_grad_() for part in numbers(torch.bfloat16))
    cell = cell.detach().to(wide).requires_grad_()
    output, after = lstm_cell(gates, cell)
    assert output.dtype == after.dtype == cell.dtype
    (output.sum() + after.square().sum()).backward()  # type: ignore[no-untyped-call]
    exact = [part.detach().double().requires_grad_() for part in (gates, cell)]
    output, after = formula(*exact)
    (output.sum() + after.square().sum()).backward()  # type: ignore[no-untyped-call]
    assert gates.grad is not None
    assert gates.grad.dtype == torch.bfloat16
    torch.testing.assert_close(gates.grad.double(), exact[0].grad, rtol=2**-7, atol=1e-6)
    assert cell.grad is not None
    torch.testing.assert_close(cell.grad.double(), exact[1].grad, rtol=1e-5, atol=1e-6)
