"""Hard attention over tiles by back-propagation: straight-through Gumbel-softmax.

A look is sampled by Gumbel noise G on the logits l of the policy's tiles: argmax(l + G) is a sample
of softmax(l). The next observation is a sum over the tiles by weights y: the glimpse Σ_a y_a g_a,
at the location Σ_a y_a x_a. Forward, y is the one-hot sample z; backward, its gradient is that of
the relaxed sample ỹ = softmax((l + G) / τ) at temperature τ (Jang, Gu & Poole 2017, "Categorical
reparameterization with Gumbel-softmax", section 2.2):

    y = z + ỹ - stop_gradient(ỹ).

With `hard=False` the observation while training is the mixture y = ỹ itself (the Concrete
distribution of Maddison, Mnih & Teh 2017). The loss is -Σ_t w_t log p(y* | s_t), the cross-entropy
of the answers that pay w_t. No reward is used, the baseline is not trained, and the gradient is
biased: a high τ lowers its variance and raises its bias.

Cost: a read of all tiles a scene, in training alone; one pass through the networks a glimpse.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from agents.algorithms.tile_learner import (
    TileConfig,
    TileEpisodes,
    TileLearner,
    TileLosses,
    look_of,
)
from agents.policy.glimpse_policy import GlimpsePolicy
from agents.training.checks import check_positive
from agents.training.precision import autocast
from agents.training.row_draws import draw_rows
from glimpse_envs.evaluation.record import Model


@dataclass(frozen=True)
class StraightThroughConfig(TileConfig):
    """Train a recurrent attention model over tiles by straight-through Gumbel-softmax."""

    algorithm: ClassVar[str] = "straight_through"

    hard: bool = True
    """Observe the sampled tile while training; with --no-hard, the relaxed mixture of all tiles."""
    temperature: float = 1.0
    """Temperature, above 0, of the relaxed sample at the start of the training."""
    final_temperature: float = 0.5
    """Temperature, above 0, of the relaxed sample at the end; its logarithm changes linearly."""


def gumbel_noise(like: Tensor, generator: torch.Generator) -> Tensor:
    """Standard Gumbel samples of the shape, type and device of `like`."""
    exponential = draw_rows(
        lambda shape: torch.empty(shape, dtype=torch.float64).exponential_(generator=generator),
        like.shape,
        generator,
    )
    return -exponential.log().to(like)


def tile_weights(logits: Tensor, noise: Tensor, temperature: float, hard: bool) -> Tensor:
    """The weights y (B, n) of the tiles, which sum to 1; one-hot, with the relaxed weights'
    gradient, where `hard`.

    Args:
        logits: (B, n), of the tiles.
        noise: (B, n), Gumbel samples.
        temperature: τ, above 0.
        hard: see `StraightThroughConfig`.
    """
    perturbed = logits + noise
    relaxed = (perturbed / temperature).softmax(dim=-1)
    if not hard:
        return relaxed
    sample = F.one_hot(perturbed.argmax(dim=-1), logits.shape[-1])
    # In this order the difference is exactly 0, and the sum exactly one-hot.
    return sample + (relaxed - relaxed.detach())


def episode_losses(
    policy: GlimpsePolicy,
    episodes: TileEpisodes,
    temperature: float,
    hard: bool,
    generator: torch.Generator,
) -> TileLosses:
    """Play `episodes` and return their losses.

    `answer`: the cross-entropy, summed over the answers by what they pay; `entropy`: of the looks,
    summed over them.

    Args:
        policy: decides; its gradient is kept.
        episodes: about to begin.
        temperature: τ, above 0.
        hard: see `StraightThroughConfig`.
        generator: of the Gumbel noise.
    """
    budget = len(episodes.pays)
    weights = episodes.pick(episodes.first)
    state = policy.initial_state(len(weights))
    answer, entropy = torch.zeros_like(weights[:, 0]), torch.zeros_like(weights[:, 0])
    rights = []
    for taken, pay in enumerate(episodes.pays, start=1):
        decision, state = policy(episodes.shown(weights, taken), state)
        head = decision.heads["answer"]
        answer = answer - pay * head.log_prob(episodes.targets)
        rights.append((head.mode() == episodes.targets).to(answer))
        if taken < budget:
            look = look_of(decision)
            entropy = entropy + look.entropy()
            noise = gumbel_noise(look.logits, generator)
            weights = tile_weights(look.logits, noise, temperature, hard)
    return TileLosses({"answer": answer, "entropy": entropy}, torch.stack(rights))


class StraightThrough(TileLearner):
    """The learner: one `update` plays a batch of episodes and takes one step.

    The metrics are those of the episodes as they were trained on: with `hard=False` of mixtures,
    which may be easier to classify than the single tiles that the policy is scored with.

    Args:
        config: see `StraightThroughConfig`.

    Raises:
        ValueError: the configuration does not fit the environment.
    """

    config: StraightThroughConfig

    def __init__(self, config: StraightThroughConfig) -> None:
        check_positive(config, "temperature", "final_temperature")
        super().__init__(config)

    @property
    def model(self) -> Model:
        return self.privileged_model("Straight-through" if self.config.hard else "Concrete")

    def temperature(self, progress: float) -> float:
        """τ at `progress` in [0, 1]."""
        config = self.config
        return config.temperature ** (1 - progress) * config.final_temperature**progress

    def learn(self, progress: float) -> dict[str, float]:
        """Play a batch of episodes and descend their losses."""
        config, temperature = self.config, self.temperature(progress)
        episodes = self.deal()
        with autocast(self.device, config.torch_precision):
            outcome = episode_losses(
                self.policy, episodes, temperature, config.hard, self.generator
            )
        metrics = self.descend_losses(outcome, answer=1.0, entropy=-config.entropy_weight)
        return {**metrics, "temperature": temperature}
