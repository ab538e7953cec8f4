"""Checks of returns: the oracle's are the ceiling, and blind ones at most chance."""

from functools import partial
from typing import Any

import numpy as np

from glimpse_envs.testing.batches import first_returns, make_batch, random_actions, rows_that_fit

ROWS = 2000  # whose mean return is compared with ceiling and chance
ROUNDING = 1e-9  # of a mean of returns


def check_oracle(env_id: str, kwargs: dict[str, Any]) -> None:
    """The oracle's mean return is the ceiling, within four standard errors."""
    rows = rows_that_fit(env_id, ROWS, **kwargs)
    envs = make_batch(env_id, rows, **kwargs)
    envs.reset(seed=2)
    returns, ceiling = first_returns(envs, envs.task.oracle), envs.task.ceiling
    # Returns differ where glimpses cost and lengths or first glimpses are drawn.
    error = 4 * returns.std() / np.sqrt(rows) + ROUNDING
    assert abs(returns.mean() - ceiling) <= error, (
        f"the oracle's mean return is {returns.mean():.4f}; ceiling is {ceiling:.4f}"
    )


def check_chance(env_id: str, kwargs: dict[str, Any]) -> None:
    """The mean return of random actions is at most chance, within four standard errors."""
    rows = rows_that_fit(env_id, ROWS, **kwargs)
    envs, rng = make_batch(env_id, rows, **kwargs), np.random.default_rng(3)
    envs.reset(seed=3)
    returns = first_returns(envs, partial(random_actions, envs, rng))
    most = envs.task.chance + 4 * returns.std() / np.sqrt(rows) + ROUNDING
    assert returns.mean() <= most, (
        f"random actions return {returns.mean():.4f} on average; chance is {envs.task.chance:.4f}"
    )
