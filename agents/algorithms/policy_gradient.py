"""What REINFORCE and actor-critic share: options, sampled actions, rewards of looks, loss terms.

What to answer is learned from the label by cross-entropy (`answer_by="label"`, RAM's hybrid), or
from the reward alone (`answer_by="reward"`); looks always by the score function.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from gymnasium.vector import VectorEnv
from torch import Tensor

from agents.algorithms.learner import AgentConfig, GradientLearner
from agents.episodes.rollout import sample_actions
from agents.episodes.trajectory import Observation, Trajectory
from agents.policy.cells import CellsHead
from agents.policy.glimpse_policy import Decision, GlimpsePolicy, policy_maker
from agents.policy.heads import LogMoveHead
from agents.policy.words import WordsHead
from agents.training.checks import check_counts, check_finite, check_positive
from glimpse_envs.evaluation.record import Gaze, Model

_KINDS: dict[type, str] = {
    CellsHead: ", looks at cells",
    LogMoveHead: ", logarithmic moves",
    WordsHead: ", classes from the glimpse",
}
"""Kind of head -> how it is named, where it is not RAM's."""


@dataclass(frozen=True)
class PolicyGradientConfig(AgentConfig):
    """Options of REINFORCE and of actor-critic."""

    answer_by: Literal["label", "reward"] = "label"
    """Teacher of the answer: the label, by cross-entropy (RAM's hybrid), or the reward alone."""
    look_signal: Literal["reward", "probability", "log_likelihood"] = "probability"
    """Reward of looks for an answer. reward: the environment's, as in RAM; probability or
    log_likelihood: that of the right answer, which varies less; of a description, which is paid as
    a whole, the mean over its words, added to the environment's; of a search whose stop is taught,
    the probability of a right end, were stops drawn, so that looks learn before anybody stops. With
    --answer-by reward always the environment's."""
    look_gain: bool = False
    """Pay a look for what it adds to the --look-signal of the answer that is due, were it given
    now: the sum over an episode is that of the answers, less that of the first glimpse, which is
    no look's (shaping by potential: Ng et al. 1999). It wants --early-answer-weight."""
    early_answer_weight: float = 0.0
    """Weight of the cross-entropy of the answer that is due, a mean over all glimpses, beside that
    of the answers that are scored: to answer with what is seen so far."""
    look_weight: float = 0.1
    """Weight of the policy loss, where that of the answer's cross-entropy is 1. actor_critic with
    --answer-by reward ignores it."""
    entropy_floor: float | None = None
    """Entropy of a choice, in nats, up to which the bonus of --entropy-weight is paid, so that it
    keeps a policy from settling and never from being learned; None: any."""
    parts: int | None = None
    """Number of equal parts of a batch that take turns, so that the environments of one are stepped
    while a GPU computes another; None: 2 on a GPU, 1 on the CPU."""
    final_look_std: float | None = None
    """Standard deviation of a continuous look at the end of the training, in the unit of
    --network.look-std, to which it changes linearly; None: it stays the same."""


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
    by_reward = "reward" in (config.answer_by, config.look_signal)
    if by_reward or trajectory.targets is None:
        return trajectory.rewards
    assert trajectory.taught is not None
    answers = torch.stack([action[trajectory.taught] for action in trajectory.actions])
    success = (answers == trajectory.targets).to(log_likelihood.dtype)
    score = log_likelihood.detach()
    score = score.exp() if config.look_signal == "probability" else score
    earning, worth = trajectory.target_mask, trajectory.answer_reward
    if not worth.any():  # a right word alone earns nothing
        worth = 1.0 / trajectory.target_mask.sum(dim=0).clamp(min=1)
        signal = trajectory.rewards + worth * earning * score
    else:
        ending = trajectory.components[trajectory.taught].ending
        if ending is not None:
            ends = trajectory.targets == ending
            earning = earning & ends
            score = drawn_ends(score, ends, trajectory.target_mask)
        signal = trajectory.rewards + worth * earning * (score - success)
    if config.look_gain:
        signal = signal + gains(worth * score * trajectory.alive, discount)
    return signal


def gains(potential: Tensor, discount: float) -> Tensor:
    """What each step adds to a potential, F = γ Φ(s') - Φ(s) (Ng, Harada & Russell 1999, "Policy
    invariance under reward transformations", eq. 2), with Φ = 0 after the end: rewards with these
    added have the same best policy.

    Args:
        potential: Φ (T, B), 0 of rows that have ended.
        discount: γ.

    Returns:
        (T, B).
    """
    following = torch.cat([potential[1:], torch.zeros_like(potential[:1])])
    return discount * following - potential


def drawn_ends(right: Tensor, ends: Tensor, mask: Tensor) -> Tensor:
    """The probability (T, B) of ending at each step and at none before it, were ends drawn: over
    the steps at which to end is right they add up to that of a right end, so that to linger where
    an end is likely earns no more than to end.

    Args:
        right: (T, B), the probability of the right choice.
        ends: (T, B) bool, whether the right one of the two choices is to end.
        mask: (T, B) bool, where there is a choice.
    """
    ending = torch.where(ends, right, 1.0 - right) * mask
    going = (1.0 - ending).cumprod(dim=0)
    return ending * torch.cat([torch.ones_like(going[:1]), going[:-1]])


def mean_where(mask: Tensor, values: Tensor) -> Tensor:
    """The mean over time of `values` (T, B) where `mask`, 0 where it is nowhere: (B,)."""
    return (values * mask).sum(dim=0) / mask.sum(dim=0).clamp(min=1)


def answer_loss(trajectory: Trajectory, log_likelihood: Tensor, early_weight: float) -> Tensor:
    """The cross-entropy of right answers, a mean over those that are scored, and `early_weight`
    times the mean over all glimpses: (B,).

    Args:
        trajectory: episodes as they were played.
        log_likelihood: (T, B), of the right answers.
        early_weight: see `PolicyGradientConfig.early_answer_weight`.
    """
    loss = -mean_where(trajectory.target_mask, log_likelihood)
    if early_weight:  # else its gradient, of zeros, would be worked out
        loss = loss - early_weight * mean_where(trajectory.alive, log_likelihood)
    return loss


def entropy_sum(
    trajectory: Trajectory, effective: dict[str, Tensor], floor: float | None = None
) -> Tensor:
    """The summed entropy (B,) of the `effective` choices that an entropy bonus is paid for, each up
    to the `floor`."""
    rewarded = trajectory.rewarded_for_entropy(effective)
    if floor is None:
        return trajectory.joint("entropy", rewarded).sum(dim=0)
    total = torch.zeros_like(trajectory.rewards[0])
    for name, mask in rewarded.items():
        total = total + (trajectory.stack(name, "entropy").clamp(max=floor) * mask).sum(dim=0)
    return total


class PolicyGradientLearner(GradientLearner):
    """A learner of a `GlimpsePolicy` from sampled episodes.

    Args:
        config: of the training.
        env: see `GradientLearner`.

    Raises:
        ValueError: the config has an invalid value, or does not fit the environment.
    """

    policy: GlimpsePolicy
    config: PolicyGradientConfig

    def __init__(self, config: PolicyGradientConfig, env: VectorEnv | Sequence[VectorEnv]) -> None:
        super().__init__(config, env, policy_maker(config.network))
        try:
            self._check_signals()
        except ValueError:
            self.close()
            raise

    def _check_signals(self) -> None:
        config, taught = self.config, self.description.taught
        if config.answer_by == "reward":
            return
        if taught is None and config.look_gain:
            raise ValueError(
                f"look_gain needs an answer that is taught, and {config.env_id} has none"
            )
        if taught is None or self.description.components[taught].ending is None:
            return
        if config.look_signal == "log_likelihood":
            raise ValueError(
                "look_signal='log_likelihood' is at most 0: looks would be paid for keeping away "
                f"from where an end is right in {config.env_id}; choose 'probability' or 'reward'"
            )
        if config.look_gain or config.early_answer_weight:
            raise ValueError(
                "look_gain and early_answer_weight are for an answer that can be given after any "
                f"glimpse; in {config.env_id} the {taught} is taught, after every glimpse as it is"
            )

    def agent_model(self, name: str, gaze: Gaze = "learned") -> Model:
        """The description of an agent called `name`, by its config's view and `answer_by`, and by
        how it looks and names."""
        for part, head in self.policy.heads.items():
            if part != "look" or gaze == "learned":
                name += _KINDS.get(type(head), "")
            if isinstance(head, CellsHead) and gaze == "learned":
                name += f", {head.described}" if head.described else ""
        if self.policy.has_context:
            name += ", context"
        if self.policy.blindness is not None:
            name += ", blind memory"
        if self.policy.inhibition is not None and gaze == "learned":
            name += f", {self.policy.inhibition.described}"
        learns_from = self.config.answer_by
        if self.config.env_kwargs.get("view") == "full":
            return Model(name, "everything", learns_from, "none", gaze)
        return Model(name, "glimpses", learns_from, "hard", gaze)

    def choose(
        self, decision: Decision, observation: Observation, info: dict[str, Any], step: int
    ) -> dict[str, Tensor]:
        """Sample what is learned by reward; take the likeliest of what is learned from the
        label."""
        return sample_actions(
            decision, self.policy.components, self.config.answer_by, self.generator
        )

    def schedule_look_std(self, progress: float) -> None:
        """Set the standard deviation of continuous looks for `progress` in [0, 1]."""
        final, start = self.config.final_look_std, self.config.network.look_std
        if final is not None:
            self.policy.set_look_std(start + progress * (final - start))


def check_policy_gradient(config: PolicyGradientConfig, *weights: str) -> None:
    """Raise a `ValueError` where a shared field, or one of the further `weights`, is invalid."""
    check_finite(config, "look_weight", "entropy_weight", "early_answer_weight", *weights)
    check_positive(config, "final_look_std", "entropy_floor")
    if config.early_answer_weight < 0:
        raise ValueError(
            f"early_answer_weight={config.early_answer_weight} must not be negative: it would "
            "teach wrong answers"
        )
    by_label = config.answer_by == "label"
    if config.look_gain and not (by_label and config.look_signal != "reward"):
        raise ValueError(
            "look_gain pays what a look adds to the probability of the right answer: it needs "
            "answer_by='label' and look_signal='probability' or 'log_likelihood', not "
            f"answer_by={config.answer_by!r} and look_signal={config.look_signal!r}"
        )
    if config.early_answer_weight and not by_label:
        raise ValueError(
            "early_answer_weight teaches answers by the label: it needs answer_by='label', not "
            f"{config.answer_by!r}"
        )
    if config.parts is not None:
        check_counts(config, "parts")
    if config.final_look_std is not None and config.network.learn_look_std:
        raise ValueError(
            "learn_look_std learns what final_look_std schedules: leave one of the two"
        )
