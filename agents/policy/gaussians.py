"""Normal distributions over numbers of the action, such as the place of a look."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.policy.distributions import Distribution, as_floats
from agents.training.row_draws import draw_rows
from agents.training.transfers import to_device
from glimpse_envs.evaluation.outlook import Gaussian


@dataclass(frozen=True)
class DiagonalGaussian(Distribution):
    """Independent normals; samples are clipped to [-1, 1] for the environment alone, as in RAM: the
    log-probability is that of the sample itself.

    Args:
        mean: (B, D).
        std: (D,) or (B, D), above 0.
    """

    mean: Tensor
    std: Tensor

    def _is_of_rows(self, name: str) -> bool:
        return super()._is_of_rows(name) and not (name == "std" and self.std.ndim == 1)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        return super().joined([replace(part, std=part.std.expand_as(part.mean)) for part in parts])

    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        noise = draw_rows(
            lambda shape: torch.randn(shape, generator=generator, dtype=self.mean.dtype),
            self.mean.shape,
            generator,
        )
        return (self.mean + self.std * to_device(noise, self.mean)).detach()

    def mode(self) -> Tensor:
        return self.mean.detach()

    def log_prob(self, action: Tensor) -> Tensor:
        z = (action - self.mean) / self.std
        return (-0.5 * z * z - self.std.log() - 0.5 * math.log(2 * math.pi)).sum(dim=-1)

    def entropy(self) -> Tensor:
        per_axis = (0.5 + 0.5 * math.log(2 * math.pi) + self.std.log()).expand_as(self.mean)
        return per_axis.sum(dim=-1)

    def outlook(self) -> Gaussian:
        std = self.std.expand_as(self.mean)
        return Gaussian(as_floats(self.mean), as_floats(std))

    def to_env(self, action: Tensor) -> Tensor:
        return action.clamp(-1.0, 1.0)


@dataclass(frozen=True)
class BoxGaussian(DiagonalGaussian):
    """A normal whose numbers from -1 to 1 stand for those from `low` to `high` in the environment.

    Args:
        mean: (B, D).
        std: (D,) or (B, D), above 0.
        low, high: (B, D), in the environment's units.
    """

    low: Tensor
    high: Tensor

    def outlook(self) -> Gaussian:
        """In the environment's units."""
        std = self.std * (self.high - self.low) / 2
        return Gaussian(as_floats(self.to_env(self.mean)), as_floats(std))

    def to_env(self, action: Tensor) -> Tensor:
        share = (1 + action.clamp(-1.0, 1.0)) / 2
        return torch.lerp(self.low, self.high, share)

    def from_env(self, action: NDArray) -> Tensor:
        return 2 * (torch.as_tensor(action).to(self.low) - self.low) / (self.high - self.low) - 1


STRETCH = 5.0
"""Scale of `LogMove`: its shortest moves are sinh(5) / 5, about 15, times as exact as on a linear
scale."""


@dataclass(frozen=True)
class LogMove(DiagonalGaussian):
    """A move from the present place in symmetric-log coordinates: a normal a stands for a look at
    `place` + 2 sinh(5 a) / sinh(5), so that near looks are exact and far looks, across the whole
    scene at a = 1, are rough. Log-probability and entropy are those of a.

    Args:
        mean: (B, 2), of a.
        std: (2,) or (B, 2), of a, above 0.
        place: (B, 2) in [-1, 1], of the present glimpse.
    """

    place: Tensor

    def outlook(self) -> Gaussian:
        """In the scene's coordinates, in which it is close to normal near its mean."""
        pace = 2 * STRETCH * torch.cosh(STRETCH * self.mean) / math.sinh(STRETCH)
        return Gaussian(as_floats(self.to_env(self.mean)), as_floats(self.std * pace))

    def to_env(self, action: Tensor) -> Tensor:
        move = 2 * torch.sinh(STRETCH * action) / math.sinh(STRETCH)
        return (self.place + move).clamp(-1.0, 1.0)

    def from_env(self, action: NDArray) -> Tensor:
        move = torch.as_tensor(action).to(self.place) - self.place
        return torch.asinh(move / 2 * math.sinh(STRETCH)) / STRETCH
