"""One picture an environment: a frame after a few steps of somebody who knows what to do."""

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.boxes import box_in_turn
from glimpse_envs.episodes.lookup import load_task
from glimpse_envs.rendering import draw_frame, write_png
from glimpse_envs.single import GlimpseEnv
from glimpse_envs.sources import SOURCES, SourceError
from glimpse_envs.sources.files import VARIABLE, own_data
from glimpse_envs.suite import Row
from glimpse_envs.vision.picture_task import PictureTask
from report.markdown import ReportError

MAX_BYTES = 60_000
HEIGHT = 260
SEED = 4
LOOKS = 4
"""At a scene."""
SHARE = 0.8
"""Of the shortest solution, on a tape or at a table of the greatest length."""


def draw_picture(row: Row, path: Path) -> None:
    """Write a PNG of a train episode of `row` with a fixed seed, after a few steps.

    Published data are read from the folder in GLIMPSE_DATA alone, never downloaded; where they are
    not there, a picture that was drawn before stays.

    Raises:
        ReportError: data that a new picture needs are not there, or it would be larger than
            `MAX_BYTES`; nothing is written.
    """
    source = row.kwargs.get("source")
    files = source in SOURCES and source != "glyphs"
    if files and own_data() is None:
        _keep(row, path, f"the environment variable {VARIABLE} names no folder of data")
        return
    try:
        is_picture = issubclass(load_task(row.task), PictureTask)
        frame = _scene_frame(row) if is_picture else _memory_frame(row)
    except SourceError as error:
        _keep(row, path, str(error))
        return
    with TemporaryDirectory() as scratch:
        size = write_png(frame, Path(scratch) / path.name).stat().st_size
    if size > MAX_BYTES:
        raise ReportError(
            f"the picture of {row.id} has {size:,} bytes; it must have at most {MAX_BYTES:,}"
        )
    write_png(frame, path)


def _keep(row: Row, path: Path, why: str) -> None:
    if not path.exists():
        raise ReportError(f"the picture of {row.id} cannot be drawn: {why}")


def _scene_frame(row: Row) -> NDArray[np.uint8]:
    with closing(gymnasium.make(row.id)) as made:
        env = made.unwrapped
        assert isinstance(env, GlimpseEnv)
        observation, info = env.reset(seed=SEED)
        steps = min(LOOKS, env.task.budget - 1)
        for step in range(steps):
            action = {name: part[0] for name, part in env.task.oracle().items()}
            look = _oracle_look(row, observation["location"], info["target_box"], step)
            going_on = {"stop": 0} if "stop" in action else {}
            observation, _, _, _, info = env.step(action | {"look": look} | going_on)
        return _frame(env, steps + 1)


def _memory_frame(row: Row) -> NDArray[np.uint8]:
    """A frame of a tape or a table, of the greatest length, on the way of the task's oracle."""
    with closing(gymnasium.make(row.id, slack=1.0)) as made:  # the budget is the shortest solution
        env = made.unwrapped
        assert isinstance(env, GlimpseEnv)
        task: Any = env.task  # every task with a tape or a table has levels and an oracle
        env.reset(seed=SEED, options={"length": task.levels[1]})
        steps = int(SHARE * task.budgets[0])
        for _ in range(steps):
            env.step({name: action[0] for name, action in task.oracle().items()})
        return _frame(env, steps + 1)


def _frame(env: GlimpseEnv, taken: int) -> NDArray[np.uint8]:
    caption = f"glimpse {taken} of {env.task.budgets[0]}"
    return draw_frame(env.task.picture(0, caption), HEIGHT)


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
