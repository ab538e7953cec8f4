"""How many episodes are played, and how many of them at once."""

import math
from collections.abc import Mapping
from contextlib import closing
from typing import Any

import numpy as np

from glimpse_envs.episodes.description import describe
from glimpse_envs.evaluation.batches import make_batch

SCENE_BYTES = 2**28
"""The most memory that all scenes played at once may take, as float32."""


def count_episodes(
    env_id: str,
    env_kwargs: Mapping[str, Any],
    *,
    split: str,
    episodes: int | None,
    at_most: bool,
    batch_size: int,
) -> tuple[int, int]:
    """Return how many episodes to play, one per scene, and how many rows at once: at most
    `batch_size`, and no more large scenes than fit into `SCENE_BYTES`. A batch of one row is made
    to look up the number of scenes.

    Raises:
        ValueError: `episodes` is None where there are no fixed scenes; or it is more than the split
            has, without `at_most`.
    """
    with closing(make_batch(env_id, 1, split, **env_kwargs)) as env:
        total = _total(scenes_of(env), split, episodes, at_most)
        return total, min(batch_size, total, _most_rows(env))


def scenes_of(env: Any) -> int | None:
    """Return how many scenes the split of an environment has; None where they are drawn for
    ever."""
    scenes = getattr(env.unwrapped, "num_scenes", None)
    return None if scenes is None else int(scenes)


def _total(available: int | None, split: str, episodes: int | None, at_most: bool) -> int:
    if episodes is None:
        if available is None:
            raise ValueError(
                "This environment has no fixed scenes: say how many by `episodes`, such as 100 "
                "(--episodes 100 in a command)."
            )
        return available
    if available is None or episodes <= available or split == "train":
        return episodes
    if not at_most:
        raise ValueError(
            f"episodes is {episodes}; the {split} split has {available}. Leave it out to play "
            "all of these, or in Python give at_most=True."
        )
    return available


def _most_rows(env: Any) -> int:
    """Return the greatest number of rows to play at once."""
    seen = describe(env)
    shapes = [space.shape for space in seen.observation_space.values()]
    if seen.picture_view is not None:
        shapes.append(seen.picture_view.scene_shape)
    largest = max(math.prod(shape or ()) for shape in shapes)
    return max(1, SCENE_BYTES // (np.dtype(np.float32).itemsize * largest))
