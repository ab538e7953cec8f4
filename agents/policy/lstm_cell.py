"""The element-wise half of an LSTM, with its derivative worked out by hand, for CPUs.

tanh(x) is taken as 2 sigmoid(2 x) - 1, since torch computes sigmoids there several times as fast:
all four gates are one sigmoid. Near 0 its error is absolute, about 1e-7 in float32.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class _LSTMCell(Function):
    @staticmethod
    def forward(ctx: Any, gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        units = cell.shape[1]
        opened = gates.to(cell.dtype, copy=True)
        candidate = opened[:, 3 * units :]
        candidate.mul_(2.0)
        opened.sigmoid_()
        candidate.mul_(2.0).sub_(1.0)
        write, keep, show, _ = opened.chunk(4, dim=1)
        after = torch.addcmul(keep * cell, write, candidate)
        shown = (2.0 * after).sigmoid_().mul_(2.0).sub_(1.0)
        ctx.save_for_backward(opened, cell, shown)
        ctx.dtype = gates.dtype
        return show * shown, after

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_output: Tensor, by_after: Tensor) -> tuple[Tensor, Tensor]:
        opened, cell, shown = ctx.saved_tensors
        write, keep, show, candidate = opened.chunk(4, dim=1)
        by_after = torch.addcmul(by_after, by_output * show, 1.0 - shown * shown)
        by_gates = torch.empty_like(opened)
        by_write, by_keep, by_show, by_candidate = by_gates.chunk(4, dim=1)
        torch.mul(by_after, candidate, out=by_write)
        torch.mul(by_after, cell, out=by_keep)
        torch.mul(by_output, shown, out=by_show)
        torch.mul(by_after, write, out=by_candidate)
        sigmoids = slice(3 * cell.shape[1])
        by_gates[:, sigmoids].mul_(opened[:, sigmoids] - opened[:, sigmoids].square())
        by_candidate.mul_(1.0 - candidate.square())
        return by_gates.to(ctx.dtype), by_after * keep


def lstm_cell(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """The output and the cell of an LSTM after a step, (B, units) each, of the cell's dtype.

    They have first derivatives alone.

    Args:
        gates: (B, 4 units), before their sigmoids: to write, to keep, to show; and, before its
            tanh, what would be written.
        cell: (B, units), before the step.
    """
    output, after = _LSTMCell.apply(gates, cell)  # type: ignore[no-untyped-call]  # untyped
    return output, after
