"""Films of third-party worlds: the whole frame with the place looked at, and what is seen."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from glimpse_envs.episodes.display import FRAME_HEIGHT
from glimpse_envs.episodes.lookup import has_splits
from glimpse_envs.evaluation.actions import Actions
from glimpse_envs.evaluation.dealing import deal_one
from glimpse_envs.evaluation.moments import moments
from glimpse_envs.evaluation.policy import Policy
from glimpse_envs.evaluation.sampling import samples_of
from glimpse_envs.rendering import Seen, draw_frame
from glimpse_envs.wrappers.single import GlimpseWrapper, glimpse_wrapper_of

Frames = list[NDArray[np.uint8]]
"""All of one size, (height, width, 3)."""

LAST = 3
"""Number of times that an episode's last frame, which marks the answer right or wrong, is shown."""

LONGEST = 300
"""Largest number of frames filmed of an episode: some last for 27,000 steps."""

WORLD_FPS = 12
"""Frames a second: worlds move slowly from one step to the next."""

TRAIL = 8
"""Number of latest places that the path shows."""


def film_world(
    policy: Policy,
    env_id: str,
    episodes: Sequence[int],
    *,
    seed: int = 0,
    reveal: str = "all",
    height: int = FRAME_HEIGHT,
    actions: Actions,
    **env_kwargs: Any,
) -> list[Frames]:
    """Play the first `LONGEST` steps of `episodes` of the test split.

    A world without a `GlimpseWrapper` draws itself, as its `render` does, of its own height.

    Args:
        policy: to be filmed.
        env_id: of a third-party world.
        episodes: their numbers, as `glimpse_envs.evaluation.protocol.evaluate` deals them.
        seed: of the evaluation.
        reveal: "all" of the frame, or what the agent has "seen" of it.
        height: of the frames, in pixels.
        actions: the likeliest, or samples.
        **env_kwargs: of the environment.
    """
    if has_splits(env_id):
        env_kwargs = {"split": "test", **env_kwargs}
    with closing(gym.make(env_id, render_mode="rgb_array", **env_kwargs)) as env:
        films = []
        for episode in episodes:
            begun = deal_one(env, "test", seed, episode)
            draw = _drawing(env, reveal, height)
            played = moments(policy, env, *begun, actions)
            with samples_of(policy, seed, episode):
                frames = [draw(moment.total) for moment in islice(played, LONGEST)]
            films.append(frames + frames[-1:] * LAST)
    return films


def _drawing(env: gym.Env, reveal: str, height: int) -> Callable[[float], NDArray[np.uint8]]:
    """A function that draws the present frame of an episode, given its return so far."""
    wrapper = glimpse_wrapper_of(env)
    if wrapper is None:
        return lambda total: np.asarray(env.render(), np.uint8)
    return _WithGaze(wrapper, reveal, height)


class _WithGaze:
    """Draws the frames of one episode with the latest places."""

    def __init__(self, wrapper: GlimpseWrapper, reveal: str, height: int) -> None:
        self._wrapper, self._height, self._steps = wrapper, height, 0
        self._seen = Seen() if reveal == "seen" else None
        self._path = np.zeros((0, 2), np.float32)

    def __call__(self, total: float) -> NDArray[np.uint8]:
        picture = self._wrapper.picture()
        self._path = np.concatenate([self._path, picture.path])[-TRAIL:]
        caption = f"step {self._steps}, return {total:g}"
        self._steps += 1
        picture = replace(picture, path=self._path, caption=caption)
        if self._seen is None:
            return draw_frame(picture, self._height)
        self._seen.add(picture)
        return draw_frame(self._seen.reveal(picture, ended=False), self._height, legend=True)
