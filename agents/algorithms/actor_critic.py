"""Advantage actor-critic for hard attention: A2C (Mnih et al. 2016) and PPO (Schulman et al. 2017).

A batch of whole episodes is played; a learned critic, which reads the same memory, turns rewards
into advantages (n-step, or generalised: Schulman et al. 2016); the policy climbs PPO's clipped
objective. With one epoch of one minibatch the policy has not moved yet and nothing is clipped,
which is A2C (Huang et al. 2022, "A2C is a special case of PPO"); its gradient is the one kept while
playing. Otherwise episodes are played without a gradient and replayed for each minibatch from their
first glimpse on, so that the memory is that of the present policy.

As in `agents/algorithms/reinforce.py` the policy loss is summed over an episode's decisions, not
averaged: its gradient is that of the expected return.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from agents.algorithms.curiosity import Curiosity, Kind
from agents.algorithms.estimates import Estimates, decided_where, estimate
from agents.algorithms.look_rewards import effective_choices
from agents.algorithms.policy_gradient import (
    PolicyGradientConfig,
    PolicyGradientLearner,
    answer_losses,
    check_policy_gradient,
    entropies,
    mean_where,
)
from agents.algorithms.returns import explained_variance
from agents.algorithms.sensorimotor import Sensorimotor
from agents.episodes.rollout import play_episodes, replay_episodes
from agents.episodes.trajectory import Trajectory
from agents.policy.networks import core_name
from agents.training.checks import check_counts, check_positive, check_unused
from agents.training.distributed import averages, mean_of_rows, processes, rank, refuse_several
from glimpse_envs.evaluation.record import Model


@dataclass(frozen=True)
class ActorCriticConfig(PolicyGradientConfig):
    """Train a recurrent attention model by advantage actor-critic: A2C, or PPO with more epochs."""

    algorithm: ClassVar[str] = "actor_critic"

    advantage: Literal["gae", "n_step"] = "gae"
    """Kind of advantages. gae: generalised, with --gae-lambda; n_step: with --n-steps."""
    gae_lambda: float = 0.95
    """Lambda of generalised advantages, in [0, 1]: 0 relies on the critic, 1 on the returns
    alone."""
    n_steps: int = 5
    """Number of rewards before the critic's value in n-step returns; with at least as many as an
    episode's glimpses, Monte-Carlo returns."""
    discount: float = 1.0
    """Discount factor per step, in [0, 1]. Below 1 the critic's value stands for what follows the
    end of a truncated episode; at 1 its time limit, such as CartPole's, counts as an end."""
    epochs: int = 1
    """Number of passes over a batch: 1, with one minibatch, is A2C; more is PPO."""
    minibatches: int = 1
    """Number of minibatches in a pass, with one optimizer step each; the copies of a scene stay
    together."""
    clip: float = 0.2
    """PPO's clipping range: its probability ratio is clipped to between 1 - clip and 1 + clip."""
    target_kl: float | None = None
    """KL divergence from the policy that played the batch, in nats per step, above which learning
    from the batch stops; None: no limit."""
    normalise_advantages: bool = False
    """Scale the advantages of a batch to mean 0 and standard deviation 1, as implementations of PPO
    do and those of A2C do not."""
    value_weight: float = 0.5
    """Weight of the critic's squared error."""
    curiosity: Kind | None = None
    """Bonus for observations that are not predicted yet. icm: by a forward model of features
    (Pathak et al. 2017); rnd: by random network distillation (Burda et al. 2019); None: no
    bonus."""
    curiosity_weight: float = 0.01
    """Weight of the bonus, which is divided by the standard deviation of its returns."""
    sugarl_weight: float = 0.0
    """Cost of a step whose act an inverse model does not guess at all from the glimpses before and
    after it, in units of the reward (SUGARL: Shang & Ryoo 2023), so that looks show what acts do;
    0: no such model. Its authors' code has 0.005 for Pong, 0.11 for Breakout, 0.0025 for
    Freeway."""


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
    """The losses of each episode, name -> (B,), and the change of the policy.

    `policy`: minus the clipped objective of a step's joint decision, summed over the steps where
    something that is learned by reward had an effect (see `Trajectory.effective`); `value`: half
    the mean squared error; further the `answer_losses` and the `entropies` of looks, acts, stops
    and whether to answer. Means over the same steps as `policy`, without gradient: `clip_fraction`,
    where |ρ - 1| > ε, and `approx_kl`, ρ - 1 - log ρ, whose expectation is the divergence of the
    policy from the one that played.
    """
    effective = effective_choices(trajectory, config)
    decided = decided_where(effective, trajectory.rewards)
    log_ratio = trajectory.joint("log_prob", effective) - estimates.log_prob
    ratio = log_ratio.exp()
    objective = clipped_objective(ratio, estimates.advantages, config.clip)
    errors = 0.5 * (trajectory.values - estimates.returns) ** 2
    with torch.no_grad():
        clipped, moved = (ratio - 1).abs() > config.clip, ratio - 1 - log_ratio
    return {
        "policy": -(objective * decided).sum(dim=0),
        **answer_losses(trajectory, trajectory.log_likelihood(), config),
        "value": mean_where(trajectory.alive, errors),
        **entropies(trajectory, effective, config),
        "clip_fraction": mean_where(decided, clipped),
        "approx_kl": mean_where(decided, moved),
    }


class ActorCritic(PolicyGradientLearner):
    """The learner: one `update` plays a batch of episodes and learns from it `epochs` times.

    Args:
        config: see `ActorCriticConfig`.

    Raises:
        ValueError: the configuration is invalid, or does not fit the environment.
    """

    config: ActorCriticConfig

    def __init__(self, config: ActorCriticConfig) -> None:
        _check(config)
        # One step, from the policy that played: there is nothing to replay.
        self.plays_once = config.epochs == config.minibatches == 1
        super().__init__(config)
        self.curiosity: Curiosity | None = None
        if config.curiosity is not None:
            refuse_several(f"curiosity={config.curiosity!r}")
            self.curiosity = Curiosity(config.curiosity, self.description, config.batch_size).to(
                self.device
            )
        self.sensorimotor: Sensorimotor | None = None
        if config.sugarl_weight:
            refuse_several(f"sugarl_weight={config.sugarl_weight:g}")
            try:
                self.sensorimotor = Sensorimotor(self.description, config.network).to(self.device)
            except ValueError:
                self.close()
                raise

    @property
    def model(self) -> Model:
        name = f"{'A2C' if self.plays_once else 'PPO'} {core_name(self.config.network)}"
        if self.config.curiosity is not None:
            name = f"{name}, {self.config.curiosity.upper()}"
        if self.config.sugarl_weight:
            name = f"{name}, SUGARL reward"
        by_label = self.learns_from == "label"
        return self.agent_model(name if by_label else f"{name}, answer by reward")

    def learn(self, progress: float) -> dict[str, float]:
        """Play a batch of episodes and descend their losses, a step a minibatch.

        Raises:
            FloatingPointError: a loss or the gradient is not finite; the policy is as the
                minibatches before have left it.
        """
        config = self.config
        self.schedule_look_std(progress)
        with torch.set_grad_enabled(self.plays_once):
            played = play_episodes(
                self.envs,
                self.policy,
                self.choose,
                precision=config.torch_precision,
                drop_ended=self.scanner is None,
                generator=self.generator,
            )
        played = self.record_batch(played)
        bonuses = None if self.curiosity is None else self.curiosity.bonuses(played)
        penalties = None if self.sensorimotor is None else self.sensorimotor.penalties(played)
        estimates = estimate(played, config, bonuses, penalties)
        beside: dict[str, float] = {}
        if self.sensorimotor is not None and penalties is not None:
            beside = {
                "loss/inverse": self.sensorimotor.learn(played, config.minibatches, self.generator),
                "acts_not_shown": mean_where(played.alive, penalties).mean().item(),
            }
        if self.curiosity is not None and bonuses is not None:
            beside |= {
                "loss/curiosity": self.curiosity.learn(
                    played,
                    bonuses,
                    estimates.bonus_returns,
                    config.minibatches,
                    config.epochs,
                    self.generator,
                ),
                "bonus": mean_where(played.alive, bonuses.rewards).mean().item(),
            }
        steps: list[dict[str, float]] = []
        for trajectory, targets, rows in self._minibatches(played, estimates):
            losses = episode_losses(trajectory, targets, config)
            means = {name: mean_of_rows(loss, rows) for name, loss in losses.items()}
            moved = {name: means.pop(name).item() for name in ("clip_fraction", "approx_kl")}
            if config.target_kl is not None:
                moved = averages(moved)
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
            **beside,
        }

    def state_dict(self) -> dict[str, Any]:
        curiosity = {} if self.curiosity is None else self.curiosity.state()
        inverse = {} if self.sensorimotor is None else self.sensorimotor.state()
        return {**super().state_dict(), "curiosity": curiosity, "sensorimotor": inverse}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        if self.curiosity is not None:
            self.curiosity.load_state(state["curiosity"])
        if self.sensorimotor is not None:
            self.sensorimotor.load_state(state["sensorimotor"])

    def _total(self, means: dict[str, Tensor]) -> Tensor:
        """The weighted sum of the mean losses."""
        config = self.config
        total = config.value_weight * means["value"]
        if config.entropy_weight:  # else its gradient, of zeros, would be worked out
            total = total - self.entropy_bonus(means)
        if self.learns_from == "reward":
            return total + means["policy"]
        return total + config.look_weight * means["policy"] + self.answer_total(means)

    def _minibatches(
        self, played: Trajectory, estimates: Estimates
    ) -> Iterator[tuple[Trajectory, Estimates, int]]:
        """The minibatches of all passes, each replayed with the policy of that moment: the rows of
        this process, and the number of rows of all."""
        config, count = self.config, processes()
        if self.plays_once:
            yield played, estimates, config.batch_size * count
            return
        # The row of this process, by its number among those of all processes, which are dealt part
        # by part; -1 for those of others.
        own = torch.full((len(self.envs), count, config.batch_size // len(self.envs)), -1)
        own[:, rank()] = torch.arange(config.batch_size).view(len(self.envs), -1)
        groups = own.view(-1, config.copies)
        for _ in range(config.epochs):
            order = torch.randperm(len(groups), generator=self.generator)
            for share in order.chunk(config.minibatches):
                everyones = groups[share].flatten()
                rows = everyones[everyones >= 0]
                replayed = replay_episodes(
                    self.policy, played, rows, precision=config.torch_precision
                )
                yield replayed, estimates.rows(rows), len(everyones)


def _check(config: ActorCriticConfig) -> None:
    check_policy_gradient(config, "value_weight", "curiosity_weight", "sugarl_weight")
    check_positive(config, "clip", "target_kl")
    for name in ("gae_lambda", "discount"):
        if not 0 <= getattr(config, name) <= 1:
            raise ValueError(f"{name}={getattr(config, name)} must be from 0 to 1")
    check_counts(config, "n_steps", "epochs", "minibatches")
    if config.curiosity is None:
        check_unused(config, "curiosity='icm' or 'rnd'", "curiosity_weight")
    if config.advantage == "n_step":
        check_unused(config, "advantage='gae'", "gae_lambda")
    else:
        check_unused(config, "advantage='n_step'", "n_steps")
    if config.epochs == config.minibatches == 1:
        check_unused(config, "epochs or minibatches above 1", "target_kl", "clip")
    groups = config.batch_size * processes() // config.copies
    if groups % config.minibatches:
        raise ValueError(
            f"minibatches={config.minibatches} must divide the batch's {groups} scenes "
            f"(batch_size={config.batch_size * processes()} episodes, copies={config.copies} of a "
            "scene)"
        )
