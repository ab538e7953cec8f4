"""The scenes of an evaluation dealt once more: clutter over the target, and a sheet to look at."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from glimpse_envs.episodes.description import describe, task_of
from glimpse_envs.episodes.lookup import spec_of
from glimpse_envs.evaluation.dealing import deal
from glimpse_envs.evaluation.result import Evaluation
from glimpse_envs.rendering import Picture, contact_sheet
from glimpse_envs.rendering.drawing import Canvas, blank, draw_boxes, draw_text, enlarge
from glimpse_envs.rendering.palette import BACKGROUND, TEXT
from report.mistakes import Mistakes

CHANGED = 0.1
"""Difference of brightness, in [0, 1], from which on clutter changes a pixel."""
CHUNK, CELL, COLUMNS = 500, 132, 8
MOST_PIXELS = 2**26
"""Of the scenes that are dealt together; as numbers they take a few times 256 MiB."""


def clutter_shares(evaluation: Evaluation) -> NDArray[np.float64] | None:
    """(E,) the share of the targets' boxes that clutter changes; None where there is no clutter, or
    where a scene without it would be another."""
    settings = {**spec_of(evaluation.env_id).kwargs, **evaluation.env_kwargs}
    if not settings.get("clutter"):
        return None
    found = []
    pixels = int(settings.get("scene_size", 1)) ** 2
    chunk = max(1, min(CHUNK, MOST_PIXELS // pixels))
    for start in range(0, evaluation.episodes, chunk):
        indices = np.arange(start, min(start + chunk, evaluation.episodes))
        scenes, boxes = deal_scenes(evaluation, indices)
        plain, same = deal_scenes(evaluation, indices, clutter=0)
        if not np.array_equal(boxes, same):
            return None
        changed = (np.abs(scenes - plain) > CHANGED).any(axis=1)  # (n, H, W)
        found += [
            np.mean([_share(pixels, box) for box in of_scene])
            for pixels, of_scene in zip(changed, boxes, strict=True)
        ]
    return np.array(found)


def _share(pixels: NDArray[np.bool_], box: NDArray[np.float64]) -> float:
    """Share of `pixels` (H, W) that are true in the part of `box` (4,) inside the scene."""
    height, width = pixels.shape
    x0, y0, x1, y1 = np.rint(np.clip(box, 0, (width, height, width, height))).astype(int)
    return float(pixels[y0:y1, x0:x1].mean())


def deal_scenes(
    evaluation: Evaluation, indices: NDArray[np.int64], **changes: Any
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """The scenes (n, C, H, W) `indices` of an evaluation, in [0, 1], and their targets' boxes
    (n, targets, 4), x0, y0, x1, y1 in pixels; `changes` are arguments of the environment."""
    kwargs = evaluation.env_kwargs | {"split": evaluation.split} | changes
    with closing(gym.make_vec(evaluation.env_id, num_envs=len(indices), **kwargs)) as env:
        _, info = deal(env, evaluation.split, evaluation.seed, indices)
        task, view = task_of(env), describe(env).picture_view
        assert task is not None
        assert view is not None
        pictures = [task.picture(row, "") for row in range(len(indices))]
        scenes = np.stack([picture.scene for picture in pictures if isinstance(picture, Picture)])
        corners = np.asarray(info["target_box"], np.float64).reshape(-1, 2)
        return scenes, view.space.to_pixels(corners).reshape(len(scenes), -1, 4)


def draw_sheet(mistakes: Mistakes, evaluation: Evaluation) -> Canvas:
    """The hardest scenes with the right answer and each run's, an (h, w, 3) uint8 RGB image."""
    indices = np.array([hard.scene for hard in mistakes.hardest])
    scenes, boxes = deal_scenes(evaluation, indices)
    cells = []
    for hard, scene, of_scene in zip(mistakes.hardest, scenes, boxes, strict=True):
        cell = blank(CELL + 24, CELL, BACKGROUND)
        _, height, width = scene.shape
        zoom = CELL / max(height, width)
        picture = enlarge(scene, round(zoom * height), round(zoom * width))
        draw_boxes(picture, zoom * of_scene, 1)
        cell[: len(picture), : picture.shape[1]] = picture
        text = f"{hard.target}: {', '.join(hard.answers)}"
        draw_text(cell, text, (4, CELL + 8), 10, TEXT, CELL - 8)
        cells.append(cell)
    return contact_sheet(cells, columns=COLUMNS)
