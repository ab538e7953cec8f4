"""Distributions agree with torch's own, and with the enumeration of all that can be chosen; only
the environment sees a look clipped."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.distributions import Categorical as TorchCategorical
from torch.distributions import Independent, Normal

from agents.policy.cells import Cells
from agents.policy.distributions import (
    Bernoullis,
    Categorical,
    Distribution,
    IndependentCategoricals,
    OptionalAnswer,
)
from agents.policy.gaussians import BoxGaussian, DiagonalGaussian, LogMove

SAMPLES = 20_000


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def gaussian(rows: int = 5) -> DiagonalGaussian:
    mean = torch.randn(rows, 2, generator=seeded(1), dtype=torch.float64)
    return DiagonalGaussian(mean, torch.tensor([0.1, 0.7], dtype=torch.float64))


def categorical(rows: int = 5) -> Categorical:
    return Categorical(2 * torch.randn(rows, 4, generator=seeded(2), dtype=torch.float64))


def logits(rows: int, columns: int) -> Tensor:
    return 2 * torch.randn(rows, columns, generator=seeded(4), dtype=torch.float64)


def several(rows: int = 3) -> IndependentCategoricals:
    return IndependentCategoricals(logits(rows, 7), (2, 4, 1))


def bits(rows: int = 3) -> Bernoullis:
    return Bernoullis(logits(rows, 3))


def optional(rows: int = 3) -> OptionalAnswer:
    return OptionalAnswer(logits(rows, 1)[:, 0], logits(rows, 5)[:, 1:])


# All that each can choose, (N, ...).
CHOICES: dict[str, tuple[Distribution, Tensor]] = {
    "several": (several(), torch.tensor(list(product(range(2), range(4), range(1))))),
    "bits": (bits(), torch.tensor(list(product(range(2), repeat=3)))),
    "optional": (optional(), torch.arange(5)),
}


def chances(head: Distribution, choices: Tensor) -> Tensor:
    """The probability of each of `choices` (N, ...) in every row, (N, B)."""
    rows = len(next(iter(vars(head).values())))
    every = [choice.expand(rows, *choice.shape) for choice in choices]
    return torch.stack([head.log_prob(choice).exp() for choice in every])


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


@pytest.mark.parametrize(
    "head",
    [gaussian(), categorical(), several(64), bits(64), optional(64)],
    ids=["gaussian", "categorical", "several", "bits", "optional"],
)
def test_samples_follow_the_generator_alone(head: Distribution) -> None:
    first = head.sample(seeded(3))
    torch.manual_seed(99)
    assert torch.equal(head.sample(seeded(3)), first)
    generator = seeded(3)
    assert torch.equal(head.sample(generator), first)
    assert not torch.equal(head.sample(generator), first), "the generator moves on"


@pytest.mark.parametrize("name", CHOICES)
def test_what_can_be_chosen_has_the_whole_probability_and_entropy(name: str) -> None:
    head, choices = CHOICES[name]
    probability = chances(head, choices)  # (N, B)
    torch.testing.assert_close(probability.sum(dim=0), torch.ones(3, dtype=torch.float64))
    torch.testing.assert_close(head.entropy(), -torch.xlogy(probability, probability).sum(dim=0))


@pytest.mark.parametrize("name", CHOICES)
def test_what_is_sampled_has_its_frequencies(name: str) -> None:
    head, choices = CHOICES[name]
    fields = {n: v[:1] if isinstance(v, Tensor) else v for n, v in vars(head).items()}
    expected = chances(type(head)(**fields), choices)[:, 0]
    many = {n: v.expand(SAMPLES, *v.shape[1:]) if isinstance(v, Tensor) else v
            for n, v in fields.items()}  # fmt: skip
    samples = type(head)(**many).sample(seeded()).reshape(SAMPLES, 1, -1)
    same = (samples == choices.reshape(1, len(choices), -1)).all(dim=-1)  # (SAMPLES, N)
    assert same.any(dim=1).all(), "nothing else is drawn"
    found = same.double().mean(dim=0)
    assert ((found - expected).abs() < 4 * (expected * (1 - expected) / SAMPLES).sqrt()).all()


@pytest.mark.parametrize("name", ["several", "bits"])
def test_the_mode_of_several_choices_is_the_likeliest_of_all(name: str) -> None:
    head, choices = CHOICES[name]
    assert torch.equal(head.mode(), choices[chances(head, choices).argmax(dim=0)])
    assert torch.equal(head.guess(), head.mode())
    assert torch.equal(head.log_likelihood(choices[:3]), head.log_prob(choices[:3]))


def test_several_choices_are_each_a_categorical() -> None:
    head, action = several(), torch.tensor([[0, 3, 0], [1, 0, 0], [1, 2, 0]])
    apart = [Categorical(part) for part in torch.split(head.logits, [2, 4, 1], dim=1)]
    expected = sum(one.log_prob(action[:, i]) for i, one in enumerate(apart))
    torch.testing.assert_close(head.log_prob(action), expected)
    with pytest.raises(ValueError, match="zip"):
        head.log_prob(action[:, :2])


@pytest.mark.parametrize("scale", [200.0, 1e4])
def test_certainty_has_a_finite_gradient(scale: float) -> None:
    """Logits far from 0, whose probabilities are 0 and 1 in float32."""
    for kind in (Bernoullis, lambda values: OptionalAnswer(values[:, 0], values[:, 1:])):
        values = torch.tensor([[scale, -scale, scale]], requires_grad=True)
        head = kind(values)
        unlikely = 1 - head.mode() if isinstance(head, Bernoullis) else torch.tensor([0])
        (head.log_prob(unlikely) + head.entropy()).sum().backward()  # type: ignore[no-untyped-call]
        assert values.grad is not None
        assert torch.isfinite(values.grad).all()
        assert torch.isfinite(head.entropy()).all()


def test_no_gradient_flows_through_an_action() -> None:
    mean = torch.zeros(3, 2, requires_grad=True)
    head = DiagonalGaussian(mean, torch.ones(2, requires_grad=True))
    assert not head.sample(seeded()).requires_grad
    assert not head.mode().requires_grad
    for several_bits in (Bernoullis(mean), IndependentCategoricals(mean, (1, 1))):
        assert not several_bits.sample(seeded()).requires_grad
        assert not several_bits.mode().requires_grad


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


def test_numbers_between_bounds_stand_for_those_of_the_box() -> None:
    low, high = (torch.tensor(bound).expand(2, 2) for bound in ((0.0, -2.0), (10.0, 2.0)))
    mean = torch.tensor([[0.0, -0.5], [1.0, 0.25]])
    head = BoxGaussian(mean, torch.full((2,), 0.5), low, high)
    action = torch.tensor([[-1.0, 0.0], [7.0, 0.5]])
    np.testing.assert_allclose(head.to_env(action), [[0.0, 0.0], [10.0, 1.0]])
    within = torch.tensor([[2.5, -1.0], [10.0, 1.5]])
    torch.testing.assert_close(head.to_env(head.from_env(within.numpy())), within)
    np.testing.assert_allclose(head.outlook().mean, [[5.0, -1.0], [10.0, 0.5]])
    np.testing.assert_allclose(head.outlook().std, [[2.5, 1.0], [2.5, 1.0]])
    plain = DiagonalGaussian(mean, torch.full((2,), 0.5))
    assert torch.equal(head.log_prob(action), plain.log_prob(action))
    both = BoxGaussian.joined([head, head])
    torch.testing.assert_close(both.to_env(action.repeat(2, 1)), head.to_env(action).repeat(2, 1))


def test_choices_go_to_the_environment_as_int64() -> None:
    assert categorical().to_env(torch.tensor([3, 0])).dtype == torch.int64
    for head, choices in CHOICES.values():
        given = head.to_env(choices)
        assert given.dtype == torch.int64
        assert torch.equal(given, choices)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_is_known(bad: float) -> None:
    def spoilt(values: Tensor) -> Tensor:
        return values.clone().index_fill_(0, torch.tensor([1]), bad)

    assert gaussian().is_finite()
    assert categorical().is_finite()
    assert not DiagonalGaussian(spoilt(gaussian().mean), gaussian().std).is_finite()
    assert not DiagonalGaussian(gaussian().mean, spoilt(gaussian().std)).is_finite()
    assert not Categorical(spoilt(categorical().logits)).is_finite()
    assert all(head.is_finite() for head, _ in CHOICES.values())
    assert not IndependentCategoricals(spoilt(several().logits), (2, 4, 1)).is_finite()
    assert not Bernoullis(spoilt(bits().logits)).is_finite()
    assert not OptionalAnswer(spoilt(optional().gate), optional().symbols).is_finite()
    assert not OptionalAnswer(optional().gate, spoilt(optional().symbols)).is_finite()


def test_a_log_move_is_exact_near_and_reaches_everywhere() -> None:
    place = torch.tensor([[0.5, -0.25], [-1.0, 1.0]], dtype=torch.float64)
    std = torch.tensor(0.15, dtype=torch.float64)
    moves = LogMove(torch.zeros_like(place), std, place)
    torch.testing.assert_close(moves.to_env(torch.zeros_like(place)), place)
    across = torch.tensor([[-1.0, 1.0], [1.0, -1.0]], dtype=torch.float64)
    torch.testing.assert_close(moves.to_env(across), across)
    # A small step of a moves the look by its derivative at 0, 10 / sinh(5) of it.
    near = moves.to_env(torch.full_like(place[:1], 1e-4))[0] - place[0]
    np.testing.assert_allclose(near.numpy(), 1e-4 * 10 / math.sinh(5.0), rtol=1e-3)
    looks = torch.rand(2, 2, generator=seeded(), dtype=torch.float64)
    torch.testing.assert_close(moves.to_env(moves.from_env(looks.numpy())), looks)


def test_a_log_move_has_the_log_probability_and_entropy_of_its_coordinates() -> None:
    plain = gaussian()
    moves = LogMove(plain.mean, plain.std, torch.zeros_like(plain.mean))
    chosen = moves.sample(seeded())
    np.testing.assert_array_equal(chosen, plain.sample(seeded()))
    np.testing.assert_array_equal(moves.log_prob(chosen), plain.log_prob(chosen))
    np.testing.assert_array_equal(moves.entropy(), plain.entropy())


@pytest.mark.parametrize(
    "head",
    [
        Categorical(torch.randn(6, 3)),
        OptionalAnswer(torch.randn(6), torch.randn(6, 4)),
        DiagonalGaussian(torch.randn(6, 2), torch.ones(2)),
        DiagonalGaussian(torch.randn(6, 2), torch.rand(6, 2) + 0.5),
        LogMove(torch.randn(6, 2), torch.ones(2), torch.zeros(6, 2)),
        IndependentCategoricals(torch.randn(6, 5), (2, 3)),
        Bernoullis(torch.randn(6, 4)),
        BoxGaussian(torch.randn(6, 2), torch.ones(2), torch.zeros(6, 2), torch.rand(6, 2) + 1),
        Cells(torch.randn(6, 6), torch.rand(6, 2), torch.rand(6, 2), torch.rand(6, 2)),
    ],
    ids=lambda head: type(head).__name__,
)
def test_runs_of_rows_are_as_those_of_all_and_are_joined_again(head: Distribution) -> None:
    taken = head.sample(seeded())
    parts = head.chunk(3)
    found = [part.log_prob(one) for part, one in zip(parts, taken.chunk(3), strict=True)]
    torch.testing.assert_close(torch.cat(found), head.log_prob(taken), rtol=0, atol=0)
    sent = [part.to_env(one) for part, one in zip(parts, taken.chunk(3), strict=True)]
    torch.testing.assert_close(torch.cat(sent), head.to_env(taken), rtol=0, atol=0)
    again = type(head).joined(parts)
    torch.testing.assert_close(again.log_prob(taken), head.log_prob(taken), rtol=0, atol=0)
    torch.testing.assert_close(again.entropy(), head.entropy(), rtol=0, atol=0)
