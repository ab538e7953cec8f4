"""SUGARL's sensorimotor reward (Shang & Ryoo, NeurIPS 2023): looks should show what acts do.

An inverse model guesses the act of a step from the observations before and after it. A step costs
the probability that the model gives to all other acts, times a weight; the cost is a part of the
reward, for the looks as for the acts.

Departures: the model's network is like the policy's, not the paper's, and it learns from the
present batch, not from a replay buffer.
"""

from dataclasses import replace

import torch
from gymnasium import spaces
from torch import Tensor, nn
from torch.nn import functional as F

from agents.algorithms.side_model import SideModel
from agents.episodes.rollout import encoded
from agents.episodes.trajectory import Trajectory, of_rows
from agents.policy.glimpse_network import GlimpseNetwork
from agents.policy.networks import NetworkConfig
from glimpse_envs.episodes.description import ACT, Description

RATE = 1e-4
"""Learning rate of the inverse model."""


class Sensorimotor(SideModel):
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
        # It guesses from what is seen, without what the policy counts.
        self.seen = GlimpseNetwork(env.observation_space, replace(config, count_glimpses=False))
        self.guess = nn.Sequential(
            nn.Linear(2 * units, units), nn.ReLU(), nn.Linear(units, int(act.space.n))
        )
        self.optimizer = torch.optim.Adam(self.parameters(), lr=RATE)

    @torch.no_grad()
    def penalties(self, played: Trajectory) -> Tensor:
        """The probability (T, B) of the acts that were not taken, in [0, 1]; 0 where nothing was
        seen after the act."""
        missed = torch.zeros_like(played.rewards)
        everyone = torch.arange(missed.shape[1], device=missed.device)
        right = self._logits(played, everyone).softmax(dim=1)
        acts = played.taken(ACT)[played.followed].long()
        missed[played.followed] = 1 - right.gather(1, acts[:, None])[:, 0].to(missed)
        return missed

    def learn(self, played: Trajectory, minibatches: int, generator: torch.Generator) -> float:
        """Learn from a batch of episodes in one pass, and return the mean cross-entropy of the
        acts in nats.

        Args:
            played: a batch of episodes.
            minibatches: their number, each of whole episodes.
            generator: draws them.
        """
        acts, followed = played.taken(ACT).long(), played.followed
        order = torch.randperm(acts.shape[1], generator=generator).to(acts.device)
        losses = []
        for rows in order.chunk(minibatches):
            if not followed[:, rows].any():
                continue
            right = acts[:, rows][followed[:, rows]]
            loss = F.cross_entropy(self._logits(played, rows), right)
            self.optimizer.zero_grad()
            torch.autograd.backward(loss)
            self.optimizer.step()
            losses.append(loss.item())
        return sum(losses) / len(losses) if losses else 0.0

    def _logits(self, played: Trajectory, rows: Tensor) -> Tensor:
        """The logits (n, acts) of the steps of `rows` (b,) int64 after which something was seen, in
        the order of their times."""
        seen = [of_rows(one, rows) for one in (*played.observations, played.last_observation)]
        codes = torch.stack(list(encoded(self.seen, seen)))  # (T + 1, b, units)
        after = torch.where(played.cuts[:, rows, None], codes[-1], codes[1:])
        followed = played.followed[:, rows]
        return self.guess(torch.cat([codes[:-1], after], dim=2)[followed])
