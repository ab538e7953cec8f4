"""A memory that sees where something is, and little of what.

A memory that sees classes learns at which places each was never seen in training, and denies them
there. This one sees which parts of a glimpse are lit, and of a word that names a class only that
one was named; classes are named from the glimpse alone (see `agents.policy.words`). The head of
looks sees all of the glimpse.
"""

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn
from torch.nn import functional as F

from agents.policy.heads import Observation
from glimpse_envs.core.picture_view import PictureView

PART = 12
"""Side in pixels of a part, less than half a digit: in smaller ones its class could be read."""
LIT = 0.03
"""Least mean brightness of a part that is lit."""


def lit_parts(pictures: Tensor, grid: tuple[int, int]) -> Tensor:
    """1 where a part of `pictures` (B, C, H, W) is lit and 0 elsewhere: (B, 1, *grid)."""
    grey = pictures.mean(dim=1, keepdim=True)
    return (F.adaptive_avg_pool2d(grey, grid) >= LIT).to(pictures)


def without_classes(words: Tensor, classes: int) -> Tensor:
    """One-hot `words` (..., n), of which the first `classes` become one: (..., 1 + n - classes)."""
    named = words[..., :classes].sum(dim=-1, keepdim=True)
    return torch.cat([named, words[..., classes:]], dim=-1)


class Blindness(nn.Module):
    """From observations, name -> (B, ...), to what memory sees of them: `glimpse` as (B, 1, n, n),
    1 where a part of its coarsest scale is lit and 0 elsewhere; `last_action` (B, 1 + others), of
    which the first says that a class was named. All other parts stay as they are.

    Args:
        space: of the observations of a single row, with both parts.
        classes: number of words that name a class; they are the first of all words.
        view: of the picture.

    Attributes:
        space: that of what memory sees.
    """

    def __init__(self, space: spaces.Dict, classes: int, view: PictureView) -> None:
        super().__init__()
        self.classes, self.channels = classes, view.scene_shape[0]
        side = max(1, round(view.window_sides[-1] / PART))
        self.grid = (side, side)
        words = int(np.prod(space["last_action"].shape or ()))
        lit = spaces.Box(0.0, 1.0, (1, *self.grid), np.float32)
        named = spaces.Box(0.0, 1.0, (1 + words - classes,), np.float32)
        self.space = spaces.Dict({**space.spaces, "glimpse": lit, "last_action": named})

    def forward(self, observation: Observation) -> Observation:
        return {
            **observation,
            "glimpse": lit_parts(observation["glimpse"][:, -self.channels :], self.grid),
            "last_action": without_classes(observation["last_action"], self.classes),
        }
