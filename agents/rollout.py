"""Whole episodes: played with the gradient kept, so that learning needs no second forward pass, or
without it and replayed, as often as one likes, with the policy as it is by then."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

import glimpse_envs  # noqa: F401  (registers the environments)
from agents.policy import Decision, GlimpsePolicy
from agents.training import TrainingConfig

Observation = dict[str, Tensor]
Choose = Callable[[Decision, Observation, dict[str, Any], int], dict[str, Tensor]]


@dataclass(frozen=True)
class Trajectory:
    """One episode of each of B rows, T steps of the longest; what follows a row's end is not alive.

    Args:
        decisions: T decisions, with their gradients where they were kept.
        observations: T observations, name -> (B, ...), of which the decisions were made.
        actions: T actions, name -> (B, ...), as they were sampled.
        rewards: (T, B), 0 where not alive.
        targets: (T, B) int64, the right answers.
        counted: (T, B) bool, where the answer counted.
        alive: (T, B) bool.
        looked: (T, B) bool, where the look was taken: all alive steps but an episode's last.
        stoppable: (T, B) bool, where stopping was a choice: all alive steps but the budget's last.
    """

    decisions: list[Decision]
    observations: list[Observation]
    actions: list[dict[str, Tensor]]
    rewards: Tensor
    targets: Tensor
    counted: Tensor
    alive: Tensor
    looked: Tensor
    stoppable: Tensor

    @property
    def values(self) -> Tensor:
        """The baseline's values, (T, B)."""
        return torch.stack([decision.value for decision in self.decisions])

    def log_likelihood(self) -> Tensor:
        """The log-probability of the right answer at every step, (T, B)."""
        logits = torch.stack([d.heads["answer"].logits for d in self.decisions])  # type: ignore[attr-defined]
        missed = F.cross_entropy(logits.flatten(0, 1), self.targets.flatten(), reduction="none")
        return -missed.view(self.targets.shape)

    def effective(self, *, looks: bool, answers: bool) -> dict[str, Tensor]:
        """Where a decision that is learned by reward had an effect: component -> (T, B) bool.

        A look that was ignored, an answer that did not count and a stop when the budget was spent
        had none. Stops are always learned by reward, `looks` and `answers` where it is said.
        """
        masks = {"stop": self.stoppable}
        if looks:
            masks["look"] = self.looked
        if answers:
            masks["answer"] = self.counted
        return {name: mask for name, mask in masks.items() if name in self.decisions[0].heads}

    def stack(self, name: str, quantity: str) -> Tensor:
        """Stack over time the `quantity` ("log_prob" or "entropy") of component `name`: (T, B)."""
        heads = [decision.heads[name] for decision in self.decisions]
        if quantity == "entropy":
            return torch.stack([head.entropy() for head in heads])
        pairs = zip(heads, self.actions, strict=True)
        return torch.stack([head.log_prob(action[name]) for head, action in pairs])

    def joint(self, quantity: str, effective: dict[str, Tensor]) -> Tensor:
        """The `quantity` of each step's whole action: the sum over the components of `effective`,
        where they had an effect; (T, B)."""
        total = torch.zeros_like(self.rewards)
        for name, mask in effective.items():
            total = total + self.stack(name, quantity) * mask
        return total

    def summary(self) -> dict[str, float]:
        """Means over the episodes: the last answer's error, the return, and the glimpses taken."""
        answers = torch.stack([action["answer"] for action in self.actions])
        right = (answers == self.targets) & self.alive & ~self.looked
        return {
            "error": 1.0 - right.any(dim=0).float().mean().item(),
            "return": self.rewards.sum(dim=0).mean().item(),
            "glimpses": self.alive.float().sum(dim=0).mean().item(),
        }


def make_training_env(config: TrainingConfig, **kwargs: Any) -> VectorEnv:
    """The environment of a config's batches of whole episodes, with further arguments `kwargs`."""
    arguments = {**config.env_kwargs, **kwargs}
    with closing(gym.make(config.env_id, **arguments)) as env:
        assert isinstance(env.action_space, spaces.Dict)
        ends_differ = "stop" in env.action_space.spaces
    return gym.make_vec(
        config.env_id,
        num_envs=config.batch_size,
        split="train",
        copies=config.copies,
        autoreset_mode="SameStep" if ends_differ else "Disabled",
        **arguments,
    )


def play_episodes(
    env: VectorEnv,
    policy: GlimpsePolicy,
    choose: Choose,
    *,
    precision: torch.dtype = torch.float32,
    options: Mapping[str, Any] | None = None,
) -> Trajectory:
    """Deal new episodes to all rows of `env` and play each to its end.

    Args:
        env: batched, with `autoreset_mode` "Disabled", or "SameStep" where rows can stop early.
        policy: decides; its gradient is kept unless it is switched off around the call.
        choose: turns (decision, observation, info, step) into an action, name -> (B, ...).
        precision: of the matrix products; bfloat16 is several times faster where the processor
            has it, and sums in float32.
        options: for `reset`.

    Raises:
        FloatingPointError: what the policy decides is not finite.
    """
    device = next(policy.parameters()).device
    observation, info = env.reset(options=dict(options or {}))
    state = policy.initial_state(env.num_envs)
    alive = np.ones(env.num_envs, np.bool_)
    decisions: list[Decision] = []
    observations: list[Observation] = []
    actions: list[dict[str, Tensor]] = []
    steps: list[tuple[NDArray, ...]] = []
    with autocast(device, precision):
        while alive.any():
            tensors = policy.as_tensors(observation)
            decision, state = policy(tensors, state)
            _check_finite(decision, len(steps))
            action = choose(decision, tensors, info, len(steps))
            stoppable = alive & _has_glimpses_left(observation)
            env_action = {name: decision.heads[name].to_env(a) for name, a in action.items()}
            observation, reward, terminated, _, info = env.step(env_action)
            target, counted = _answered(info, terminated)
            going = alive & ~terminated
            steps.append(
                (np.where(alive, reward, 0.0), target, counted & alive, alive, going, stoppable)
            )
            decisions.append(decision)
            observations.append(tensors)
            actions.append(action)
            alive = going
    rewards, *masks = (
        torch.as_tensor(np.stack(column)).to(device) for column in zip(*steps, strict=True)
    )
    rewards = rewards.to(decisions[0].value.dtype)
    return Trajectory(decisions, observations, actions, rewards, *masks)


def replay_episodes(
    policy: GlimpsePolicy,
    played: Trajectory,
    rows: Tensor,
    *,
    precision: torch.dtype = torch.float32,
) -> Trajectory:
    """Decide anew, from the first glimpse on, of what was seen in `rows` (b,) of `played`.

    Args:
        policy: decides as it is now; its gradient is kept.
        played: episodes that were played.
        rows: (b,) int64, which episodes.
        precision: see `play_episodes`.

    Returns:
        The episodes of `rows` with their observations and actions, and the new decisions.

    Raises:
        FloatingPointError: what the policy decides is not finite.
    """
    device = played.rewards.device
    rows = rows.to(device)
    state = policy.initial_state(len(rows))
    decisions: list[Decision] = []
    observations = [_rows(observation, rows) for observation in played.observations]
    with autocast(device, precision):
        for observation in observations:
            decision, state = policy(observation, state)
            _check_finite(decision, len(decisions))
            decisions.append(decision)
    return Trajectory(
        decisions,
        observations,
        actions=[_rows(action, rows) for action in played.actions],
        rewards=played.rewards[:, rows],
        targets=played.targets[:, rows],
        counted=played.counted[:, rows],
        alive=played.alive[:, rows],
        looked=played.looked[:, rows],
        stoppable=played.stoppable[:, rows],
    )


def _rows(named: dict[str, Tensor], rows: Tensor) -> dict[str, Tensor]:
    return {name: values[rows] for name, values in named.items()}


def _check_finite(decision: Decision, step: int) -> None:
    for name, head in decision.heads.items():
        if not head.is_finite():
            raise FloatingPointError(f"the policy's {name} after glimpse {step + 1} is not finite")


def _has_glimpses_left(observation: dict[str, NDArray]) -> NDArray[np.bool_] | bool:
    """Whether each row's budget is not spent, (B,); in the full view, which has none, False."""
    return observation["remaining"][:, 0] > 0 if "remaining" in observation else False


def _answered(
    info: dict[str, Any], terminated: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """What was right and whether it counted, (B,) each, for all rows."""
    if "final_info" not in info:
        return info["target"], info["target_mask"]
    final = info["final_info"]
    if "target" not in info:
        return final["target"], final["target_mask"]
    return (
        np.where(terminated, final["target"], info["target"]),
        np.where(terminated, final["target_mask"], info["target_mask"]),
    )


@contextmanager
def autocast(device: torch.device, precision: torch.dtype) -> Iterator[None]:
    """Products in `precision`, sums in float32."""
    if precision == torch.float32:
        yield
        return
    with torch.autocast(device.type, dtype=precision):
        yield
