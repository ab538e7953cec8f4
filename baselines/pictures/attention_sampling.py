"""Attention sampling: a low view says where to look, and a few patches drawn from it are read.

Katharopoulos and Fleuret, "Processing Megapixel Images with Deep Attention-Sampling Models", ICML
2019. A small network's attention on a low view of the scene is a distribution over places; the
scene's features are the expectation of the patches' features under it, estimated from N patches
drawn without replacement. The estimate is unbiased, and so is its gradient on the attention.

Departures: the low view is the scene's area means (the paper's are of each digit alone, pasted);
the gradient on the attention weighs each drawn patch by one over its probability (equation 8),
without the score-function terms of the authors' code; patches are drawn alike in all scenes when
the model is evaluated, so that a scene's answer does not depend on its batch; and the learning rate
falls to 0 over the training, where the authors' stays at 0.001 for 500 epochs.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from agents.policy.encoders import channels_last
from agents.training.checks import check_counts, check_not_negative, check_positive
from agents.training.command_line import without_options
from agents.training.row_draws import draw_rows
from baselines.model import Answers, Observation
from baselines.pictures.patches import patches_at
from baselines.pictures.picture_model import PictureConfig, PictureModel
from baselines.setting import Setting
from glimpse_envs.evaluation.record import Model

SMOOTHING = 1e-5  # share of the attention that is uniform
_LEAST_PATCH = 13  # what the convolutions without padding take


@dataclass(frozen=True)
@without_options("supervise")  # there is one answer
class AttentionSamplingConfig(PictureConfig):
    """Train attention sampling."""

    algorithm: ClassVar[str] = "attention_sampling"

    low_scale: float = 0.12
    """Side of the low view, as a share of the scene's; the paper's .2 in scenes of 500 pixels."""
    patches: int = 10
    """Number of patches read from a scene."""
    patch_size: int = 50
    """Side of a patch in pixels, at least 13."""
    channels: int = 32
    """Number of channels of the patches' features."""
    entropy_bonus: float = 1e-4
    """Weight of the attention's entropy, in nats, at least 0."""
    max_gradient_norm: float = 1.0
    """Maximum Euclidean norm of the gradient; greater ones are scaled down to it."""


class AttentionSampling(PictureModel):
    """Reads `patches` patches of a scene, drawn from its attention on a low view.

    Raises:
        ValueError: a size in `config` cannot be, or the low view has fewer places than `patches`.
    """

    config_class = AttentionSamplingConfig
    config: AttentionSamplingConfig

    def __init__(self, setting: Setting, config: AttentionSamplingConfig) -> None:
        super().__init__(setting, config)
        check_counts(config, "patches", "patch_size", "channels")
        check_positive(config, "low_scale")
        check_not_negative(config, "entropy_bonus")
        if config.patch_size < _LEAST_PATCH:
            raise ValueError(f"patch_size={config.patch_size} must be at least {_LEAST_PATCH}")
        inputs, height, width = self.picture.view.scene_shape
        low = max(round(height * config.low_scale), 1), max(round(width * config.low_scale), 1)
        if low[0] * low[1] < config.patches:
            raise ValueError(
                f"low_scale={config.low_scale} makes a low view of {low[0]}x{low[1]} places, fewer "
                f"than patches={config.patches}"
            )
        self.low_shape = low
        self.values_read = inputs * (low[0] * low[1] + config.patches * config.patch_size**2)
        self.register_buffer("corners", _corners(height, width, low, config.patch_size), False)
        self.attend = nn.Sequential(
            nn.Conv2d(inputs, 8, 3, padding=1),
            nn.Tanh(),
            nn.Conv2d(8, 8, 3, padding=1),
            nn.Tanh(),
            nn.Conv2d(8, 1, 3, padding=1),
        )
        layers: list[nn.Module] = []
        for index in range(4):
            layers.append(nn.Conv2d(inputs, config.channels, 3 if index else 7))
            layers.append(nn.ReLU())
            inputs = config.channels
        self.features = nn.Sequential(*layers)
        self.classify = nn.Linear(config.channels, self.outputs)
        self._generator: torch.Generator | None = None

    corners: Tensor  # (n, 2), of the patch at each place of the low view

    @property
    def model(self) -> Model:
        return Model("Attention sampling", sees="everything", reference_kind="attention sampling")

    def set_progress(self, progress: float, generator: torch.Generator) -> None:
        self._generator = generator

    def forward(self, observation: Observation) -> Answers:
        scene = observation["scene"]
        attention = self.attention_of(scene)
        chosen = draw_without_replacement(
            attention.detach(), self.config.patches, self._generator if self.training else None
        )
        seen = patches_at(scene, self.corners[chosen], self.config.patch_size)
        features = self.features(channels_last(seen.flatten(0, 1))).amax(dim=(-2, -1)).float()
        features = F.normalize(features, dim=1).view(*chosen.shape, -1)  # (B, N, D)
        mean = estimated_mean(attention.gather(1, chosen), features)
        entropy = -(attention * attention.log()).sum(dim=1).mean()
        losses = {"entropy": -self.config.entropy_bonus * entropy}
        return self.answers_of(self.classify(mean))._replace(losses=losses)

    def attention_of(self, scene: Tensor) -> Tensor:
        """The probability (B, n) of each place of the low view of `scene` (B, C, H, W)."""
        low = F.adaptive_avg_pool2d(scene, self.low_shape)
        attention = self.attend(channels_last(low)).flatten(1).float().softmax(dim=1)
        return (1 - SMOOTHING) * attention + SMOOTHING / attention.shape[1]


def draw_without_replacement(
    probabilities: Tensor, count: int, generator: torch.Generator | None
) -> Tensor:
    """Draw `count` of n places one after another, each with its share of what is left.

    The first of exponential waiting times with these rates win, which is the same.

    Args:
        probabilities: (B, n), above 0.
        count: at most n.
        generator: a CPU generator; None for the same waiting times in all rows and calls.

    Returns:
        (B, count) int64, in the order in which they were drawn.
    """
    batch, n = probabilities.shape
    if generator is None:
        exponential = _exponential((1, n), torch.Generator().manual_seed(0))
    else:
        exponential = draw_rows(lambda shape: _exponential(shape, generator), (batch, n), generator)
    waiting = exponential.to(probabilities) / probabilities
    return waiting.topk(count, dim=1, largest=False).indices


def _exponential(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    # In float32 a draw may round to 0, with which a place wins whatever its probability.
    return torch.empty(shape, dtype=torch.float64).exponential_(generator=generator)


def estimated_mean(probabilities: Tensor, features: Tensor) -> Tensor:
    """Estimate the mean of features under a distribution from N draws without replacement.

    Before draw j the features drawn so far are known, and all others have the probability that is
    left: their sum weighted by probability, plus what is left times the feature drawn, is unbiased.
    The estimate is the mean over j, and its gradient is an unbiased one of the mean's.

    Args:
        probabilities: (B, N) of the places drawn, in their order.
        features: (B, N, D) of them.

    Returns:
        (B, D)
    """
    weighted = probabilities[..., None] * features
    before = weighted.cumsum(dim=1) - weighted
    left = 1 - (probabilities.cumsum(dim=1) - probabilities).detach()
    # 1, whose gradient is that of the drawn place's probability over that probability.
    drawn = probabilities / probabilities.detach()
    return (before + (left * drawn)[..., None] * features).mean(dim=1)


def _corners(height: int, width: int, low: tuple[int, int], side: int) -> Tensor:
    """The corners (n, 2), (row, column), of patches around the middles of a low view's places."""
    down, across = (
        ((torch.arange(places) + 0.5) * length / places - side / 2).round().long()
        for length, places in zip((height, width), low, strict=True)
    )
    return torch.cartesian_prod(down, across)
