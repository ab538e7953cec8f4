"""REINFORCE (Williams 1992) for hard attention, as Recurrent Models of Visual Attention uses it.

Where to look is sampled, so its gradient is the score function's: the log-probability of each look
times its advantage, the return less a baseline: by default a learned one that reads the same memory
(RAM, eq. 2), for comparison simpler ones or none (`docs/gradient_variance.md`).

Stop-gradients: advantages are constants. With `detach_heads` (see `NetworkConfig`) the look's head
and the baseline send no gradient into core and glimpse network, which then learn from the answer.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from agents.algorithms.look_rewards import effective_choices, learning_signal
from agents.algorithms.policy_gradient import (
    PolicyGradientConfig,
    PolicyGradientLearner,
    answer_losses,
    check_policy_gradient,
    entropies,
    mean_where,
)
from agents.algorithms.returns import returns_to_go
from agents.episodes.rollout import play_episodes
from agents.episodes.trajectory import Trajectory
from agents.policy.networks import core_name
from agents.training.checks import check_unused
from agents.training.distributed import averages
from glimpse_envs.evaluation.record import Model


@dataclass(frozen=True)
class ReinforceConfig(PolicyGradientConfig):
    """Train a recurrent attention model by REINFORCE."""

    algorithm: ClassVar[str] = "reinforce"

    baseline: Literal["learned", "none", "moving_average", "leave_one_out"] = "learned"
    """Baseline subtracted from returns. learned: the policy's value; moving_average: that of the
    batches' mean returns (Xu et al. 2015); leave_one_out: the mean return of the scene's other
    copies (Kool et al. 2019), which needs --copies of at least 2."""
    baseline_weight: float = 0.5
    """Weight of the learned baseline's squared error."""


Baseline = Callable[[Tensor], Tensor]
"""From the returns-to-go (T, B) to the baseline to subtract, which broadcasts to (T, B)."""


def episode_losses(
    trajectory: Trajectory,
    config: PolicyGradientConfig,
    baseline: Baseline | None = None,
) -> dict[str, Tensor]:
    """The losses of each episode, name -> (B,); their weighted sum is what is minimised.

    `policy`: minus the log-probabilities times their advantages, summed over the decisions that had
    an effect (an ignored look, an answer outside `target_mask` and a stop with a spent budget have
    none), without looks where a scanner chose them. `baseline`: half the mean squared error of the
    learned one. Further the `answer_losses` and the `entropies` of looks, acts, stops and whether
    to answer. The argument `baseline` replaces the learned values in the advantages.
    """
    values, log_likelihood = trajectory.values, trajectory.log_likelihood()  # (T, B) each
    signal = learning_signal(trajectory, log_likelihood, config)
    returns = returns_to_go(trajectory.rewards_to_the_end(signal, discount=1.0))
    advantages = (returns - (values if baseline is None else baseline(returns))).detach()
    effective = effective_choices(trajectory, config)
    return {
        "policy": -(trajectory.joint("log_prob", effective) * advantages).sum(dim=0),
        **answer_losses(trajectory, log_likelihood, config),
        "baseline": mean_where(trajectory.alive, 0.5 * (values - returns) ** 2),
        **entropies(trajectory, effective, config),
    }


def leave_one_out(returns: Tensor, copies: int) -> Tensor:
    """The mean return of a scene's other copies, step by step (Kool, van Hoof & Welling 2019, "Buy
    4 REINFORCE samples, get a baseline for free!"): it depends on the scene but not on this copy's
    looks, so the gradient stays unbiased.

    Args:
        returns: (T, B); the rows iM ... iM + M - 1 are copies of a scene.
        copies: M, at least 2.

    Returns:
        (T, B).
    """
    groups = returns.view(len(returns), -1, copies)  # (T, B / M, M)
    others = groups.sum(dim=2, keepdim=True) - groups
    return (others / (copies - 1)).flatten(1)


class MovingAverage:
    """One number for all scenes and steps: b <- 0.9 b + 0.1 (mean return) after every batch (Xu et
    al. 2015, "Show, attend and tell", section 4.1). It starts at 0; a batch's baseline is the
    average over earlier batches.

    Attributes:
        value: b.
    """

    DECAY = 0.9

    def __init__(self) -> None:
        self.value = 0.0

    def __call__(self, returns: Tensor) -> Tensor:
        """The baseline, a scalar, of one more batch of returns (T, B)."""
        before = returns.new_tensor(self.value)
        mean = averages({"return": returns[0].mean().item()})["return"]
        self.value = self.DECAY * self.value + (1 - self.DECAY) * mean
        return before


BASELINE_NAMES = {
    "none": "no baseline",
    "moving_average": "moving-average baseline",
    "leave_one_out": "leave-one-out baseline",
}


class Reinforce(PolicyGradientLearner):
    """The learner: one `update` plays a batch of episodes and takes one step.

    Args:
        config: see `ReinforceConfig`.

    Raises:
        ValueError: the configuration does not fit the environment.
    """

    config: ReinforceConfig

    def __init__(self, config: ReinforceConfig) -> None:
        check_policy_gradient(config, "baseline_weight")
        if config.baseline == "leave_one_out" and config.copies < 2:
            raise ValueError(
                f"baseline='leave_one_out' needs copies of at least 2, not {config.copies}: it "
                "compares the looks at a scene with those of its other copies"
            )
        if config.baseline != "learned":
            check_unused(config, "baseline='learned'", "baseline_weight")
        self.average = MovingAverage()
        super().__init__(config)

    @property
    def model(self) -> Model:
        name = f"Reinforce {core_name(self.config.network)}"
        if self.config.baseline != "learned":
            name = f"{name}, {BASELINE_NAMES.get(self.config.baseline, self.config.baseline)}"
        return self.agent_model(name)

    @property
    def baseline(self) -> Baseline | None:
        """The baseline to subtract from returns; None for the policy's value."""
        if self.config.baseline == "learned":
            return None
        baselines: dict[str, Baseline] = {
            "none": torch.zeros_like,
            "moving_average": self.average,
            "leave_one_out": partial(leave_one_out, copies=self.config.copies),
        }
        return baselines[self.config.baseline]

    def learn(self, progress: float) -> dict[str, float]:
        """Play a batch of episodes and descend its losses."""
        config = self.config
        self.schedule_look_std(progress)
        played = play_episodes(
            self.envs,
            self.policy,
            self.choose,
            precision=config.torch_precision,
            drop_ended=self.scanner is None,
            generator=self.generator,
        )
        trajectory = self.record_batch(played)
        losses = episode_losses(trajectory, config, baseline=self.baseline)
        if config.baseline != "learned":
            del losses["baseline"]  # the policy's value is not used
        means = {name: loss.mean() for name, loss in losses.items()}
        total = config.look_weight * means["policy"]
        if config.baseline == "learned":
            total = total + config.baseline_weight * means["baseline"]
        if config.entropy_weight:  # else its gradient, of zeros, would be worked out
            total = total - self.entropy_bonus(means)
        if config.answer_by == "label":
            total = total + self.answer_total(means)
        norm = self.descend(total, **means)
        metrics = {f"loss/{name}": mean.item() for name, mean in means.items()}
        return {**metrics, **trajectory.summary(), "gradient_norm": norm}

    def state_dict(self) -> dict[str, Any]:
        average = {"value": self.average.value} if self.config.baseline == "moving_average" else {}
        return {**super().state_dict(), "moving_average": average}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        if self.config.baseline == "moving_average":
            self.average.value = state["moving_average"]["value"]
