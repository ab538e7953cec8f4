"""Checks that a row's episodes are its own, however many rows there are and whenever they reset."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.testing.batches import Actions, make_batch, random_actions, rows_that_fit
from glimpse_envs.testing.equality import assert_same, first_rows, rows_in

STEPS = 30
EVERY = 4  # steps, one row of "Disabled" is reset in mid-episode
BLOCK = 64  # scenes are drawn together
MANY = 258  # rows: glimpses are read by 256
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


def check_blocks(env_id: str, kwargs: dict[str, Any]) -> None:
    """Rows beyond the first block have the episodes that they have in a small batch."""
    rows = rows_that_fit(env_id, MANY, **kwargs)
    many = make_batch(env_id, rows, **kwargs)
    for first in sorted({min(BLOCK, rows - 1) - 1, rows - 2}):
        few, pair = make_batch(env_id, 2, **kwargs), np.array([first, first + 1])
        options: dict[str, Any] = {"first_row": first}
        if many.num_scenes is not None:
            options = {"scene": pair % many.num_scenes}
        where = (
            f"rows {first} and {first + 1} of {rows}, and the same two alone (are the `groups`, "
            "`which` and `rows` asked for dealt, drawn and read, and not the first ones?):"
        )
        first_deal = rows_in(many.reset(seed=10), pair)
        assert_same(first_deal, few.reset(seed=10, options=options), f"{where} the first deal")
        rng = np.random.default_rng(10)
        for step in range(1, 4):
            if many.ended.any():
                break  # the next scene of a fixed split goes to whichever row is first
            actions = random_actions(many, rng)
            found, other = many.step(actions), few.step(rows_in(actions, pair))
            assert_same(rows_in(found[:4], pair), other[:4], f"{where} step {step}")


def check_autoreset(env_id: str, kwargs: dict[str, Any]) -> None:
    """Every autoreset mode is that of Gymnasium's `SyncVectorEnv` over single environments."""
    for mode in MODES:
        envs = make_batch(env_id, 3, mode, **kwargs)
        if envs.num_scenes is not None:
            return  # a batch deals the scenes of a split in turn, single environments each all
        singles = [partial(_single, env_id, kwargs)] * 3
        theirs = SyncVectorEnv(singles, autoreset_mode=AutoresetMode(mode))
        where = f"{mode}, with resets in mid-episode" if mode == "Disabled" else mode
        seeds: list[int | None] = [7, 8, 9]
        assert_same(envs.reset(seed=seeds)[0], theirs.reset(seed=seeds)[0], "the first deal")
        rng = np.random.default_rng(5)
        for step in range(STEPS):
            actions = random_actions(envs, rng)
            found, expected = envs.step(actions), theirs.step(actions)
            assert_same(found[:4], expected[:4], f"{where}, at step {step}")
            anew = expected[2] | expected[3]
            if step % EVERY == 1:
                anew[step // EVERY % 3] = True  # in mid-episode
            if mode == "Disabled" and anew.any():
                options = [{"reset_mask": anew.copy()} for _ in range(2)]
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
