"""Counts of glimpses: what an agent learns from numbers may hold for longer episodes.

`remaining` is a share of the budget, which tells neighbouring glimpses of a long episode apart
worse than those of a short one. Whole numbers tell them apart equally, and an LSTM may count with
them (Gers & Schmidhuber 2001).
"""

import torch
from gymnasium import spaces
from torch import Tensor

from agents.policy.heads import Observation

UNIT = 8.0
"""Number of glimpses that is shown as 1."""

COUNTS = 2
"""Numbers shown: of the glimpses taken, and of those left."""


def check_countable(space: spaces.Dict) -> None:
    """Raise a `ValueError` unless observations of `space` tell the share of the budget left."""
    if "remaining" not in space.spaces or space["remaining"].shape != (1,):
        parts = ", ".join(f"{name} {part.shape}" for name, part in space.spaces.items())
        raise ValueError(
            "count_glimpses=True needs `remaining` (1,), the share of the budget that is left; "
            f"the parts of observations are {parts}"
        )


def glimpse_counts(taken: Tensor, observation: Observation) -> Tensor:
    """The numbers of glimpses taken and left (B, 2), in units of `UNIT`.

    With t glimpses taken, and a share r left of the budget, the budget is t / (1 - r), and
    r t / (1 - r) glimpses are left.

    Args:
        taken: (B, 1), at least 1.
        observation: with `remaining` (B, 1).
    """
    share = observation["remaining"].to(taken)
    left = taken * share / (1 - share).clamp(min=torch.finfo(share.dtype).eps)
    return torch.cat([taken, left.round()], dim=1) / UNIT
