"""Plays random configurations of environments at random, for `tests.core.test_bounds`.

`python -m tests.support.random_configurations 20`: so many of each id.
"""

import sys
from typing import Any

import gymnasium as gym
import numpy as np

from glimpse_envs.env import GlimpseVectorEnv, batch_of
from glimpse_envs.episodes.lookup import load_task
from glimpse_envs.sources import SourceError
from glimpse_envs.suite import SUITE
from glimpse_envs.testing import random_actions

# Few sides of a glimpse: each is compiled anew.
PICTURE: dict[str, list[Any]] = {
    "scene_size": [28, 33, 60, 101, 370],
    "scene_width": [110, 131],
    "images": [1, 2],
    "majority": [1, 2],
    "strokes": [0, 7],
    "noise": ["under", "over"],
    "fixed": [True, False],
    "image_size": [7, 20],
    "combinations": [None, "all"],
    "clutter": [0, 1, 5],
    "clutter_size": [1, 7, 8, 28],
    "budget": [1, 2, 5],
    "glimpse_size": [1, 8, 12],
    "scales": [1, 2, 3, 5],
    "inside": [True, False],
    "look": ["continuous", "tiles", "relative"],
    "max_move": [0.2, 2.0],
    "history": [True, False],
    "context": [True, False],
    "stop": [True, False],
}
TAPE: dict[str, list[Any]] = {
    "length": [1, 2, 5, 12],
    "symbols": [3, 10],
    "repeats": [1, 2, 3],
    "duplicates": [1, 2, 4],
    "memory": [True, None],
    "look": ["moves", "absolute"],
    "slack": [1.0, 2.5],
}
TABLE: dict[str, list[Any]] = {
    "cells": [2, 3, 8, 17],
    "values": [1, 2, 9],
    "length": [1, 2, 5, 12],
    "slack": [1.0, 2.5],
    "look": ["discrete", "bits"],
    "reward": ["first", "final"],
}
TEXT: dict[str, list[Any]] = {
    "facts": [1, 2],
    "min_length": [1, 2],
    "length": [2, 5, 30],
    "kind": [1, 3, 8, 20],
    "slack": [0.3, 1.0, 2.5],
    "look": ["absolute", "moves"],
    "reward": ["first", "final"],
    "encoding": ["ids", "onehot"],
}
ALL: dict[str, list[Any]] = {
    "split": ["train", "validation", "test"],
    "view": ["glimpse", "glimpse", "full"],
    "copies": [1, 3],
    "autoreset_mode": ["SameStep", "NextStep"],
}


def make(env_id: str, rng: np.random.Generator) -> GlimpseVectorEnv | None:
    """An environment with random arguments; None where they do not fit each other."""
    kwargs = SUITE[env_id].kwargs
    family = SUITE[env_id].family
    choices = {"tape": TAPE, "table": TABLE, "text": TEXT}.get(family, PICTURE)
    known = {*load_task(SUITE[env_id].task).parameters(kwargs), "copies", "autoreset_mode"}
    chosen = {
        name: some[rng.integers(len(some))]
        for name, some in (choices | ALL).items()
        if name in known
    }
    try:
        return batch_of(gym.make_vec(env_id, num_envs=6, **chosen))
    except (ValueError, SourceError):
        return None


def main() -> None:
    """Play so many configurations of each id, and print how many were played."""
    rng, wanted = np.random.default_rng(0), int(sys.argv[1])
    for env_id in SUITE:
        played = 0
        for _ in range(100 * wanted):
            if played == wanted:
                break
            envs = make(env_id, rng)
            if envs is None:
                continue
            try:
                envs.reset(seed=int(rng.integers(2**31)))
            except SourceError:  # its files are not here
                break
            for _ in range(30):
                envs.step(random_actions(envs, rng))
            envs.task.oracle()
            played += 1
        print(env_id, played, flush=True)


if __name__ == "__main__":
    main()
