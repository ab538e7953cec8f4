"""Films and pictures of environments: what is hidden, and what somebody sees of it."""

import subprocess
import sys
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
from glimpse_envs.episodes.description import describe
from glimpse_envs.episodes.levels import LEVEL_ARGUMENTS
from glimpse_envs.episodes.lookup import load_task
from glimpse_envs.rendering import draw_frame, write_film, write_png
from glimpse_envs.single import GlimpseEnv
from glimpse_envs.sources import SOURCES, SourceError
from glimpse_envs.sources.files import VARIABLE, own_data
from glimpse_envs.suite import Row
from report.markdown import ReportError
from report.trained_runs import TrainedRun, own_arguments

MAX_BYTES = 150_000
"""Enough for an episode of 24 glimpses with its path."""
FILM_HEIGHT = 280
FILM_FPS = 1.5
LAST = 3
"""More times that a film's last frame is shown."""
SCENE = 0
"""Of the test split: the one that all films of an environment show."""
LOOKS = 4
"""In a picture."""
MOST_RANDOM = 16
"""Steps of a film of random looks, whose long paths make large files."""

Act = Callable[[GlimpseEnv], dict[str, Any]]


def draw_oracle(row: Row, path: Path) -> None:
    """Write a film of the task's oracle, which collects the ceiling.

    Published data are read from the folder in GLIMPSE_DATA alone, never downloaded; where they are
    not there, a film that was drawn before stays.

    Raises:
        ReportError: data that a new film needs are not there, or it would be larger than
            `MAX_BYTES`; nothing is written.
    """
    _draw(row, path, lambda file: _film(play(row, oracle_action)[0], file))


def draw_random(row: Row, path: Path) -> None:
    """Write a film of the first steps of a random gaze, as `draw_oracle` does."""
    _draw(row, path, lambda file: _film(play(row, random_action, MOST_RANDOM)[0], file))


def draw_trained(row: Row, run: TrainedRun, path: Path) -> None:
    """Write a film of a run's agent, by the command for it, as `draw_oracle` does: of the same
    scene, with the environment's own arguments."""
    _draw(row, path, lambda file: _evaluate(row, run, file))


def draw_windows(row: Row, height: int, path: Path, scene: int = SCENE) -> None:
    """Write a picture of a few looks at and round what is asked about, in a scene of the test
    split."""
    with closing(gymnasium.make(row.id, split="test")) as made:
        env = made.unwrapped
        assert isinstance(env, GlimpseEnv)
        _, info = env.reset(seed=0, options={"scene": scene})
        for step in range(LOOKS):
            look = _place_round(info["target_box"], step)
            env.step(oracle_action(env) | {"look": look})
        write_png(draw_frame(env.task.picture(0, ""), height), path)


def oracle_action(env: GlimpseEnv) -> dict[str, Any]:
    """The next action that collects the ceiling."""
    return {name: part[0] for name, part in env.task.oracle().items()}


def random_action(env: GlimpseEnv) -> dict[str, Any]:
    """A random look and answer; nothing is written or stopped, and no answer is given where that
    is allowed: any other action would end the episode at once."""
    parts = describe(env).components
    silent = {name: 0 for name, part in parts.items() if part.optional or name in ("write", "stop")}
    return env.action_space.sample() | silent


def play(row: Row, act: Act, most: int | None = None) -> tuple[list[NDArray[np.uint8]], float]:
    """Return the frames of a scene of the test split, of `most` steps at most, and its return."""
    with closing(gymnasium.make(row.id, split="test")) as made:
        env = made.unwrapped
        assert isinstance(env, GlimpseEnv)
        env.reset(seed=0, options={"scene": SCENE})
        env.action_space.seed(0)
        frames, total, ended = [_frame(env, 1)], 0.0, False
        while not ended and len(frames) != most:
            _, reward, terminated, truncated, _ = env.step(act(env))
            total, ended = total + reward, terminated or truncated
            frames.append(_frame(env, len(frames) + (not ended)))
        return frames, total


def _frame(env: GlimpseEnv, taken: int) -> NDArray[np.uint8]:
    caption = f"glimpse {taken} of {env.task.budgets[0]}"
    return draw_frame(env.task.picture(0, caption), FILM_HEIGHT)


def _film(frames: list[NDArray[np.uint8]], path: Path) -> None:
    write_film([*frames, *frames[-1:] * LAST], path, fps=FILM_FPS)


def _evaluate(row: Row, run: TrainedRun, path: Path) -> None:
    """The agents are above the reports: a command of theirs is called, and not imported."""
    own = own_arguments(row)
    # What is hidden is the environment's own; it is seen as in training. Without lengths of its own
    # the command would play the longest alone.
    names = dict.fromkeys([*run.changes, *LEVEL_ARGUMENTS])
    hidden = own.keys() - load_task(row.task).view_arguments
    given = [f"{name}={own[name]}" for name in names if name in hidden]
    one = ("--episodes", "1", "--film-episodes", "1", "--film-height", str(FILM_HEIGHT))
    played = ("--env-kwargs", *given) if given else ()
    command = ("-m", "agents.evaluate", str(run.folder), *one, *played)
    done = subprocess.run(
        [sys.executable, *command, "--film", str(path)], capture_output=True, text=True
    )
    if done.returncode:
        raise ReportError(f"the film of {run.folder} cannot be drawn: {done.stderr[-500:]}")


def _draw(row: Row, path: Path, write: Callable[[Path], object]) -> None:
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
        if drawn.stat().st_size > MAX_BYTES:
            raise ReportError(
                f"the film {path.name} has {drawn.stat().st_size:,} bytes; it must have at most "
                f"{MAX_BYTES:,}"
            )
        write_atomically(path, drawn.read_bytes())


def _keep(row: Row, path: Path, why: str) -> None:
    if not path.exists():
        raise ReportError(f"the film of {row.id} cannot be drawn: {why}")


def _place_round(box: NDArray[np.float32], step: int) -> NDArray[np.float32]:
    """Return the look (2,) at one of four places round the middle of the box x0, y0, x1, y1."""
    (box,) = box_in_turn(box[None], step, LOOKS)
    quarter = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])[step % 4] / 4
    place = (box[:2] + box[2:]) / 2 + quarter * (box[2:] - box[:2])
    return np.clip(place, -1.0, 1.0).astype(np.float32)
