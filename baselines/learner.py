"""Supervised learning of baselines: cross-entropy on the label, in the runs that agents have."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from agents.algorithms.learner import GradientLearner
from agents.episodes.rollout import autocast, make_training_env
from agents.training.checks import check_choices
from baselines.model import Baseline, BaselineConfig, Setting, full_view
from glimpse_envs.evaluation.record import Model


class SupervisedLearner(GradientLearner):
    """One `update` sees a batch of fresh scenes whole and takes one step of Adam down the
    cross-entropy of the answers that count: the last, or every one where the environment pays all.

    Args:
        config: of the training.
        model: the baseline's class.

    Raises:
        ValueError: the configuration does not fit the environment.
    """

    policy: Baseline

    def __init__(self, config: BaselineConfig, model: type[Baseline]) -> None:
        setting = Setting.of(config.env_id, config.env_kwargs)
        self.policy_class = f"{model.__module__}:{model.__name__}"
        self.config = config
        check_choices(config)
        every = config.supervise == "all" or setting.every_answer_counts
        self.first_counted = 0 if every else -1
        env = make_training_env(replace(config, env_kwargs=full_view(config.env_kwargs)))
        super().__init__(config, env, lambda *_: model(setting, config))

    @property
    def model(self) -> Model:
        return self.policy.model

    def learn(self, progress: float) -> dict[str, float]:
        scene, target = self.deal()
        self.policy.train()
        self.policy.set_progress(progress, self.generator)
        with autocast(self.device, self.config.torch_precision):
            logits = self.policy(scene)  # (T, B, n)
        counted = logits[self.first_counted :].float()
        targets = target.expand(len(counted), -1).flatten()
        loss = F.cross_entropy(counted.flatten(0, 1), targets)
        norm = self.descend(loss, answer=loss)
        error = (logits[-1].argmax(dim=-1) != target).float().mean().item()
        return {
            "loss/answer": loss.item(),
            "error": error,
            "return": 1.0 - error,
            "glimpses": float(len(logits)),
            "gradient_norm": norm,
        }

    def deal(self) -> tuple[Tensor, Tensor]:
        """Fresh scenes (B, C, H, W) and their labels (B,)."""
        observation, _ = self.env.reset()
        rows = len(observation["scene"])
        action: dict[str, Any] = {"answer": torch.zeros(rows, dtype=torch.int64).numpy()}
        *_, info = self.env.step(action)
        scene = torch.as_tensor(observation["scene"]).to(self.device)
        return scene, torch.as_tensor(info["target"]).to(self.device)
