"""From what a policy knows to a distribution over each component of its action."""

from abc import ABC, abstractmethod

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

from agents.policy.distributions import (
    Bernoullis,
    Categorical,
    DiagonalGaussian,
    Distribution,
    IndependentCategoricals,
    OptionalAnswer,
)
from agents.policy.networks import NetworkConfig
from glimpse_envs.task import Component

# How strongly direct access repeats what is read at first: of 30 symbols that one is then chosen in
# a fifth of the cases, where without it writing and reading a memory would have to agree by chance.
FIRST_STRENGTH = 2.0


class Head(nn.Module, ABC):
    """From what it sees (B, units) to a distribution over one component of the action."""

    @abstractmethod
    def forward(self, core: Tensor, repeated: Tensor | None = None) -> Distribution:
        """The distribution; `repeated` (B, n), if any, is added to its logits (see `Repeater`)."""


class GaussianHead(Head):
    """A place or a move: mean tanh(...) in (-1, 1), one standard deviation for all."""

    def __init__(self, units: int, size: int, config: NetworkConfig) -> None:
        super().__init__()
        self.mean = _hidden(units, size, config.head_units)
        log_std = torch.full((size,), float(np.log(config.look_std)))
        self.log_std = nn.Parameter(log_std, requires_grad=config.learn_look_std)

    def set_std(self, std: float) -> None:
        """Set the standard deviation, for schedules."""
        with torch.no_grad():
            self.log_std.fill_(float(np.log(std)))

    def forward(self, core: Tensor, repeated: Tensor | None = None) -> DiagonalGaussian:
        mean = self.mean(core).to(self.log_std.dtype)
        return DiagonalGaussian(mean.tanh(), self.log_std.exp())


class LogitsHead(Head):
    """Choices, straight from what it sees or through a hidden layer."""

    def __init__(self, units: int, logits: int, hidden: int = 0) -> None:
        super().__init__()
        self.logits: nn.Module = nn.Linear(units, logits)
        if hidden:
            self.logits = _hidden(units, logits, hidden)

    def scores(self, core: Tensor, repeated: Tensor | None) -> Tensor:
        """The logits, at least float32."""
        logits = self.logits(core)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        return logits if repeated is None else logits + repeated


class CategoricalHead(LogitsHead):
    """One of n choices."""

    def forward(self, core: Tensor, repeated: Tensor | None = None) -> Categorical:
        return Categorical(self.scores(core, repeated))


class BernoulliHead(LogitsHead):
    """Bits."""

    def forward(self, core: Tensor, repeated: Tensor | None = None) -> Bernoullis:
        return Bernoullis(self.scores(core, repeated))


class IndependentHead(LogitsHead):
    """Several choices at once, of n_1, n_2, ... possibilities."""

    def __init__(self, units: int, sizes: tuple[int, ...], hidden: int) -> None:
        super().__init__(units, sum(sizes), hidden)
        self.sizes = sizes

    def forward(self, core: Tensor, repeated: Tensor | None = None) -> IndependentCategoricals:
        return IndependentCategoricals(self.scores(core, repeated), self.sizes)


class OptionalAnswerHead(LogitsHead):
    """Whether to answer, by the first logit, and what, by the n others.

    Args:
        units: of what it sees.
        logits: 1 + n.
        in_view: what is answered is worked out from the last so many of the units alone; None: all.
    """

    def __init__(self, units: int, logits: int, in_view: int | None = None) -> None:
        super().__init__(units, 1 if in_view else logits)
        self.in_view = in_view
        self.symbols = nn.Linear(in_view, logits - 1) if in_view else None

    def scores(self, core: Tensor, repeated: Tensor | None) -> Tensor:
        if self.symbols is None or self.in_view is None:
            return super().scores(core, repeated)
        gate = super().scores(core, None)
        symbols = self.symbols(core[:, -self.in_view :]).to(gate.dtype)
        logits = torch.cat([gate, symbols], dim=1)
        return logits if repeated is None else logits + repeated

    def forward(self, core: Tensor, repeated: Tensor | None = None) -> OptionalAnswer:
        if repeated is not None:  # that a blank is read does not say whether to answer
            repeated = torch.cat([torch.zeros_like(repeated[:, :1]), repeated[:, 1:]], dim=1)
        logits = self.scores(core, repeated)
        return OptionalAnswer(logits[:, 0], logits[:, 1:])


class Repeater(nn.Module):
    """Direct access: how much each readable part of the observation is repeated in the action, as
    logits to be added to a head's.

    Args:
        units: of what decides on it.
        parts: of the observation: key, start and stop of its flat indices; symbols or bits.
        bits: whether they are bits.
    """

    def __init__(self, units: int, parts: tuple[tuple[str, int, int], ...], bits: bool) -> None:
        super().__init__()
        self.parts, self.bits = parts, bits
        self.strength = nn.Linear(units, len(parts))
        nn.init.constant_(self.strength.bias, FIRST_STRENGTH)

    def forward(self, core: Tensor, observation: dict[str, Tensor]) -> Tensor:
        shown = [observation[key].flatten(1)[:, start:stop] for key, start, stop in self.parts]
        read = torch.stack(shown, dim=1)  # (B, parts, n)
        if self.bits:
            read = 2 * read - 1
        strength = self.strength(core)
        return (strength.to(read.dtype)[..., None] * read).sum(dim=1)


def _hidden(units: int, outputs: int, hidden: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(units, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


def make_head(
    name: str, component: Component, config: NetworkConfig, units: int | None = None
) -> Head:
    """Return the head for the component `name` of the action.

    Args:
        name: of the component, for errors.
        component: what is chosen; what is taught is worked out straight from what the head sees,
            all else through a hidden layer.
        config: sizes.
        units: of what it sees; the core's where None.

    Raises:
        ValueError: the component has a space that no head speaks.
    """
    units = config.core_units if units is None else units
    space, hidden = component.space, 0 if component.taught else config.head_units
    if isinstance(space, spaces.Box) and len(space.shape) == 1:
        return GaussianHead(units, space.shape[0], config)
    if isinstance(space, spaces.Discrete):
        if component.optional:
            in_view = config.glimpse_units if config.answer_in_view else None
            return OptionalAnswerHead(units, int(space.n), in_view)
        return CategoricalHead(units, int(space.n), hidden)
    if isinstance(space, spaces.MultiDiscrete) and len(space.shape) == 1:
        return IndependentHead(units, tuple(int(n) for n in space.nvec), hidden)
    if isinstance(space, spaces.MultiBinary) and len(space.shape) == 1:
        return BernoulliHead(units, space.shape[0], hidden)
    raise ValueError(f"action component {name!r} has the space {space}, for which there is no head")
