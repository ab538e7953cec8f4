"""Cells of a contact sheet: saliency maps over scenes, bars over glimpses, labels.

Every cell is as large as `glimpse_envs.rendering.draw_scanpath`'s of the same `size`.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.rendering import Picture, draw_scanpath, light_up
from glimpse_envs.rendering.drawing import blank, draw_text
from glimpse_envs.rendering.palette import BACKGROUND, EDGE, MUTED, PATH, PRESENT, TEXT

Cell = NDArray[np.uint8]

SIZE = 160
LIGHT = 0.45
"""Share of the scene's own light that is left under a map."""
LEAST = 1e-30
"""A map whose values all lie below this is drawn as nothing."""


def draw_map(scene: NDArray[np.floating], saliency: NDArray[np.floating], size: int = SIZE) -> Cell:
    """The scene, dimmed and grey, under a map of its saliency.

    Args:
        scene: (C, H, W) in [0, 1].
        saliency: (H, W), at least 0, in any unit; the greatest is drawn brightest.
        size: the cell's width in pixels.
    """
    # A quantile, so that one very salient pixel does not darken all others.
    greatest = max(float(np.quantile(saliency, 0.995)), LEAST)
    strength = np.clip(saliency / greatest, 0.0, 1.0).astype(np.float32)
    hot = np.array(PRESENT, np.float32)[:, None, None] / 255  # (3, 1, 1)
    under = LIGHT * scene.mean(axis=0, dtype=np.float32)
    return _plain((1 - strength) * under + strength * hot, size)


def draw_attention(
    scene: NDArray[np.floating], shares: NDArray[np.floating], size: int = SIZE
) -> Cell:
    """The scene, lit where soft attention reads it.

    Args:
        scene: (C, H, W) in [0, 1].
        shares: (H, W), at least 0, in any unit.
        size: the cell's width in pixels.
    """
    return _plain(light_up(scene, shares), size)


def draw_bars(values: NDArray[np.floating], size: int = SIZE) -> Cell:
    """One bar for each glimpse, first to last, the greatest as high as the cell.

    Args:
        values: (T,), at least 0, in any unit.
        size: the cell's width in pixels.
    """
    cell = _blank(size)
    margin = size // 10
    base, room = size - margin, size - 2 * margin
    heights = np.rint(room * values / max(float(values.max()), LEAST))
    edges = np.linspace(margin, size - margin, len(values) + 1).round().astype(int)
    for index, height in enumerate(heights.astype(int)):
        left, right = int(edges[index]), max(int(edges[index]) + 1, int(edges[index + 1]) - 2)
        cell[base - height : base, left:right] = PRESENT if index == len(values) - 1 else PATH
    cell[base : base + 1, margin : size - margin] = EDGE
    text = "1 glimpse" if len(values) == 1 else f"glimpses 1 to {len(values)}"
    draw_text(cell, text, (margin, size + size // 40), size // 14, MUTED, size - 2 * margin)
    return cell


def draw_label(lines: Sequence[str], size: int = SIZE) -> Cell:
    """Lines of text, the first the brightest."""
    cell, margin, height = _blank(size), size // 20, size // 14
    top = (size - 2 * height * len(lines)) // 2
    for index, line in enumerate(lines):
        colour = MUTED if index else TEXT
        draw_text(cell, line, (margin, top + 2 * height * index), height, colour, size - 2 * margin)
    return cell


def _blank(size: int) -> Cell:
    """An empty cell."""
    height, width, _ = _plain(np.zeros((1, 1, 1), np.float32), size).shape
    return blank(height, width, BACKGROUND)


def _plain(scene: NDArray[np.float32], size: int) -> Cell:
    """The cell of a scene (C, H, W) without scanpath and answer."""
    path = np.zeros((1, 2), np.float32)
    return draw_scanpath(Picture(scene, path, answer=None, target=None), size)
