"""Inhibition of return: looks that know where the episode's glimpses have been.

Saliency models of attention avoid places that were looked at (Itti, Koch & Niebur 1998). Here the
network computes the weight of a visit, for or against a look there, and so learns when to return.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor, nn

from agents.policy.cells import CellsHead
from agents.policy.heads import Head, Observation
from agents.training.precision import LEAST_EXPONENT, wide
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.task import Component

MOST_VISITS = 3
"""Greatest number of visits of one address or tile that is told apart: 0, 1, 2, and 3 or more."""

FIRST_PENALTY = 3.0
"""Initial penalty of each visit of an address or tile, in logits. Without it three of four seeds of
AssociativeRecall were stuck after a minute and a half (entropy weight 0.002): pairs are stored over
each other until they are found again, and not looked for until they are stored apart. Nothing was
measured on tiles."""

REMEMBERED = 16
"""Number of the latest glimpses of a picture that are remembered."""

LEAST_DEVIATION = 1e-6
"""In look coordinates, above 0 where there is one place to look at: there the widest window just
fits, and glimpses stay inside."""


class Inhibition(nn.Module, ABC):
    """Logits of a look, added to its head's, by where the episode's glimpses have been.

    Attributes:
        described: what it is, in words.
    """

    described = "inhibition of return"

    @abstractmethod
    def no_visits(self, rows: int) -> Tensor:
        """The visits (rows, k) before the first glimpse, all 0."""

    @abstractmethod
    def with_present(self, visits: Tensor, observation: Observation) -> Tensor:
        """The visits (B, k) with the present glimpse's."""

    @abstractmethod
    def forward(self, core: Tensor, visits: Tensor, observation: Observation) -> Tensor:
        """The logits (B, n), at least float32, from what the head sees, (B, units), and the visits
        (B, k)."""


class PlaceInhibition(Inhibition):
    """Inhibition for looks at n fixed places, addresses or tiles: one weight for each number of
    visits. The visits (B, n) are counted.

    Args:
        units: of what the head sees.
        locations: (n, d) `location` as observed at each place.
    """

    locations: Tensor

    def __init__(self, units: int, locations: Tensor) -> None:
        super().__init__()
        self.register_buffer("locations", locations, persistent=False)
        self.weights = nn.Linear(units, MOST_VISITS + 1)
        with torch.no_grad():
            self.weights.bias.sub_(FIRST_PENALTY * torch.arange(MOST_VISITS + 1))

    def no_visits(self, rows: int) -> Tensor:
        return self.locations.new_zeros(rows, len(self.locations))

    def with_present(self, visits: Tensor, observation: Observation) -> Tensor:
        moves = observation["location"][:, None] - self.locations
        present = moves.square().sum(dim=-1).argmin(dim=1, keepdim=True)
        return visits.scatter_add(1, present, torch.ones_like(visits[:, :1]))

    def forward(self, core: Tensor, visits: Tensor, observation: Observation) -> Tensor:
        return wide(self.weights(core).gather(1, visits.clamp(max=MOST_VISITS).long()))


class CellInhibition(Inhibition):
    """Inhibition for looks at the cells that are seen: one weight a scale, and one for the context,
    for the visits near the place that a block's look leads to. Each visit counts by a Gaussian of
    its distance, whose deviation is half the finest window's side. The visits (B, 3 REMEMBERED) are
    the latest places, (x, y, 1) each, or zeros.

    Args:
        units: of what the head sees.
        head: of the looks.
        view: of the picture.
        widened: make the deviation at least half the block's side: what was visited may lie
            anywhere in the block.
    """

    def __init__(
        self, units: int, head: CellsHead, view: PictureView, widened: bool = False
    ) -> None:
        super().__init__()
        if widened:
            self.described = "wide inhibition of return"
        _, sides = view.windows()
        least, context = np.full(2, sides[0]), head.context
        blocks = sides[:, None].repeat(2, axis=1) / head.blocks if widened else least
        spreads = view.space.to_offsets(np.maximum(least, blocks) / 2)
        moving = len(head.offsets) - head.fixed
        glimpse, fixed = head.offsets[:moving], head.offsets[moving:]
        shape = (head.scales, head.blocks, head.blocks)
        self.seen = Nearness(glimpse.view(*shape, 2), spreads, moves=True)
        self.context: Nearness | None = None
        if context is not None:
            cells = context.pixels if widened else least
            spreads = view.space.to_offsets(np.maximum(least, cells) / 2)
            self.context = Nearness(fixed.view(1, *context.shape[1:], 2), spreads, moves=False)
        self.weights = nn.Linear(units, head.scales + (context is not None))

    def no_visits(self, rows: int) -> Tensor:
        return self.weights.weight.new_zeros(rows, 3 * REMEMBERED)

    def with_present(self, visits: Tensor, observation: Observation) -> Tensor:
        location = observation["location"]
        latest = torch.cat([location, torch.ones_like(location[:, :1])], dim=1)
        return torch.cat([visits[:, 3:], latest.to(visits)], dim=1)

    def forward(self, core: Tensor, visits: Tensor, observation: Observation) -> Tensor:
        near = self.seen(observation["location"], visits)
        weights = self.weights(core)[..., None, None]
        weighted = (weights[:, : near.shape[1]] * near).flatten(1)
        if self.context is not None:
            near = self.context(observation["location"], visits)
            weighted = torch.cat([weighted, (weights[:, -1:] * near).flatten(1)], dim=1)
        return wide(weighted)


class Nearness(nn.Module):
    """How near looks to the blocks of K grids come to the latest visits: from (B, 2) the present
    place and (B, 3 REMEMBERED) the visits, to (B, K, rows, columns), the sums over the visits of a
    number from 0 to 1.

    Args:
        grids: (K, rows, columns, 2) in look coordinates, the blocks' middles.
        spreads: (K, 2) or (2,) in look coordinates, the deviations of the Gaussian in x and y.
        moves: whether the middles are offsets from the present place.
    """

    across: Tensor  # (K, columns)
    down: Tensor  # (K, rows)
    deviations: Tensor  # (2, K, 1, 1), of x and y

    def __init__(self, grids: Tensor, spreads: NDArray, moves: bool) -> None:
        super().__init__()
        self.moves = moves
        of_grids = np.broadcast_to(spreads, (len(grids), 2)).T.copy()
        of_grids = np.maximum(of_grids, LEAST_DEVIATION)
        deviations = torch.as_tensor(of_grids).to(grids)[..., None, None]
        self.register_buffer("across", grids[:, 0, :, 0].contiguous(), persistent=False)
        self.register_buffer("down", grids[:, :, 0, 1].contiguous(), persistent=False)
        self.register_buffer("deviations", deviations, persistent=False)

    def forward(self, location: Tensor, visits: Tensor) -> Tensor:
        past_x, past_y, taken = visits.view(-1, 1, 1, REMEMBERED, 3).unbind(dim=-1)
        x, y = (location * self.moves).view(-1, 2, 1, 1).unbind(dim=1)
        deviation_x, deviation_y = self.deviations
        across = _near(x + self.across, past_x, deviation_x)  # (B, K, columns, visits)
        down = _near(y + self.down, past_y, deviation_y) * taken  # (B, K, rows, visits)
        return down @ across.mT


def _near(middles: Tensor, past: Tensor, deviations: Tensor) -> Tensor:
    """How near looks to `middles` (B, K, blocks) come to the `past` (B, 1, 1, visits) ones, in one
    coordinate, by the `deviations` (K, 1, 1) of each grid: (B, K, blocks, visits), from 0 to 1."""
    reached = middles.clamp(-1.0, 1.0)[..., None]
    apart = (reached - past) / deviations
    return (-0.5 * apart.square()).clamp(min=LEAST_EXPONENT).exp()


def make_inhibition(
    space: spaces.Dict,
    components: Mapping[str, Component],
    heads: Mapping[str, Head],
    view: PictureView | None,
    units: int,
    widened: bool = False,
) -> Inhibition | None:
    """Inhibition of return where a look is a choice among the cells that are seen, among a
    picture's tiles, or among addresses whose bits `location` shows; else None.

    Args:
        space: of the observations of a single row.
        components: the parts of the action.
        heads: of the components.
        view: of the picture, if there is one.
        units: of what the head sees.
        widened: see `CellInhibition`.
    """
    look, head = components.get("look"), heads.get("look")
    if isinstance(head, CellsHead) and view is not None:
        return CellInhibition(units, head, view, widened)
    if look is None or not isinstance(look.space, spaces.Discrete):
        return None
    location = space.spaces.get("location")
    addresses = np.arange(look.space.n)[:, None]
    bits = (addresses >> np.arange(int(look.space.n - 1).bit_length())) & 1
    locations: NDArray = bits if view is None else view.tile_locations
    if not isinstance(location, spaces.Box) or location.shape != locations.shape[1:]:
        return None
    if view is None and not ((location.low == 0).all() and (location.high == 1).all()):
        return None  # places, not bits
    return PlaceInhibition(units, torch.as_tensor(locations, dtype=torch.get_default_dtype()))
