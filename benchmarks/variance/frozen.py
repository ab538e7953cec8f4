"""Frozen policies, whose looks' gradient is estimated.

Two rewards. `place`: every look at the middle of the hidden digit pays 1 / looks when taken. It
depends on the looks alone, so that networks of all sizes play the same game and can learn from the
initial weights on; Gaussian looks begin at one place, off the middle, for every network. `answer`:
the probability of the right answer after the last glimpse, the mean reward of a sampled answer.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import torch
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray
from torch import Tensor, nn

from agents.algorithms.look_rewards import learning_signal
from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.episodes.environments import make_training_env
from agents.episodes.rollout import play_episodes
from agents.episodes.trajectory import Observation, Trajectory
from agents.policy.glimpse_policy import Decision
from agents.policy.heads import GaussianHead
from agents.policy.networks import NetworkConfig

Look = Literal["tiles", "continuous"]
LOOKS: tuple[Look, ...] = ("tiles", "continuous")
BATCH = 128
START = (0.4, -0.4)
LOOK_STD = 0.3
"""Standard deviation of Gaussian looks: wide, so that their gradient can be measured."""
ENVIRONMENTS = {"place": "Glimpse/TranslatedGlyphs-v0", "answer": "Glimpse/CenteredGlyphs-v0"}


@dataclass(frozen=True)
class Setting:
    """A policy and its task."""

    look: Look = "tiles"
    reward: Literal["place", "answer"] = "answer"
    width: int = 64
    """Number of units of the core and of the heads' hidden layers; the glimpse network's is
    fixed."""
    budget: int = 4
    updates: int = 0
    """Number of updates of training on answers, of `BATCH` episodes each; 0: initial weights."""
    seed: int = 0

    @property
    def name(self) -> str:
        """The setting in words, without width, budget and seed."""
        look = "Gaussian" if self.look == "continuous" else "tiles"
        stage = "after a short training" if self.updates else "at initialisation"
        return f"{look}, reward by {self.reward}, {stage}"


@dataclass(frozen=True)
class Episodes:
    """Episodes and their rewards.

    Args:
        played: B episodes of T steps.
        signal: (T, B), the rewards.
    """

    played: Trajectory
    signal: Tensor

    @classmethod
    def by_answer(cls, played: Trajectory) -> Self:
        """Rewarded with the probability of the right answer."""
        with torch.no_grad():
            log_likelihood = played.log_likelihood()
        return cls(played, learning_signal(played, log_likelihood, ReinforceConfig()))


class Frozen:
    """The policy of a setting, trained and then frozen."""

    def __init__(self, setting: Setting) -> None:
        torch.manual_seed(setting.seed)
        width = setting.width
        self.setting = setting
        self.config = ReinforceConfig(
            env_id=ENVIRONMENTS[setting.reward],
            env_kwargs={"budget": setting.budget, "look": setting.look},
            seed=setting.seed,
            episodes=BATCH * max(setting.updates, 1),
            batch_size=BATCH,
            learning_rate=3e-3,
            network=NetworkConfig(
                what_units=64,
                where_units=32,
                glimpse_units=64,
                core_units=width,
                head_units=width,
                look_std=LOOK_STD,
                # `benchmarks.variance.estimators.episode_grams` takes linear layers alone.
                normalise=False,
            ),
        )
        self.learner = Reinforce(self.config)
        self.policy = self.learner.policy
        if setting.reward == "place" and setting.look == "continuous":
            _start_at(self.policy.heads["look"], START)
        for update in range(setting.updates):
            self.learner.update(update / setting.updates)

    def make_env(self, rows: int, copies: int, seed: int) -> VectorEnv:
        """Fresh scenes in batches of `rows` episodes, `copies` of each; every use needs a seed of
        its own."""
        env = make_training_env(replace(self.config, batch_size=rows, copies=copies))
        env.reset(seed=1000 * (self.setting.seed + 1) + seed)
        return env

    def play(self, env: VectorEnv, *, keep_gradient: bool = False) -> Episodes:
        """A batch of episodes in `env`."""
        boxes: list[NDArray[np.float32]] = []

        def choose(
            decision: Decision, observation: Observation, info: dict[str, Any], step: int
        ) -> dict[str, Tensor]:
            boxes.append(info["target_box"])
            return self.learner.choose(decision, observation, info, step)

        with torch.set_grad_enabled(keep_gradient):
            played = play_episodes(env, self.policy, choose)
        if self.setting.reward == "place":
            return Episodes(played, place_signal(played, torch.as_tensor(boxes[0])))
        return Episodes.by_answer(played)


def _start_at(head: nn.Module, place: tuple[float, float]) -> None:
    """Set the bias of a Gaussian look's mean to `place`."""
    assert isinstance(head, GaussianHead)
    last = head.mean[-1]
    assert isinstance(last, nn.Linear)
    with torch.no_grad():
        last.bias.copy_(torch.tensor(place).atanh())


def paid_at_once(episodes: Episodes, generator: torch.Generator) -> Episodes:
    """The same episodes with one bit for a reward, at the end: 1 with their return as probability.
    The mean reward, and so the gradient, stays the same."""
    bit = torch.bernoulli(episodes.signal.sum(dim=0), generator=generator)
    return replace(episodes, signal=bit * episodes.played.ends)


def place_signal(played: Trajectory, box: Tensor) -> Tensor:
    """The rewards (T, B) of looks: 1 / (T - 1) where the next glimpse has its middle in the middle
    half of the digit's `box` (B, 4), x0, y0, x1, y1 in [-1, 1]."""
    location = torch.stack([observation["location"] for observation in played.observations])
    middle, size = (box[:, :2] + box[:, 2:]) / 2, box[:, 2:] - box[:, :2]
    on_target = ((location - middle).abs() <= size / 4).all(dim=-1)
    earned = torch.zeros_like(played.rewards)
    earned[:-1] = on_target[1:] / (len(location) - 1)
    return earned
