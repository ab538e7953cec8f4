"""What actor-critic learns from: advantages and returns of played episodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from agents.algorithms.curiosity import INNER_DISCOUNT, Bonuses
from agents.algorithms.look_rewards import effective_choices, learning_signal
from agents.algorithms.returns import gae, n_step_returns, returns_to_go, standardise
from agents.episodes.trajectory import Trajectory

if TYPE_CHECKING:
    from agents.algorithms.actor_critic import ActorCriticConfig


@dataclass(frozen=True)
class Estimates:
    """Learning targets from played episodes: constants, (T, B) each.

    Args:
        log_prob: log-probability, when played, of the decisions that are learned by reward and had
            an effect.
        advantages: of these decisions; 0 where not alive.
        values: of the critic, when played.
        returns: targets of the critic.
        earned: the discounted return-to-go, without the critic.
        bonus_returns: targets of the critic of bonuses; 0 without curiosity.
    """

    log_prob: Tensor
    advantages: Tensor
    values: Tensor
    returns: Tensor
    earned: Tensor
    bonus_returns: Tensor

    def rows(self, rows: Tensor) -> Estimates:
        """The estimates of `rows` (b,)."""
        rows = rows.to(self.values.device)
        return Estimates(**{name: quantity[:, rows] for name, quantity in vars(self).items()})


def estimate(
    played: Trajectory,
    config: ActorCriticConfig,
    bonuses: Bonuses | None = None,
    penalties: Tensor | None = None,
) -> Estimates:
    """Advantages and returns of played episodes, with `bonuses` for their decisions.

    The advantages of rewards and, by `curiosity_weight`, those of bonuses are added (Burda et al.
    2019, section 2.3). `penalties` (T, B), by `sugarl_weight`, are taken from the rewards.
    """
    effective = effective_choices(played, config)
    with torch.no_grad():
        log_prob, values = played.joint("log_prob", effective), played.values
        signal = learning_signal(played, played.log_likelihood(), config, config.discount)
        if penalties is not None:
            signal = signal - config.sugarl_weight * penalties
        signal = played.rewards_to_the_end(signal, config.discount)
        advantages, returns = _advantages(signal, values, played.alive, config, config.discount)
        bonus_returns = torch.zeros_like(returns)
        if bonuses is not None:
            inner = bonuses.rewards + played.ends * (INNER_DISCOUNT * bonuses.following)
            curious, bonus_returns = _advantages(
                inner, bonuses.values, played.alive, config, INNER_DISCOUNT
            )
            advantages = advantages + config.curiosity_weight * curious
        if config.normalise_advantages:
            advantages = standardise(advantages, decided_where(effective, advantages))
        earned = returns_to_go(signal, config.discount)
    return Estimates(log_prob, advantages, values, returns, earned, bonus_returns)


def _advantages(
    signal: Tensor, values: Tensor, alive: Tensor, config: ActorCriticConfig, discount: float
) -> tuple[Tensor, Tensor]:
    """The advantages (T, B) of decisions, and the targets (T, B) of their critic."""
    if config.advantage == "gae":
        advantages = gae(signal, values, alive, discount, config.gae_lambda)
        return advantages, advantages + values
    returns = n_step_returns(signal, values, alive, config.n_steps, discount)
    return (returns - values) * alive, returns


def decided_where(effective: dict[str, Tensor], like: Tensor) -> Tensor:
    """Where any decision had an effect, (T, B) bool."""
    nowhere = torch.zeros_like(like, dtype=torch.bool)
    return torch.stack([nowhere, *effective.values()]).any(dim=0)
