"""What a policy says of one component of the action, with the few operations that learners need."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class Distribution(ABC):
    """A distribution over one component of the action, for B rows."""

    @abstractmethod
    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        """Draw an action a row; no gradient flows through it."""

    @abstractmethod
    def mode(self) -> Tensor:
        """The likeliest action of each row."""

    @abstractmethod
    def log_prob(self, action: Tensor) -> Tensor:
        """The log-probability (B,) of `action`."""

    @abstractmethod
    def entropy(self) -> Tensor:
        """The entropy (B,) in nats."""

    @abstractmethod
    def to_env(self, action: Tensor) -> NDArray:
        """`action` as the environment takes it."""

    def is_finite(self) -> bool:
        """Whether no parameter is NaN or infinite."""
        return all(bool(torch.isfinite(parameter).all()) for parameter in vars(self).values())


@dataclass(frozen=True)
class DiagonalGaussian(Distribution):
    """Independent normals; what lies outside [-1, 1] is clipped for the environment alone, as in
    RAM: the log-probability is that of the sample itself.

    Args:
        mean: (B, D).
        std: (D,) or (B, D), above 0.
    """

    mean: Tensor
    std: Tensor

    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        noise = torch.randn(self.mean.shape, generator=generator, dtype=self.mean.dtype)
        return (self.mean + self.std * noise.to(self.mean.device)).detach()

    def mode(self) -> Tensor:
        return self.mean.detach()

    def log_prob(self, action: Tensor) -> Tensor:
        z = (action - self.mean) / self.std
        return (-0.5 * z * z - self.std.log() - 0.5 * math.log(2 * math.pi)).sum(dim=-1)

    def entropy(self) -> Tensor:
        per_axis = (0.5 + 0.5 * math.log(2 * math.pi) + self.std.log()).expand_as(self.mean)
        return per_axis.sum(dim=-1)

    def to_env(self, action: Tensor) -> NDArray:
        return action.clamp(-1.0, 1.0).cpu().numpy()


@dataclass(frozen=True)
class Categorical(Distribution):
    """One of n choices; `logits` (B, n)."""

    logits: Tensor

    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        probabilities = self.logits.detach().softmax(dim=-1).cpu()
        return torch.multinomial(probabilities, 1, generator=generator)[:, 0].to(self.logits.device)

    def mode(self) -> Tensor:
        return self.logits.argmax(dim=-1)

    def log_prob(self, action: Tensor) -> Tensor:
        return self.logits.log_softmax(dim=-1).gather(-1, action[:, None])[:, 0]

    def entropy(self) -> Tensor:
        log_p = self.logits.log_softmax(dim=-1)
        return -(log_p.exp() * log_p).sum(dim=-1)

    def to_env(self, action: Tensor) -> NDArray:
        return action.cpu().numpy().astype(np.int64)
