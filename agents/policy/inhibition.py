"""Inhibition of return: looks that remember where they have been."""

from collections.abc import Mapping

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor, nn

from agents.policy.heads import Observation
from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.task import Component

COUNTED = 3
"""Visits that are told apart: 0, 1, 2, and 3 or more."""

FIRST_STRENGTH = 3.0
# Of the first weights, per visit. With 0, three of four seeds of AssociativeRecall were stuck
# after a minute and a half: pairs are stored over each other until they are found again, and not
# looked for until they are stored apart.


class InhibitionOfReturn(nn.Module):
    """Logits of looks at n places, added to a head's, by how often each place has been looked at.

    As in saliency models of attention (Itti, Koch & Niebur 1998) places that were looked at are
    avoided at first; here the weight of each number of visits is worked out by the network, which
    learns when to return.

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
        """The visits (rows, n) before the first glimpse."""
        return self.locations.new_zeros(rows, len(self.locations))

    def counted(self, visits: Tensor, observation: Observation) -> Tensor:
        """The visits (B, n) with the present glimpse's."""
        moves = observation["location"][:, None] - self.locations
        present = moves.square().sum(dim=-1).argmin(dim=1, keepdim=True)
        return visits.scatter_add(1, present, torch.ones_like(visits[:, :1]))

    def forward(self, core: Tensor, visits: Tensor) -> Tensor:
        """The logits (B, n), from what the head sees, (B, units), and the visits (B, n)."""
        weights = self.weights(core)
        logits = weights.gather(1, visits.clamp(max=COUNTED).long())
        return logits.to(torch.promote_types(logits.dtype, torch.float32))


def make_inhibition(
    space: spaces.Dict,
    components: Mapping[str, Component],
    view: PictureView | None,
    units: int,
) -> InhibitionOfReturn | None:
    """Inhibition of return where a look is a choice among tiles, or among addresses of which
    `location` shows the bits; else None.

    Args:
        space: of the observations of a single row.
        components: the parts of the action.
        view: of the picture, if there is one.
        units: of what the head sees.
    """
    look = components.get("look")
    if look is None or not isinstance(look.space, spaces.Discrete):
        return None
    addresses = np.arange(look.space.n)[:, None]
    bits = (addresses >> np.arange(int(look.space.n - 1).bit_length())) & 1
    locations: NDArray = bits if view is None else view.tile_locations
    if "location" not in space.spaces or space["location"].shape != locations.shape[1:]:
        return None
    return InhibitionOfReturn(units, torch.as_tensor(locations, dtype=torch.get_default_dtype()))
