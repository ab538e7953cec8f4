"""Inhibition of return: looks that know where the episode's glimpses have been.

Saliency models of attention avoid where they have looked (Itti, Koch & Niebur 1998). Here the
network works out how much a visit weighs, for or against, and so learns when to return.
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
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.task import Component

COUNTED = 3
"""Visits of one address that are told apart: 0, 1, 2, and 3 or more."""

FIRST_STRENGTH = 3.0
# Of the first weights, per visit of an address. With 0, three of four seeds of AssociativeRecall
# were stuck after a minute and a half: pairs are stored over each other until they are found again,
# and not looked for until they are stored apart.

REMEMBERED = 16
"""Glimpses of a picture that are remembered, the latest ones."""


class Inhibition(nn.Module, ABC):
    """Logits of a look, added to its head's, by where the episode's glimpses have been."""

    @abstractmethod
    def no_visits(self, rows: int) -> Tensor:
        """The visits (rows, ...) before the first glimpse, all 0."""

    @abstractmethod
    def counted(self, visits: Tensor, observation: Observation) -> Tensor:
        """The visits (B, ...) with the present glimpse's."""

    @abstractmethod
    def forward(self, core: Tensor, visits: Tensor, observation: Observation) -> Tensor:
        """The logits (B, n), from what the head sees, (B, units), and the visits (B, ...)."""


class PlaceInhibition(Inhibition):
    """Of looks at n places that do not move, addresses or tiles: a weight for each number of
    visits.

    Args:
        units: of what the head sees.
        locations: (n, d) `location` as observed at each place.
    """

    locations: Tensor

    def __init__(self, units: int, locations: Tensor) -> None:
        super().__init__()
        self.register_buffer("locations", locations, persistent=False)
        self.weights = nn.Linear(units, COUNTED + 1)
        with torch.no_grad():
            self.weights.bias.sub_(FIRST_STRENGTH * torch.arange(COUNTED + 1))

    def no_visits(self, rows: int) -> Tensor:
        return self.locations.new_zeros(rows, len(self.locations))

    def counted(self, visits: Tensor, observation: Observation) -> Tensor:
        moves = observation["location"][:, None] - self.locations
        present = moves.square().sum(dim=-1).argmin(dim=1, keepdim=True)
        return visits.scatter_add(1, present, torch.ones_like(visits[:, :1]))

    def forward(self, core: Tensor, visits: Tensor, observation: Observation) -> Tensor:
        return _floats(self.weights(core).gather(1, visits.clamp(max=COUNTED).long()))


class CellInhibition(Inhibition):
    """Of looks at the cells that are seen: a weight a scale for the visits near a block, each
    falling with its distance as a Gaussian whose deviation is half the finest window's side.

    Args:
        units: of what the head sees.
        head: of the looks.
        view: of the picture.
    """

    def __init__(self, units: int, head: CellsHead, view: PictureView) -> None:
        super().__init__()
        self.scales = head.scales
        grid = head.offsets.view(self.scales, head.blocks, head.blocks, 2)  # rows by columns
        self.register_buffer("across", grid[:, 0, :, 0].contiguous(), persistent=False)
        self.register_buffer("down", grid[:, :, 0, 1].contiguous(), persistent=False)
        _, sides = view.windows()
        self.deviation = float(view.space.to_offsets(np.full((1, 2), sides[0] / 2))[0, 0])
        self.weights = nn.Linear(units, self.scales)

    across: Tensor  # (K, blocks)
    down: Tensor  # (K, blocks)

    def no_visits(self, rows: int) -> Tensor:
        return self.across.new_zeros(rows, 3 * REMEMBERED)

    def counted(self, visits: Tensor, observation: Observation) -> Tensor:
        location = observation["location"]
        latest = torch.cat([location, torch.ones_like(location[:, :1])], dim=1)
        return torch.cat([visits[:, 3:], latest.to(visits)], dim=1)

    def forward(self, core: Tensor, visits: Tensor, observation: Observation) -> Tensor:
        past = visits.view(len(visits), 1, 1, REMEMBERED, 3)  # (x, y, whether there was one)
        x, y = observation["location"].view(-1, 2, 1, 1).unbind(dim=1)
        across = self._near((x + self.across)[..., None] - past[..., 0])  # (B, K, blocks, visits)
        down = self._near((y + self.down)[..., None] - past[..., 1]) * past[..., 2]
        near = down @ across.mT  # (B, K, rows of blocks, columns of blocks)
        return _floats((self.weights(core)[..., None, None] * near).flatten(1))

    def _near(self, distances: Tensor) -> Tensor:
        return (-distances.square() / (2 * self.deviation**2)).exp()


def _floats(logits: Tensor) -> Tensor:
    """At least float32."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def make_inhibition(
    space: spaces.Dict,
    components: Mapping[str, Component],
    heads: Mapping[str, Head],
    view: PictureView | None,
    units: int,
) -> Inhibition | None:
    """Inhibition of return where a look is a choice among the cells that are seen, among tiles, or
    among addresses of which `location` shows the bits; else None.

    Args:
        space: of the observations of a single row.
        components: the parts of the action.
        heads: of the components.
        view: of the picture, if there is one.
        units: of what the head sees.
    """
    look, head = components.get("look"), heads.get("look")
    if isinstance(head, CellsHead) and view is not None:
        return CellInhibition(units, head, view)
    if look is None or not isinstance(look.space, spaces.Discrete):
        return None
    addresses = np.arange(look.space.n)[:, None]
    bits = (addresses >> np.arange(int(look.space.n - 1).bit_length())) & 1
    locations: NDArray = bits if view is None else view.tile_locations
    if "location" not in space.spaces or space["location"].shape != locations.shape[1:]:
        return None
    return PlaceInhibition(units, torch.as_tensor(locations, dtype=torch.get_default_dtype()))
