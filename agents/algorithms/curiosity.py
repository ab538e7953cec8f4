"""Curiosity: a bonus for observations that a model does not predict yet.

`rnd`: random network distillation (Burda et al. 2019), the error of a network that learns to
predict a fixed random one. `icm`: the intrinsic curiosity module (Pathak et al. 2017), the error of
a forward model in features from which an inverse model predicts the action. As in RND bonuses are
divided by the running deviation of their returns, have a discount and a critic of their own, and
their returns do not end with the episode.

Departures: all networks are multilayer perceptrons of the flattened observation, with its location
and what remains of the budget; the critic of bonuses reads the observation by a network of its own,
not the policy's memory; after an episode's end its mean over the batch's first observations stands
for the next episode; observations are first normalised by the first batch, not by random play
before the training. The discount of rewards, lambda and the weight of bonuses (RND's is 1, with 2
for rewards) are the training's own. ICM's bonuses are scaled as RND's, so its weight is not the
paper's; its inverse loss is summed over the parts of an action, by squared errors for those that
are continuous.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn
from torch.nn import functional as F

from agents.algorithms.side_model import SideModel
from agents.episodes.trajectory import Observation, Trajectory
from glimpse_envs.episodes.description import Description
from glimpse_envs.task import Component

Kind = Literal["icm", "rnd"]

INNER_DISCOUNT = 0.99
"""Discount of the returns of bonuses, which are divided by these returns' standard deviation;
RND's."""
CRITIC_RATE = 1e-3
"""Learning rate of the critic of bonuses."""
LARGEST = 5.0
"""Number of standard deviations at which observations are clipped; RND's."""


class Running(nn.Module):
    """Mean and variance of all that was seen (Chan et al. 1979), column by column.

    Args:
        size: number of columns.
    """

    mean: Tensor
    variance: Tensor
    count: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size, dtype=torch.float64))
        self.register_buffer("variance", torch.ones(size, dtype=torch.float64))
        self.register_buffer("count", torch.zeros((), dtype=torch.float64))

    def add(self, values: Tensor) -> None:
        """Take in `values` (n, size)."""
        values = values.double()
        more, total = len(values), self.count + len(values)
        if not more:
            return
        ahead = values.mean(dim=0) - self.mean
        within = self.variance * self.count + values.var(dim=0, correction=0) * more
        self.variance.copy_((within + ahead**2 * self.count * more / total) / total)
        self.mean.add_(ahead * more / total)
        self.count.copy_(total)

    def normalised(self, values: Tensor) -> Tensor:
        """`values` (..., size) less the mean, over the deviation, clipped."""
        scaled = (values - self.mean) / (self.variance + 1e-8).sqrt()
        return scaled.clamp(-LARGEST, LARGEST).to(values.dtype)


class Surprise(nn.Module, ABC):
    """A model whose error is the bonus.

    Attributes:
        rate: its learning rate.
        share: fraction of the transitions that it learns from, drawn anew for each batch.
    """

    rate: ClassVar[float]
    share: ClassVar[float] = 1.0

    @abstractmethod
    def errors(self, seen: Tensor, then: Tensor, action: Mapping[str, Tensor]) -> Tensor:
        """The bonuses (n,) before scaling.

        Args:
            seen: (n, size), the observation that was acted on, normalised.
            then: (n, size), the one after it.
            action: name -> (n, ...).
        """

    @abstractmethod
    def loss(self, seen: Tensor, then: Tensor, action: Mapping[str, Tensor]) -> Tensor:
        """The model's loss, a scalar."""


class RND(Surprise):
    """A predictor of a fixed random network. It learns from a quarter of the transitions."""

    rate = 1e-4
    share = 0.25

    def __init__(self, size: int, components: Mapping[str, Component]) -> None:
        super().__init__()
        self.target = nn.Sequential(_hidden(size, 256), nn.Linear(256, 128)).requires_grad_(False)
        self.predictor = nn.Sequential(_hidden(size, 256), _hidden(256, 256), nn.Linear(256, 128))

    def errors(self, seen: Tensor, then: Tensor, action: Mapping[str, Tensor]) -> Tensor:
        return (self.predictor(then) - self.target(then)).square().mean(dim=1)

    def loss(self, seen: Tensor, then: Tensor, action: Mapping[str, Tensor]) -> Tensor:
        return self.errors(seen, then, action).mean()


class ICM(Surprise):
    """A forward model of features, and an inverse model; the losses of both shape the features."""

    rate = 1e-4
    features, forward_weight = 288, 0.2

    def __init__(self, size: int, components: Mapping[str, Component]) -> None:
        super().__init__()
        self.codes = {name: part.space for name, part in components.items()}
        acted = sum(_code_size(space) for space in self.codes.values())
        n = self.features
        self.encoder = nn.Sequential(_hidden(size, 256), nn.Linear(256, n))
        self.inverse = nn.Sequential(_hidden(2 * n, 256), nn.Linear(256, acted))
        self.forwards = nn.Sequential(_hidden(n + acted, 256), nn.Linear(256, n))

    def _code(self, action: Mapping[str, Tensor]) -> Tensor:
        return torch.cat([_code_of(action[n], space) for n, space in self.codes.items()], dim=1)

    def errors(self, seen: Tensor, then: Tensor, action: Mapping[str, Tensor]) -> Tensor:
        was, will = self.encoder(seen), self.encoder(then)
        foreseen = self.forwards(torch.cat([was, self._code(action)], dim=1))
        return 0.5 * (foreseen - will).square().sum(dim=1)

    def loss(self, seen: Tensor, then: Tensor, action: Mapping[str, Tensor]) -> Tensor:
        both = torch.cat([self.encoder(seen), self.encoder(then)], dim=1)
        guess, at, inverse = self.inverse(both), 0, both.new_zeros(())
        for name, space in self.codes.items():
            size = _code_size(space)
            inverse = inverse + _misses(guess[:, at : at + size], action[name], space)
            at += size
        weight = self.forward_weight
        return (1 - weight) * inverse + weight * self.errors(seen, then, action).mean()


KINDS: dict[str, type[RND] | type[ICM]] = {"rnd": RND, "icm": ICM}


@dataclass(frozen=True)
class Bonuses:
    """What the decisions of a batch earned by curiosity, (T, B) each but where it says otherwise.

    Args:
        rewards: the bonuses, scaled; 0 where nothing was seen after the decision.
        values: of their critic, before the decision.
        following: (B,), the critic's value after the end.
        seen: (T, B, size), the observations, normalised.
        then: (T, B, size), those after the decision.
        known: bool, where there is an observation after the decision.
    """

    rewards: Tensor
    values: Tensor
    following: Tensor
    seen: Tensor
    then: Tensor
    known: Tensor


class Curiosity(SideModel):
    """The bonuses of a training, the model that gives them, and their critic.

    Args:
        kind: "icm" or "rnd".
        env: whose observations and actions are modelled.
        rows: number of episodes in a batch.
    """

    flow: Tensor

    def __init__(self, kind: Kind, env: Description, rows: int) -> None:
        super().__init__()
        size = sum(int(np.prod(part.shape or ())) for part in env.observation_space.values())
        self.model = KINDS[kind](size, env.components)
        self.critic = nn.Sequential(_hidden(size, 256), nn.Linear(256, 1))
        self.seen, self.returns = Running(size), Running(1)
        # The discounted sum of a row's bonuses so far, over all its episodes.
        self.register_buffer("flow", torch.zeros(rows))
        learned = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.Adam(
            [
                {"params": learned, "lr": self.model.rate},
                {"params": self.critic.parameters(), "lr": CRITIC_RATE},
            ]
        )

    @torch.no_grad()
    def bonuses(self, played: Trajectory) -> Bonuses:
        """The bonuses of the decisions in `played`, by the model as it is."""
        observed = torch.stack([_flat(part) for part in played.observations])
        self.seen.add(observed[played.alive])
        observed = self.seen.normalised(observed)
        last = self.seen.normalised(_flat(played.last_observation))
        then = torch.cat([observed[1:], torch.zeros_like(observed[:1])])
        then = torch.where(played.cuts[..., None], last, then)
        known = played.followed
        rewards = torch.zeros_like(played.rewards)
        if known.any():
            actions = {name: played.taken(name)[known] for name in played.actions[0]}
            rewards[known] = self.model.errors(observed[known], then[known], actions).to(rewards)
        self._count_returns(rewards, played.alive)
        values = self.critic(observed)[..., 0] * played.alive
        following = torch.where(played.cut, self.critic(last)[:, 0], values[0].mean())
        spread = self.returns.variance.sqrt().to(rewards)
        # Of equal returns, such as a single one, which do not tell how large bonuses are, it is 0.
        scaled = torch.where(spread > 0, rewards / (spread + 1e-8), 0.0)
        return Bonuses(scaled, values, following, observed, then, known)

    def _count_returns(self, rewards: Tensor, alive: Tensor) -> None:
        """Take in the returns of bonuses: sums of what came before, as in RND, not after."""
        returns = []
        for earned, going in zip(rewards, alive, strict=True):
            self.flow.copy_(torch.where(going, INNER_DISCOUNT * self.flow + earned, self.flow))
            returns.append(self.flow[going])
        self.returns.add(torch.cat(returns)[:, None])

    def learn(
        self,
        played: Trajectory,
        bonuses: Bonuses,
        returns: Tensor,
        steps: int,
        passes: int,
        generator: torch.Generator | None = None,
    ) -> float:
        """Learn from the decisions in `played`, and return the model's mean loss.

        Args:
            played: a batch of episodes.
            bonuses: of its decisions.
            returns: (T, B), targets of the critic.
            steps: number of minibatches in a pass.
            passes: number of passes.
            generator: draws the minibatches, and the share of each that the model learns from.
        """
        actions = {name: played.taken(name) for name in played.actions[0]}
        losses = []
        for places in self._minibatches(played.alive, steps, passes, generator):
            times, rows = places.unbind(dim=1)
            missed = self.critic(bonuses.seen[times, rows])[:, 0] - returns[times, rows]
            total = 0.5 * missed.square().mean()
            places = places[bonuses.known[times, rows]]
            if len(places):
                share = max(1, int(self.model.share * len(places)))
                times, rows = places[:share].unbind(dim=1)
                acted = {name: action[times, rows] for name, action in actions.items()}
                seen, then = bonuses.seen[times, rows], bonuses.then[times, rows]
                loss = self.model.loss(seen, then, acted)
                losses.append(loss.item())
                total = total + loss
            self.optimizer.zero_grad()
            total.backward()
            self.optimizer.step()
        return float(np.mean(losses)) if losses else 0.0

    def _minibatches(
        self, alive: Tensor, steps: int, passes: int, generator: torch.Generator | None
    ) -> Iterator[Tensor]:
        """The places (n, 2) int64, time and row, of each minibatch, in random order."""
        places = alive.nonzero()
        for _ in range(passes):
            order = torch.randperm(len(places), generator=generator).to(places.device)
            for drawn in order.chunk(steps):
                yield places[drawn]


def _hidden(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, outputs), nn.ReLU())


def _flat(observation: Observation) -> Tensor:
    """An observation, name -> (B, ...), as (B, size)."""
    return torch.cat([part.reshape(len(part), -1) for part in observation.values()], dim=1)


def _code_size(space: spaces.Space) -> int:
    return int(spaces.flatdim(space))


def _code_of(values: Tensor, space: spaces.Space) -> Tensor:
    """A component's choices (n, ...) as numbers (n, size): choices as one-hot vectors."""
    if isinstance(space, spaces.Discrete):
        return F.one_hot(values.long(), int(space.n)).float()
    if isinstance(space, spaces.MultiDiscrete):
        columns = zip(values.long().unbind(dim=1), space.nvec, strict=True)
        return torch.cat([F.one_hot(column, int(n)).float() for column, n in columns], dim=1)
    return _in_units(values, space)


def _in_units(values: Tensor, space: spaces.Space) -> Tensor:
    """Numbers (n, ...) as (n, size), those of a `Box` in halves of its range around its middle."""
    flat = values.flatten(1).float()
    if not isinstance(space, spaces.Box):
        return flat
    low, high = (torch.as_tensor(end).flatten().to(flat) for end in (space.low, space.high))
    half = (high - low) / 2
    return (flat - (low + high) / 2) / torch.where(half > 0, half, 1.0)


def _misses(guess: Tensor, values: Tensor, space: spaces.Space) -> Tensor:
    """How wrong the inverse model's `guess` (n, size) of a component is: the cross-entropy of
    choices, the squared error of numbers."""
    if isinstance(space, spaces.Discrete):
        return F.cross_entropy(guess, values.long())
    if isinstance(space, spaces.MultiDiscrete):
        parts = torch.split(guess, [int(n) for n in space.nvec], dim=1)
        columns = zip(parts, values.long().unbind(1), strict=True)
        return torch.stack([F.cross_entropy(part, column) for part, column in columns]).sum()
    if isinstance(space, spaces.MultiBinary):
        return F.binary_cross_entropy_with_logits(guess, values.flatten(1).float())
    return (guess - _in_units(values, space)).square().mean()
