"""A film of an Atari game through a glimpse, for the guide to wrappers and the landing page."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from glimpse_envs.core.arrays import Float32s
from glimpse_envs.rendering import draw_frame, write_film
from glimpse_envs.suite import ATARI
from glimpse_envs.wrappers.single import glimpse_wrapper_of
from report.markdown import ReportError

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOVEA, SIDE = 30, 84
FIRST, LAST, EVERY = 60, 260, 3
"""Steps of the film: from a serve of the right side on."""
HEIGHT, FPS = 240, 8
NOOP, UP, DOWN = 0, 2, 3

# Bytes of the console's memory (Anand et al. 2019, "Unsupervised State Representation Learning in
# Atari"), in pixels of the screen of 160 x 210 but for an offset.
_BALL_X, _BALL_Y, _PADDLE_Y = 49, 54, 51
_LEFT, _TOP = 49, 14
_NEAR = 4  # pixels


def draw_pong(path: Path) -> None:
    """Write a film of Pong: gaze and paddle follow the ball, whose place the console tells.

    Raises:
        ReportError: `ale-py` is not installed and no film was drawn before.
    """
    try:
        made = gymnasium.make(ATARI, game="Pong", fovea=FOVEA, split="test")
    except gymnasium.error.DependencyNotInstalled as error:
        if path.exists():
            return
        raise ReportError(f"the film of Pong cannot be drawn: {error}") from error
    frames: list[NDArray[np.uint8]] = []
    with closing(made) as env:
        env.reset(seed=0)
        seen = glimpse_wrapper_of(env)
        assert seen is not None
        game: Any = env.unwrapped  # of ale-py, which tells the console's memory
        for step in range(LAST):
            env.step(_follow_ball(game.ale.getRAM()))
            if step >= FIRST and step % EVERY == 0:
                frames.append(draw_frame(seen.picture(), HEIGHT))
    write_film(frames, path, fps=FPS)


def _follow_ball(memory: NDArray[np.uint8]) -> dict[str, Any]:
    x, y, paddle = (int(memory[at]) for at in (_BALL_X, _BALL_Y, _PADDLE_Y))
    below = y - paddle - _NEAR
    act = NOOP if abs(below) <= _NEAR else DOWN if below > 0 else UP
    return {"look": _look_at((x - _LEFT) / 160, (y - _TOP) / 210), "act": act}


def _look_at(x: float, y: float) -> Float32s:
    """The look (2,) that puts the fovea's middle at a place in [0, 1], or as near as it may be:
    foveas lie inside the frame."""
    middle = 2 * np.array([x, y], np.float32) - 1
    return (middle * SIDE / (SIDE - FOVEA)).clip(-1, 1).astype(np.float32)
