"""Distributions agree with torch's own, and only the environment sees a look clipped."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.distributions import Categorical as TorchCategorical
from torch.distributions import Independent, Normal

from agents.distributions import Categorical, DiagonalGaussian

SAMPLES = 20_000


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def gaussian(rows: int = 5) -> DiagonalGaussian:
    mean = torch.randn(rows, 2, generator=seeded(1), dtype=torch.float64)
    return DiagonalGaussian(mean, torch.tensor([0.1, 0.7], dtype=torch.float64))


def categorical(rows: int = 5) -> Categorical:
    return Categorical(2 * torch.randn(rows, 4, generator=seeded(2), dtype=torch.float64))


def test_a_gaussian_is_torchs_gaussian() -> None:
    mine = gaussian()
    theirs: Any = Independent(Normal(mine.mean, mine.std), 1)
    actions = torch.randn(5, 2, generator=seeded(), dtype=torch.float64)
    torch.testing.assert_close(mine.log_prob(actions), theirs.log_prob(actions))
    torch.testing.assert_close(mine.entropy(), theirs.entropy())


def test_a_categorical_is_torchs_categorical() -> None:
    mine = categorical()
    theirs: Any = TorchCategorical(logits=mine.logits)
    actions = torch.tensor([0, 1, 2, 3, 0])
    torch.testing.assert_close(mine.log_prob(actions), theirs.log_prob(actions))
    torch.testing.assert_close(mine.entropy(), theirs.entropy())


def test_entropies_by_hand() -> None:
    unit = DiagonalGaussian(torch.zeros(1, 2), torch.ones(2))
    assert unit.entropy().item() == pytest.approx(math.log(2 * math.pi * math.e))
    assert Categorical(torch.zeros(1, 8)).entropy().item() == pytest.approx(math.log(8))


def test_a_gaussians_samples_have_its_moments() -> None:
    mean, std = torch.tensor([[0.3, -0.9]]).expand(SAMPLES, 2), torch.tensor([0.1, 0.7])
    samples = DiagonalGaussian(mean, std).sample(seeded())
    error = 4 * std / math.sqrt(SAMPLES)
    assert ((samples.mean(dim=0) - mean[0]).abs() < error).all()
    assert ((samples.std(dim=0) - std).abs() < error).all()
    assert torch.corrcoef(samples.T)[0, 1].abs() < 4 / math.sqrt(SAMPLES)


def test_a_categoricals_samples_have_its_frequencies() -> None:
    logits = torch.tensor([[0.0, 1.0, -2.0, 0.5]]).expand(SAMPLES, 4)
    samples = Categorical(logits).sample(seeded())
    expected = logits[0].softmax(dim=-1)
    found = torch.bincount(samples, minlength=4) / SAMPLES
    assert ((found - expected).abs() < 4 * (expected * (1 - expected) / SAMPLES).sqrt()).all()


@pytest.mark.parametrize("head", [gaussian(), categorical()], ids=["gaussian", "categorical"])
def test_samples_follow_the_generator_alone(head: DiagonalGaussian | Categorical) -> None:
    first = head.sample(seeded(3))
    torch.manual_seed(99)
    assert torch.equal(head.sample(seeded(3)), first)
    generator = seeded(3)
    assert torch.equal(head.sample(generator), first)
    assert not torch.equal(head.sample(generator), first), "the generator moves on"


def test_no_gradient_flows_through_an_action() -> None:
    mean = torch.zeros(3, 2, requires_grad=True)
    head = DiagonalGaussian(mean, torch.ones(2, requires_grad=True))
    assert not head.sample(seeded()).requires_grad
    assert not head.mode().requires_grad


def test_modes_are_the_likeliest_actions() -> None:
    mine = categorical()
    each = torch.stack([mine.log_prob(torch.full((5,), choice)) for choice in range(4)])
    assert torch.equal(mine.mode(), each.argmax(dim=0))
    assert torch.equal(gaussian().mode(), gaussian().mean)


def test_only_the_environment_sees_a_look_clipped() -> None:
    head = DiagonalGaussian(torch.zeros(2, 2), torch.ones(2))
    action = torch.tensor([[1.5, -3.0], [0.25, 1.0]])
    assert np.array_equal(head.to_env(action), [[1.0, -1.0], [0.25, 1.0]])
    clipped = torch.as_tensor(head.to_env(action))
    assert head.log_prob(action)[0] < head.log_prob(clipped)[0], "it is that of the sample itself"


def test_choices_go_to_the_environment_as_int64() -> None:
    assert categorical().to_env(torch.tensor([3, 0])).dtype == np.int64


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_is_known(bad: float) -> None:
    def spoilt(values: Tensor) -> Tensor:
        return values.clone().index_fill_(0, torch.tensor([1]), bad)

    assert gaussian().is_finite()
    assert categorical().is_finite()
    assert not DiagonalGaussian(spoilt(gaussian().mean), gaussian().std).is_finite()
    assert not DiagonalGaussian(gaussian().mean, spoilt(gaussian().std)).is_finite()
    assert not Categorical(spoilt(categorical().logits)).is_finite()
