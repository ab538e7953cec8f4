"""Limits of wrapped episodes: one that `remaining` shows terminates, any other truncates."""

from collections.abc import Callable
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import TimeLimit

from glimpse_envs.wrappers import GlimpseVectorWrapper, GlimpseWrapper, Segments
from glimpse_envs.wrappers.one_life import OneLife
from glimpse_envs.wrappers.time_limits import max_steps_of
from tests.support.lives import Lives
from tests.support.pixel_world import PixelWorld

STEPS = 3


def shown() -> gym.Env:
    """A world that goes on beyond a limit of three steps."""
    return TimeLimit(PixelWorld(steps=9), STEPS)


def hidden() -> gym.Env:
    """One that is cut after three of the six steps of its limit, and goes on."""
    return Segments(TimeLimit(PixelWorld(steps=9), 2 * STEPS), STEPS)


def unknown() -> gym.Env:
    """One whose limit nobody can read."""
    return Segments(PixelWorld(steps=9), STEPS)


def at_their_end() -> gym.Env:
    """One that ends by itself at its limit, or is cut there."""
    return TimeLimit(PixelWorld(steps=STEPS), STEPS)


WORLDS = [(shown, True), (hidden, False), (unknown, False), (at_their_end, True)]


@pytest.mark.parametrize(("make", "terminates"), WORLDS)
def test_what_remains_is_shown_only_where_episodes_do_not_go_on(
    make: Callable[[], gym.Env], terminates: bool
) -> None:
    seen, _ = GlimpseWrapper(make(), glimpse_size=8).reset(seed=0)
    assert ("remaining" in seen) == terminates


@pytest.mark.parametrize(("make", "terminates"), WORLDS)
def test_a_limit_that_is_shown_terminates(make: Callable[[], gym.Env], terminates: bool) -> None:
    env = GlimpseWrapper(make(), glimpse_size=8)
    for seed in range(4):
        env.reset(seed=seed)
        ends = [env.step(env.action_space.sample())[2:4] for _ in range(STEPS)]
        assert ends == [(False, False)] * (STEPS - 1) + [(terminates, not terminates)]


@pytest.mark.parametrize(("make", "terminates"), WORLDS)
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_so_it_does_in_batches(
    mode: AutoresetMode, make: Callable[[], gym.Env], terminates: bool
) -> None:
    envs = GlimpseVectorWrapper(
        SyncVectorEnv([make] * 2, autoreset_mode=mode), glimpse_size=8, look="static"
    )
    envs.reset(seed=0)
    step = partial(envs.step, {"act": np.ones(2, np.int64)})
    for _ in range(2):
        ends = np.array([step()[2:4] for _ in range(STEPS)])  # (steps, 2, rows)
        assert not ends[:-1].any()
        np.testing.assert_array_equal(ends[-1, 0], terminates)
        np.testing.assert_array_equal(ends[-1, 1], not terminates)
        if mode is AutoresetMode.DISABLED:
            envs.reset()
        elif mode is AutoresetMode.NEXT_STEP:
            assert not np.any(step()[2:4])  # which resets


def test_the_limit_of_a_game_does_not_end_each_life() -> None:
    assert max_steps_of(TimeLimit(Lives(steps=9), 10)) == 10
    assert max_steps_of(OneLife(TimeLimit(Lives(steps=9), 10))) is None
    assert max_steps_of(TimeLimit(OneLife(TimeLimit(Lives(steps=9), 10)), 4)) == 4
