"""Optimizers of all learners: Adam, or Muon for large matrices and Adam for the rest.

Muon (Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks") moves a matrix
by its momentum made orthogonal, so that all directions in it learn alike. Its learning rate is
scaled to the size of Adam's steps (Liu et al. 2025, "Muon is scalable for LLM training"), so that
one rate serves both. The gates of a recurrent core, stacked in one matrix, are orthogonalised one
by one, which divides the cost by their number.
"""

from collections.abc import Iterable
from typing import Any, Literal, Protocol

import torch
from torch import Tensor, nn

from agents.training.checkpoints import load_moments
from agents.training.muon import muon_for

Kind = Literal["adam", "muon"]

LEAST_SIDE = 32
"""Matrices with a shorter side, such as those of places and of few answers, are left to Adam."""


class Rates(Protocol):
    """The fields of a config that an optimizer reads."""

    @property
    def optimizer(self) -> Kind: ...
    @property
    def learning_rate(self) -> float: ...
    @property
    def weight_decay(self) -> float: ...


class Optimizer:
    """One step down the gradient of a model's parameters.

    Args:
        model: whose parameters are learned. A module in it may have `stacked`, name of a matrix ->
            number of matrices stacked in it.
        config: kind, first learning rate and weight decay.
    """

    def __init__(self, model: nn.Module, config: Rates) -> None:
        learned = {name: p for name, p in model.named_parameters() if p.requires_grad}
        matrices = [n for n in learned if config.optimizer == "muon" and _is_hidden(learned[n])]
        # A spread that decays towards 1 would widen looks whatever is learned.
        spreads = [name for name in learned if name.endswith("log_std")]
        others = [p for name, p in learned.items() if name not in {*matrices, *spreads}]
        self._parameters = list(learned.values())
        rate, decay = config.learning_rate, config.weight_decay
        self._parts: dict[str, torch.optim.Optimizer] = {}
        self._blocks: list[tuple[nn.Parameter, nn.Parameter, slice]] = []
        groups = [
            {"params": others, "weight_decay": decay},
            {"params": [learned[name] for name in spreads], "weight_decay": 0.0},
        ]
        groups = [group for group in groups if group["params"]]
        if groups:
            self._parts["adam"] = torch.optim.Adam(
                groups, lr=rate, decoupled_weight_decay=True, fused=True
            )
        if matrices:
            stacked = _stacked(model)
            for name in matrices:
                self._blocks += _blocks(learned[name], stacked.get(name, 1))
            self._parts["muon"] = muon_for(self._parameters[0].device)(
                [block for block, _, _ in self._blocks],
                lr=rate,
                weight_decay=decay,
                adjust_lr_fn="match_rms_adamw",
            )

    def set_rate(self, rate: float) -> None:
        """Set the learning rate."""
        for part in self._parts.values():
            for group in part.param_groups:
                group["lr"] = rate

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for parameter in self._parameters:
            parameter.grad = None

    def step(self) -> None:
        """Move the parameters by their gradients."""
        for block, whole, rows in self._blocks:
            block.grad = None if whole.grad is None else whole.grad[rows]
        for part in self._parts.values():
            part.step()

    def state_dict(self) -> dict[str, Any]:
        """The moments, by part."""
        return {name: part.state_dict()["state"] for name, part in self._parts.items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned, or its keys as text."""
        for name, part in self._parts.items():
            load_moments(part, state.get(name, {}))


def _is_hidden(parameter: Tensor) -> bool:
    return parameter.ndim == 2 and min(parameter.shape) >= LEAST_SIDE


def _stacked(model: nn.Module) -> dict[str, int]:
    """Name of a matrix -> number of matrices stacked in it, of all modules that declare it."""
    return {
        f"{prefix}.{name}" if prefix else name: count
        for prefix, module in model.named_modules()
        for name, count in getattr(module, "stacked", {}).items()
    }


def _blocks(whole: nn.Parameter, count: int) -> Iterable[tuple[nn.Parameter, nn.Parameter, slice]]:
    """`count` matrices stacked in `whole`: each as a parameter that shares its memory, `whole`, and
    the rows in it."""
    size = len(whole) // count
    for start in range(0, len(whole), size):
        rows = slice(start, start + size)
        yield nn.Parameter(whole.detach()[rows]), whole, rows
