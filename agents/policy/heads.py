"""Heads: from the core's output to a distribution over one component of the action."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

from agents.policy.distributions import (
    Bernoullis,
    Categorical,
    Distribution,
    IndependentCategoricals,
    OptionalAnswer,
)
from agents.policy.gaussians import BoxGaussian, DiagonalGaussian, LogMove
from agents.policy.networks import NetworkConfig, core_outputs
from agents.training.precision import wide
from glimpse_envs.task import Component

# Initial strength of direct access. At first, hardly any symbol is chosen but one that is read:
# what was written and what is put out agree before anything is learned. Where symbols were written
# at random instead, most seeds used no memory after four minutes of training. Each bit of an
# address is repeated in nine of ten cases.
FIRST_STRENGTH = 8.0
FIRST_STRENGTH_OF_BITS = 2.0

Observation = dict[str, Tensor]


class Head(nn.Module, ABC):
    """From the core's output (B, units) to a distribution over one component of the action."""

    @abstractmethod
    def forward(
        self, core: Tensor, observation: Observation, added: Tensor | None = None
    ) -> Distribution:
        """The distribution; `added` (B, n), if any, is added to its logits (see `Repeater`
        and `agents.policy.inhibition`)."""


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

    def forward(
        self, core: Tensor, observation: Observation, added: Tensor | None = None
    ) -> DiagonalGaussian:
        mean = self.mean(core).to(self.log_std.dtype)
        return DiagonalGaussian(mean.tanh(), self.log_std.exp())


class BoxHead(GaussianHead):
    """Numbers between the finite bounds of a box, (D,) each, other than -1 and 1."""

    low: Tensor
    high: Tensor

    def __init__(self, units: int, space: spaces.Box, config: NetworkConfig) -> None:
        super().__init__(units, space.shape[0], config)
        for name, bound in (("low", space.low), ("high", space.high)):
            as_tensor = torch.as_tensor(bound, dtype=torch.get_default_dtype())
            self.register_buffer(name, as_tensor, persistent=False)

    def forward(
        self, core: Tensor, observation: Observation, added: Tensor | None = None
    ) -> BoxGaussian:
        of_units = super().forward(core, observation)
        mean = of_units.mean
        low, high = self.low.expand_as(mean), self.high.expand_as(mean)
        return BoxGaussian(mean, of_units.std, low, high)


class LogMoveHead(GaussianHead):
    """A move in symmetric-log coordinates from the present place (see `LogMove`)."""

    def forward(
        self, core: Tensor, observation: Observation, added: Tensor | None = None
    ) -> LogMove:
        move = super().forward(core, observation)
        return LogMove(move.mean, move.std, observation["location"])


class LogitsHead(Head):
    """Choices by logits, straight from what it sees or through a hidden layer.

    Args:
        units: of what it sees.
        logits: number of them.
        distribution: constructor of the distribution, from logits (B, n).
        hidden: units of the hidden layer; 0: none.
    """

    def __init__(
        self,
        units: int,
        logits: int,
        distribution: Callable[[Tensor], Distribution] = Categorical,
        hidden: int = 0,
    ) -> None:
        super().__init__()
        self.distribution = distribution
        self.logits: nn.Module = nn.Linear(units, logits)
        if hidden:
            self.logits = _hidden(units, logits, hidden)

    def scores(self, core: Tensor, added: Tensor | None) -> Tensor:
        """The logits, at least float32."""
        logits = self.logits(core)
        logits = wide(logits)
        return logits if added is None else logits + added

    def forward(
        self, core: Tensor, observation: Observation, added: Tensor | None = None
    ) -> Distribution:
        return self.distribution(self.scores(core, added))


class OptionalAnswerHead(LogitsHead):
    """Whether to answer, by the first logit, and what, by the n others.

    Args:
        units: of what it sees.
        logits: 1 + n.
        in_view: number of the last units, which alone decide on the symbol; None: all.
    """

    def __init__(self, units: int, logits: int, in_view: int | None = None) -> None:
        super().__init__(units, 1 if in_view else logits)
        self.in_view = in_view
        self.symbols = nn.Linear(in_view, logits - 1) if in_view else None

    def scores(self, core: Tensor, added: Tensor | None) -> Tensor:
        if self.symbols is None or self.in_view is None:
            return super().scores(core, added)
        gate = super().scores(core, None)
        symbols = self.symbols(core[:, -self.in_view :]).to(gate.dtype)
        logits = torch.cat([gate, symbols], dim=1)
        return logits if added is None else logits + added

    def forward(
        self, core: Tensor, observation: Observation, added: Tensor | None = None
    ) -> OptionalAnswer:
        if added is not None:  # the blank's entry must not affect whether to answer
            added = torch.cat([torch.zeros_like(added[:, :1]), added[:, 1:]], dim=1)
        logits = self.scores(core, added)
        return OptionalAnswer(logits[:, 0], logits[:, 1:])


class Repeater(nn.Module):
    """Direct access: logits, added to a head's, that repeat readable parts of the observation.

    Args:
        units: of what it sees.
        parts: key, start and stop of the flat indices of each part; symbols or bits.
        bits: whether they are bits.
    """

    def __init__(self, units: int, parts: tuple[tuple[str, int, int], ...], bits: bool) -> None:
        super().__init__()
        self.parts, self.bits = parts, bits
        self.strength = nn.Linear(units, len(parts))
        nn.init.constant_(self.strength.bias, FIRST_STRENGTH_OF_BITS if bits else FIRST_STRENGTH)

    def forward(self, core: Tensor, observation: Observation) -> Tensor:
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
    """The head for the component `name` of the action.

    Args:
        name: of the component, for errors.
        component: of the action; a taught one has no hidden layer.
        config: sizes.
        units: of what the head sees; the core's where None.

    Raises:
        ValueError: there is no head for the component's space.
    """
    units = core_outputs(config) if units is None else units
    space, hidden = component.space, 0 if component.taught else config.head_units
    floats = space.dtype is not None and space.dtype.kind == "f"
    if isinstance(space, spaces.Box) and len(space.shape) == 1 and floats:
        if not space.is_bounded():
            raise ValueError(
                f"action component {name!r} has the space {space}, whose bounds are not finite: "
                "they must be, as gymnasium.wrappers.TransformAction makes them"
            )
        if (space.low != -1).any() or (space.high != 1).any():
            return BoxHead(units, space, config)
        moves = name == "look" and config.look_coordinates == "log_move"
        return (LogMoveHead if moves else GaussianHead)(units, space.shape[0], config)
    start = getattr(space, "start", 0)
    if np.any(start):
        raise ValueError(
            f"action component {name!r} has the space {space}: choices must begin at 0, not at "
            f"{start}, as gymnasium.wrappers.TransformAction makes them"
        )
    if isinstance(space, spaces.Discrete):
        if component.optional:
            in_view = config.glimpse_units if config.answer_in_view else None
            return OptionalAnswerHead(units, int(space.n), in_view)
        return LogitsHead(units, int(space.n), Categorical, hidden)
    if isinstance(space, spaces.MultiDiscrete) and len(space.shape) == 1:
        sizes = tuple(int(n) for n in space.nvec)
        several = partial(IndependentCategoricals, sizes=sizes)
        return LogitsHead(units, sum(sizes), several, hidden)
    if isinstance(space, spaces.MultiBinary) and len(space.shape) == 1:
        return LogitsHead(units, space.shape[0], Bernoullis, hidden)
    raise ValueError(f"action component {name!r} has the space {space}, for which there is no head")
