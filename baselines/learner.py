"""Supervised learning of baselines: cross-entropy on answers, REINFORCE on sampled reads."""

from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from agents.algorithms.learner import GradientLearner
from agents.episodes.rollout import autocast
from agents.training.checks import check_choices
from agents.training.distributed import mean_and_deviation, processes
from baselines.model import Answers, Baseline, BaselineConfig, Observation
from baselines.setting import Setting
from glimpse_envs.episodes.lookup import full_view
from glimpse_envs.evaluation.record import Model


class Batch(NamedTuple):
    """B fresh episodes in the full view."""

    observation: Observation
    targets: Tensor  # (T, B) int64, the right answers; T = 1 where one answer ends the episode
    lengths: NDArray[np.int64]  # (B,), 0 where nothing has a length
    asked: Tensor | None = None  # (T, B) bool, where a word is asked; None: everywhere


class SupervisedLearner(GradientLearner):
    """Each `update` takes one step down the mean cross-entropy of one batch's answers.

    On pictures the last answer counts, or every one where the environment pays all; on tapes every
    symbol and the nothing after the last one; of a description every word, each after the right
    words before it (teacher forcing). The error of descriptions is the share of wrong words, which
    does not fall to 0 where two descriptions are right.

    A sampled read is learned by REINFORCE, as in D-NTM (Gulcehre et al. 2016, section 4.2): the
    reward is the log-likelihood of the right answers, less a baseline that is learned from the
    controller's state, over the batch's standard deviation. In contrast to D-NTM, a read is
    credited only with the answers that come after it.

    Args:
        config: of the training.
        model: the baseline's class.

    Raises:
        ValueError: the configuration does not fit the environment.
    """

    policy: Baseline

    def __init__(self, config: BaselineConfig, model: type[Baseline]) -> None:
        check_choices(config)
        self.config = config
        self.policy_class = f"{model.__module__}:{model.__name__}"
        setting = Setting.of(config.env_id, config.env_kwargs)
        every = config.supervise == "all" or setting.every_answer_counts
        self.first_scored = 0 if every else -1
        self.first_final = 0 if setting.answers_in_sequence or setting.words else -1
        env = gym.make_vec(
            config.env_id,
            num_envs=config.batch_size,
            split="train",
            copies=config.copies,
            autoreset_mode="Disabled",
            **full_view(config.env_id, config.env_kwargs),
        )
        super().__init__(config, env, lambda *_: model(setting, config))

    @property
    def model(self) -> Model:
        """Description of the model for records."""
        return self.policy.model

    def learn(self, progress: float) -> dict[str, float]:
        batch = self.deal()
        self.policy.train()
        self.policy.set_progress(progress, self.generator)
        with autocast(self.device, self.config.torch_precision):
            answers = self.policy(batch.observation)
        missed = cross_entropies(answers.logits[self.first_scored :], batch.targets)
        if batch.asked is not None:
            missed = missed * batch.asked
        parts = {"answer": missed.mean(), **answers.losses}
        if answers.log_probs is not None:
            parts |= read_losses(answers, -missed.detach())
        norm = self.descend(torch.stack(list(parts.values())).sum(), **parts)
        final = answers.logits[self.first_final :].argmax(dim=-1)  # (T, B) or (1, B)
        right = final == batch.targets
        if batch.asked is None:
            success = right.all(dim=0)
            self.record_success(batch.lengths, success)
            error = 1.0 - success.float().mean().item()
        else:
            error = 1.0 - right[batch.asked].float().mean().item()
        return {
            **{f"loss/{name}": part.item() for name, part in parts.items()},
            "error": error,
            "return": 1.0 - error,
            "glimpses": float(len(answers.logits)),
            "gradient_norm": norm,
        }

    def deal(self) -> Batch:
        """Deal fresh episodes to all rows."""
        observation, info = self.env.reset()
        lengths = info.get("length", np.zeros(self.env.num_envs, np.int64)).copy()
        tensors = self.policy.as_tensors(observation)
        if self.policy.setting.words:
            return self._deal_words(tensors, lengths)
        target = torch.as_tensor(self._answer_nothing()["target"]).to(self.device)
        return Batch(tensors, target.T if target.ndim == 2 else target[None], lengths)

    def _deal_words(self, observation: Observation, lengths: NDArray[np.int64]) -> Batch:
        """The right descriptions: after a wrong word the next one that is right is still told.

        In the observation `last_action` (B, T, words) is the right word before each, and `asked`
        (B, T) 1 where there is one, 0 beyond the last.
        """
        told = [self._answer_nothing() for _ in range(self.policy.setting.words)]
        targets, asked = (
            torch.as_tensor(np.stack([info[name] for info in told])).to(self.device)
            for name in ("target", "target_mask")
        )
        none, like = observation["last_action"], observation["scene"]
        before = F.one_hot(targets[:-1], none.shape[-1]).to(like)
        words = torch.cat([none[None], before]).transpose(0, 1)
        observation = observation | {"last_action": words, "asked": asked.T.to(like)}
        return Batch(observation, targets, lengths, asked)

    def _answer_nothing(self) -> dict[str, Any]:
        """A copy of what is told of all rows after answer 0."""
        space: Any = self.env.action_space
        *_, info = self.env.step({"answer": np.zeros(space["answer"].shape, np.int64)})
        return {name: np.array(info[name]) for name in ("target", "target_mask") if name in info}


def cross_entropies(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy (T, B) in nats of `logits` (T, B, n).

    The right answers `targets` are (T, B), or (1, B) where all T answer the same.
    """
    targets = targets.expand(len(logits), -1)
    losses = F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), reduction="none")
    return losses.view(targets.shape)


def read_losses(answers: Answers, rewards: Tensor) -> dict[str, Tensor]:
    """Losses of R sampled reads and of their baseline.

    The reads come before the last R of the T answers, or all of them before the only one.

    Args:
        answers: with `log_probs` and `values`, both (R, B).
        rewards: (T, B), the log-likelihood of each right answer, without a gradient.

    Returns:
        "read", whose gradient is REINFORCE's, and "baseline", the squared error of `values`.
    """
    log_probs, values = answers.log_probs, answers.values
    assert log_probs is not None
    assert values is not None
    # At each step the sum of rewards to come; all reads of a table have the same.
    returns = rewards.flip(0).cumsum(dim=0).flip(0)[-len(log_probs) :].expand_as(log_probs)
    returns = (1.0 / len(rewards)) * returns
    advantages = returns - values.detach()
    one = advantages.numel() * processes() == 1
    deviation = advantages.new_ones(()) if one else mean_and_deviation(advantages)[1]
    credit = advantages / (deviation + 1e-3)
    return {
        "read": -(credit * log_probs).sum(dim=0).mean(),
        "baseline": (values - returns).square().mean(),
    }
