"""Returns from rewards."""

import torch
from torch import Tensor


def returns_to_go(rewards: Tensor, discount: float = 1.0) -> Tensor:
    """Return G_t = r_t + discount * G_{t+1} for rewards (T, B); G has the same shape."""
    returns = torch.zeros_like(rewards)
    following = torch.zeros_like(rewards[0])
    for t in range(len(rewards) - 1, -1, -1):
        following = rewards[t] + discount * following
        returns[t] = following
    return returns
