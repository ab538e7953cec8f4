"""Atari games through a fovea, as Shang & Ryoo (NeurIPS 2023, SUGARL) set them up.

Frames of 84x84 grey, each action repeated four times with the maximum of the last two frames, a
stack of four that begins with zeros, no sticky actions, the minimal action set, at most 30 no-ops
and the fire button at reset. On the train split a lost life ends the episode and rewards are
clipped to their sign; on the others a whole game is played for its score.

`segment=128` cuts the episodes of the train split every 128 steps, for learners that play whole
episodes: a game of Pong has a thousand steps and more.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import AtariPreprocessing, ClipReward, FrameStackObservation

from glimpse_envs.core.arguments import (
    SPLITS,
    check_choice,
    check_integers,
    check_mode,
    enter_arguments,
)
from glimpse_envs.core.memory import check_memory
from glimpse_envs.episodes.lookup import hint_of_world
from glimpse_envs.vision.sensors.retina import far_scales
from glimpse_envs.wrappers.batched import GlimpseVectorWrapper
from glimpse_envs.wrappers.eye import OPTIONS
from glimpse_envs.wrappers.names import check_name
from glimpse_envs.wrappers.one_life import OneLife
from glimpse_envs.wrappers.segments import training_segments
from glimpse_envs.wrappers.single import GlimpseWrapper

_FIRE = 1
_SIDE = 84  # of a frame in pixels


def make_atari(
    *, game: str, fovea: int, render_mode: str | None = None, **options: Any
) -> GlimpseWrapper:
    """Return one game seen through a fovea.

    Args:
        game: such as "Pong", as `ale_py` names it.
        fovea: side of the fovea in pixels; the `glimpse_size` of `GlimpseWrapper`.
        render_mode: the game's own.
        **options: `split`, `frame_stack`, `segment` (see `Segments`; None, the default, keeps
            episodes whole), and those of `GlimpseWrapper`.

    Raises:
        gymnasium.error.DependencyNotInstalled: `ale_py` is not installed.
        gymnasium.error.UnregisteredEnv: there is no such game.
        TypeError: an option is not known.
        ValueError: an option does not fit.
    """
    game_options, eye_options = _split_options(fovea, options)
    env = _full_view(game, render_mode=render_mode, **game_options)
    return GlimpseWrapper(env, glimpse_size=fovea, **eye_options)


def make_atari_vector(
    num_envs: int,
    *,
    game: str,
    fovea: int,
    render_mode: str | None = None,
    autoreset_mode: str = "NextStep",
    **options: Any,
) -> GlimpseVectorWrapper:
    """Return a batch of games, each seen through a fovea; see `make_atari`."""
    check_integers(1, num_envs=num_envs)
    mode = check_mode(autoreset_mode)
    game_options, eye_options = _split_options(fovea, options)

    def make() -> gym.Env:
        return _full_view(game, render_mode=render_mode, **game_options)

    games = SyncVectorEnv([make] * num_envs, autoreset_mode=mode)
    return GlimpseVectorWrapper(games, glimpse_size=fovea, **eye_options)


def _split_options(fovea: int, options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split options into those of the game and those of the glimpse, with their defaults.

    Raises:
        TypeError: one is not known.
        ValueError: the fovea, or its widest scale, does not fit inside the frame.
    """
    game = {"split": "train", "frame_stack": 4, "segment": None}
    eye = [name for name in OPTIONS if name != "glimpse_size"]  # here it is `fovea`
    enter_arguments(["game", "fovea", "render_mode", *game, *eye], options, hint_of_world)
    given = {name: value for name, value in options.items() if name in game}
    seen = {name: value for name, value in options.items() if name not in game}
    seen = {"inside": True, "layout": "KHW", **seen}
    asked = seen.get("scales", 1)
    check_integers(1, fovea=fovea, scales=1 if asked is None else asked)
    scales = far_scales(_SIDE, fovea) if asked is None else int(asked)
    widest = int(fovea) << min(scales - 1, _SIDE)  # more would fill the memory
    if seen["inside"] is True and seen.get("sensor", "retina") == "retina" and widest > _SIDE:
        if scales > _SIDE.bit_length():
            raise ValueError(
                f"scales={scales} must be at most {_SIDE.bit_length()}: a frame has {_SIDE} pixels "
                "a side, and each scale is twice as wide as the one before; or give inside=False"
            )
        least = f"fovea={fovea}" if scales == 1 else f"fovea={fovea} with scales={scales}"
        raise ValueError(
            f"{least} needs {widest} pixels and must fit inside the frame of {_SIDE}x{_SIDE}: "
            f"give a fovea of at most {_SIDE >> (scales - 1)}, or inside=False"
        )
    return {**game, **given}, seen


def _full_view(
    game: str, *, split: str, frame_stack: int, segment: int | None, render_mode: str | None
) -> gym.Env:
    """Return a game whose observations are stacks (frame_stack, 84, 84) uint8."""
    check_name("game", game, "ALE/", "Pong")
    check_choice("split", split, SPLITS)
    check_integers(1, frame_stack=frame_stack)
    check_memory(3 * frame_stack * _SIDE * _SIDE, frame_stack=frame_stack)  # bounds and frames
    try:
        import ale_py
    except ImportError as error:
        raise gym.error.DependencyNotInstalled(
            "Atari games need ale_py: pip install 'glimpse-envs[atari]'"
        ) from error
    gym.register_envs(ale_py)
    env: gym.Env = gym.make(
        f"ALE/{game}-v5",
        frameskip=1,
        repeat_action_probability=0.0,
        full_action_space=False,
        obs_type="grayscale",  # cheaper than colours, which nobody reads: frames are grey
        render_mode=render_mode,
    )
    env = AtariPreprocessing(env, noop_max=30, frame_skip=4, screen_size=_SIDE)
    if split == "train":
        env = ClipReward(OneLife(env), -1.0, 1.0)  # scores are whole numbers: their sign
    env = FrameStackObservation(FireOnReset(env), int(frame_stack), padding_type="zero")
    return training_segments(env, segment, split)


class FireOnReset(gym.Wrapper, RecordConstructorArgs):
    """Presses the fire button at the start of episodes, in games that have one."""

    def __init__(self, env: gym.Env) -> None:
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        meanings: list[str] = env.unwrapped.get_action_meanings()  # type: ignore[attr-defined]  # ALE's
        self._fires = meanings[_FIRE : _FIRE + 1] == ["FIRE"]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        if not self._fires:
            return observation, info
        observation, _, terminated, truncated, info = self.env.step(_FIRE)
        if terminated or truncated:
            return self.env.reset(options=options)
        return observation, info
