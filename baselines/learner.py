"""Supervised learning of baselines: cross-entropy on answers, REINFORCE on sampled reads."""

from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from agents.algorithms.learner import GradientLearner
from agents.training.checks import check_choices
from agents.training.distributed import mean_and_deviation, processes
from agents.training.precision import autocast
from baselines.model import Answers, Baseline, BaselineConfig, Observation
from baselines.sentences import log_any, wrong_words
from baselines.setting import Setting
from glimpse_envs.core.boxes import middles_of
from glimpse_envs.episodes.lookup import full_view
from glimpse_envs.evaluation.record import Model


class Batch(NamedTuple):
    """B fresh episodes in the full view."""

    observation: Observation  # name -> (B, ...); of scenes that move with an axis of T frames
    # (T, B) int64, the right answers; T = 1 where one answer ends the episode, and -1 behind the
    # last where pictures have several. Of descriptions (T, R B): the first of R right sentences of
    # all scenes, the second of all, and so on, each with -1 behind its last word.
    targets: Tensor
    lengths: NDArray[np.int64]  # (B,), 0 where nothing has a length


class SupervisedLearner(GradientLearner):
    """Each `update` takes one step down the mean cross-entropy of one batch's answers.

    On pictures the last answer counts, or every one where the environment pays all, up to the last
    that is asked for, behind which the mean counts zeros; on tapes every symbol and the nothing
    after the last one. Where a place is asked for, the answer is its cell, and the error the share
    of wrong cells. For a description the loss is minus the log-likelihood that any of the right
    sentences is written, divided by the greatest number of words, where each word follows the right
    words before it (teacher forcing); the error is the share of wrong words in the likeliest of the
    right sentences.

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
        _check_config_class(self.policy_class, config, model)
        setting = Setting.of(config.env_id, config.env_kwargs)
        every = config.supervise == "all" or setting.every_answer_counts
        self.first_scored = 0 if every else -1
        several = setting.in_turn or setting.answers_in_sequence or setting.words
        self.first_final = 0 if several else -1
        env = gym.make_vec(
            config.env_id,
            num_envs=config.batch_size,
            split="train",
            copies=config.copies,
            autoreset_mode="Disabled",
            **full_view(config.env_id, config.env_kwargs),
        )
        super().__init__(config, env, lambda *_: model(setting, config))
        self._check_answers()

    @property
    def model(self) -> Model:
        """Description of the model for records."""
        return self.policy.model

    def learn(self, progress: float) -> dict[str, float]:
        batch = self.deal()
        self.given = [batch.observation], ()
        self.policy.train()
        self.policy.set_progress(progress, self.generator)
        with autocast(self.device, self.config.torch_precision):
            answers = self.policy(batch.observation)
        scored = slice(self.first_scored, None)
        missed = cross_entropies(answers.logits[scored], batch.targets[scored])
        described = bool(self.policy.setting.words)
        if described:
            # (T, R, B)
            sentences = batch.targets.view(len(missed), -1, self.env.num_envs)
            log_likelihoods = -missed.view(sentences.shape).sum(dim=0)
            loss = -log_any(log_likelihoods, sentences).mean() / len(missed)
        else:
            loss = missed.mean()
        parts = {"answer": loss, **answers.losses}
        if answers.log_probs is not None:
            parts |= read_losses(answers, -missed.detach())
        norm = self.descend(torch.stack(list(parts.values())).sum(), **parts)
        final = answers.logits[self.first_final :].argmax(dim=-1)  # (T, B) or (1, B)
        right = final == batch.targets[self.first_final :]
        if described:
            error = wrong_words(right.view(sentences.shape), sentences, log_likelihoods)
        else:
            success = (right | (batch.targets[self.first_final :] < 0)).all(dim=0)
            self.record_success(batch.lengths, success)
            error = 1.0 - success.float().mean().item()
        return {
            **{f"loss/{name}": part.item() for name, part in parts.items()},
            "error": error,
            "glimpses": float(len(answers.logits)),
            "gradient_norm": norm,
        }

    def deal(self) -> Batch:
        """Deal fresh episodes to all rows."""
        observation, info = self.env.reset()
        lengths = info.get("length", np.zeros(self.env.num_envs, np.int64)).copy()
        tensors = self.policy.as_tensors(observation)
        if self.policy.setting.words:
            return self._deal_words(tensors, info["sentences"], lengths)
        if self.policy.follows:
            return self._deal_frames(tensors["scene"], lengths)
        if self.policy.setting.in_turn:
            right = self._answers_in_turn(info)
        elif self.policy.setting.points:
            scene = self.policy.setting.pointed
            right = scene.cells_at(middles_of(info["target_box"].astype(np.float64)))
        else:
            right = self._right_answers()
        target = torch.as_tensor(right).to(self.device)
        return Batch(tensors, target.T if target.ndim == 2 else target[None], lengths)

    @torch.no_grad()
    def _check_answers(self) -> None:
        """Raise a `ValueError` unless the model gives one row as many answers as are asked for."""
        setting, space = self.policy.setting, self.env.single_observation_space
        if setting.words:
            return  # the captioner alone writes them
        assert isinstance(space, spaces.Dict)
        observation = {name: np.zeros((1, *(part.shape or ()))) for name, part in space.items()}
        asked = None
        if self.policy.follows:
            asked = setting.picture.budget
            observation["scene"] = np.repeat(observation["scene"][:, None], asked, axis=1)
        elif setting.in_turn:
            asked = setting.picture.answers
        elif setting.answers_in_sequence:
            asked = setting.sequence.outputs
        self.policy.eval()
        with torch.random.fork_rng(devices=[]):
            answers = self.policy(self.policy.as_tensors(observation))
        if not isinstance(answers, Answers):
            raise ValueError(
                f"{self.policy_class}: `forward` returned a value of the type "
                f"{type(answers).__name__}; it must return Answers, of baselines.model, as in "
                "Answers(logits)"
            )
        given = tuple(answers.logits.shape)
        if given != (asked or given[0], 1, setting.num_answers):
            raise ValueError(
                f"{self.policy_class}: `forward` gave logits of the shape {given} for one row of "
                f"{self.config.env_id}, which asks for {asked or 1} of {setting.num_answers} "
                f"answers: they must be ({asked or 'T'}, 1, {setting.num_answers})"
            )

    def _deal_words(
        self, observation: Observation, sentences: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> Batch:
        """The R right `sentences` (B, R, T) of each scene, -1 behind the last word of each.

        In the observation `last_action` (R B, T, words) is the right word before each, and `asked`
        (R B, T) 1 where there is one, 0 beyond the last.
        """
        right = torch.as_tensor(sentences).to(self.device).transpose(0, 1).flatten(0, 1)
        like, choices = observation["scene"], observation["last_action"].shape[-1]
        before = F.one_hot(right[:, :-1].clamp(min=0), choices).to(like)
        words = torch.cat([torch.zeros_like(before[:, :1]), before], dim=1)
        observation = observation | {"last_action": words, "asked": (right >= 0).to(like)}
        return Batch(observation, right.T, lengths)

    def _deal_frames(self, first: Tensor, lengths: NDArray[np.int64]) -> Batch:
        """All T frames of each scene that moves, (B, T, C, H, W), from the `first` on."""
        budget = self.policy.setting.picture.budget
        scene = first.new_empty(len(first), budget, *first.shape[1:])
        targets = torch.empty(budget, len(first), dtype=torch.int64)
        seen = first
        for step in range(budget):
            scene[:, step] = seen
            observation, info = self._answer_zero()
            seen = self.policy.as_tensors(observation)["scene"]
            targets[step] = torch.as_tensor(info["target"])
        return Batch({"scene": scene}, targets.to(self.device), lengths)

    def _answers_in_turn(self, info: dict[str, Any]) -> NDArray[np.int64]:
        """The right answers (B, T) of all rows, -1 behind the last of each."""
        if "answers" not in info:
            raise ValueError(
                f"{self.config.env_id} asks for several answers in turn: baselines learn them from "
                'info["answers"] (T,), -1 behind the last, which its task must give at reset'
            )
        return np.array(info["answers"])

    def _right_answers(self) -> NDArray[np.int64]:
        """The right answers of all rows, from `info`, after answer 0."""
        _, info = self._answer_zero()
        return np.array(info["target"])

    def _answer_zero(self) -> tuple[dict[str, NDArray], dict[str, Any]]:
        """The observation and the info of the next step."""
        space: Any = self.env.action_space
        answers = {"answer": np.zeros(space["answer"].shape, np.int64)}
        observation, *_, info = self.env.step(answers)
        return observation, info


def _check_config_class(name: str, config: BaselineConfig, model: type[Baseline]) -> None:
    """Raise a `ValueError` unless runs of the class called `name` are read back by their config."""
    read_by, kind = getattr(model, "config_class", None), type(config)
    if read_by is not kind:
        found = "missing" if read_by is None else read_by.__name__
        raise ValueError(
            f"{name}: config_class is {found}, and algorithm {config.algorithm} trains it with "
            f"{kind.__name__}: its runs could not be read back. Set config_class = {kind.__name__} "
            f"in {model.__name__}, or name the other one in the Algorithm"
        )


def cross_entropies(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy (T, B) in nats of `logits` (T, B, n).

    The right answers `targets` are (T, B), or (1, B) if the same for all T; 0 where a target is -1.
    """
    targets = targets.expand(len(logits), -1)
    losses = F.cross_entropy(
        logits.float().flatten(0, 1), targets.flatten(), reduction="none", ignore_index=-1
    )
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
    # With one answer, the reads of one table have one return: their deviation is the baseline's.
    one = advantages.shape[1] * processes() == 1 and 1 in (len(rewards), len(advantages))
    deviation = advantages.new_ones(()) if one else mean_and_deviation(advantages)[1]
    credit = advantages / (deviation + 1e-3)
    return {
        "read": -(credit * log_probs).sum(dim=0).mean(),
        "baseline": (values - returns).square().mean(),
    }
