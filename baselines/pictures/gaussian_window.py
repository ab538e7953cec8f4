"""A window of Gaussian filters, whose place is learned by back-propagation.

"draw": DRAW's window (Gregor et al. 2015, section 3.2): centre, stride, variance and intensity of a
g x g grid of filters are functions of the core's output. "retina": RAM made differentiable: K
windows of fixed strides 1, 2, 4... around a chosen centre, like the agents' retina, with Gaussians
in place of its squares.

Departures from DRAW: the window's head has a hidden layer; tanh keeps the centre in the scene, the
stride lies between 0 and the scene's, the filters' width within a factor e of half the stride (and
above half a pixel), the intensity within a factor e of 1; the window starts in the middle, narrower
than the scene (`first_window`); and gradients on it are bounded. Every pixel is read at every
glimpse.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn
from torch.nn import functional as F

from agents.training.checks import check_choices, check_not_negative
from agents.training.precision import present_precision
from agents.training.row_draws import draw_rows
from agents.training.transfers import to_device
from baselines.pictures.gaussian_filters import gaussian_filters
from baselines.pictures.reader import ReaderConfig, RecurrentReader
from baselines.setting import Setting

# Factor on the outputs of the window's head. Adam moves all weights at one pace; at its full pace
# the window leaves the scene before the controller has learned to read it.
WINDOW_PACE = 0.1
START_STRIDE = 2.5
"""Stride at the start in pixels, used where `first_window` is None."""
# Bound on the norm of one scene's gradient on one window. Gradients grow from window to window on
# their way back; without a bound a few scenes outweigh all others.
LONGEST_GRADIENT = 0.3


@dataclass(frozen=True)
class GaussianWindowConfig(ReaderConfig):
    """Train soft attention through a window of Gaussian filters."""

    algorithm: ClassVar[str] = "gaussian_window"

    window: Literal["draw", "retina"] = "draw"
    """Kind of window. draw: its centre, stride, variance and intensity are learned; retina: only
    its centre."""
    first_window: float | None = None
    """Share of the scene's longer side that DRAW's window spans at the start, above 0 and below 1;
    None: filters 2.5 pixels apart, enough to read a digit in the middle of a small scene."""
    place_noise: float = 0.0
    """Standard deviation of noise on the window's centre at the start of the training, in units of
    half the scene's side; it falls linearly to 0. Meant for scenes so large that the first window
    rarely holds the digit; at 100 pixels it did not help."""
    supervise: Literal["scored", "all"] = "all"
    """Answers that learn from the label. scored: those that the environment pays, as for agents;
    all: those after every soft glimpse, without which some runs never find the digit."""
    max_gradient_norm: float = 1.0
    """Maximum Euclidean norm of the gradient; greater ones are scaled down to it."""


class GaussianWindow(RecurrentReader):
    """Soft attention through a grid of g x g Gaussian filters.

    Raises:
        ValueError: a size or kind in `config` cannot be.
    """

    config_class = GaussianWindowConfig

    def __init__(self, setting: Setting, config: GaussianWindowConfig) -> None:
        check_choices(config)
        check_not_negative(config, "place_noise")
        if config.first_window is not None and not 0 < config.first_window < 1:
            raise ValueError(
                f"first_window={config.first_window} must be above 0 and below 1, or None"
            )
        view = setting.picture.view
        channels, self.height, self.width = view.scene_shape
        g, sides = view.windows()
        self._place_noise, self._noise_now = config.place_noise, 0.0
        self._whole = (max(self.height, self.width) - 1) / max(g - 1, 1)
        # Before softplus: shortens the widest stride to the one at the start.
        share = config.first_window or START_STRIDE / self._whole
        self._narrowing = math.log(max(1 / share - 1, 1e-3))
        self.draw = config.window == "draw"
        scales = 1 if self.draw else len(sides)
        self.parameters_of_window = 5 if self.draw else 2
        space: dict[str, spaces.Space] = {
            "glimpse": spaces.Box(0.0, 1.0, (scales * channels, g, g), np.float32),
            "location": spaces.Box(-np.inf, np.inf, (self.parameters_of_window,), np.float32),
        }
        label, kind = ("DRAW window", "DRAW") if self.draw else ("retina", "")
        super().__init__(setting, config, space, label, kind)
        units = config.network.head_units
        self.look = nn.Sequential(
            nn.Linear(config.network.core_units, units),
            nn.ReLU(),
            nn.Linear(units, self.parameters_of_window),
        )
        strides = torch.tensor([side / g for side in sides.tolist()])
        self.register_buffer("strides", strides, persistent=False)
        grid = torch.arange(g) - (g - 1) / 2
        self.register_buffer("grid", grid, persistent=False)

    strides: Tensor  # (K,)
    grid: Tensor  # (g,), from the window's middle, in strides

    def prepare(self, scene: Tensor) -> Tensor:
        precision = present_precision(scene.device)
        # Once, not for every glimpse; outside of `autocast` a scene stays as it is.
        return scene if precision == torch.float32 else scene.to(precision)

    def read(self, prepared: Tensor, core: Tensor) -> dict[str, Tensor]:
        place, stride, width, intensity = self._choose(core)
        glimpse = self._window(prepared, place, stride, width)
        if intensity is None:
            return {"glimpse": glimpse, "location": place}
        where = torch.cat([place, stride / self._whole, width / self._whole, intensity], dim=1)
        return {"glimpse": intensity.tanh().exp()[..., None, None] * glimpse, "location": where}

    def weights(self, prepared: Tensor, core: Tensor) -> Tensor:
        place, stride, width, _ = self._choose(core)
        down, across = (filters.sum(dim=2) for filters in self._axes(place, stride, width))
        return torch.einsum("bkh,bkw->bhw", down, across)

    def _choose(self, core: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
        """The window: its middle (B, 2), which is (x, y) in [-1, 1], the filters' strides and
        widths (B, K) in pixels, and DRAW's intensity (B, 1) before it is bounded."""
        if self.network.detach_heads:
            core = core.detach()
        outputs = self.look(core).float()  # (B, 5) or (B, 2)
        if outputs.requires_grad:
            outputs.register_hook(_shorten_rows)
        outputs = WINDOW_PACE * outputs
        if not self.draw:
            stride = self.strides.expand(len(outputs), -1)  # (B, K)
            return self._jittered(outputs.tanh()), stride, stride / 2, None
        # DRAW, equations 21 to 24, each kept within bounds: a window that has drifted off the scene
        # or has shrunk to nothing would never learn to come back.
        place, stride, width, intensity = outputs.split([2, 1, 1, 1], dim=1)
        place = self._jittered(place.tanh())
        stride = self._whole * (-F.softplus(stride + self._narrowing)).exp()
        return place, stride, 0.5 + 0.5 * stride * width.tanh().exp(), intensity

    def set_progress(self, progress: float, generator: torch.Generator) -> None:
        self._noise_now, self._generator = (1 - progress) * self._place_noise, generator

    def _jittered(self, place: Tensor) -> Tensor:
        if not self.training or self._noise_now == 0.0:
            return place
        noise = draw_rows(
            lambda shape: torch.randn(shape, generator=self._generator),
            place.shape,
            self._generator,
        )
        return place + self._noise_now * to_device(noise, place)

    def _window(self, scene: Tensor, place: Tensor, stride: Tensor, width: Tensor) -> Tensor:
        """Read (B, K C, g, g) in the window of `_choose`."""
        down, across = self._axes(place, stride, width)
        read = torch.einsum("bkih,bchw,bkjw->bkcij", down, scene, across)
        return read.flatten(1, 2)

    def _axes(self, place: Tensor, stride: Tensor, width: Tensor) -> tuple[Tensor, Tensor]:
        """The filters of the rows of pixels (B, K, g, H) and of their columns (B, K, g, W)."""
        x, y = (0.5 * (place + 1)).unbind(dim=1)
        across = self._filters(x * self.width, stride, width, self.width, self.draw)
        down = self._filters(y * self.height, stride, width, self.height, self.draw)
        return down, across

    def _filters(
        self, middle: Tensor, stride: Tensor, width: Tensor, pixels: int, unit: bool
    ) -> Tensor:
        """The filters (B, K, g, pixels) of one axis, at DRAW's places (equations 19 and 20)."""
        centres = middle[:, None, None] + self.grid * stride[..., None]  # (B, K, g)
        return gaussian_filters(centres, width, pixels, unit)


def _shorten_rows(gradient: Tensor) -> Tensor:
    """Shorten each row of the mean loss's gradient (B, D) to `LONGEST_GRADIENT` / B."""
    limit = LONGEST_GRADIENT / len(gradient)
    return gradient * (limit / gradient.norm(dim=1, keepdim=True).clamp(min=limit))
