"""Returns are what is still to be earned; advantages, what was earned beyond what was foreseen."""

import pytest
import torch
from torch import Tensor

from agents.algorithms.returns import (
    explained_variance,
    gae,
    n_step_returns,
    returns_to_go,
    standardise,
)

# Two rows of three steps (T, B), of which the second ends after two.
REWARDS = torch.tensor([[1.0, 0.0], [2.0, 3.0], [4.0, 0.0]])
VALUES = torch.tensor([[0.5, 1.0], [1.0, 2.0], [3.0, 7.0]])
ALIVE = torch.tensor([[True, True], [True, True], [True, False]])


def random_episodes(rows: int = 50, steps: int = 6) -> tuple[Tensor, Tensor, Tensor]:
    """Rewards, values, and rows that end after 1 to T steps; what is padded is not 0."""
    generator = torch.Generator().manual_seed(0)
    rewards, values = torch.randn(2, steps, rows, generator=generator, dtype=torch.float64)
    lengths = torch.randint(1, steps + 1, (rows,), generator=generator)
    return rewards, values, torch.arange(steps)[:, None] < lengths


def test_returns_to_go_by_hand() -> None:
    rewards = torch.tensor([[1.0, 0.0], [2.0, 0.0], [4.0, 1.0]])  # (T, B)
    expected = torch.tensor([[7.0, 1.0], [6.0, 1.0], [4.0, 1.0]])
    assert torch.equal(returns_to_go(rewards), expected)
    expected = torch.tensor([[3.0, 0.25], [4.0, 0.5], [4.0, 1.0]])
    assert torch.equal(returns_to_go(rewards, discount=0.5), expected)


def test_returns_keep_the_precision_of_the_rewards_and_leave_them_as_they_are() -> None:
    rewards = torch.tensor([[1 / 3], [1 / 3]], dtype=torch.float64)
    returns = returns_to_go(rewards)
    assert returns.dtype == torch.float64
    assert torch.equal(returns[:, 0], torch.tensor([2 / 3, 1 / 3], dtype=torch.float64))
    assert torch.equal(rewards[:, 0], torch.tensor([1 / 3, 1 / 3], dtype=torch.float64))


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (1, [[1.5, 1.0], [3.5, 3.0], [4.0, 0.0]]),
        # 1 + 2/2 + 3/4, and 0 + 3/2 where the row has ended by then.
        (2, [[2.75, 1.5], [4.0, 3.0], [4.0, 0.0]]),
        (3, [[3.0, 1.5], [4.0, 3.0], [4.0, 0.0]]),
    ],
)
def test_n_step_returns_by_hand(n: int, expected: list[list[float]]) -> None:
    found = n_step_returns(REWARDS, VALUES, ALIVE, n, discount=0.5)
    assert torch.equal(found, torch.tensor(expected))


def test_generalised_advantages_by_hand() -> None:
    # Errors of TD(0): 1 + 1/2 - 1/2, 2 + 3/2 - 1, 4 - 3; and 0 + 2/2 - 1, 3 - 2.
    # Each plus half of a half of what follows.
    expected = torch.tensor([[1.6875, 0.25], [2.75, 1.0], [1.0, 0.0]])
    assert torch.equal(gae(REWARDS, VALUES, ALIVE, discount=0.5, lambda_=0.5), expected)


@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_the_limits_of_advantages(discount: float) -> None:
    rewards, values, alive = random_episodes()
    earned = returns_to_go(rewards * alive, discount) - values * alive
    one_step = n_step_returns(rewards, values, alive, 1, discount) - values * alive
    torch.testing.assert_close(gae(rewards, values, alive, discount, lambda_=1.0), earned)
    torch.testing.assert_close(gae(rewards, values, alive, discount, lambda_=0.0), one_step)
    for n in (6, 7, 1000):
        far = n_step_returns(rewards, values, alive, n, discount) - values * alive
        torch.testing.assert_close(far, earned)


@pytest.mark.parametrize(("discount", "lambda_"), [(1.0, 0.95), (0.9, 0.7)])
def test_generalised_advantages_are_weighted_n_step_ones(discount: float, lambda_: float) -> None:
    """Schulman et al. (2016), eq. 16: (1 - λ) Σ λ^{n-1} A^(n), all that is left on the last."""
    rewards, values, alive = random_episodes(steps=4)
    weighted = torch.zeros_like(values)
    for n, weight in enumerate((1 - lambda_) * lambda_ ** torch.arange(3.0), start=1):
        weighted += weight * (n_step_returns(rewards, values, alive, n, discount) - values * alive)
    far = n_step_returns(rewards, values, alive, 4, discount) - values * alive
    weighted += lambda_**3 * far
    torch.testing.assert_close(gae(rewards, values, alive, discount, lambda_), weighted)


def test_what_follows_an_end_is_not_read() -> None:
    rewards, values, alive = random_episodes()
    dead = ~alive
    assert dead.any()
    spoilt = (torch.where(dead, torch.nan, rewards), torch.where(dead, torch.nan, values), alive)
    for found, expected in (
        (gae(*spoilt), gae(rewards, values, alive)),
        (n_step_returns(*spoilt, n=3), n_step_returns(rewards, values, alive, n=3)),
    ):
        assert torch.equal(found, expected)
        assert not found[dead].any()


def test_a_critic_that_is_right_leaves_no_advantage() -> None:
    rewards, _, alive = random_episodes()
    values = returns_to_go(rewards * alive, 0.9)
    zero = torch.zeros_like(values)
    torch.testing.assert_close(gae(rewards, values, alive, 0.9, 0.5), zero)
    torch.testing.assert_close(n_step_returns(rewards, values, alive, 2, 0.9), values)


def test_standardising_reads_what_was_chosen_alone() -> None:
    advantages = torch.tensor([[1.0, 9.0], [3.0, 5.0]])
    where = torch.tensor([[True, False], [True, True]])  # mean 3, variance 8 / 3
    expected = (advantages - 3) / (8 / 3) ** 0.5
    torch.testing.assert_close(standardise(advantages, where), expected)
    assert torch.equal(standardise(advantages, torch.zeros_like(where)), advantages)
    assert not standardise(torch.full((2, 2), 4.0), where).any()


def test_explained_variance_by_hand() -> None:
    returns = torch.tensor([[0.0, 2.0], [4.0, 100.0]])
    alive = torch.tensor([[True, True], [True, False]])
    assert explained_variance(returns + 5, returns, alive) == 1.0
    assert explained_variance(torch.ones(2, 2), returns, alive) == 0.0
    values = torch.tensor([[0.0, 1.0], [2.0, -100.0]])
    assert explained_variance(values, returns, alive) == pytest.approx(0.75)
    assert explained_variance(-values, returns, alive) == pytest.approx(-1.25)
    assert explained_variance(values, torch.ones(2, 2), alive) == 0.0
