"""Checks that a row's episodes are its own, however many rows there are and whenever they reset."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.testing.batches import Actions, make_batch, random_actions
from glimpse_envs.testing.equality import assert_same, first_rows

STEPS = 30
MODES = tuple(mode.value for mode in AutoresetMode)


def check_seeds(env_id: str, kwargs: dict[str, Any]) -> None:
    """Equal seeds give equal episodes, whatever the number of rows."""
    many, few, again = (make_batch(env_id, n, **kwargs) for n in (5, 2, 5))
    for step, actions, found in _played(many, seed=4):
        other = again.reset(seed=4) if actions is None else again.step(actions)
        assert_same(other, found, f"a second batch with the same seed at step {step}")
        if many.num_scenes is not None:
            continue  # rows of a fixed split take the next scene, whichever row is first
        other = few.reset(seed=4) if actions is None else few.step(first_rows(actions, 2))
        compared = 1 if actions is None else 4  # infos lack entries that no row has
        assert_same(first_rows(found[:compared], 2), other[:compared], f"2 of 5 rows, step {step}")


def check_autoreset(env_id: str, kwargs: dict[str, Any]) -> None:
    """Every autoreset mode is that of Gymnasium's `SyncVectorEnv` over single environments."""
    for mode in MODES:
        envs = make_batch(env_id, 3, mode, **kwargs)
        if envs.num_scenes is not None:
            return  # a batch deals the scenes of a split in turn, single environments each all
        singles = [partial(_single, env_id, kwargs)] * 3
        theirs = SyncVectorEnv(singles, autoreset_mode=AutoresetMode(mode))
        seeds: list[int | None] = [7, 8, 9]
        assert_same(envs.reset(seed=seeds)[0], theirs.reset(seed=seeds)[0], "the first deal")
        rng = np.random.default_rng(5)
        for step in range(STEPS):
            actions = random_actions(envs, rng)
            found, expected = envs.step(actions), theirs.step(actions)
            assert_same(found[:4], expected[:4], f"{mode} at step {step}")
            ended = expected[2] | expected[3]
            if mode == "Disabled" and ended.any():
                options = [{"reset_mask": ended.copy()} for _ in range(2)]
                observation, _ = envs.reset(options=options[0])
                assert_same(observation, theirs.reset(options=options[1])[0], "a masked reset")
        theirs.close()


def check_copies(env_id: str, kwargs: dict[str, Any]) -> None:
    """Rows of a group see the same first glimpse, and act on the same hidden thing."""
    copied = make_batch(env_id, 4, "Disabled", copies=2, **kwargs)
    plain = make_batch(env_id, 2, "Disabled", **kwargs)
    seen, _ = copied.reset(seed=6)
    expected, _ = plain.reset(seed=6)
    for name, value in expected.items():
        np.testing.assert_array_equal(seen[name], np.repeat(value, 2, axis=0), f"copies: {name}")
    actions = copied.task.oracle()
    rewards, single = copied.step(actions)[1], plain.step(plain.task.oracle())[1]
    np.testing.assert_array_equal(rewards, np.repeat(single, 2), "rewards of copies")


def _played(envs: GlimpseVectorEnv, seed: int) -> Iterator[tuple[int, Actions | None, Any]]:
    """Yield the number, the actions and the results of the reset (0, None) and of `STEPS` steps."""
    yield 0, None, envs.reset(seed=seed)
    rng = np.random.default_rng(seed)
    for step in range(1, STEPS + 1):
        actions = random_actions(envs, rng)
        yield step, actions, envs.step(actions)


def _single(env_id: str, kwargs: dict[str, Any]) -> gym.Env:
    return gym.make(env_id, **kwargs).unwrapped
