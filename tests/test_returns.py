"""Returns are what is still to be earned."""

import torch

from agents.returns import returns_to_go


def test_returns_to_go_by_hand() -> None:
    rewards = torch.tensor([[1.0, 0.0], [2.0, 0.0], [4.0, 1.0]])  # (T, B)
    expected = torch.tensor([[7.0, 1.0], [6.0, 1.0], [4.0, 1.0]])
    assert torch.equal(returns_to_go(rewards), expected)


def test_returns_keep_the_precision_of_the_rewards_and_leave_them_as_they_are() -> None:
    rewards = torch.tensor([[1 / 3], [1 / 3]], dtype=torch.float64)
    returns = returns_to_go(rewards)
    assert returns.dtype == torch.float64
    assert torch.equal(returns[:, 0], torch.tensor([2 / 3, 1 / 3], dtype=torch.float64))
    assert torch.equal(rewards[:, 0], torch.tensor([1 / 3, 1 / 3], dtype=torch.float64))
