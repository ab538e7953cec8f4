"""SUGARL's sensorimotor reward (Shang & Ryoo, NeurIPS 2023): looks should show what acts do.

An inverse model guesses the act of a step from the observations before and after it. A step costs
the probability that the model gives to all other acts, times a weight; the cost is a part of the
reward, for the looks as for the acts.

Departures: the model's network is like the policy's, not the paper's, and it learns from the
present batch, not from a replay buffer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from gymnasium import spaces
from torch import Tensor, nn
from torch.nn import functional as F

from agents.episodes.rollout import ENCODED_AT_ONCE
from agents.episodes.trajectory import Observation, Trajectory
from agents.policy.glimpse_network import GlimpseNetwork
from agents.policy.networks import NetworkConfig
from agents.training.checkpoints import load_moments
from glimpse_envs.episodes.description import ACT, Description

RATE = 1e-4
"""Learning rate of the inverse model."""


class Sensorimotor(nn.Module):
    """The inverse model of a training.

    Args:
        env: whose acts are guessed.
        config: of the policy's glimpse network, which the model's is like.

    Raises:
        ValueError: the environment has no act that is one of several choices.
    """

    def __init__(self, env: Description, config: NetworkConfig) -> None:
        super().__init__()
        act = env.components.get(ACT)
        if act is None or not isinstance(act.space, spaces.Discrete):
            raise ValueError(
                "sugarl_weight rewards looks that show what an act does, and there is no act that "
                "is one of several choices: leave it 0"
            )
        units = config.glimpse_units
        self.seen = GlimpseNetwork(env.observation_space, config)
        self.guess = nn.Sequential(
            nn.Linear(2 * units, units), nn.ReLU(), nn.Linear(units, int(act.space.n))
        )
        self.optimizer = torch.optim.Adam(self.parameters(), lr=RATE)

    def forward(self, before: Tensor, after: Tensor) -> Tensor:
        """The logits (n, acts) of the act between two observations with these codes (n, units)."""
        return self.guess(torch.cat([before, after], dim=1))

    @torch.no_grad()
    def penalties(self, played: Trajectory) -> Tensor:
        """The probability (T, B) of the acts that were not taken, in [0, 1]; 0 where nothing was
        seen after the act."""
        steps = Transitions.of(played)
        missed = torch.zeros_like(played.rewards)
        if not len(steps.times):
            return missed
        codes = self._codes(steps.observations)
        before, after = codes[steps.times, steps.rows], codes[steps.following, steps.rows]
        right = self(before, after).softmax(dim=1).gather(1, steps.acts[:, None])[:, 0]
        missed[steps.times, steps.rows] = 1 - right.to(missed)
        return missed

    def _codes(self, observations: Observation) -> Tensor:
        """The codes (T, B, units) of observations, name -> (T, B, ...)."""
        times, rows = next(iter(observations.values())).shape[:2]
        together = max(1, ENCODED_AT_ONCE // rows)
        codes = [
            self.seen(
                {name: part[t : t + together].flatten(0, 1) for name, part in observations.items()}
            )
            for t in range(0, times, together)
        ]
        return torch.cat(codes).view(times, rows, -1)

    def learn(self, played: Trajectory, minibatches: int, generator: torch.Generator) -> float:
        """Learn from a batch of episodes, in one pass of so many minibatches of whole episodes, and
        return the mean cross-entropy of the acts."""
        steps, losses = Transitions.of(played), []
        batch = played.rewards.shape[1]
        order = torch.randperm(batch, generator=generator).to(steps.rows.device)
        for drawn in order.chunk(minibatches):
            place = torch.full((batch,), -1, device=drawn.device)
            place[drawn] = torch.arange(len(drawn), device=drawn.device)
            rows = place[steps.rows]
            here = rows >= 0
            if not here.any():
                continue
            codes = self._codes({name: part[:, drawn] for name, part in steps.observations.items()})
            before = codes[steps.times[here], rows[here]]
            after = codes[steps.following[here], rows[here]]
            loss = F.cross_entropy(self(before, after), steps.acts[here])
            self.optimizer.zero_grad()
            torch.autograd.backward(loss)
            self.optimizer.step()
            losses.append(loss.item())
        return sum(losses) / len(losses) if losses else 0.0

    def state(self) -> dict[str, Any]:
        """The state on which the next penalties depend."""
        return {"model": self.state_dict(), "optimizer": self.optimizer.state_dict()["state"]}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore what `state` returned."""
        self.load_state_dict(state["model"])
        load_moments(self.optimizer, state.get("optimizer", {}))


@dataclass(frozen=True)
class Transitions:
    """The n steps of a batch after which something was seen.

    Args:
        observations: name -> (T + 1, B, ...), the last of which are those after a cut.
        times, rows: (n,) int64, of the observation before the act.
        following: (n,) int64, the time of the observation after it.
        acts: (n,) int64.
    """

    observations: Observation
    times: Tensor
    rows: Tensor
    following: Tensor
    acts: Tensor

    @classmethod
    def of(cls, played: Trajectory) -> "Transitions":
        """Those of played episodes."""
        observed = [*played.observations, played.last_observation]
        stacked = {name: torch.stack([seen[name] for seen in observed]) for name in observed[0]}
        cut = played.ends & played.cut
        times, rows = (played.continuing | cut).nonzero().unbind(dim=1)
        following = torch.where(cut[times, rows], len(played.observations), times + 1)
        return cls(stacked, times, rows, following, played.taken(ACT)[times, rows].long())
