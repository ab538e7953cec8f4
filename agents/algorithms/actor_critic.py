"""Advantage actor-critic for hard attention: A2C (Mnih et al. 2016) and PPO (Schulman et al. 2017).

A batch of whole episodes is played; a learned critic, which reads the same memory, turns what they
earned into advantages (n-step, or generalised: Schulman et al. 2016); the policy climbs PPO's
clipped objective. With one epoch of one minibatch the policy has not moved yet, nothing is clipped
and that is A2C (Huang et al. 2022, "A2C is a special case of PPO"): the gradient kept while playing
is used. Otherwise episodes are played without it and replayed for each minibatch from their first
glimpse on, so that the memory is what the policy makes of them by then.

What to answer is learned from the label by cross-entropy or from the reward alone, and what looks
are rewarded with is chosen, both as in `agents/algorithms/reinforce.py`. As there, the policy's
loss is summed over an episode's decisions, not averaged: its gradient is that of the expected
return.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor

from agents.algorithms.learner import GradientLearner
from agents.algorithms.reinforce import learning_signal, mean_where
from agents.algorithms.returns import (
    explained_variance,
    gae,
    n_step_returns,
    returns_to_go,
    standardise,
)
from agents.episodes.environments import make_training_env
from agents.episodes.rollout import (
    play_episodes,
    replay_episodes,
    sample_actions,
)
from agents.episodes.trajectory import Observation, Trajectory
from agents.policy.glimpse_policy import Decision, GlimpsePolicy, policy_maker
from agents.policy.networks import NetworkConfig, core_name
from agents.training.checks import check_counts, check_finite, check_positive
from agents.training.loop import TrainingConfig


@dataclass(frozen=True)
class ActorCriticConfig(TrainingConfig):
    """Train a recurrent attention model by advantage actor-critic: A2C, or PPO with more epochs."""

    answer_by: Literal["label", "reward"] = "label"
    """Learn the answer by cross-entropy on the label, or as an action, by the reward alone."""
    look_signal: Literal["reward", "probability", "log_likelihood"] = "probability"
    """What looks are rewarded with: the environment's reward, or in place of a right answer's 1 the
    probability or the log-likelihood that the model gives the right answer, which vary less (with
    answer_by="reward" always the reward)."""
    advantage: Literal["gae", "n_step"] = "gae"
    """Generalised advantages (of gae_lambda) or n-step ones (of n_steps)."""
    gae_lambda: float = 0.95
    """From 0, which trusts the critic, to 1, which trusts the returns alone."""
    n_steps: int = 5
    """Steps before the critic is trusted; as many as glimpses, or more, trust the returns alone."""
    discount: float = 1.0
    """Of what is earned a step later; episodes are short."""
    epochs: int = 1
    """Times that a batch is learned from: 1 is A2C (with one minibatch), more is PPO."""
    minibatches: int = 1
    """Steps of Adam an epoch, each on a share of the batch's images with all their copies."""
    clip: float = 0.2
    """PPO gains nothing from a decision whose probability has changed by more than this share."""
    target_kl: float | None = None
    """Leave a batch when the policy has moved so far from what played it, in nats a step."""
    normalise_advantages: bool = False
    """Give a batch's advantages mean 0 and deviation 1, as PPO's implementations do and A2C's do
    not; it makes look_weight independent of what there is to earn."""
    look_weight: float = 0.1
    """Weight of the policy's loss where the answer is learned from the label; else it is 1."""
    value_weight: float = 0.5
    """Weight of the critic's squared error."""
    entropy_weight: float = 0.0
    """Bonus for the entropy of looks, of stops and of whether to answer, in nats; none for what is
    answered or written, which a bonus would flatten before it has earned anything."""
    final_look_std: float | None = None
    """A continuous look's standard deviation goes linearly to this; None keeps it."""
    network: NetworkConfig = field(default_factory=NetworkConfig)
    """Sizes and kinds of the networks."""


@dataclass(frozen=True)
class Estimates:
    """What played episodes teach: constants, (T, B) each.

    Args:
        log_prob: of the decisions that were learned by reward and had an effect, as they were made.
        advantages: of these decisions; 0 where not alive.
        values: as the critic gave them.
        returns: what the critic should have said.
        earned: the discounted return from there on, which the critic never saw.
    """

    log_prob: Tensor
    advantages: Tensor
    values: Tensor
    returns: Tensor
    earned: Tensor

    def rows(self, rows: Tensor) -> "Estimates":
        """Those of `rows` (b,)."""
        rows = rows.to(self.values.device)
        return Estimates(**{name: quantity[:, rows] for name, quantity in vars(self).items()})


def estimate(played: Trajectory, config: ActorCriticConfig) -> Estimates:
    """Judge decisions by what followed."""
    effective = _effective(played, config)
    with torch.no_grad():
        log_prob, values = played.joint("log_prob", effective), played.values
        signal = learning_signal(
            played, played.log_likelihood(), config.answer_by, config.look_signal
        )
        signal = played.rewards_to_the_end(signal, config.discount)
        if config.advantage == "gae":
            advantages = gae(signal, values, played.alive, config.discount, config.gae_lambda)
            returns = advantages + values
        else:
            returns = n_step_returns(signal, values, played.alive, config.n_steps, config.discount)
            advantages = (returns - values) * played.alive
        if config.normalise_advantages:
            advantages = standardise(advantages, _decided(effective, advantages))
        earned = returns_to_go(signal, config.discount)
    return Estimates(log_prob, advantages, values, returns, earned)


def clipped_objective(ratio: Tensor, advantages: Tensor, clip: float) -> Tensor:
    """PPO's objective, min(ρA, clip(ρ, 1 - ε, 1 + ε) A) (Schulman et al. 2017, eq. 7), elementwise.

    Args:
        ratio: ρ, the probability of a decision now over that with which it was made.
        advantages: A, of the same shape.
        clip: ε, above 0.
    """
    return torch.minimum(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages)


def episode_losses(
    trajectory: Trajectory, estimates: Estimates, config: ActorCriticConfig
) -> dict[str, Tensor]:
    """The losses of each episode, name -> (B,), and how far the policy has moved.

    `policy`: minus the clipped objective of a step's joint decision, summed over the steps where
    something that is learned by reward had an effect (see `Trajectory.effective`); `answer`: the
    cross-entropy, a mean over the answers that counted; `value`: half the mean squared error;
    `entropy`: of looks, stops and whether to answer, summed. Means over the same steps as
    `policy`, without gradient: `clip_fraction`, where |ρ - 1| > ε, and `approx_kl`,
    ρ - 1 - log ρ, whose expectation is the divergence of the policy from the one that played.
    """
    effective = _effective(trajectory, config)
    decided = _decided(effective, trajectory.rewards)
    log_ratio = trajectory.joint("log_prob", effective) - estimates.log_prob
    ratio = log_ratio.exp()
    objective = clipped_objective(ratio, estimates.advantages, config.clip)
    errors = 0.5 * (trajectory.values - estimates.returns) ** 2
    with torch.no_grad():
        clipped, moved = (ratio - 1).abs() > config.clip, ratio - 1 - log_ratio
    return {
        "policy": -(objective * decided).sum(dim=0),
        "answer": -mean_where(trajectory.counted, trajectory.log_likelihood()),
        "value": mean_where(trajectory.alive, errors),
        "entropy": trajectory.joint("entropy", trajectory.rewarded_for_entropy(effective)).sum(
            dim=0
        ),
        "clip_fraction": mean_where(decided, clipped),
        "approx_kl": mean_where(decided, moved),
    }


def _effective(trajectory: Trajectory, config: ActorCriticConfig) -> dict[str, Tensor]:
    return trajectory.effective(looks=True, taught=config.answer_by == "reward")


def _decided(effective: dict[str, Tensor], like: Tensor) -> Tensor:
    """Where any decision had an effect, (T, B) bool."""
    nowhere = torch.zeros_like(like, dtype=torch.bool)
    return torch.stack([nowhere, *effective.values()]).any(dim=0)


class ActorCritic(GradientLearner):
    """The learner: one `update` plays a batch of episodes and learns from it `epochs` times.

    Args:
        config: see `ActorCriticConfig`.

    Raises:
        ValueError: the configuration cannot be, or does not fit the environment.
    """

    policy: GlimpsePolicy

    def __init__(self, config: ActorCriticConfig) -> None:
        _check(config)
        self.config = config
        # One step of Adam from the policy that played: what was played need not be replayed.
        self.plays_once = config.epochs == config.minibatches == 1
        env = make_training_env(config)
        super().__init__(config, env, policy_maker(config.network))

    @property
    def name(self) -> str:
        name = f"{'A2C' if self.plays_once else 'PPO'} {core_name(self.config.network)}"
        return name if self.config.answer_by == "label" else f"{name}, answer by reward"

    def choose(
        self, decision: Decision, observation: Observation, info: dict[str, Any], step: int
    ) -> dict[str, Tensor]:
        """Sample what is learned by reward; answer greedily what is learned from the label."""
        return sample_actions(
            decision, self.policy.components, self.config.answer_by, self.generator
        )

    def learn(self, progress: float) -> dict[str, float]:
        """Play a batch of episodes and descend their losses, a step of Adam a minibatch.

        Raises:
            FloatingPointError: a loss or the gradient is not finite; the policy is as the
                minibatches before have left it.
        """
        config = self.config
        if config.final_look_std is not None:
            start = config.network.look_std
            self.policy.set_look_std(start + progress * (config.final_look_std - start))

        with torch.set_grad_enabled(self.plays_once):
            played = play_episodes(
                self.env,
                self.policy,
                self.choose,
                precision=config.torch_precision,
                drop_ended=True,
            )
        self.record_levels(played)
        estimates = estimate(played, config)
        steps: list[dict[str, float]] = []
        for trajectory, judged in self._minibatches(played, estimates):
            losses = episode_losses(trajectory, judged, config)
            means = {name: loss.mean() for name, loss in losses.items()}
            moved = {name: means.pop(name).item() for name in ("clip_fraction", "approx_kl")}
            too_far = config.target_kl is not None and moved["approx_kl"] > config.target_kl
            if steps and too_far:  # the first step starts from the policy that played
                break
            norm = self.descend(self._total(means), **means)
            named = {f"loss/{name}": mean.item() for name, mean in means.items()}
            steps.append({**named, **moved, "gradient_norm": norm})
        return {
            **{name: sum(step[name] for step in steps) / len(steps) for name in steps[0]},
            "gradient_steps": float(len(steps)),
            "explained_variance": explained_variance(
                estimates.values, estimates.earned, played.alive
            ),
            **played.summary(),
        }

    def _total(self, means: dict[str, Tensor]) -> Tensor:
        """What is descended, of the mean losses."""
        config = self.config
        total = config.value_weight * means["value"] - config.entropy_weight * means["entropy"]
        if config.answer_by == "reward":
            return total + means["policy"]
        return total + config.look_weight * means["policy"] + means["answer"]

    def _minibatches(
        self, played: Trajectory, estimates: Estimates
    ) -> Iterator[tuple[Trajectory, Estimates]]:
        """What to learn from, in turn; each is replayed with the policy as it is when asked for."""
        if self.plays_once:
            yield played, estimates
            return
        config = self.config
        groups = torch.arange(config.batch_size).view(-1, config.copies)
        for _ in range(config.epochs):
            order = torch.randperm(len(groups), generator=self.generator)
            for share in order.chunk(config.minibatches):
                rows = groups[share].flatten()
                replayed = replay_episodes(
                    self.policy, played, rows, precision=config.torch_precision
                )
                yield replayed, estimates.rows(rows)


def _check(config: ActorCriticConfig) -> None:
    check_finite(config, "look_weight", "value_weight", "entropy_weight")
    check_positive(config, "clip", "target_kl", "final_look_std")
    for name in ("gae_lambda", "discount"):
        if not 0 <= getattr(config, name) <= 1:
            raise ValueError(f"{name}={getattr(config, name)} must be from 0 to 1")
    check_counts(config, "n_steps", "epochs", "minibatches")
    if config.final_look_std is not None and config.network.learn_look_std:
        raise ValueError(
            "learn_look_std learns what final_look_std schedules: leave one of the two"
        )
    groups = config.batch_size // config.copies
    if groups % config.minibatches:
        raise ValueError(
            f"minibatches={config.minibatches} must divide the batch's {groups} images "
            f"(batch_size={config.batch_size} episodes, copies={config.copies} an image)"
        )
