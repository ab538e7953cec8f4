"""Supervised learning of tapes and tables: cross-entropy on every answer, and REINFORCE for those
cells of a memory that were chosen by sampling."""

from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from agents.algorithms.learner import GradientLearner
from agents.episodes.rollout import autocast
from agents.training.checks import check_choices
from baselines.memories.memory_model import Answers, MemoryBaseline, MemoryConfig, MemorySetting
from baselines.model import full_view
from glimpse_envs.evaluation.record import Model


class MemoryLearner(GradientLearner):
    """One `update` sees a batch of fresh tapes or tables whole and takes one step of Adam down the
    mean cross-entropy of all answers, the nothing after a tape's last one included.

    A sampled read is learned by REINFORCE, as in D-NTM (Gulcehre et al. 2016, section 4.2): the
    reward is the log-likelihood of the right answers, less a baseline that is learned from the
    controller's state, over the batch's standard deviation. Here a read is credited with the
    answers that come after it alone.

    Args:
        config: of the training.
        model: the baseline's class.

    Raises:
        ValueError: the configuration does not fit the environment.
    """

    policy: MemoryBaseline

    def __init__(self, config: MemoryConfig, model: type[MemoryBaseline]) -> None:
        check_choices(config)
        setting = MemorySetting.of(config.env_id, config.env_kwargs)
        self.policy_class = f"{model.__module__}:{model.__name__}"
        self.config = config
        env = gym.make_vec(
            config.env_id,
            num_envs=config.batch_size,
            split="train",
            copies=config.copies,
            autoreset_mode="Disabled",
            **full_view(config.env_kwargs),
        )
        make: Any = model  # subclasses take no read_size
        super().__init__(config, env, lambda *_: make(setting, config))

    @property
    def model(self) -> Model:
        return self.policy.model

    def learn(self, progress: float) -> dict[str, float]:
        observation, targets, lengths = self.deal()
        self.policy.train()
        self.policy.set_progress(progress, self.generator)
        with autocast(self.device, self.config.torch_precision):
            answers = self.policy(observation)
        missed = cross_entropies(answers, targets)
        parts = {"answer": missed.mean()}
        if answers.log_probs is not None:
            parts |= read_losses(answers, -missed.detach())
        total = torch.stack(list(parts.values())).sum()
        norm = self.descend(total, **parts)
        right = (answers.logits.argmax(dim=-1) == targets).all(dim=0)
        self.record_solved(lengths, right)
        error = 1.0 - right.float().mean().item()
        return {
            **{f"loss/{name}": part.item() for name, part in parts.items()},
            "error": error,
            "return": 1.0 - error,
            "glimpses": float(observation["scene"].shape[1]),
            "gradient_norm": norm,
        }

    def record_solved(self, lengths: Tensor, right: Tensor) -> None:
        """Tell the curriculum, if there is one, which rows were wholly right: both (B,)."""
        levels = self.env.unwrapped.level_distribution  # type: ignore[attr-defined]
        if levels is not None:
            levels.record(lengths.numpy(), right.cpu().numpy())

    def deal(self) -> tuple[dict[str, Tensor], Tensor, Tensor]:
        """Fresh observations, name -> (B, ...); what is right (T, B); and lengths (B,)."""
        observation, info = self.env.reset()
        lengths = torch.as_tensor(info["length"].copy())
        space: Any = self.env.action_space
        *_, info = self.env.step({"answer": np.zeros(space["answer"].shape, np.int64)})
        target = torch.as_tensor(info["target"]).to(self.device)
        tensors = {name: torch.as_tensor(a).to(self.device) for name, a in observation.items()}
        return tensors, target.T if target.ndim == 2 else target[None], lengths


def cross_entropies(answers: Answers, targets: Tensor) -> Tensor:
    """In nats, (T, B), of the right answers `targets` (T, B)."""
    logits = answers.logits.float().flatten(0, 1)
    return F.cross_entropy(logits, targets.flatten(), reduction="none").view(targets.shape)


def read_losses(answers: Answers, rewards: Tensor) -> dict[str, Tensor]:
    """What sampled reads and their baseline learn from, where the R reads came before the last R
    of the T answers, or all of them before the only one.

    Args:
        answers: with `log_probs` and `values`, both (R, B).
        rewards: (T, B), the log-likelihood of each right answer, without a gradient.

    Returns:
        "read", whose gradient is REINFORCE's, and "baseline", the squared error of `values`.
    """
    log_probs, values = answers.log_probs, answers.values
    assert log_probs is not None
    assert values is not None
    # Of every step the sum of what is still to come; of a table's reads all have the same.
    returns = rewards.flip(0).cumsum(dim=0).flip(0)[-len(log_probs) :].expand_as(log_probs)
    scale = 1.0 / len(rewards)
    returns = scale * returns
    advantages = returns - values.detach()
    deviation = advantages.std() if advantages.numel() > 1 else advantages.new_ones(())
    credit = advantages / (deviation + 1e-3)
    return {
        "read": -(credit * log_probs).sum(dim=0).mean(),
        "baseline": (values - returns).square().mean(),
    }
