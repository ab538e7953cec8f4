"""Muon for processors that do not multiply in bfloat16."""

from typing import Any

import torch
from torch import Tensor
from torch.optim._muon import _adjust_lr

from agents.training.precision import fastest_precision


class Float32Muon(torch.optim.Muon):
    """`torch.optim.Muon` that makes momenta orthogonal in float32.

    That of torch does so in bfloat16, which processors without it emulate: several times slower
    than float32, so that the optimizer takes most of a small model's training. All else, the state
    too, is that of torch 2.13, whose function for it takes no precision.
    """

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """Move the parameters by their gradients; a `closure` computes the loss anew, which is
        returned."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            rate, momentum = group["lr"], group["momentum"]
            learned: list[Tensor] = []
            gradients: list[Tensor] = []
            momenta: list[Tensor] = []
            self._init_group(group, learned, gradients, momenta)
            for parameter, gradient, mean in zip(learned, gradients, momenta, strict=True):
                mean.lerp_(gradient, 1 - momentum)
                towards = gradient.lerp(mean, momentum) if group["nesterov"] else mean
                step = orthogonal(
                    towards, group["ns_coefficients"], group["ns_steps"], group["eps"]
                )
                adjusted = _adjust_lr(rate, group["adjust_lr_fn"], parameter.shape)
                parameter.mul_(1 - rate * group["weight_decay"])
                parameter.add_(step, alpha=-adjusted)
        return loss


def muon_for(device: torch.device) -> type[torch.optim.Muon]:
    """The class that is faster on `device`."""
    native = fastest_precision(str(device)) == "bfloat16"
    return torch.optim.Muon if native else Float32Muon


def orthogonal(
    matrix: Tensor, coefficients: tuple[float, float, float], steps: int, least: float
) -> Tensor:
    """Return `matrix` (m, n) with its singular values brought near to 1, by so many steps of the
    quintic Newton-Schulz iteration of the three `coefficients` (Jordan et al. 2024).

    Before, it is divided by its Frobenius norm, or by `least` where that is smaller."""
    a, b, c = coefficients
    wide = matrix if len(matrix) <= matrix.shape[1] else matrix.T
    wide = wide / wide.norm().clamp(min=least)
    for _ in range(steps):
        gram = wide @ wide.T
        wide = torch.addmm(wide, torch.addmm(gram, gram, gram, beta=b, alpha=c), wide, beta=a)
    return wide if len(matrix) <= matrix.shape[1] else wide.T
