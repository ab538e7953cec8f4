"""Distributions over one component of the action, with the operations that learners need.

Normal distributions, over numbers, are in `agents.policy.gaussians`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from agents.training.row_draws import draw_rows
from agents.training.transfers import to_device
from glimpse_envs.evaluation.outlook import Gaussian, Probabilities


class Distribution(ABC):
    """A distribution over one component of the action, for B rows."""

    @abstractmethod
    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        """Draw one action per row; no gradient flows through it."""

    @abstractmethod
    def mode(self) -> Tensor:
        """The likeliest action of each row."""

    @abstractmethod
    def log_prob(self, action: Tensor) -> Tensor:
        """The log-probability (B,) of `action`."""

    @abstractmethod
    def entropy(self) -> Tensor:
        """The entropy (B,) in nats."""

    def to_env(self, action: Tensor) -> Tensor:
        """`action` as the environment takes it, on its device."""
        return action.long()

    def from_env(self, action: NDArray) -> Tensor:
        """The action that `to_env` turns into `action`, chosen by a rule in the policy's place."""
        return torch.as_tensor(action)

    def guess(self, generator: torch.Generator | None = None) -> Tensor:
        """The answer while it is learned from the label: the likeliest."""
        return self.mode()

    def log_likelihood(self, target: Tensor) -> Tensor:
        """The log-probability (B,) of the right answer `target`, given that one is given."""
        return self.log_prob(target)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The distribution of the rows of all `parts`, one after another."""
        columns = {name: [getattr(part, name) for part in parts] for name in vars(parts[0])}
        return cls(
            **{n: torch.cat(c) if isinstance(c[0], Tensor) else c[0] for n, c in columns.items()}
        )

    def chunk(self, count: int) -> list[Self]:
        """The distributions of `count` equal runs of rows, in their order."""
        columns = {
            name: value.chunk(count) if self._is_of_rows(name) else [value] * count
            for name, value in vars(self).items()
        }
        runs = zip(*columns.values(), strict=True)
        return [type(self)(**dict(zip(columns, run, strict=True))) for run in runs]

    def _is_of_rows(self, name: str) -> bool:
        """Whether the first axis of a field is that of the rows."""
        return isinstance(getattr(self, name), Tensor)

    @abstractmethod
    def outlook(self) -> Gaussian | Probabilities:
        """The distribution as plain data."""

    def is_finite(self) -> bool:
        """Whether no parameter is NaN or infinite."""
        tensors = [value for value in vars(self).values() if isinstance(value, Tensor)]
        return all(bool(torch.isfinite(tensor.detach().sum())) for tensor in tensors)


@dataclass(frozen=True)
class Categorical(Distribution):
    """One of n choices; `logits` (B, n)."""

    logits: Tensor

    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        probabilities = self.logits.detach().softmax(dim=-1)
        # As torch.multinomial draws one: the first of exponential times with these rates.
        times = draw_rows(
            lambda shape: torch.empty(shape, dtype=probabilities.dtype).exponential_(
                generator=generator
            ),
            probabilities.shape,
            generator,
        )
        return (probabilities / to_device(times, probabilities)).argmax(dim=-1)

    def mode(self) -> Tensor:
        return self.logits.argmax(dim=-1)

    def log_prob(self, action: Tensor) -> Tensor:
        return self.logits.log_softmax(dim=-1).gather(-1, action[:, None])[:, 0]

    def entropy(self) -> Tensor:
        log_p = self.logits.log_softmax(dim=-1)
        return -(log_p.exp() * log_p).sum(dim=-1)

    def outlook(self) -> Probabilities:
        return Probabilities((as_floats(self.logits.softmax(dim=-1)),))


@dataclass(frozen=True)
class IndependentCategoricals(Distribution):
    """Several choices at once, such as the moves of two heads.

    Args:
        logits: (B, n_1 + n_2 + ...).
        sizes: (n_1, n_2, ...).
    """

    logits: Tensor
    sizes: tuple[int, ...]

    @property
    def parts(self) -> list[Categorical]:
        """One distribution for each choice."""
        return [Categorical(part) for part in torch.split(self.logits, list(self.sizes), dim=-1)]

    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        return torch.stack([part.sample(generator) for part in self.parts], dim=-1)

    def mode(self) -> Tensor:
        return torch.stack([part.mode() for part in self.parts], dim=-1)

    def log_prob(self, action: Tensor) -> Tensor:
        chosen = zip(self.parts, action.unbind(dim=-1), strict=True)
        return torch.stack([part.log_prob(choice) for part, choice in chosen]).sum(dim=0)

    def entropy(self) -> Tensor:
        return torch.stack([part.entropy() for part in self.parts]).sum(dim=0)

    def outlook(self) -> Probabilities:
        return Probabilities(tuple(p for part in self.parts for p in part.outlook().parts))


@dataclass(frozen=True)
class Bernoullis(Distribution):
    """Independent bits, such as those of an address; `logits` (B, b) of a 1."""

    logits: Tensor

    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        noise = draw_rows(
            lambda shape: torch.rand(shape, generator=generator), self.logits.shape, generator
        )
        probabilities = self.logits.detach().sigmoid()
        return (to_device(noise, probabilities) < probabilities).long()

    def mode(self) -> Tensor:
        return (self.logits.detach() > 0).long()

    def log_prob(self, action: Tensor) -> Tensor:
        return F.logsigmoid(self.logits * (2 * action - 1)).sum(dim=-1)

    def entropy(self) -> Tensor:
        on, off = F.logsigmoid(self.logits), F.logsigmoid(-self.logits)
        return -(on.exp() * on + off.exp() * off).sum(dim=-1)

    def outlook(self) -> Probabilities:
        on = self.logits.sigmoid()
        bits = torch.stack([1 - on, on], dim=-1).unbind(dim=1)  # b of (B, 2)
        return Probabilities(tuple(map(as_floats, bits)))


@dataclass(frozen=True)
class OptionalAnswer(Distribution):
    """Whether to answer, and what: 0 is no answer, k of 1 ... n the k-th symbol.

    The two may be learned separately: whether to answer from the reward, what from the label.

    Args:
        gate: (B,) logits of giving an answer.
        symbols: (B, n) logits of the answers.
    """

    gate: Tensor
    symbols: Tensor

    @property
    def given(self) -> Bernoullis:
        """Whether an answer is given, as one bit."""
        return Bernoullis(self.gate[:, None])

    @property
    def which(self) -> Categorical:
        """Which answer is given, from 0 on, if one is."""
        return Categorical(self.symbols)

    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        given = self.given.sample(generator)[:, 0]
        return given * (self.which.sample(generator) + 1)

    def mode(self) -> Tensor:
        """The likeliest answer where giving one is likelier than not, even where no single answer
        is as likely as none."""
        return self.given.mode()[:, 0] * (self.which.mode() + 1)

    def guess(self, generator: torch.Generator | None = None) -> Tensor:
        return self.given.sample(generator)[:, 0] * (self.which.mode() + 1)

    def log_likelihood(self, target: Tensor) -> Tensor:
        return self.which.log_prob((target - 1).clamp(min=0))

    def log_prob(self, action: Tensor) -> Tensor:
        given = action != 0
        which = self.which.log_prob((action - 1).clamp(min=0))
        return self.given.log_prob(given[:, None].long()) + torch.where(given, which, 0.0)

    def entropy(self) -> Tensor:
        return self.given.entropy() + self.gate.sigmoid() * self.which.entropy()

    def outlook(self) -> Probabilities:
        given = self.gate.sigmoid()[:, None]
        shares = torch.cat([1 - given, given * self.symbols.softmax(dim=-1)], dim=1)
        return Probabilities((as_floats(shares),))


def as_floats(values: Tensor) -> NDArray[np.float64]:
    """`values` of any shape on the host, in double precision."""
    return values.detach().double().cpu().numpy()
