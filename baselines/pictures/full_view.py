"""Networks that read every pixel at once: the ceiling, and the RAM paper's own baselines.

RAM (Mnih et al. 2014, tables 1 to 3): fully connected networks of two layers, and a convolutional
one (8 filters of 10 x 10 with stride 5, then a layer of 256). "strong" is today's answer: residual
convolutions (He et al. 2016) with batch normalisation, and the greatest response over all places,
so that the digit's place does not matter. Where a row of images is answered in turn, it is the
greatest response in each column, and all answers are given at once (Goodfellow et al., ICLR 2014).
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np
from torch import Tensor, nn
from torch.nn import functional as F

from agents.policy.encoders import channels_last
from agents.training.checks import check_choices, check_counts
from agents.training.command_line import without_options
from baselines.model import Answers, Observation
from baselines.pictures.picture_model import PictureConfig, PictureModel
from baselines.setting import PictureScene, Setting
from glimpse_envs.evaluation.record import Model


@dataclass(frozen=True)
@without_options("supervise")  # there is one answer
class FullViewConfig(PictureConfig):
    """Train a network that sees the whole scene."""

    algorithm: ClassVar[str] = "full_view"

    kind: Literal["strong", "conv", "dense"] = "strong"
    """Kind of network. strong: residual convolutions; conv, dense: those of the RAM paper."""
    channels: int = 32
    """Number of channels of the first stage, with --kind strong; each next stage has twice as
    many."""
    stages: int = 3
    """Number of stages, with --kind strong; each halves the height and the width."""
    units: int = 256
    """Number of units of each fully connected layer."""


class FullView(PictureModel):
    """A feed-forward classifier of scenes (B, C, H, W).

    Raises:
        ValueError: a size or kind in `config` cannot be.
    """

    config_class = FullViewConfig
    config: FullViewConfig

    def __init__(self, setting: Setting, config: FullViewConfig) -> None:
        super().__init__(setting, config)
        check_choices(config)
        check_counts(config, "channels", "stages", "units")
        make = {"strong": _strong, "conv": _conv, "dense": _dense}[config.kind]
        self.layers = make(self.picture, self.outputs, config)

    @property
    def model(self) -> Model:
        kind = self.config.kind
        return Model(f"Full view {kind}", sees="everything", attention="none", reference_kind=kind)

    def forward(self, observation: Observation) -> Answers:
        return self.answers_of(self.layers(channels_last(observation["scene"])))


class Residual(nn.Module):
    """y = relu(x' + f(x)), at half the size: f is two convolutions, x' a 1 x 1 of the mean."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.skip = nn.Conv2d(inputs, outputs, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        smaller = F.avg_pool2d(x, 2, ceil_mode=True)
        return F.relu(self.body(x) + self.skip(smaller))


def residual_stages(inputs: int, channels: int, stages: int = 3) -> list[nn.Module]:
    """Convolutions over pictures (B, inputs, H, W), of which each of the `stages` halves the side;
    the first has so many `channels`, each next one twice as many."""
    first = nn.Conv2d(inputs, channels, 5, stride=2, padding=2, bias=False)
    layers: list[nn.Module] = [first, nn.BatchNorm2d(channels), nn.ReLU()]
    widths = [channels * 2**stage for stage in range(stages)]
    return layers + [Residual(narrow, wide) for narrow, wide in pairwise(widths)]


class GreatestResponse(nn.Module):
    """(B, C, H, W) to (B, C), the maximum over all places."""

    def forward(self, x: Tensor) -> Tensor:
        return x.amax(dim=(-2, -1))


class GreatestInColumns(nn.Module):
    """(B, C, H, W) to (B, C W), the maxima over each column's places."""

    def forward(self, x: Tensor) -> Tensor:
        return x.amax(dim=-2).flatten(1)


def _strong(picture: PictureScene, outputs: int, config: FullViewConfig) -> nn.Module:
    width = config.channels
    channels, down, across = picture.view.scene_shape
    most = (max(down, across) - 1).bit_length()
    if config.stages > most:
        raise ValueError(
            f"stages={config.stages} must be at most {most}: after so many halvings one pixel is "
            f"left of {down}x{across}"
        )
    layers = residual_stages(channels, width, config.stages)
    width *= 2 ** (config.stages - 1)
    if picture.answers > 1:
        features = width * -(-across // 2**config.stages)
        layers += [GreatestInColumns(), nn.Linear(features, config.units), nn.ReLU()]
    else:
        layers += [GreatestResponse(), nn.Linear(width, config.units), nn.ReLU()]
    layers.append(nn.Linear(config.units, outputs))
    return nn.Sequential(*layers)


def _conv(picture: PictureScene, outputs: int, config: FullViewConfig) -> nn.Module:
    channels, height, width = picture.view.scene_shape
    if min(height, width) < 10:
        raise ValueError(f"kind='conv' has filters of 10x10; the scene has {height}x{width} pixels")
    places = ((height - 10) // 5 + 1) * ((width - 10) // 5 + 1)
    return nn.Sequential(
        nn.Conv2d(channels, 8, 10, stride=5),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(8 * places, config.units),
        nn.ReLU(),
        nn.Linear(config.units, outputs),
    )


def _dense(picture: PictureScene, outputs: int, config: FullViewConfig) -> nn.Module:
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(int(np.prod(picture.view.scene_shape)), config.units),
        nn.ReLU(),
        nn.Linear(config.units, config.units),
        nn.ReLU(),
        nn.Linear(config.units, outputs),
    )
