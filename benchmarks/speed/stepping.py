"""Bursts of environment steps, with random actions drawn beforehand."""

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym
from gymnasium.vector import VectorEnv

import glimpse_envs

PREPARED = 64  # batches of actions that take turns
BURST = 40_000  # steps of rows in a burst, about


def burst_of(
    step: Callable[[Any], object], actions: Sequence[Any], steps: int, rows: int
) -> Callable[[], int]:
    """A burst of so many steps of `rows` rows, with `actions` by turns; it returns the row
    steps."""

    def burst() -> int:
        for i in range(steps):
            step(actions[i % len(actions)])
        return steps * rows

    return burst


def batch_burst(envs: VectorEnv, row_steps: int = BURST) -> Callable[[], int]:
    """About `row_steps` row steps of a vector environment that resets itself."""
    envs.action_space.seed(0)
    actions = [envs.action_space.sample() for _ in range(PREPARED)]
    envs.reset(seed=0)
    return burst_of(envs.step, actions, whole_episodes(envs.num_envs, row_steps), envs.num_envs)


def whole_episodes(rows: int, row_steps: int = BURST) -> int:
    """About `row_steps` / `rows` steps, a multiple of all pictures' budgets, so that every burst
    has as many resets."""
    return max(48, row_steps // rows // 48 * 48)


def single_burst(env: gym.Env[Any, Any], steps: int) -> Callable[[], int]:
    """Steps of a single environment, resets included."""
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(PREPARED)]
    env.reset(seed=0)

    def step(action: Any) -> None:
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()

    return burst_of(step, actions, steps, rows=1)


def on_threads(threads: int, burst: Callable[[], int]) -> Callable[[], int]:
    """The same burst on so many threads of our environments."""

    def threaded() -> int:
        glimpse_envs.set_threads(threads)
        units = burst()
        glimpse_envs.set_threads(1)
        return units

    return threaded
