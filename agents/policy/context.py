"""The context, a coarse view of the whole scene: where to look, and nothing of the answer.

In DRAM (Ba, Mnih & Kavukcuoglu 2015) it sets the first state of the core that looks. Here, for all
other cores, the head of looks remembers it and may choose each of its cells; the core does not see
it.
"""

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

from agents.policy.encoders import local_contrast
from glimpse_envs.core.arrays import Floats
from glimpse_envs.core.picture_view import PictureView

CHANNELS = 16

REFUSED = (
    "observation['context'], a coarse view of the whole scene, is for looks alone, and this "
    "network would read it as part of every glimpse: take core='dram', or look_coordinates='cells' "
    "where a look is a place (look='continuous') and what is observed is one glimpse "
    "(history=False) of square windows of two scales or more; or make the environment with "
    "context=False"
)


def context_shape(space: spaces.Dict) -> tuple[int, ...] | None:
    """(C, h, w) of the context among observations; None without one."""
    context = space.spaces.get("context")
    if context is None or len(context.shape or ()) != 3:
        return None
    return context.shape


def without_context(space: spaces.Dict) -> spaces.Dict:
    """`space` without the context, if there is one."""
    if context_shape(space) is None:
        return space
    return spaces.Dict([(name, part) for name, part in space.spaces.items() if name != "context"])


def is_shown(context: Tensor) -> Tensor:
    """(B,) bool, whether each `context` (B, ...) is shown: not black."""
    return context.flatten(1).any(dim=1)


class ContextScores(nn.Module):
    """Logits of looks at the cells of a context, from the core's output (B, units) and the context
    (B, C, h, w): f features of each cell and its neighbours, by convolutions, computed once per
    episode and remembered, and weighted by the core.

    Args:
        units: of the core's output.
        shape: (C, h, w) of the context.
        view: of the picture.

    Attributes:
        cells: their number.
        sides: (2,) of a cell, (x, y) in look coordinates.
    """

    def __init__(self, units: int, shape: tuple[int, ...], view: PictureView) -> None:
        super().__init__()
        self.shape, self.view = shape, view
        channels, rows, columns = shape
        self.cells = rows * columns
        _, height, width = view.scene_shape
        self.pixels = np.array([width / columns, height / rows])
        self.sides: Floats = view.space.to_offsets(self.pixels)
        self.features = nn.Sequential(
            nn.Conv2d(2 * channels, CHANNELS, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1),
            nn.ReLU(),
        )
        self.weights = nn.Linear(units, CHANNELS + 1)

    def places(self) -> Floats:
        """(cells, 2) in look coordinates, (x, y), of the cells' middles, row by row."""
        _, rows, columns = self.shape
        x, y = np.meshgrid(np.arange(columns) + 0.5, np.arange(rows) + 0.5)
        middles = np.stack([x, y], axis=-1).reshape(-1, 2) * self.pixels
        return self.view.space.to_locations(middles)

    def nothing_seen(self, rows: int) -> Tensor:
        """The remembered features (rows, f h w) before a context is shown, all 0."""
        return self.weights.weight.new_zeros(rows, CHANNELS * self.cells)

    def remember(self, remembered: Tensor, context: Tensor) -> Tensor:
        """The features (B, f h w) of the `context` (B, C, h, w) where it is shown, else the
        `remembered` ones."""
        shown = is_shown(context)
        if not shown.any():
            return remembered
        features = self.features(torch.cat([context, local_contrast(context)], dim=1)).flatten(1)
        return torch.where(shown[:, None], features.to(remembered), remembered)

    def forward(self, core: Tensor, features: Tensor) -> Tensor:
        """The logits (B, cells), from the core's output and the remembered `features`."""
        weights, level = self.weights(core).split((CHANNELS, 1), dim=1)
        features = features.view(-1, CHANNELS, self.cells).to(weights)
        return (weights[:, None] @ features)[:, 0] + level
