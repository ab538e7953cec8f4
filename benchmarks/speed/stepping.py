"""Bursts of environment steps, with random actions drawn beforehand."""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
from gymnasium.vector import VectorEnv

import glimpse_envs

PREPARED = 64  # batches of actions that take turns
BURST = 40_000  # steps of rows in a burst, about


def batch_burst(envs: VectorEnv, row_steps: int = BURST) -> Callable[[], int]:
    """Steps of a vector environment which resets itself, counted in rows."""
    envs.action_space.seed(0)
    actions = [envs.action_space.sample() for _ in range(PREPARED)]
    envs.reset(seed=0)
    # Whole episodes of all pictures: as many resets in each burst.
    steps = max(48, row_steps // envs.num_envs // 48 * 48)

    def burst() -> int:
        for i in range(steps):
            envs.step(actions[i % PREPARED])
        return steps * envs.num_envs

    return burst


def single_burst(env: gym.Env[Any, Any], steps: int) -> Callable[[], int]:
    """Steps of a single environment, resets included."""
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(PREPARED)]
    env.reset(seed=0)

    def burst() -> int:
        for i in range(steps):
            _, _, terminated, truncated, _ = env.step(actions[i % PREPARED])
            if terminated or truncated:
                env.reset()
        return steps

    return burst


def on_threads(threads: int, burst: Callable[[], int]) -> Callable[[], int]:
    """The same burst, with that many threads for our environments."""

    def threaded() -> int:
        glimpse_envs.set_threads(threads)
        units = burst()
        glimpse_envs.set_threads(1)
        return units

    return threaded
