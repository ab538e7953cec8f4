"""What decisions are paid: the environment's rewards, or the likelihood of right answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from agents.episodes.trajectory import Trajectory

if TYPE_CHECKING:
    from agents.algorithms.policy_gradient import PolicyGradientConfig


def effective_choices(trajectory: Trajectory, config: PolicyGradientConfig) -> dict[str, Tensor]:
    """Where each choice that is learned by reward had an effect: name -> (T, B) bool."""
    return trajectory.effective(
        looks_learned=config.gaze == "learned", taught=config.answer_by == "reward"
    )


def learning_signal(
    trajectory: Trajectory,
    log_likelihood: Tensor,
    config: PolicyGradientConfig,
    discount: float = 1.0,
) -> Tensor:
    """The rewards of decisions, (T, B), constant.

    Args:
        trajectory: episodes as they were played.
        log_likelihood: (T, B), of the right answers.
        config: `answer_by`, `look_signal` and `look_gain`.
        discount: a step's, of returns.
    """
    by_reward, taught = "reward" in (config.answer_by, config.look_signal), trajectory.taught
    if by_reward or taught is None or trajectory.targets is None:
        return trajectory.rewards
    answers = torch.stack([action[taught] for action in trajectory.actions])
    success = (answers == trajectory.targets).to(log_likelihood.dtype)
    score = log_likelihood.detach()
    score = score.exp() if config.look_signal == "probability" else score
    earning, worth = trajectory.target_mask, trajectory.answer_reward
    if not worth.any():  # a right word alone earns nothing
        worth = 1.0 / trajectory.target_mask.sum(dim=0).clamp(min=1)
        signal = trajectory.rewards + worth * earning * score
    else:
        ending = trajectory.components[taught].ending
        if ending is not None:
            ends = trajectory.targets == ending
            earning = earning & ends
            score = drawn_ends(score, ends, trajectory.target_mask)
        signal = trajectory.rewards + worth * earning * (score - success)
    if config.look_gain:
        # Summed to the end it is -Φ of the present step: the return less what was there already.
        signal = signal + gains(worth * score * trajectory.alive, discount)
    return signal


def gains(potential: Tensor, discount: float) -> Tensor:
    """What each step adds to a potential, F = γ Φ(s') - Φ(s) (Ng, Harada & Russell 1999, "Policy
    invariance under reward transformations", eq. 2), with Φ = 0 after the end: rewards with these
    added have the same best policy. (An episode that was truncated has Φ = 0 after its end too;
    tasks with an answer that is taught terminate.)

    Args:
        potential: Φ (T, B), 0 of rows that have ended.
        discount: γ.

    Returns:
        (T, B).
    """
    following = torch.cat([potential[1:], torch.zeros_like(potential[:1])])
    return discount * following - potential


def drawn_ends(right: Tensor, ends: Tensor, mask: Tensor) -> Tensor:
    """The probability (T, B) of ending at each step and at none before it, if ends were sampled.
    Its sum over the steps at which ending is right is the probability of a right end, so that
    lingering where an end is likely earns no more than ending.

    Args:
        right: (T, B), the probability of the right choice.
        ends: (T, B) bool, whether the right one of the two choices is to end.
        mask: (T, B) bool, where there is a choice.
    """
    ending = torch.where(ends, right, 1.0 - right) * mask
    going = (1.0 - ending).cumprod(dim=0)
    return ending * torch.cat([torch.ones_like(going[:1]), going[:-1]])
