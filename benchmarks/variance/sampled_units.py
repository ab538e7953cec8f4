"""Two toys with any number of sampled units, small enough for closed forms.

`hidden_units`: a network with one hidden layer of N units, its answer sampled, 1 paid for the right
one. Either the hidden units are sampled too, Bernoulli units as in Williams (1992), each
a decision with a score function's gradient of its own; or they are deterministic and the answer is
the one decision, however many they are. The gradient is that of the weights into the hidden units.
`dimensions`: one Gaussian look of D dimensions, its mean a linear function of the input, paid by
how near it is to a target. What is baseline here is the exact mean reward at the input.
"""

from dataclasses import dataclass
from math import prod

import torch
from torch import Tensor

INPUTS, FEATURES = 32, 16
LOOK_STD = 0.3


@dataclass(frozen=True)
class Toy:
    """Result of one seed of a toy, for one episode.

    Args:
        variance: estimator -> tr Cov of its gradient.
        signal: the squared norm of the gradient itself.
        parameters: numbers in it.
    """

    variance: dict[str, float]
    signal: float
    parameters: int


def hidden_units(units: int, sampled: bool, seed: int, samples: int = 512) -> Toy:
    """A network of `units` hidden units, sampled or deterministic, `samples` episodes an input."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(INPUTS, FEATURES, generator=generator) / FEATURES**0.5  # (X, F), norms near 1
    target = (x @ torch.randn(FEATURES, generator=generator) > 0).float()[:, None]  # (X, 1)
    inward = 2 * torch.randn(units, FEATURES, generator=generator)
    outward = torch.randn(units, generator=generator) / units**0.5

    p = (x @ inward.T).sigmoid()[:, None]  # (X, 1, N)
    h = p.expand(-1, samples, -1)  # (X, S, N)
    if sampled:
        h = torch.bernoulli(h, generator=generator)
    logit = (2 * h - 1) @ outward  # (X, S)
    q = logit.sigmoid()
    y = torch.bernoulli(q, generator=generator)
    reward = (y == target).float()
    sign = (2 * target - 1)[..., None]

    if sampled:
        by_unit = h - p  # of the log-probability, by a unit's input
        # What the unit j turns, with all else as it was sampled (Titsias & Lazaro-Gredilla 2015):
        # its gradient without the noise of its own sample.
        without = logit[..., None] - (2 * h - 1) * outward
        turned = (without + outward).sigmoid() - (without - outward).sigmoid()
        exact = sign * turned * p * (1 - p)
    else:
        by_unit = (y - q)[..., None] * 2 * outward * p * (1 - p)
        exact = sign * (q * (1 - q))[..., None] * 2 * outward * p * (1 - p)
    # The product of two halves, so that the noise of the samples does not count.
    first, second = (part.mean(dim=1).T @ x / INPUTS for part in exact.chunk(2, dim=1))
    signal = (first * second).sum().item()
    norms = by_unit.square().sum(dim=-1) * x.square().sum(dim=-1)[:, None]
    value = (target * q + (1 - target) * (1 - q)).mean(dim=1, keepdim=True)
    return Toy(_variances(reward, value, norms, signal), signal, inward.numel())


def dimensions(size: int, seed: int, samples: int = 2048) -> Toy:
    """A Gaussian look of `size` dimensions, `samples` episodes an input; D below."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(INPUTS, FEATURES, generator=generator) / FEATURES**0.5
    target = x @ torch.randn(FEATURES, size, generator=generator)  # (X, D); the mean is 0 as yet
    z = torch.randn(INPUTS, samples, size, generator=generator)
    away = (LOOK_STD * z - target[:, None]).square().mean(dim=-1)
    reward = (-0.5 * away).exp()  # (X, S), and so a product over the dimensions
    spread = 1 + LOOK_STD**2 / size
    value = (-0.5 * target.square().mean(dim=-1) / spread).exp() / spread ** (size / 2)  # (X,)
    by_mean = value[:, None] * target / (size * spread)  # (X, D), the gradient by the mean
    exact = by_mean.T @ x / INPUTS
    norms = z.square().sum(dim=-1) / LOOK_STD**2 * x.square().sum(dim=-1)[:, None]
    signal = exact.square().sum().item()
    return Toy(_variances(reward, value[:, None], norms, signal), signal, prod(exact.shape))


def _variances(reward: Tensor, value: Tensor, norms: Tensor, signal: float) -> dict[str, float]:
    """tr Cov without a baseline and with `value` (X, 1), from the squared `norms` (X, S) of the
    gradients of the log-probabilities."""
    return {
        "none": (reward.square() * norms).mean().item() - signal,
        "learned": ((reward - value).square() * norms).mean().item() - signal,
    }
