"""MiniGrid's worlds (Chevalier-Boisvert et al. 2023) in pixels, through a glimpse."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import find_highest_version
from gymnasium.vector import SyncVectorEnv

from glimpse_envs.core.arguments import (
    SPLITS,
    check_choice,
    check_integers,
    check_mode,
    enter_arguments,
    keyword_parameters,
)
from glimpse_envs.episodes.lookup import hint_of_world
from glimpse_envs.wrappers.batched import GlimpseVectorWrapper
from glimpse_envs.wrappers.eye import OPTIONS
from glimpse_envs.wrappers.minigrid_pixels import AgentPixels, GridPixels
from glimpse_envs.wrappers.names import check_name
from glimpse_envs.wrappers.segments import training_segments
from glimpse_envs.wrappers.single import GlimpseWrapper

VIEWS = ("grid", "agent")
_AGENT_CELLS = 7  # along each side of what MiniGrid's agent sees in front of it


def make_minigrid(
    *,
    world: str,
    view: str = "grid",
    tile: int = 8,
    split: str = "train",
    segment: int | None = None,
    render_mode: str | None = None,
    **options: Any,
) -> GlimpseWrapper:
    """Return one world of MiniGrid seen through a glimpse.

    Args:
        world: MiniGrid's name of it, such as "DoorKey-6x6"; its newest version is taken.
        view: "grid", the whole world in pixels, through a glimpse of three cells a side; or
            "agent", the 7x7 cells in front of MiniGrid's agent, all of them, as in MiniGrid.
        tile: side of a cell in pixels.
        split: affects only segments: worlds are dealt by seeds.
        segment: number of steps after which episodes of the train split are cut (see
            `Segments`); None: whole episodes.
        render_mode: the world's own.
        **options: of `GlimpseWrapper`; they replace those of the view.

    Raises:
        gymnasium.error.DependencyNotInstalled: `minigrid` is not installed.
        gymnasium.error.UnregisteredEnv: there is no such world.
        TypeError: an option is not known.
        ValueError: an option does not fit.
    """
    eye = _eye_options(view, tile, split, options)
    env = _pixels(world, view, tile, render_mode)
    return GlimpseWrapper(training_segments(env, segment, split), **eye)


def make_minigrid_vector(
    num_envs: int,
    *,
    world: str,
    view: str = "grid",
    tile: int = 8,
    split: str = "train",
    segment: int | None = None,
    render_mode: str | None = None,
    autoreset_mode: str = "NextStep",
    **options: Any,
) -> GlimpseVectorWrapper:
    """Return a batch of worlds, each seen through a glimpse; see `make_minigrid`."""
    check_integers(1, num_envs=num_envs)
    mode = check_mode(autoreset_mode)
    eye = _eye_options(view, tile, split, options)

    def make() -> gym.Env:
        env = _pixels(world, view, tile, render_mode)
        return training_segments(env, segment, split)

    return GlimpseVectorWrapper(SyncVectorEnv([make] * num_envs, autoreset_mode=mode), **eye)


def _eye_options(view: str, tile: int, split: str, options: dict[str, Any]) -> dict[str, Any]:
    enter_arguments([*keyword_parameters(make_minigrid), *OPTIONS], options, hint_of_world)
    check_choice("view", view, VIEWS)
    check_choice("split", split, SPLITS)
    check_integers(1, tile=tile)
    side = int(tile)  # a small integer of NumPy would wrap around
    if view == "grid":
        return {"glimpse_size": 3 * side, **options}
    return {"glimpse_size": _AGENT_CELLS * side, "look": "static", **options}


def _pixels(world: str, view: str, tile: int, render_mode: str | None) -> gym.Env:
    """Return a world whose observations are pictures (H, W, 3) uint8."""
    check_name("world", world, "MiniGrid-", "DoorKey-6x6")
    try:
        import_module("minigrid")
    except ImportError as error:
        raise gym.error.DependencyNotInstalled(
            "Worlds of MiniGrid need minigrid: pip install 'glimpse-envs[minigrid]'"
        ) from error
    name = f"MiniGrid-{world}"
    version = find_highest_version(None, name) or 0
    env = gym.make(f"{name}-v{version}", render_mode=render_mode, disable_env_checker=True)
    return GridPixels(env, int(tile)) if view == "grid" else AgentPixels(env, int(tile))
