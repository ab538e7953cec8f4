"""Checks of returns: the oracle's are the ceiling, and those of blind policies at most chance."""

from functools import partial
from typing import Any

import numpy as np
from gymnasium import spaces

from glimpse_envs.episodes.lookup import spec_of
from glimpse_envs.sources.names import SOURCES
from glimpse_envs.task import Component, Task
from glimpse_envs.testing.batches import first_returns, make_batch, random_actions, rows_that_fit

ROWS = 2000  # whose mean return is compared with ceiling and chance
LEAST = 8  # rows of a constant answer
ROUNDING = 1e-9  # of a mean of returns
UNTELLING = {"glimpse", "location", "remaining", "scene", "context"}
"""Parts of an observation that ask nothing: without any others all blind policies are alike."""


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


def check_constant_answers(env_id: str, kwargs: dict[str, Any]) -> None:
    """No constant answer, with random looks, returns more than chance; where one of them is the
    best blind policy, the best returns chance. Both within four standard errors.

    It plays the split "train": few fixed scenes may well have one answer oftener than others. So
    may images of a user's own source, of which `chance` is that of equally frequent classes: they
    are not played.
    """
    source = (spec_of(env_id).kwargs | kwargs).get("source")
    if source is not None and source not in SOURCES:
        return
    kwargs = kwargs | {"split": "train"}
    rows = rows_that_fit(env_id, ROWS, **kwargs)
    envs, rng = make_batch(env_id, rows, **kwargs), np.random.default_rng(13)
    task, name = envs.task, type(envs.task).__name__
    answer = task.components.get("answer")
    if answer is None or not isinstance(answer.space, spaces.Discrete):
        return
    answers = rng.permutation(rows) % int(answer.space.n)
    counts = np.bincount(answers, minlength=int(answer.space.n))
    if counts.min() < LEAST:
        return
    envs.reset(seed=13)
    returns = first_returns(envs, lambda: random_actions(envs, rng) | {"answer": answers})
    means = np.bincount(answers, returns) / counts
    # Of few rows all may lose, or win, by luck: their own deviations are then too small.
    deviations = np.sqrt(np.bincount(answers, (returns - means[answers]) ** 2) / counts)
    errors = 4 * np.maximum(deviations, returns.std()) / np.sqrt(counts) + ROUNDING

    chance = task.chance
    must_be = f"{name}.chance is {chance:.4f}; it must be the mean return of the best blind policy"
    above = int((means - errors).argmax())
    assert means[above] - errors[above] <= chance, (
        f"answer {above} at every step returns {means[above]:.4f} on average, whatever is hidden: "
        f"{must_be}, and a task that one answer solves needs no glimpse"
    )
    best = int(means.argmax())
    assert not _is_best(answer, task) or (means + errors).max() >= chance, (
        f"{must_be}, and no constant answer returns as much: the best, {best}, returns "
        f"{means[best]:.4f} on average"
    )


def _is_best(answer: Component, task: Task) -> bool:
    """Return whether some constant answer is the best blind policy: only the last answer is scored,
    every episode takes all its steps, and neither a question nor other choices bear on it."""
    one_answer = answer.effect == "scored" and not (answer.every or answer.optional)
    asks = task.observation_space.spaces.keys() - UNTELLING
    chooses = task.components.keys() - {"look", "answer"}
    return one_answer and task.fixed_steps and not asks and not chooses
