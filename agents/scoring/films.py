"""Films and contact sheets of a policy's scanpaths on scenes of a fixed split."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

import glimpse_envs  # noqa: F401  (registers the environments)
from glimpse_envs.episodes.description import task_of
from glimpse_envs.evaluation.policy import as_act, as_policy
from glimpse_envs.rendering import (
    contact_sheet,
    draw_scanpath,
    write_film,
    write_png,
)


def film_episodes(
    policy: Any, env_id: str, scenes: Sequence[int], *, seed: int = 0, **env_kwargs: Any
) -> tuple[list[list[NDArray[np.uint8]]], list[NDArray[np.uint8]]]:
    """Play `scenes` of the test split with the policy's likeliest actions.

    Returns:
        The frames of each episode, all (height, width, 3) uint8, and one scanpath a scene, for a
        contact sheet.
    """
    env = gym.make(env_id, split="test", render_mode="rgb_array", **env_kwargs)
    act = as_act(as_policy(policy), env, deterministic=True)
    films, scanpaths = [], []
    for scene in scenes:
        observation, info = env.reset(seed=seed, options={"scene": scene})
        state, ended, start = None, False, np.ones(1, np.bool_)
        frames = []
        while not ended:
            frames.append(np.asarray(env.render()))
            batch = {name: value[None] for name, value in observation.items()}
            infos = {name: np.asarray(value)[None] for name, value in info.items()}
            action, state = act(batch, state, start, infos)
            start = np.zeros(1, np.bool_)
            step = {name: value[0] for name, value in action.items()}
            observation, _, terminated, truncated, info = env.step(step)
            ended = terminated or truncated
        # The last frame, which marks the answer right or wrong, stays a little longer.
        frames += [np.asarray(env.render())] * 3
        films.append(frames)
        task = task_of(env)
        assert task is not None
        scanpaths.append(draw_scanpath(task.picture(0, "")))
    env.close()
    return films, scanpaths


def write_showcase(
    policy: Any,
    env_id: str,
    film: Path,
    sheet: Path,
    *,
    title: str = "",
    film_scenes: int = 12,
    sheet_scenes: int = 24,
    **env_kwargs: Any,
) -> None:
    """Write a film (.mp4 or .gif) of the first test scenes and a contact sheet (.png) of more."""
    scenes = range(max(film_scenes, sheet_scenes))
    films, scanpaths = film_episodes(policy, env_id, scenes, **env_kwargs)
    write_film(chain.from_iterable(films[:film_scenes]), film)
    write_png(contact_sheet(scanpaths[:sheet_scenes], columns=6, title=title), sheet)
