"""Looks at the cells that are seen: a hard choice among all cells of all scales of a glimpse.

The choice is as fine near the gaze, and as coarse far from it, as the glimpse, and the same weights
score every scale: what is learned about near targets also finds distant ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from typing import Self

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from agents.policy.context import ContextScores, context_shape
from agents.policy.distributions import Categorical, as_floats
from agents.policy.encoders import local_contrast
from agents.policy.heads import Head, Observation
from agents.policy.networks import NetworkConfig
from agents.training.precision import wide
from agents.training.row_draws import draw_rows
from agents.training.transfers import to_device
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.evaluation.outlook import Places

NEAR = 1.5
"""Largest distance along each axis, in sides of a block, from its middle to those of its
neighbours: the blocks of its own scale around it, finer ones among them, and the block of the next
coarser scale that it lies in. The middles of other coarser blocks may lie exactly there, whatever
the size of blocks, and rounding chooses among them; published weights were scored so."""
LEAST_REACH = 1e-6
"""Least value of `Cells.reaches`, in look coordinates: where an axis has a single place, all blocks
lie on it, and their distance, 0, must still be below their reach."""


@dataclass(frozen=True)
class Cells(Categorical):
    """A look at one of the n blocks of cells that the present glimpse shows, or at the place in the
    scene that is nearest to it. An action is a block's number, or a place (x, y) that a rule has
    chosen, which counts as the nearest block.

    The likeliest look is the likeliest block, or, refined, the mean place of its neighbours and
    itself by their probabilities, which is finer than a block.

    Args:
        logits: (B, n).
        place: (B, 2) in [-1, 1], of the present glimpse.
        offsets: (n, 2) in look coordinates, from there to the middles of the blocks.
        reaches: (n, 2) in look coordinates, the largest distance from each to its neighbours; None:
            the likeliest look is not refined.
        fixed: the number of last blocks with fixed places in the scene, such as those of a context;
            their offsets are these places.
    """

    place: Tensor
    offsets: Tensor
    reaches: Tensor | None = None
    fixed: int = 0

    @property
    def moves(self) -> Tensor:
        """(1 or B, n, 2) in look coordinates, from the present place to the middles."""
        if not self.fixed:
            return self.offsets[None]
        moving = len(self.offsets) - self.fixed
        around = self.offsets[:moving].expand(len(self.place), -1, -1)
        return torch.cat([around, self.offsets[moving:] - self.place[:, None]], dim=1)

    def mode(self) -> Tensor:
        """The likeliest block (B,), or, refined, a place (B, 2)."""
        block = super().mode()
        if self.reaches is None:
            return block
        moves = self.moves
        away = (moves - self._move_of(block)[:, None]).abs()  # (B, n, 2)
        near = (away < self.reaches[block][:, None]).all(dim=-1)
        shares = self.logits.detach().softmax(dim=-1) * near
        shares = shares / shares.sum(dim=-1, keepdim=True)
        return self.place + (shares.to(moves)[:, None] @ moves)[:, 0]

    def _move_of(self, block: Tensor) -> Tensor:
        """From the present place to the middles of the blocks `block` (B,): (B, 2)."""
        fixed = (block >= len(self.offsets) - self.fixed)[:, None]
        return self.offsets[block] - self.place * fixed

    def sample(self, generator: torch.Generator | None = None) -> Tensor:
        """Draw one block per row, from a single random number each, because blocks are many."""
        shares = self.logits.detach().softmax(dim=-1).cumsum(dim=-1)
        drawn = draw_rows(
            lambda shape: torch.rand(shape, generator=generator), (len(shares), 1), generator
        )
        within = to_device(drawn, shares) * shares[:, -1:]
        return torch.searchsorted(shares, within, right=True)[:, 0].clamp(max=shares.shape[1] - 1)

    def log_prob(self, action: Tensor) -> Tensor:
        if action.is_floating_point():
            misses = (action - self.place)[:, None] - self.moves
            action = misses.square().sum(dim=-1).argmin(dim=1)
        return super().log_prob(action)

    def to_env(self, action: Tensor) -> Tensor:
        if action.is_floating_point():
            return action.clamp(-1.0, 1.0)
        return (self.place + self._move_of(action)).clamp(-1.0, 1.0)

    def from_env(self, action: NDArray) -> Tensor:
        return torch.as_tensor(action).to(self.place)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        rows = [replace(part, offsets=part.offsets[:0], reaches=None) for part in parts]
        return replace(super().joined(rows), offsets=parts[0].offsets, reaches=parts[0].reaches)

    def _is_of_rows(self, name: str) -> bool:
        return super()._is_of_rows(name) and name not in ("offsets", "reaches")

    def outlook(self) -> Places:
        chances = as_floats(self.logits.softmax(dim=-1))
        places = (self.place[:, None] + self.moves).clamp(-1.0, 1.0)
        return Places((chances,), as_floats(places))


class CellsHead(Head):
    """From the core's output and the glimpse to `Cells`. The logits of a scale's blocks come from a
    hidden layer that sees this scale alone, both plain and with normalised contrast, and from the
    brightness of the blocks, weighted by the core. Where a context is observed, looks go to its
    cells too; `observation["context"]` then holds what `context` remembers of it.

    Args:
        units: of the core's output.
        view: of the picture; see `make_cells_head`.
        config: sizes.
        context: (C, h, w) of the context; None without one.

    Attributes:
        described: in which it differs from looks at blocks of 2 x 2 cells, in words.
    """

    offsets: Tensor
    reaches: Tensor

    def __init__(
        self,
        units: int,
        view: PictureView,
        config: NetworkConfig,
        context: tuple[int, ...] | None = None,
    ) -> None:
        super().__init__()
        self.size, sides = view.windows()
        self.channels, self.scales = view.scene_shape[0], len(sides)
        self.blocks = -(-self.size // config.look_block)
        middles = (np.arange(self.blocks) + 0.5) / self.blocks - 0.5
        x, y = np.meshgrid(middles, middles)
        pixels = np.stack([x, y], axis=-1).reshape(-1, 2) * sides[:, None, None]  # (K, blocks², 2)
        offsets = view.space.to_offsets(pixels.reshape(-1, 2))
        reach = NEAR * sides[:, None].repeat(self.blocks**2, axis=0) / self.blocks  # (n, 1)
        reaches = view.space.to_offsets(reach.repeat(2, axis=1))
        self.context: ContextScores | None = None
        self.fixed = 0
        if context is not None:
            self.context = ContextScores(units, context, view)
            self.fixed = self.context.cells
            offsets = np.concatenate([offsets, self.context.places()])
            wide_reach = NEAR * self.context.sides[None].repeat(self.context.cells, axis=0)
            reaches = np.concatenate([reaches, wide_reach])
        as_tensor = torch.as_tensor(offsets, dtype=torch.get_default_dtype())
        self.register_buffer("offsets", as_tensor, persistent=False)
        self.refined = config.refine_looks
        single = "one by one" if config.look_block == 1 else f"{config.look_block} by as many"
        kinds = "" if config.look_block == 2 else single, "refined" if self.refined else ""
        self.described = ", ".join(filter(None, kinds))
        reaches = np.maximum(reaches, LEAST_REACH)
        as_tensor = torch.as_tensor(reaches, dtype=torch.get_default_dtype())
        self.register_buffer("reaches", as_tensor, persistent=False)
        hidden, values = config.head_units, self.channels * self.size**2
        self.seen = nn.Linear(2 * values, hidden)
        self.known = nn.Linear(units, self.scales * hidden)
        self.logits = nn.Linear(hidden, self.blocks**2)
        self.brightness = nn.Linear(units, self.scales)

    def forward(self, core: Tensor, observation: Observation, added: Tensor | None = None) -> Cells:
        rows, scales, blocks = len(core), self.scales, self.blocks**2
        # No size is left to be inferred: in one of several processes there may be no row.
        glimpse = observation["glimpse"].view(rows, scales, self.channels * self.size**2)
        contrast = local_contrast(glimpse, (-1,))
        known = self.known(core).view(rows, scales, self.seen.out_features)
        hidden = F.relu(self.seen(torch.cat([glimpse, contrast], dim=-1)) + known)
        pictures = contrast.view(rows * scales, self.channels, self.size, self.size)
        bright = _block_means(pictures.mean(dim=1), self.blocks)
        weighted = self.brightness(core)[..., None] * bright.view(rows, scales, blocks)
        logits = (self.logits(hidden) + weighted).flatten(1)
        if self.context is not None:
            logits = torch.cat([logits, self.context(core, observation["context"])], dim=1)
        if added is not None:
            logits = logits + added
        logits = wide(logits)
        reaches = self.reaches if self.refined else None
        return Cells(logits, observation["location"], self.offsets, reaches, self.fixed)


def _block_means(pictures: Tensor, blocks: int) -> Tensor:
    """The means of `pictures` (B, g, g) over `blocks` x `blocks` blocks: (B, blocks, blocks)."""
    side, left = divmod(pictures.shape[-1], blocks)
    if left or side > 4:  # blocks of uneven sides, or large ones
        return F.adaptive_avg_pool2d(pictures[:, None], blocks)[:, 0]
    # For small blocks torch's pooling takes several times as long.
    starts = product(range(side), repeat=2)
    return reduce(torch.add, (pictures[:, i::side, j::side] for i, j in starts)) / side**2


def make_cells_head(
    space: spaces.Dict, view: PictureView | None, config: NetworkConfig, units: int
) -> CellsHead | None:
    """The head where observations of `space` show one glimpse of square windows, of two scales or
    more, and a look is a place; else None."""
    if view is None or view.look != "continuous" or len(view.window_sides) < 2:
        return None
    glimpse = (len(view.window_sides) * view.scene_shape[0], view.glimpse_size, view.glimpse_size)
    if "glimpse" not in space.spaces or space["glimpse"].shape != glimpse:
        return None
    # DRAM's core begins with the context.
    context = None if config.core == "dram" else context_shape(space)
    return CellsHead(units, view, config, context)
