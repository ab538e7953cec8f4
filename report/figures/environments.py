"""Pictures and films of environments: the first steps of somebody who knows what to do."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.boxes import box_in_turn
from glimpse_envs.core.files import write_atomically
from glimpse_envs.episodes.lookup import load_task
from glimpse_envs.rendering import draw_frame, write_film, write_png
from glimpse_envs.single import GlimpseEnv
from glimpse_envs.sources import SOURCES, SourceError
from glimpse_envs.sources.files import VARIABLE, own_data
from glimpse_envs.suite import Row
from glimpse_envs.vision.picture_task import PictureTask
from report.markdown import ReportError

MAX_BYTES = 60_000
MAX_FILM_BYTES = 250_000
HEIGHT = 260
FILM_HEIGHT = 200
FILM_FPS = 1.5
LAST = 2
"""More times that a film's last frame is shown."""
SEED = 4
LOOKS = 4
"""At a scene."""
SHARE = 0.8
"""Of the shortest solution, on a tape or at a table of the greatest length."""

Frames = list[NDArray[np.uint8]]


def draw_picture(row: Row, path: Path) -> None:
    """Write a PNG of a train episode of `row` with a fixed seed, after a few steps.

    Published data are read from the folder in GLIMPSE_DATA alone, never downloaded; where they are
    not there, a picture that was drawn before stays.

    Raises:
        ReportError: data that a new picture needs are not there, or it would be larger than
            `MAX_BYTES`; nothing is written.
    """
    _draw(row, path, MAX_BYTES, lambda file: write_png(_frames(row, HEIGHT)[-1], file))


def draw_film(row: Row, path: Path) -> None:
    """Write a GIF of the episode that `draw_picture` shows, as it does."""
    _draw(row, path, MAX_FILM_BYTES, lambda file: _write_loop(_frames(row, FILM_HEIGHT), file))


def _draw(row: Row, path: Path, most: int, write: Callable[[Path], object]) -> None:
    source = row.kwargs.get("source")
    if source in SOURCES and source != "glyphs" and own_data() is None:
        _keep(row, path, f"the environment variable {VARIABLE} names no folder of data")
        return
    with TemporaryDirectory() as scratch:
        drawn = Path(scratch) / path.name
        try:
            write(drawn)
        except SourceError as error:
            _keep(row, path, str(error))
            return
        if drawn.stat().st_size > most:
            raise ReportError(
                f"the picture of {row.id} has {drawn.stat().st_size:,} bytes; it must have at most "
                f"{most:,}"
            )
        write_atomically(path, drawn.read_bytes())


def _keep(row: Row, path: Path, why: str) -> None:
    if not path.exists():
        raise ReportError(f"the picture of {row.id} cannot be drawn: {why}")


def _write_loop(frames: Frames, path: Path) -> None:
    write_film([*frames, *frames[-1:] * LAST], path, fps=FILM_FPS)


def _frames(row: Row, height: int) -> Frames:
    is_picture = issubclass(load_task(row.task), PictureTask)
    return _scene_frames(row, height) if is_picture else _memory_frames(row, height)


def _scene_frames(row: Row, height: int) -> Frames:
    with closing(gymnasium.make(row.id)) as made:
        env = made.unwrapped
        assert isinstance(env, GlimpseEnv)
        observation, info = env.reset(seed=SEED)
        frames = [_frame(env, 1, height)]
        for step in range(min(LOOKS, env.task.budget - 1)):
            action = {name: part[0] for name, part in env.task.oracle().items()}
            look = _oracle_look(row, observation["location"], info["target_box"], step)
            going_on = {"stop": 0} if "stop" in action else {}
            observation, _, _, _, info = env.step(action | {"look": look} | going_on)
            frames.append(_frame(env, step + 2, height))
        return frames


def _memory_frames(row: Row, height: int) -> Frames:
    """Of a tape or a table of the greatest length, on the way of the task's oracle."""
    with closing(gymnasium.make(row.id, slack=1.0)) as made:  # the budget is the shortest solution
        env = made.unwrapped
        assert isinstance(env, GlimpseEnv)
        task: Any = env.task  # every task with a tape or a table has levels and an oracle
        env.reset(seed=SEED, options={"length": task.levels[1]})
        frames = [_frame(env, 1, height)]
        for step in range(int(SHARE * task.budgets[0])):
            env.step({name: action[0] for name, action in task.oracle().items()})
            frames.append(_frame(env, step + 2, height))
        return frames


def _frame(env: GlimpseEnv, taken: int, height: int) -> NDArray[np.uint8]:
    caption = f"glimpse {taken} of {env.task.budgets[0]}"
    return draw_frame(env.task.picture(0, caption), height)


def _oracle_look(
    row: Row, location: NDArray[np.float32], box: NDArray[np.float32], step: int
) -> NDArray[np.float32]:
    """Return the look (2,) at one of four places round the middle of the box x0, y0, x1, y1, or of
    the next of several."""
    (box,) = box_in_turn(box[None], step, LOOKS)
    quarter = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])[step % 4] / 4
    place = (box[:2] + box[2:]) / 2 + quarter * (box[2:] - box[:2])
    if row.kwargs.get("look") == "relative":
        place = (place - location) / row.kwargs["max_move"]
    return np.clip(place, -1.0, 1.0).astype(np.float32)
