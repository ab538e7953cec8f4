"""REINFORCE (Williams 1992) for hard attention, as Recurrent Models of Visual Attention uses it.

Where to look is sampled, so its gradient is the score function's: the log-probability of each look
times its advantage, the return less a learned baseline that reads the same memory (RAM, eq. 2).
What to answer is learned from the label by cross-entropy (`answer_by="label"`, RAM's hybrid), or
from the reward alone (`answer_by="reward"`).

Stop-gradients: advantages are constants. With `detach_heads` (see `NetworkConfig`) the look's head
and the baseline send no gradient into core and glimpse network, which then learn from the answer.
"""

from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Literal

import gymnasium as gym
import torch
from gymnasium import spaces
from torch import Tensor
from torch.nn import functional as F

import glimpse_envs  # noqa: F401  (registers the environments)
from agents.checks import check_finite, check_positive
from agents.networks import NetworkConfig
from agents.policy import Decision, GlimpsePolicy
from agents.returns import returns_to_go
from agents.rollout import Observation, Trajectory, play_episodes
from agents.scanners import SCANNERS
from agents.training import TrainingConfig, cosine_decay


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
    baseline_weight: float = 0.5
    """Weight of the baseline's squared error."""
    entropy_weight: float = 0.0
    """Bonus for the policy's entropy, in nats."""
    final_look_std: float | None = None
    """A continuous look's standard deviation goes linearly to this; None keeps it."""
    network: NetworkConfig = field(default_factory=NetworkConfig)
    """Sizes and kinds of the networks."""


def episode_losses(
    trajectory: Trajectory,
    answer_by: str = "label",
    look_signal: str = "reward",
    looks_learned: bool = True,
    answer_reward: float = 1.0,
) -> dict[str, Tensor]:
    """The losses of each episode, name -> (B,); their weighted sum is what is minimised.

    `policy`: minus the log-probabilities times their advantages, summed over the decisions that had
    an effect (a look that was ignored, an answer that did not count and a stop when the budget was
    spent had none), less the looks where a scanner chose them. `answer`: the cross-entropy, a mean
    over the answers that counted. `baseline`: half the mean squared error. `entropy`: summed over
    the same decisions as `policy`.
    """
    heads = trajectory.decisions[0].heads
    values = torch.stack([decision.value for decision in trajectory.decisions])  # (T, B)
    alive = trajectory.alive.to(values.dtype)
    logits = torch.stack([d.heads["answer"].logits for d in trajectory.decisions])  # type: ignore[attr-defined]
    log_likelihood = -F.cross_entropy(
        logits.flatten(0, 1), trajectory.targets.flatten(), reduction="none"
    ).view_as(values)
    counted = trajectory.counted.to(values.dtype)
    share = counted / counted.sum(dim=0).clamp(min=1)  # (T, B)

    signal = trajectory.rewards.to(values.dtype)
    if answer_by == "label" and look_signal != "reward":
        answers = torch.stack([action["answer"] for action in trajectory.actions])
        right = (answers == trajectory.targets).to(values.dtype)
        score = log_likelihood.detach()
        score = score.exp() if look_signal == "probability" else score
        signal = signal + answer_reward * counted * (score - right)
    returns = returns_to_go(signal)
    advantages = (returns - values).detach()

    effective = {"stop": trajectory.stoppable}
    if looks_learned:
        effective["look"] = trajectory.looked
    if answer_by == "reward":
        effective["answer"] = trajectory.counted
    policy, entropy = torch.zeros_like(values[0]), torch.zeros_like(values[0])
    for name, mask in effective.items():
        if name in heads:
            policy = policy - (trajectory.stack(name, "log_prob") * advantages * mask).sum(dim=0)
            entropy = entropy + (trajectory.stack(name, "entropy") * mask).sum(dim=0)
    errors = 0.5 * (values - returns) ** 2 * alive
    return {
        "policy": policy,
        "answer": -(log_likelihood * share).sum(dim=0),
        "baseline": errors.sum(dim=0) / alive.sum(dim=0),
        "entropy": entropy,
    }


class Reinforce:
    """The learner: one `update` plays a batch of episodes and takes one step of Adam.

    Args:
        config: see `ReinforceConfig`.

    Raises:
        ValueError: the configuration does not fit the environment.
    """

    policy_class = "agents.policy:GlimpsePolicy"

    def __init__(self, config: ReinforceConfig) -> None:
        check_finite(config, "look_weight", "baseline_weight", "entropy_weight")
        check_positive(config, "final_look_std")
        if config.final_look_std is not None and config.network.learn_look_std:
            raise ValueError(
                "final_look_std schedules what learn_look_std learns: leave one of the two"
            )
        self.config = config
        torch.manual_seed(config.seed)
        self.env = gym.make_vec(
            config.env_id,
            num_envs=config.batch_size,
            split="train",
            copies=config.copies,
            autoreset_mode="SameStep" if _can_stop(config) else "Disabled",
            **config.env_kwargs,
        )
        observation_space = self.env.single_observation_space
        action_space = self.env.single_action_space
        assert isinstance(observation_space, spaces.Dict)
        assert isinstance(action_space, spaces.Dict)
        self.device = torch.device(config.device)
        self.policy = GlimpsePolicy(observation_space, action_space, config.network).to(self.device)
        self.optimizer = torch.optim.Adam(
            [p for p in self.policy.parameters() if p.requires_grad],
            lr=config.learning_rate,
            fused=True,
        )
        self.generator = torch.Generator().manual_seed(config.seed)
        self.scanner = None
        if config.looks != "learned":
            self.scanner = SCANNERS[config.looks](self.env, config.seed)
        self.env.reset(seed=config.seed)

    def choose(
        self, decision: Decision, observation: Observation, info: dict[str, Any], step: int
    ) -> dict[str, Tensor]:
        """Sample what is learned by reward; answer greedily what is learned from the label."""
        greedy = {"answer"} if self.config.answer_by == "label" else set()
        action = {
            name: head.mode() if name in greedy else head.sample(self.generator)
            for name, head in decision.heads.items()
        }
        if self.scanner is not None:
            arrays = {name: value.cpu().numpy() for name, value in observation.items()}
            looks = torch.as_tensor(self.scanner.looks(arrays, step, info))
            action["look"] = looks.to(self.device)
        return action

    def update(self, progress: float) -> dict[str, float]:
        """Learn from one batch of episodes; `progress` in [0, 1] drives the schedules.

        Raises:
            FloatingPointError: a loss or the gradient is not finite; the policy is unchanged.
        """
        config = self.config
        rate = config.learning_rate * cosine_decay(progress, config.warmup)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        if config.final_look_std is not None:
            start = config.network.look_std
            self.policy.set_look_std(start + progress * (config.final_look_std - start))

        trajectory = play_episodes(
            self.env, self.policy, self.choose, precision=config.torch_precision
        )
        losses = episode_losses(
            trajectory,
            config.answer_by,
            config.look_signal,
            looks_learned=self.scanner is None,
            answer_reward=self.env.unwrapped.task.answer_reward,  # type: ignore[attr-defined]
        )
        means = {name: loss.mean() for name, loss in losses.items()}
        total = config.baseline_weight * means["baseline"]
        total = total + config.look_weight * means["policy"]
        total = total - config.entropy_weight * means["entropy"]
        if config.answer_by == "label":
            total = total + means["answer"]
        for name, mean in means.items():
            if not torch.isfinite(mean):
                raise FloatingPointError(f"the {name} loss is {mean.item()}")
        self.optimizer.zero_grad(set_to_none=True)
        total.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        norm = torch.nn.utils.clip_grad_norm_(self.policy.parameters(), config.max_gradient_norm)
        if not torch.isfinite(norm):
            raise FloatingPointError(f"the gradient's norm is {norm.item()}")
        self.optimizer.step()

        metrics = {f"loss/{name}": mean.item() for name, mean in means.items()}
        final = torch.stack([action["answer"] for action in trajectory.actions])
        right = (final == trajectory.targets) & trajectory.alive & ~trajectory.looked
        metrics["error"] = 1.0 - right.any(dim=0).float().mean().item()
        metrics["return"] = trajectory.rewards.sum(dim=0).mean().item()
        metrics["glimpses"] = trajectory.alive.float().sum(dim=0).mean().item()
        metrics["gradient_norm"] = norm.item()
        metrics["learning_rate"] = rate
        return metrics

    def state_dict(self) -> dict[str, Any]:
        """All that the next update depends on, nested dicts of tensors, arrays and numbers."""
        return {
            "policy": self.policy.state_dict(),
            "optimizer": self.optimizer.state_dict()["state"],
            "generator": self.generator.get_state(),
            "env": self.env.unwrapped.state_dict(),  # type: ignore[attr-defined]
            "scanner": {} if self.scanner is None else self.scanner.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        self.policy.load_state_dict(state["policy"])
        groups = self.optimizer.state_dict()["param_groups"]
        moments = {int(index): values for index, values in state.get("optimizer", {}).items()}
        self.optimizer.load_state_dict({"state": moments, "param_groups": groups})
        self.generator.set_state(state["generator"])
        self.env.unwrapped.load_state_dict(state["env"])  # type: ignore[attr-defined]
        if self.scanner is not None:
            self.scanner.load_state_dict(state["scanner"])

    def close(self) -> None:
        """Close the environment."""
        self.env.close()


def _can_stop(config: ReinforceConfig) -> bool:
    """Whether rows may end at different times."""
    with closing(gym.make(config.env_id, **config.env_kwargs)) as env:
        assert isinstance(env.action_space, spaces.Dict)
        return "stop" in env.action_space.spaces
