"""Muon's steps are orthogonal matrix by matrix, gate by gate, and all else is Adam's."""

from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import nn

from agents.algorithms.reinforce import Reinforce
from agents.policy.cores import LSTMCore
from agents.training.muon import Float32Muon, muon_for
from agents.training.optimizers import LEAST_SIDE, Kind, Optimizer
from tests.support.same_runs import assert_repeats_and_resumes
from tests.support.tiny import SMALL, tiny_config

RATE, UNITS = 0.01, 48


@dataclass(frozen=True)
class Rates:
    optimizer: Kind = "muon"
    learning_rate: float = RATE
    weight_decay: float = 0.0


def with_gradients(model: nn.Module) -> dict[str, torch.Tensor]:
    """Give every parameter a random gradient; return copies of the parameters."""
    generator = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=generator)
    return {name: p.detach().clone() for name, p in model.named_parameters()}


def test_each_gate_moves_by_an_orthogonal_matrix() -> None:
    torch.manual_seed(0)
    model = LSTMCore(UNITS, UNITS)
    before = with_gradients(model)
    Optimizer(model, Rates()).step()
    move = model.gates.weight.detach() - before["gates.weight"]
    for gate in move.chunk(4):
        # Five iterations bring the singular values near 1, not to it.
        sizes = torch.linalg.svdvals(gate) / (RATE * 0.2 * max(gate.shape) ** 0.5)
        assert sizes.min() > 0.5
        assert sizes.max() < 1.3
    alone = nn.Parameter(before["gates.weight"][:UNITS].clone())
    assert model.gates.weight.grad is not None
    alone.grad = model.gates.weight.grad[:UNITS]
    kind = muon_for(torch.device("cpu"))
    muon: torch.optim.Optimizer = kind(
        [alone], lr=RATE, weight_decay=0.0, adjust_lr_fn="match_rms_adamw"
    )
    muon.step()
    assert torch.equal(alone, model.gates.weight[:UNITS])


@pytest.mark.parametrize("nesterov", [True, False])
@pytest.mark.parametrize("adjusted", ["match_rms_adamw", "original"])
@pytest.mark.parametrize("shape", [(48, 48), (32, 96), (96, 32)])
def test_muon_in_float32_is_that_of_torch_but_for_rounding(
    shape: tuple[int, int], adjusted: str, nesterov: bool
) -> None:
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(shape, generator=generator)
    gradients = [torch.randn(shape, generator=generator) for _ in range(5)]
    moved = []
    for kind in (torch.optim.Muon, Float32Muon):
        learned = nn.Parameter(start.clone())
        muon: torch.optim.Optimizer = kind(
            [learned], lr=RATE, weight_decay=0.3, adjust_lr_fn=adjusted, nesterov=nesterov
        )
        for gradient in gradients:
            learned.grad = gradient.clone()
            muon.step()
        moved.append(learned.detach() - start)
    usual, ours = moved
    assert (ours - usual).norm() < 0.03 * usual.norm()
    assert ours.norm() == pytest.approx(float(usual.norm()), rel=0.01)


@pytest.mark.parametrize("kind", ["adam", "muon"])
def test_biases_and_thin_matrices_are_learned_by_adam(kind: Kind) -> None:
    torch.manual_seed(0)
    model = nn.Linear(UNITS, LEAST_SIDE - 1)
    before = with_gradients(model)
    Optimizer(model, Rates(kind)).step()
    for name, parameter in model.named_parameters():
        torch.testing.assert_close((parameter - before[name]).abs().max().item(), RATE)


@pytest.mark.parametrize("kind", ["adam", "muon"])
def test_weight_decay_takes_a_share_off_every_weight(kind: Kind) -> None:
    """Without a gradient's pull: the moves with and without it differ by rate x decay x weight."""
    moves = []
    for decay in (0.0, 0.1):
        torch.manual_seed(0)
        model = LSTMCore(UNITS, UNITS)
        before = with_gradients(model)
        Optimizer(model, Rates(kind, weight_decay=decay)).step()
        moves.append({name: p.detach() - before[name] for name, p in model.named_parameters()})
    for name, weight in before.items():
        apart = moves[1][name] - moves[0][name]
        torch.testing.assert_close(apart, -RATE * 0.1 * weight, rtol=1e-3, atol=1e-6)


def test_a_learned_spread_of_looks_is_not_drawn_to_one_pixel_or_the_whole_scene() -> None:
    model = nn.Linear(UNITS, UNITS)
    model.log_std = nn.Parameter(torch.full((2,), -2.0))
    optimizer = Optimizer(model, Rates("adam", weight_decay=0.1))
    model.log_std.grad = torch.zeros(2)
    optimizer.step()
    assert model.log_std.tolist() == [-2.0, -2.0]


def test_what_is_not_learned_stays() -> None:
    fixed, learned = nn.Linear(UNITS, UNITS), nn.Linear(UNITS, UNITS)
    fixed.requires_grad_(False)
    model = nn.Sequential(fixed, learned)
    before = with_gradients(model)
    Optimizer(model, Rates()).step()
    assert torch.equal(fixed.weight, before["0.weight"])
    assert not torch.equal(learned.weight, before["1.weight"])


@pytest.mark.learning
@pytest.mark.parametrize("core", ["lstm", "gru", "rnn"])
def test_a_run_by_muon_repeats_and_resumes(core: str, tmp_path: Path) -> None:
    network = {**vars(SMALL), "core": core}
    config = tiny_config(optimizer="muon", network=type(SMALL)(**network))
    assert_repeats_and_resumes(Reinforce, config, tmp_path)
