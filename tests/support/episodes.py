"""What the tests of environments share: making them, acting in them, comparing what they say."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.picture_view import PictureView
from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.episodes.infos import read_outcome
from glimpse_envs.single import GlimpseEnv
from glimpse_envs.testing import Actions

Observation = dict[str, NDArray[np.float32]]

CENTRED = "Glimpse/CenteredGlyphs-v0"
TRANSLATED = "Glimpse/TranslatedGlyphs-v0"
CLUTTERED = "Glimpse/ClutteredGlyphs-v0"
CIRCLE_SQUARE = "Glimpse/CircleSquare-v0"

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "continuous": (CLUTTERED, {}),
    "tiles": (CLUTTERED, {"look": "tiles"}),
    "relative": (CLUTTERED, {"look": "relative"}),
    "circle_square": (CIRCLE_SQUARE, {}),
    "history": (CENTRED, {"history": True, "stop": True}),
    "stop": (CLUTTERED, {"stop": True, "glimpse_cost": 0.01, "reward": "dense"}),
    "full": (CLUTTERED, {"view": "full"}),
}
"""A sample of what kwargs can make: what holds for all environments is held for each of these."""


def make_vector(env_id: str, num_envs: int, **kwargs: Any) -> GlimpseVectorEnv:
    """The batched environment, whose rows reset themselves at once unless `kwargs` differ."""
    envs = gym.make_vec(env_id, num_envs=num_envs, **{"autoreset_mode": "SameStep"} | kwargs)
    assert isinstance(envs, GlimpseVectorEnv)
    return envs


def make_single(env_id: str, **kwargs: Any) -> GlimpseEnv:
    """The single environment, without Gymnasium's wrappers."""
    env = gym.make(env_id, **kwargs).unwrapped
    assert isinstance(env, GlimpseEnv)
    return env


def view_of(envs: GlimpseVectorEnv) -> PictureView:
    """How a batch of pictures is looked at."""
    view = envs.task.picture_view
    assert view is not None
    return view


def leaves(space: gym.Space[Any]) -> dict[str, gym.Space[Any]]:
    """The named parts of a Dict space, in its order."""
    assert isinstance(space, spaces.Dict)
    return space.spaces


def passing(envs: GlimpseVectorEnv, actions: Actions) -> Actions:
    """`actions`, but saying nothing where an answer could end the episode."""
    if not envs.task.components["answer"].optional:
        return actions
    return actions | {"answer": np.zeros_like(actions["answer"])}


def oracle(envs: GlimpseVectorEnv, _: Observation) -> Actions:
    """What the oracle does next."""
    return envs.task.oracle()


@dataclass(frozen=True)
class Played:
    """How the rows' first episodes went."""

    returns: NDArray[np.float64]
    """(n,)"""
    steps: NDArray[np.int64]
    """(n,)"""
    success: NDArray[np.bool_]
    """(n,), at the end."""


def play(
    envs: GlimpseVectorEnv,
    observation: Observation,
    act: Callable[[GlimpseVectorEnv, Observation], Actions],
) -> Played:
    """Play on until every row's episode has ended; rows that are dealt again count no more."""
    n = envs.num_envs
    returns, steps = np.zeros(n), np.zeros(n, np.int64)
    success, going = np.zeros(n, np.bool_), np.ones(n, np.bool_)
    while going.any():
        actions = act(envs, observation)
        observation, rewards, terminated, truncated, info = envs.step(actions)
        ended = terminated | truncated
        returns += rewards * going
        steps += going
        success = np.where(going, read_outcome(info, ended).get("success", False), success)
        going &= ~ended
    return Played(returns, steps, success)


def row_of(actions: Actions, row: int) -> dict[str, Any]:
    """The action of one row."""
    return {name: values[row] for name, values in actions.items()}


@dataclass(frozen=True)
class Hidden:
    """What the rows' episodes hide."""

    scenes: NDArray[np.float32]
    """(B, C, H, W) in [0, 1]."""
    boxes: NDArray[np.float32]
    """(B, 4), `target_box`."""
    labels: NDArray[np.int64]
    """(B,)"""


def hidden_of(env_id: str, num_envs: int, seed: int, **kwargs: Any) -> Hidden:
    """What the first episodes after `reset(seed=seed)` hide: keys, not views, decide scenes."""
    for glimpses_alone in ("stop", "history", "glimpse_cost"):
        kwargs.pop(glimpses_alone, None)
    envs = make_vector(env_id, num_envs, view="full", autoreset_mode="Disabled", **kwargs)
    observation, info = envs.reset(seed=seed)
    blind = {"answer": np.zeros(num_envs, np.int64)}
    return Hidden(observation["scene"], info["target_box"], envs.step(blind)[4]["target"])


def write_images(root: Path, images: NDArray[np.uint8]) -> str:
    """Write images (N, h, w) or (N, h, w, 3) as a folder source of two classes; return its name.

    Every split holds all of them, in the order of `images`, the first half being class 0.
    """
    import cv2

    for split in ("train", "validation", "test"):
        for i, image in enumerate(images):
            folder = root / split / ("first" if 2 * i < len(images) else "second")
            folder.mkdir(parents=True, exist_ok=True)
            assert cv2.imwrite(str(folder / f"{i:03d}.png"), image)
    return f"folder:{root}"
