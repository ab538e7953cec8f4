"""Policies that are held still while the gradient of what their looks earn is estimated.

Two rewards. `place`: every look at the middle of the hidden digit pays 1 / looks, as it is taken.
It depends on where the policy looks and on nothing else that it computes, so that networks of all
sizes play the same game, and there is something to learn from the first weights on; Gaussian looks
begin at one place, off the middle, whatever the network. `answer`: the probability that the model
gives the right answer after its last glimpse, which a sampled answer earns on average.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray
from torch import Tensor, nn

from agents.algorithms.policy_gradient import learning_signal
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
"""Of Gaussian looks: wide, so that their gradient is large enough to be measured."""
ENVIRONMENTS = {"place": "Glimpse/TranslatedGlyphs-v0", "answer": "Glimpse/CenteredGlyphs-v0"}


@dataclass(frozen=True)
class Setting:
    """Which policy, and what it plays."""

    look: Look = "tiles"
    reward: Literal["place", "answer"] = "answer"
    width: int = 64
    """Units of the core and hidden units of the heads; the glimpse network keeps its size."""
    budget: int = 4
    updates: int = 0
    """Updates of training on answers, of `BATCH` episodes each; 0 leaves the first weights."""
    seed: int = 0

    @property
    def name(self) -> str:
        """What tells settings apart whose width, budget and seed are said elsewhere."""
        look = "Gaussian" if self.look == "continuous" else "tiles"
        stage = "after a short training" if self.updates else "at initialisation"
        return f"{look}, reward by {self.reward}, {stage}"


@dataclass(frozen=True)
class Episodes:
    """Episodes, and what is earned at each step.

    Args:
        played: B episodes of T steps.
        signal: (T, B).
    """

    played: Trajectory
    signal: Tensor


class Frozen:
    """A policy of a setting, trained as the setting says and still from then on."""

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
        """Fresh scenes in batches of `rows` episodes, `copies` of each; the seeds of different
        purposes are to differ."""
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
        with torch.no_grad():
            log_likelihood = played.log_likelihood()
        return Episodes(played, learning_signal(played, log_likelihood, "label", "probability"))


def _start_at(head: nn.Module, place: tuple[float, float]) -> None:
    """Put the mean of a Gaussian look at `place`, but for what the weights add."""
    assert isinstance(head, GaussianHead)
    last = head.mean[-1]
    assert isinstance(last, nn.Linear)
    with torch.no_grad():
        last.bias.copy_(torch.tensor(place).atanh())


def paid_at_once(episodes: Episodes, generator: torch.Generator) -> Episodes:
    """The same episodes with one bit for a reward, at the end: 1 with the probability that is what
    they earned. On average that is what they earned, so that the gradient is the same."""
    earned = episodes.signal.sum(dim=0)
    bit = torch.bernoulli(earned, generator=generator)
    ends = episodes.played.alive & ~episodes.played.going_on
    return replace(episodes, signal=bit * ends)


def place_signal(played: Trajectory, box: Tensor) -> Tensor:
    """What looks earn at each step, (T, B): 1 / (T - 1) where the glimpse that follows has its
    middle in the middle half of the digit's `box` (B, 4), x0, y0, x1, y1 in [-1, 1]."""
    location = torch.stack([observation["location"] for observation in played.observations])
    middle, size = (box[:, :2] + box[:, 2:]) / 2, box[:, 2:] - box[:, :2]
    on_target = ((location - middle).abs() <= size / 4).all(dim=-1)
    earned = torch.zeros_like(played.rewards)
    earned[:-1] = on_target[1:] / (len(location) - 1)
    return earned
