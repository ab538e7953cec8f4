"""Returns from rewards."""

import torch
from torch import Tensor


def returns_to_go(rewards: Tensor) -> Tensor:
    """Return G_t = r_t + G_{t+1} for rewards (T, B); G has the same shape."""
    returns = torch.zeros_like(rewards)
    following = torch.zeros_like(rewards[0])
    for t in range(len(rewards) - 1, -1, -1):
        following = rewards[t] + following
        returns[t] = following
    return returns
