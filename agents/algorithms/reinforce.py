"""REINFORCE (Williams 1992) for hard attention, as Recurrent Models of Visual Attention uses it.

Where to look is sampled, so its gradient is the score function's: the log-probability of each look
times its advantage, the return less a baseline: by default a learned one that reads the same memory
(RAM, eq. 2); simpler ones, and none, are there to be compared (`docs/gradient_variance.md`).
What to answer is learned from the label by cross-entropy (`answer_by="label"`, RAM's hybrid), or
from the reward alone (`answer_by="reward"`).

Stop-gradients: advantages are constants. With `detach_heads` (see `NetworkConfig`) the look's head
and the baseline send no gradient into core and glimpse network, which then learn from the answer.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor

from agents.algorithms.learner import GradientLearner
from agents.algorithms.returns import returns_to_go
from agents.episodes.environments import make_training_env
from agents.episodes.rollout import play_episodes, sample_actions
from agents.episodes.trajectory import Observation, Trajectory
from agents.policy.glimpse_policy import Decision, GlimpsePolicy, policy_maker
from agents.policy.networks import NetworkConfig, core_name
from agents.scoring.scanners import SCANNERS
from agents.training.checks import check_finite, check_positive
from agents.training.loop import TrainingConfig


@dataclass(frozen=True)
class ReinforceConfig(TrainingConfig):
    """Train a recurrent attention model by REINFORCE."""

    answer_by: Literal["label", "reward"] = "label"
    """Learn the answer by cross-entropy on the label (RAM's hybrid), or by REINFORCE too."""
    look_signal: Literal["reward", "probability", "log_likelihood"] = "probability"
    """What looks are rewarded with: the environment's reward, as in RAM, or in place of a right
    answer's 1 the probability or the log-likelihood that the model gives the right answer, which
    vary less (with answer_by="reward" always the reward)."""
    looks: Literal["learned", "random", "raster", "oracle"] = "learned"
    """Who looks: the model, or, for controls, a scanner, with the answers trained alike."""
    look_weight: float = 0.1
    """Weight of REINFORCE's loss (1 where the answer is learned by reward)."""
    baseline: Literal["learned", "none", "moving_average", "leave_one_out"] = "learned"
    """What is subtracted from returns: what the policy's own baseline foresees; nothing; a moving
    average of the batches' mean returns (Xu et al. 2015); or the mean return of the scene's other
    copies (Kool et al. 2019), of which there are to be at least 2."""
    baseline_weight: float = 0.5
    """Weight of the learned baseline's squared error."""
    entropy_weight: float = 0.0
    """Bonus for the entropy of looks, of stops and of whether to answer, in nats; none for what is
    answered or written, which a bonus would flatten before it has earned anything."""
    final_look_std: float | None = None
    """A continuous look's standard deviation goes linearly to this; None keeps it."""
    network: NetworkConfig = field(default_factory=NetworkConfig)
    """Sizes and kinds of the networks."""


Baseline = Callable[[Tensor], Tensor]
"""From the returns-to-go (T, B) to what is subtracted from them, which broadcasts to (T, B)."""


def learning_signal(
    trajectory: Trajectory,
    log_likelihood: Tensor,
    answer_by: str,
    look_signal: str,
) -> Tensor:
    """What decisions are rewarded with, (T, B), constant; see `look_signal` of `ReinforceConfig`.

    Args:
        trajectory: episodes as they were played.
        log_likelihood: (T, B), of the right answers.
        answer_by, look_signal: see `ReinforceConfig`.
    """
    if answer_by == "reward" or look_signal == "reward" or trajectory.targets is None:
        return trajectory.rewards
    assert trajectory.taught is not None
    answers = torch.stack([action[trajectory.taught] for action in trajectory.actions])
    right = (answers == trajectory.targets).to(log_likelihood.dtype)
    score = log_likelihood.detach()
    score = score.exp() if look_signal == "probability" else score
    return trajectory.rewards + trajectory.answer_reward * trajectory.counted * (score - right)


def episode_losses(
    trajectory: Trajectory,
    answer_by: str = "label",
    look_signal: str = "reward",
    looks_learned: bool = True,
    baseline: Baseline | None = None,
) -> dict[str, Tensor]:
    """The losses of each episode, name -> (B,); their weighted sum is what is minimised.

    `policy`: minus the log-probabilities times their advantages, summed over the decisions that had
    an effect (a look that was ignored, an answer that did not count and a stop when the budget was
    spent had none), less the looks where a scanner chose them. `answer`: the cross-entropy, a mean
    over the answers that counted. `baseline`: half the mean squared error of the learned one.
    `entropy`: of looks, stops and whether to answer, summed. `baseline`, the argument, says what to
    subtract from the returns in place of the learned values.
    """
    values, log_likelihood = trajectory.values, trajectory.log_likelihood()  # (T, B) each
    signal = learning_signal(trajectory, log_likelihood, answer_by, look_signal)
    returns = returns_to_go(trajectory.rewards_to_the_end(signal, discount=1.0))
    advantages = (returns - (values if baseline is None else baseline(returns))).detach()
    effective = trajectory.effective(looks=looks_learned, taught=answer_by == "reward")
    return {
        "policy": -(trajectory.joint("log_prob", effective) * advantages).sum(dim=0),
        "answer": -mean_where(trajectory.counted, log_likelihood),
        "baseline": mean_where(trajectory.alive, 0.5 * (values - returns) ** 2),
        "entropy": trajectory.joint("entropy", trajectory.rewarded_for_entropy(effective)).sum(
            dim=0
        ),
    }


def leave_one_out(returns: Tensor, copies: int) -> Tensor:
    """The mean return of a scene's other copies, step by step (Kool, van Hoof & Welling 2019, "Buy
    4 REINFORCE samples, get a baseline for free!"): they know the scene and not this copy's looks,
    so that the gradient stays unbiased.

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
    al. 2015, "Show, attend and tell", section 4.1). It starts at 0, and a batch is judged by those
    before it alone.

    Attributes:
        value: b.
    """

    DECAY = 0.9

    def __init__(self) -> None:
        self.value = 0.0

    def __call__(self, returns: Tensor) -> Tensor:
        """What is subtracted from the returns (T, B) of one more batch; a scalar."""
        before = returns.new_tensor(self.value)
        mean = returns[0].mean().item()
        self.value = self.DECAY * self.value + (1 - self.DECAY) * mean
        return before


def mean_where(mask: Tensor, values: Tensor) -> Tensor:
    """The mean over time of `values` (T, B) where `mask`, 0 where it is nowhere: (B,)."""
    return (values * mask).sum(dim=0) / mask.sum(dim=0).clamp(min=1)


BASELINE_NAMES = {
    "none": "no baseline",
    "moving_average": "moving-average baseline",
    "leave_one_out": "leave-one-out baseline",
}


class Reinforce(GradientLearner):
    """The learner: one `update` plays a batch of episodes and takes one step of Adam.

    Args:
        config: see `ReinforceConfig`.

    Raises:
        ValueError: the configuration does not fit the environment.
    """

    policy: GlimpsePolicy

    def __init__(self, config: ReinforceConfig) -> None:
        check_finite(config, "look_weight", "baseline_weight", "entropy_weight")
        check_positive(config, "final_look_std")
        if config.final_look_std is not None and config.network.learn_look_std:
            raise ValueError(
                "final_look_std schedules what learn_look_std learns: leave one of the two"
            )
        if config.baseline == "leave_one_out" and config.copies < 2:
            raise ValueError(
                f"baseline='leave_one_out' needs copies of at least 2, not {config.copies}: it "
                "compares the looks at a scene with those of its other copies"
            )
        self.config = config
        self.average = MovingAverage()
        env = make_training_env(config)
        self.scanner = None
        if config.looks != "learned":
            self.scanner = SCANNERS[config.looks](env, config.seed)
        super().__init__(config, env, policy_maker(config.network))

    @property
    def name(self) -> str:
        name = f"Reinforce {core_name(self.config.network)}"
        if self.config.baseline != "learned":
            name = f"{name}, {BASELINE_NAMES[self.config.baseline]}"
        looks = self.config.looks
        return name if looks == "learned" else f"{name}, {looks} glimpses"

    @property
    def baseline(self) -> Baseline | None:
        """What is subtracted from returns; None where the policy's own is."""
        if self.config.baseline == "learned":
            return None
        baselines: dict[str, Baseline] = {
            "none": torch.zeros_like,
            "moving_average": self.average,
            "leave_one_out": partial(leave_one_out, copies=self.config.copies),
        }
        return baselines[self.config.baseline]

    def choose(
        self, decision: Decision, observation: Observation, info: dict[str, Any], step: int
    ) -> dict[str, Tensor]:
        """Sample what is learned by reward; answer greedily what is learned from the label."""
        action = sample_actions(
            decision, self.policy.components, self.config.answer_by, self.generator
        )
        if self.scanner is not None:
            arrays = {name: value.cpu().numpy() for name, value in observation.items()}
            looks = torch.as_tensor(self.scanner.looks(arrays, step, info))
            action["look"] = looks.to(self.device)
        return action

    def learn(self, progress: float) -> dict[str, float]:
        """Play a batch of episodes and descend its losses."""
        config = self.config
        if config.final_look_std is not None:
            start = config.network.look_std
            self.policy.set_look_std(start + progress * (config.final_look_std - start))

        trajectory = play_episodes(
            self.env,
            self.policy,
            self.choose,
            precision=config.torch_precision,
            drop_ended=self.scanner is None,
        )
        self.record_levels(trajectory)
        losses = episode_losses(
            trajectory,
            config.answer_by,
            config.look_signal,
            looks_learned=self.scanner is None,
            baseline=self.baseline,
        )
        if config.baseline != "learned":
            del losses["baseline"]  # nobody asks what the policy's own foresees
        means = {name: loss.mean() for name, loss in losses.items()}
        total = config.look_weight * means["policy"]
        if config.baseline == "learned":
            total = total + config.baseline_weight * means["baseline"]
        total = total - config.entropy_weight * means["entropy"]
        if config.answer_by == "label":
            total = total + means["answer"]
        norm = self.descend(total, **means)
        metrics = {f"loss/{name}": mean.item() for name, mean in means.items()}
        return {**metrics, **trajectory.summary(), "gradient_norm": norm}

    def state_dict(self) -> dict[str, Any]:
        scanner = {} if self.scanner is None else self.scanner.state_dict()
        average = {"value": self.average.value} if self.config.baseline == "moving_average" else {}
        return {**super().state_dict(), "scanner": scanner, "moving_average": average}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        if self.scanner is not None:
            self.scanner.load_state_dict(state["scanner"])
        if self.config.baseline == "moving_average":
            self.average.value = state["moving_average"]["value"]
