"""Returns and advantages from rewards and values; all are (T, B), time first, rows independent.

Episodes are whole, so the value after the end is 0 here. Of an episode that was truncated it is in
the rewards already, where the discount is below 1 (`Trajectory.rewards_to_the_end`); without a
discount its last step counts as an end. Rows of unequal length are padded: `alive` is False after a
row's end, where `rewards` and `values` have no effect.
"""

import torch
from torch import Tensor

from agents.training.distributed import anywhere, mean_and_deviation


def returns_to_go(rewards: Tensor, discount: float = 1.0) -> Tensor:
    """Return G_t = r_t + γ G_{t+1} for rewards (T, B); G has the same shape."""
    returns = torch.zeros_like(rewards)
    following = torch.zeros_like(rewards[0])
    for t in range(len(rewards) - 1, -1, -1):
        following = rewards[t] + discount * following
        returns[t] = following
    return returns


def n_step_returns(
    rewards: Tensor, values: Tensor, alive: Tensor, n: int, discount: float = 1.0
) -> Tensor:
    """Return G_t = r_t + γ r_{t+1} + … + γ^{n-1} r_{t+n-1} + γ^n V_{t+n}, 0 where not alive.

    With n = 1 they are the targets of TD(0), with n >= T the Monte-Carlo returns. A3C (Mnih et al.
    2016, algorithm S3) looks to the end of n steps that all states share; here every state looks n
    steps ahead, as in Sutton & Barto (2018), eq. 7.1.

    Args:
        rewards: (T, B), r_t, of the decision at t.
        values: (T, B), V_t, before the decision at t.
        alive: (T, B) bool.
        n: number of rewards before the value, at least 1.
        discount: γ in [0, 1].
    """
    rewards = torch.where(alive, rewards, 0.0)
    returns = torch.where(alive, values, 0.0)
    for _ in range(min(n, len(rewards))):
        returns = rewards + discount * _next(returns)
    return returns


def gae(
    rewards: Tensor, values: Tensor, alive: Tensor, discount: float = 1.0, lambda_: float = 0.95
) -> Tensor:
    """Return generalised advantages A_t = δ_t + γλ A_{t+1}, where δ_t = r_t + γ V_{t+1} - V_t
    (Schulman et al. 2016, eq. 16); 0 where not alive.

    With λ = 1 they are the Monte-Carlo returns less the values, with λ = 0 the errors of TD(0).
    The target of the values, the λ-return, is A_t + V_t.

    Args:
        rewards: (T, B), r_t, of the decision at t.
        values: (T, B), V_t, before the decision at t.
        alive: (T, B) bool.
        discount: γ in [0, 1].
        lambda_: λ in [0, 1].
    """
    rewards = torch.where(alive, rewards, 0.0)
    values = torch.where(alive, values, 0.0)
    errors = rewards + discount * _next(values) - values
    return returns_to_go(errors, discount * lambda_)


def standardise(advantages: Tensor, where: Tensor) -> Tensor:
    """Scale advantages (T, B) to mean 0 and standard deviation 1 over `where` (T, B) bool and all
    processes; unchanged if it is False everywhere."""
    if not anywhere(bool(where.any())):
        return advantages
    mean, deviation = mean_and_deviation(advantages[where], correction=0)
    return (advantages - mean) / (deviation + 1e-8)


def explained_variance(values: Tensor, returns: Tensor, alive: Tensor) -> float:
    """Return 1 - Var(G - V) / Var(G) over the steps that are alive: 1 where the values V (T, B)
    equal the returns G (T, B) up to a constant, 0 where they do no better than a constant or G is
    constant; over all processes."""
    returns, values = returns[alive], values[alive]
    _, spread = mean_and_deviation(returns, correction=0)
    _, missed = mean_and_deviation(returns - values, correction=0)
    return (1 - (missed / spread) ** 2).item() if spread > 0 else 0.0


def _next(quantity: Tensor) -> Tensor:
    """`quantity` (T, B) a step later: x_{t+1} at t, and 0 at the end."""
    return torch.cat([quantity[1:], torch.zeros_like(quantity[:1])])
