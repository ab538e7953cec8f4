"""One glimpse that the network cuts out of the scene itself (Jaderberg et al. 2015).

A localisation network reads the whole scene and places a window; the scene is read on the window's
grid by bilinear interpolation (equation 5), zeros outside, and a classifier sees only the result.
Gradients flow through the reading into the localisation network.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from agents.policy.encoders import channels_last
from agents.training.checks import check_choices, check_counts, check_positive
from agents.training.command_line import without_options
from baselines.model import Answers, Observation
from baselines.pictures.picture_model import PictureConfig, PictureModel
from baselines.setting import Setting
from glimpse_envs.evaluation.record import Model

# Factor on the localisation network's outputs. Adam moves all weights at one pace; at its full pace
# the window leaves the digit before the classifier can read it.
WINDOW_PACE = 0.1


@dataclass(frozen=True)
@without_options("supervise")  # there is one answer
class SpatialTransformerConfig(PictureConfig):
    """Train a spatial transformer."""

    algorithm: ClassVar[str] = "spatial_transformer"

    transform: Literal["affine", "attention"] = "affine"
    """Transform of the window. affine: all six parameters (equation 1 of the paper); attention: one
    scale for both axes and a place (equation 2)."""
    first_scale: float = 0.6
    """Side of the window at the start of the training, as a share of the scene's side; from 1, the
    identity, it learns far more slowly."""
    size: int = 28
    """Side of the glimpse, in samples of the scene."""
    channels: int = 16
    """Number of channels of the localisation network's first convolution. Its later ones and the
    classifier's first have twice as many, the classifier's later ones four times."""
    units: int = 128
    """Number of units of each fully connected layer."""
    learning_rate: float = 3e-3
    """Peak learning rate of Adam; it decays along a cosine to 0."""


class SpatialTransformer(PictureModel):
    """Localises, cuts out and classifies; its first window is in the middle of every scene.

    Raises:
        ValueError: a size or kind in `config` cannot be.
    """

    config_class = SpatialTransformerConfig
    config: SpatialTransformerConfig
    start: Tensor  # (6,) or (3,), the window's parameters before anything is learned

    def __init__(self, setting: Setting, config: SpatialTransformerConfig) -> None:
        super().__init__(setting, config)
        check_choices(config)
        check_counts(config, "size", "channels", "units")
        check_positive(config, "first_scale")
        shape = self.picture.view.scene_shape
        scale = config.first_scale
        affine = config.transform == "affine"
        start = torch.tensor([scale, 0.0, 0.0, 0.0, scale, 0.0] if affine else [scale, 0.0, 0.0])
        self.register_buffer("start", start, persistent=False)
        self.localise = _localisation_network(shape, len(start), config)
        glimpse = (shape[0], config.size, config.size)
        self.classify = _classifier(glimpse, self.outputs, config)

    @property
    def model(self) -> Model:
        kind = "" if self.config.transform == "affine" else ", attention"
        name, reference = f"Full view spatial transformer{kind}", "spatial transformer"
        return Model(name, sees="everything", attention="none", reference_kind=reference)

    def forward(self, observation: Observation) -> Answers:
        scene = observation["scene"]
        glimpse = self.cut_out(scene, self.locate(scene))
        return self.answers_of(self.classify(channels_last(glimpse)))

    def locate(self, scene: Tensor) -> Tensor:
        """The windows theta (B, 2, 3) in `scene` (B, C, H, W).

        Theta maps (x, y, 1) of the glimpse to (x, y) of the scene, both in [-1, 1] from edge to
        edge.
        """
        outputs = self.localise(channels_last(scene)).float()
        theta = self.start + WINDOW_PACE * outputs  # (B, 6) or (B, 3)
        if self.config.transform == "affine":
            return theta.view(-1, 2, 3)
        scale, x, y = theta.unbind(dim=1)
        zero = torch.zeros_like(scale)
        return torch.stack([scale, zero, x, zero, scale, y], dim=1).view(-1, 2, 3)

    def cut_out(self, scene: Tensor, theta: Tensor) -> Tensor:
        """The glimpses (B, C, size, size) of `scene` (B, C, H, W) in the windows `theta`."""
        shape = [*scene.shape[:2], self.config.size, self.config.size]
        grid = F.affine_grid(theta, shape, align_corners=False)
        return F.grid_sample(
            scene, grid, mode="bilinear", padding_mode="zeros", align_corners=False
        )


def _localisation_network(
    shape: tuple[int, int, int], outputs: int, config: SpatialTransformerConfig
) -> nn.Sequential:
    """Convolutions over pictures (C, H, W), each halving the size, and dense layers.

    The last layer's outputs are zeros at first.
    """
    channels, height, width = shape
    layers: list[nn.Module] = []
    for index in range(3):
        size, wider = (3 if index else 5), (2 if index else 1) * config.channels
        layers += _convolution(channels, wider, size, stride=2)
        channels, height, width = wider, -(-height // 2), -(-width // 2)
    last = nn.Linear(config.units, outputs)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    layers += [nn.Flatten(), nn.Linear(channels * height * width, config.units), nn.ReLU(), last]
    return nn.Sequential(*layers)


def _classifier(
    shape: tuple[int, int, int], outputs: int, config: SpatialTransformerConfig
) -> nn.Sequential:
    """Convolutions over pictures (C, h, w), each pooled to half the size, and dense layers.

    They keep the places of things: a classifier to which all places are alike would leave the
    localisation network nothing to gain.
    """
    channels, height, width = shape
    layers: list[nn.Module] = []
    for index in range(3):
        size, wider = (3 if index else 5), (4 if index else 2) * config.channels
        layers += [*_convolution(channels, wider, size), nn.MaxPool2d(2, ceil_mode=True)]
        channels, height, width = wider, -(-height // 2), -(-width // 2)
    layers += [nn.Flatten(), nn.Linear(channels * height * width, config.units), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(config.units, outputs))


def _convolution(inputs: int, outputs: int, size: int, stride: int = 1) -> list[nn.Module]:
    convolution = nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False)
    return [convolution, nn.BatchNorm2d(outputs), nn.ReLU()]
