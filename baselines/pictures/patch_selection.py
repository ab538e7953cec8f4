"""Iterative patch selection: all patches are scored, a few at a time, and the best ones are read.

Bergner, Lippert and Mahendran, "Iterative Patch Selection for High-Resolution Image Recognition",
ICLR 2023. The scene's patches are encoded I at a time without gradients, and scored by the weights
of the cross-attention that pools them; the best M so far are kept. Those M are then encoded once
more with gradients, pooled and classified, so that memory does not grow with the scene.

A score is the mean over the heads of weights that sum to 1 over the patches at hand. With one head
the M kept are exactly the best of all patches; with several, as in the paper, the heads' shares
depend on the patches at hand, and the M may differ from those chosen among all patches at once.

While they are only scored, patches of zeros are not encoded one by one: all have the same code. Of
Megapixel MNIST's patches seven in eight are empty.

Departures: a small residual encoder of the same 128 features in place of the first two blocks of
ResNet-18, which takes two fifths of its arithmetic, for the CPU's sake; no weight decay; one task
with one query, where the authors' four are learned at once by a query each; patches in the order of
their rows, where the authors' are shuffled; gradients clipped at a norm; and a learning rate that
falls to 0, where theirs ends at a thousandth of its peak.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from agents.policy.encoders import channels_last
from agents.training.checks import check_counts
from agents.training.command_line import without_options
from agents.training.row_draws import draw_rows
from baselines.model import Answers, Observation
from baselines.pictures.full_view import residual_stages
from baselines.pictures.patches import grid_corners, patches_at
from baselines.pictures.picture_model import PictureConfig, PictureModel
from baselines.setting import Setting
from glimpse_envs.evaluation.record import Model


@dataclass(frozen=True)
@without_options("supervise")  # there is one answer
class PatchSelectionConfig(PictureConfig):
    """Train iterative patch selection."""

    algorithm: ClassVar[str] = "patch_selection"

    patch_size: int = 50
    """Side of a patch in pixels."""
    stride: int = 50
    """Pixels from one patch to the next."""
    kept: int = 100
    """Number of patches that are kept and read with gradients (M)."""
    at_once: int = 100
    """Number of patches that are scored at a time (I)."""
    heads: int = 8
    """Number of heads of the pooling attention, a divisor of the features."""
    channels: int = 32
    """Number of channels of the encoder's first stage; a patch has four times as many features."""
    dropout: float = 0.1
    """Share of the pooled features and of attention weights left out in training, in [0, 1)."""


class PatchSelection(PictureModel):
    """Keeps the best patches of a scene, and answers from them.

    Raises:
        ValueError: a size in `config` cannot be.
    """

    config_class = PatchSelectionConfig
    config: PatchSelectionConfig

    def __init__(self, setting: Setting, config: PatchSelectionConfig) -> None:
        super().__init__(setting, config)
        check_counts(config, "patch_size", "stride", "kept", "at_once", "heads", "channels")
        units = 4 * config.channels
        if units % config.heads:
            raise ValueError(f"heads={config.heads} must be a divisor of 4 channels, {units}")
        if not 0 <= config.dropout < 1:
            raise ValueError(f"dropout={config.dropout} must be at least 0 and below 1")
        inputs, height, width = self.picture.view.scene_shape
        corners = grid_corners(height, width, config.patch_size, config.stride)
        self.register_buffer("corners", corners, persistent=False)
        self.register_buffer("places", _encoded_places(len(corners), units), persistent=False)
        self.encode = nn.Sequential(
            *residual_stages(inputs, config.channels), nn.AdaptiveAvgPool2d(1), nn.Flatten()
        )
        self.pool = AttentionPool(units, config.heads, config.dropout)
        self.classify = nn.Linear(units, self.outputs)

    corners: Tensor  # (n, 2), of the patches
    places: Tensor  # (n, units), their places' codes

    @property
    def model(self) -> Model:
        return Model("Patch selection", sees="everything", attention="soft", reference_kind="IPS")

    def set_progress(self, progress: float, generator: torch.Generator) -> None:
        self.pool.generator = generator

    def forward(self, observation: Observation) -> Answers:
        scene = observation["scene"]
        features = self._features(scene, self.select(scene))
        return self.answers_of(self.classify(self.pool(features)))

    @torch.no_grad()
    def select(self, scene: Tensor) -> Tensor:
        """The patches (B, M) int64 that are kept of `scene` (B, C, H, W), M at most all."""
        every = torch.arange(len(self.corners), device=scene.device).expand(len(scene), -1)
        m = min(self.config.kept, every.shape[1])
        kept, rest = every[:, :m], every[:, m:]
        if not rest.shape[1]:
            return kept
        training = self.training
        self.eval()  # as in the paper: no dropout, and the running means of the batch norm
        features = self._scored(scene, kept)
        for some in torch.split(rest, self.config.at_once, dim=1):
            features = torch.cat([features, self._scored(scene, some)], dim=1)
            kept = torch.cat([kept, some], dim=1)
            best = self.pool.weights(features).mean(dim=1).topk(m, dim=1).indices  # (B, M)
            kept = kept.gather(1, best)
            features = features.take_along_dim(best[..., None], dim=1)
        self.train(training)
        # Before torch 2.13 weights that autocast has cast without gradients stay without them.
        torch.clear_autocast_cache()
        return kept

    def _features(self, scene: Tensor, which: Tensor) -> Tensor:
        """The features (B, n, units) of the patches `which` (B, n), with their places."""
        codes = self._codes(self._patches(scene, which))
        return codes.view(*which.shape, -1) + self.places[which]

    def _scored(self, scene: Tensor, which: Tensor) -> Tensor:
        """The same in eval mode, in which no code depends on other patches: those of zeros share
        one."""
        seen = self._patches(scene, which)
        filled = seen.flatten(1).any(dim=1).nonzero()[:, 0]
        empty = self._codes(torch.zeros_like(seen[:1]))
        codes = empty.repeat(len(seen), 1).index_copy(0, filled, self._codes(seen[filled]))
        return codes.view(*which.shape, -1) + self.places[which]

    def _patches(self, scene: Tensor, which: Tensor) -> Tensor:
        """The patches (B n, C, side, side) `which` (B, n)."""
        return patches_at(scene, self.corners[which], self.config.patch_size).flatten(0, 1)

    def _codes(self, patches: Tensor) -> Tensor:
        """The codes (n, units) of patches (n, C, side, side), without their places."""
        codes: Tensor = self.encode(channels_last(patches))
        return codes


class AttentionPool(nn.Module):
    """Pools n features (B, n, units) into one (B, units) by a learned query, as one layer of a
    transformer does, with a feed-forward layer of four times the units."""

    def __init__(self, units: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Parameter(torch.empty(units).uniform_(-1, 1) / math.sqrt(units / heads))
        self.to_query, self.to_key, self.to_value, self.to_output = (
            nn.Linear(units, units, bias=False) for _ in range(4)
        )
        self.dropout, self.generator = dropout, torch.Generator()
        self.first_norm, self.last_norm = nn.LayerNorm(units), nn.LayerNorm(units)
        self.feed = nn.Sequential(
            nn.Linear(units, 4 * units), nn.ReLU(), nn.Linear(4 * units, units)
        )

    def weights(self, features: Tensor) -> Tensor:
        """The weight (B, heads, n) of each feature."""
        keys = self.to_key(features).unflatten(2, (self.heads, -1))  # (B, n, heads, d)
        query = self.to_query(self.query).view(self.heads, -1)
        scores = torch.einsum("hd,bnhd->bhn", query, keys) / math.sqrt(keys.shape[-1])
        return scores.float().softmax(dim=2)

    def forward(self, features: Tensor) -> Tensor:
        values = self.to_value(features).unflatten(2, (self.heads, -1))
        weights = self._drop(self.weights(features)).to(values)
        read = torch.einsum("bhn,bnhd->bhd", weights, values).flatten(1)
        pooled = self.first_norm(self.query + self._drop(self.to_output(read)))
        output: Tensor = self.last_norm(pooled + self._drop(self.feed(pooled)))
        return output

    def _drop(self, x: Tensor) -> Tensor:
        """Dropout whose noise is the training's, so that a run can be resumed."""
        if not self.training or self.dropout == 0:
            return x
        noise = draw_rows(
            lambda shape: torch.rand(shape, generator=self.generator), x.shape, self.generator
        )
        return x * (noise.to(x) >= self.dropout) / (1 - self.dropout)


def _encoded_places(count: int, units: int) -> Tensor:
    """Sines and cosines (count, units) of each number (Vaswani et al. 2017, section 3.5)."""
    rates = torch.exp(torch.arange(0, units, 2) * (-math.log(10_000.0) / units))
    angles = torch.arange(count)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)
