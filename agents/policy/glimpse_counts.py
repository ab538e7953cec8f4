"""Counts of glimpses: what an agent learns from numbers may hold for longer episodes.

`remaining` is a share of the budget, which tells neighbouring glimpses of a long episode apart
worse than those of a short one. Whole numbers tell them apart equally, and an LSTM may count with
them (Gers & Schmidhuber 2001).
"""

import torch
from torch import Tensor

from agents.policy.heads import Observation
from glimpse_envs.episodes.description import Description

UNIT = 8.0
"""Number of glimpses that is shown as 1."""

COUNTS = 2
"""Numbers shown: of the glimpses taken, and of those left."""


def check_countable(env: Description) -> None:
    """Raise a `ValueError` unless the observations of `env` tell the share of a budget of glimpses
    that is left, from which the first one is taken already."""
    space = env.observation_space
    if "remaining" not in space.spaces or space["remaining"].shape != (1,):
        parts = ", ".join(f"{name} {part.shape}" for name, part in space.spaces.items())
        raise ValueError(
            "count_glimpses=True needs `remaining` (1,), the share of the budget that is left; "
            f"the parts of observations are {parts}"
        )
    if env.budget is None:
        raise ValueError(
            "count_glimpses=True is for tasks with a budget of glimpses; here `remaining` is the "
            "share of a time limit: leave it False"
        )


def glimpse_counts(taken: Tensor, observation: Observation) -> Tensor:
    """The numbers of glimpses taken and left (B, 2), in units of `UNIT`.

    With t glimpses taken, and a share r left of the budget, the budget is t / (1 - r), and
    r t / (1 - r) glimpses are left. A share in float32 tells budgets of up to 4,000 exactly.

    Args:
        taken: (B, 1), at least 1.
        observation: with `remaining` (B, 1).
    """
    budget = (taken.double() / (1 - observation["remaining"].double())).round()
    return torch.cat([taken, (budget - taken).to(taken)], dim=1) / UNIT
