"""What REINFORCE and actor-critic share: options, sampled actions and loss terms.

What to answer is learned from the label by cross-entropy (`answer_by="label"`, RAM's hybrid), or
from the reward alone (`answer_by="reward"`); looks always by the score function.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor

from agents.algorithms.learner import AgentConfig, GradientLearner
from agents.episodes.environments import make_parts
from agents.episodes.rollout import sample_actions
from agents.episodes.trajectory import Observation, Trajectory
from agents.policy.cells import CellsHead
from agents.policy.glimpse_policy import Decision, GlimpsePolicy
from agents.policy.heads import GaussianHead, LogMoveHead
from agents.policy.making import policy_from
from agents.policy.words import WordsHead
from agents.scoring.scanners import SCANNERS, Scanner
from agents.training.checks import (
    check_counts,
    check_finite,
    check_not_negative,
    check_positive,
    check_unused,
)
from agents.training.distributed import processes, rank
from glimpse_envs.evaluation.record import Gaze, LearnsFrom, Model

_KINDS: dict[type, str] = {
    CellsHead: ", looks at cells",
    LogMoveHead: ", logarithmic moves",
    WordsHead: ", classes from the glimpse",
}
"""Kind of head -> how it is named, where it is not RAM's."""


@dataclass(frozen=True)
class PolicyGradientConfig(AgentConfig):
    """Options of REINFORCE and of actor-critic."""

    gaze: Gaze = "learned"
    """Choice of looks while training. learned: by the model; static (the first place throughout),
    random, raster, oracle: by a rule, as a control, and only the rest is learned."""
    answer_by: Literal["label", "reward"] = "label"
    """Teacher of the answer: the label, by cross-entropy (RAM's hybrid), or the reward alone."""
    look_signal: Literal["reward", "probability", "log_likelihood"] = "probability"
    """Reward of looks for an answer. reward: the environment's, as in RAM; probability or
    log_likelihood: that of the right answer, which varies less. For a description, which is paid as
    a whole, it is the mean over the words, added to the environment's reward; for a search whose
    stop is taught, the probability of a right end if stops were sampled, so that looks learn before
    the agent ever stops. With --answer-by reward it is always the environment's."""
    look_gain: bool = False
    """Subtract from the return of each look the --look-signal that the answer due would earn before
    that look, so that looks are credited with what they and later ones add (potential-based
    shaping: Ng et al. 1999). Needs --early-answer-weight."""
    early_answer_weight: float = 0.0
    """Weight of the cross-entropy of the answer that is due, as a mean over all glimpses, beside
    that of the answers that are scored: the policy learns to answer with what it has seen so
    far. Where every glimpse's answer is scored, it adds to the weight of the same answers."""
    look_weight: float = 0.1
    """Weight of the policy loss, where that of the answer's cross-entropy is 1. actor_critic
    ignores it where no answer is taught: with --answer-by reward, or without labels."""
    entropy_floor: float | None = None
    """Entropy in nats above which a choice earns no further bonus of --entropy-weight, so that the
    bonus stops a policy from settling early but does not keep it uniform. It applies to each choice
    of each step separately; None: no limit."""
    parts: int | None = None
    """Number of equal parts of a batch that take turns, so that the environments of one are stepped
    while a GPU computes another. It pays with models so large that a GPU computes longer than it
    takes to launch its work, which parts multiply. None: 1."""
    final_look_std: float | None = None
    """Standard deviation of a continuous look at the end of the training, in the unit of
    --network.look-std, to which it changes linearly; None: it stays the same."""


def mean_where(mask: Tensor, values: Tensor) -> Tensor:
    """The mean over time of `values` (T, B) where `mask`, or 0 for a row without any: (B,)."""
    return (values * mask).sum(dim=0) / mask.sum(dim=0).clamp(min=1)


def answer_losses(
    trajectory: Trajectory, log_likelihood: Tensor, config: PolicyGradientConfig
) -> dict[str, Tensor]:
    """The cross-entropy of right answers, (B,) each: `answer`, a mean over those that are scored,
    and, with an `early_answer_weight`, `early_answer`, over all glimpses.

    Args:
        trajectory: episodes as they were played.
        log_likelihood: (T, B), of the right answers.
        config: its `early_answer_weight`.
    """
    losses = {"answer": -mean_where(trajectory.target_mask, log_likelihood)}
    if config.early_answer_weight:
        losses["early_answer"] = -mean_where(trajectory.alive, log_likelihood)
    return losses


def entropies(
    trajectory: Trajectory, effective: dict[str, Tensor], config: PolicyGradientConfig
) -> dict[str, Tensor]:
    """The entropy of the `effective` choices that a bonus is paid for, summed over an episode, (B,)
    each: `entropy`, and, with an `entropy_floor`, `entropy_paid`, each choice's up to the floor."""
    rewarded = trajectory.rewarded_for_entropy(effective)
    found = {"entropy": trajectory.joint("entropy", rewarded).sum(dim=0)}
    if config.entropy_floor is not None:
        paid = torch.zeros_like(found["entropy"])
        for name, mask in rewarded.items():
            below = trajectory.stack(name, "entropy").clamp(max=config.entropy_floor)
            paid = paid + (below * mask).sum(dim=0)
        found["entropy_paid"] = paid
    return found


class PolicyGradientLearner(GradientLearner):
    """A learner of a `GlimpsePolicy` from sampled episodes.

    Args:
        config: of the training.

    Attributes:
        scanner: of the looks, where they go by a rule.

    Raises:
        ValueError: the config has an invalid value, or does not fit the environment.
    """

    policy: GlimpsePolicy
    config: PolicyGradientConfig

    def __init__(self, config: PolicyGradientConfig) -> None:
        learned = config.gaze == "learned"
        envs = make_parts(config, config.parts if learned else 1)
        self.scanner: Scanner | None = None
        if not learned:
            self.scanner = SCANNERS[config.gaze](envs[0], config.seed)
            self.scanner.share = rank(), processes()
        super().__init__(config, envs, partial(policy_from, config.network))
        try:
            self._check_look_std()
            self._check_signals()
        except ValueError:
            self.close()
            raise

    def _check_look_std(self) -> None:
        final, heads = self.config.final_look_std, self.policy.heads
        if final is None or ("look" in heads and isinstance(heads["look"], GaussianHead)):
            return
        raise ValueError(
            f"final_look_std={final} has no effect: looks in {self.config.env_id} are not drawn "
            "from a Gaussian here, as those at tiles, addresses and cells are not; leave it out"
        )

    def _check_signals(self) -> None:
        config, taught = self.config, self.description.taught
        if config.answer_by == "reward":
            return
        if taught is None and config.early_answer_weight:
            raise ValueError(
                f"early_answer_weight needs an answer that is taught, and {config.env_id} has none"
            )
        if config.look_gain and "look" not in self.description.components:
            raise ValueError(f"look_gain: there is no look to choose in {config.env_id}")
        if config.look_gain and self.description.answer_reward == 0.0:
            raise ValueError(
                f"look_gain: a right word alone earns nothing in {config.env_id}, where a sentence "
                "is paid as a whole; what a look adds to one word is then no gain"
            )
        if taught is None:
            return
        component = self.description.components[taught]
        if config.look_signal == "log_likelihood" and component.optional:
            raise ValueError(
                "look_signal='log_likelihood' is at most 0, and 0 without an answer: the agent "
                f"would be paid for never answering in {config.env_id}; choose 'probability' or "
                "'reward'"
            )
        if component.ending is None:
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

    def answer_total(self, means: dict[str, Tensor]) -> Tensor:
        """The weighted sum of the mean `answer_losses`."""
        if "early_answer" not in means:
            return means["answer"]
        return means["answer"] + self.config.early_answer_weight * means["early_answer"]

    def entropy_bonus(self, means: dict[str, Tensor]) -> Tensor:
        """What is paid for the mean `entropies`."""
        return self.config.entropy_weight * means.get("entropy_paid", means["entropy"])

    @property
    def learns_from(self) -> LearnsFrom:
        """Where nothing is taught, the reward, whatever `answer_by` says."""
        return self.config.answer_by if self.description.taught else "reward"

    def agent_model(self, name: str) -> Model:
        """The description of an agent called `name`, by its config's view and `answer_by`, and by
        how it looks and names."""
        gaze = self.config.gaze
        if gaze != "learned":
            name += f", {gaze} glimpses"
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
        learns_from = self.learns_from
        if self.config.env_kwargs.get("view") == "full":
            return Model(name, "everything", learns_from, "none", gaze)
        return Model(name, "glimpses", learns_from, "hard", gaze)

    def choose(
        self, decision: Decision, observation: Observation, info: dict[str, Any], step: int
    ) -> dict[str, Tensor]:
        """Sample what is learned by reward; take the likeliest of what is learned from the
        label."""
        action = sample_actions(
            decision, self.policy.components, self.config.answer_by, self.generator
        )
        if self.scanner is not None:
            arrays = {name: value.cpu().numpy() for name, value in observation.items()}
            looks = self.scanner.looks(arrays, step, info)
            action["look"] = decision.heads["look"].from_env(looks).to(self.device)
        return action

    def schedule_look_std(self, progress: float) -> None:
        """Set the standard deviation of continuous looks for `progress` in [0, 1]."""
        final, start = self.config.final_look_std, self.config.network.look_std
        if final is not None:
            self.policy.set_look_std(start + progress * (final - start))

    def state_dict(self) -> dict[str, Any]:
        scanner = {} if self.scanner is None else self.scanner.state_dict()
        return {**super().state_dict(), "scanner": scanner}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        if self.scanner is not None:
            self.scanner.load_state_dict(state["scanner"])


def check_policy_gradient(config: PolicyGradientConfig, *weights: str) -> None:
    """Raise a `ValueError` where a shared field, or one of the further `weights`, is invalid."""
    check_finite(config, "entropy_weight", "early_answer_weight")
    check_not_negative(config, "look_weight", *weights)
    check_positive(config, "final_look_std")
    if config.gaze != "learned":
        check_unused(config, "gaze='learned'", "final_look_std", "parts")
        if config.look_gain:
            raise ValueError(
                f"look_gain is for looks that are learned, and gaze={config.gaze!r} goes by a rule"
            )
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
    if config.look_gain and not config.early_answer_weight:
        raise ValueError(
            "look_gain compares answers of earlier glimpses: it needs an early_answer_weight above "
            "0, by which they are taught"
        )
    if config.entropy_floor is not None:
        if not math.isfinite(config.entropy_floor):
            raise ValueError(f"entropy_floor={config.entropy_floor} must be finite, or None")
        if not config.entropy_weight:
            raise ValueError(
                f"entropy_floor={config.entropy_floor} limits the bonus of entropy_weight, which "
                "is 0: give both, or neither"
            )
    if config.parts is not None:
        check_counts(config, "parts")
    if config.final_look_std is not None and config.network.learn_look_std:
        raise ValueError(
            "learn_look_std learns what final_look_std schedules: leave one of the two"
        )
