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
    look_weight: float = 0.1
    """Weight of the policy loss, where that of the answer's cross-entropy is 1. actor_critic with
    --answer-by reward ignores it."""
    parts: int | None = None
    """Number of equal parts of a batch that take turns, so that the environments of one are stepped
    while a GPU computes another; None: 2 on a GPU, 1 on the CPU."""
    final_look_std: float | None = None
    """Standard deviation of a continuous look at the end of the training, in the unit of
    --network.look-std, to which it changes linearly; None: it stays the same."""


def learning_signal(
    trajectory: Trajectory, log_likelihood: Tensor, answer_by: str, look_signal: str
) -> Tensor:
    """The rewards of decisions, (T, B), constant; see `look_signal` of `PolicyGradientConfig`.

    Args:
        trajectory: episodes as they were played.
        log_likelihood: (T, B), of the right answers.
        answer_by, look_signal: see `PolicyGradientConfig`.
    """
    if answer_by == "reward" or look_signal == "reward" or trajectory.targets is None:
        return trajectory.rewards
    assert trajectory.taught is not None
    answers = torch.stack([action[trajectory.taught] for action in trajectory.actions])
    success = (answers == trajectory.targets).to(log_likelihood.dtype)
    score = log_likelihood.detach()
    score = score.exp() if look_signal == "probability" else score
    if not trajectory.answer_reward.any():  # a right word alone earns nothing
        words = trajectory.target_mask.sum(dim=0).clamp(min=1)
        return trajectory.rewards + trajectory.target_mask * score / words
    earning = trajectory.target_mask
    ending = trajectory.components[trajectory.taught].ending
    if ending is not None:
        ends = trajectory.targets == ending
        earning = earning & ends
        score = drawn_ends(score, ends, trajectory.target_mask)
    return trajectory.rewards + trajectory.answer_reward * earning * (score - success)


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


def entropy_sum(trajectory: Trajectory, effective: dict[str, Tensor]) -> Tensor:
    """The summed entropy (B,) of the `effective` choices that an entropy bonus is paid for."""
    return trajectory.joint("entropy", trajectory.rewarded_for_entropy(effective)).sum(dim=0)


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
        taught = self.description.taught
        has_ending = taught is not None and self.description.components[taught].ending is not None
        negative = config.answer_by == "label" and config.look_signal == "log_likelihood"
        if negative and has_ending:
            self.close()
            raise ValueError(
                "look_signal='log_likelihood' is at most 0: looks would be paid for keeping away "
                f"from where an end is right in {config.env_id}; choose 'probability' or 'reward'"
            )

    def agent_model(self, name: str, gaze: Gaze = "learned") -> Model:
        """The description of an agent called `name`, by its config's view and `answer_by`, and by
        how it looks and names."""
        for part, head in self.policy.heads.items():
            if part != "look" or gaze == "learned":
                name += _KINDS.get(type(head), "")
            if isinstance(head, CellsHead) and gaze == "learned":
                name += f", {head.described}" if head.described else ""
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
    check_finite(config, "look_weight", "entropy_weight", *weights)
    check_positive(config, "final_look_std")
    if config.parts is not None:
        check_counts(config, "parts")
    if config.final_look_std is not None and config.network.learn_look_std:
        raise ValueError(
            "learn_look_std learns what final_look_std schedules: leave one of the two"
        )
