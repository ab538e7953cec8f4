"""Target boxes: (n, 4) of scenes with one target each, (n, targets, 4) of those with several.

A box is x0, y0, x1, y1; where a scene has fewer targets than others, NaN stands behind its last.
"""

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Bools


def in_boxes(places: NDArray, boxes: NDArray) -> Bools:
    """Return (n, boxes) whether each of `places` (n, 2) lies in each of its `boxes`."""
    boxes = _several(boxes)
    places = places[:, None]
    inside: Bools = np.all((boxes[..., :2] <= places) & (places <= boxes[..., 2:]), axis=2)
    return inside


def in_any_box(places: NDArray, boxes: NDArray) -> Bools:
    """Return (n,) whether each of `places` (n, 2) lies in one of its `boxes`."""
    return np.asarray(in_boxes(places, boxes).any(axis=1))


def middles_of(boxes: NDArray) -> NDArray:
    """Return the middles (n, 2) of `boxes` (n, 4) in look coordinates, moved into [-1, 1]."""
    return np.asarray(np.clip((boxes[:, :2] + boxes[:, 2:]) / 2, -1.0, 1.0))


def box_in_turn(boxes: NDArray, look: NDArray | int, looks: int) -> NDArray:
    """Return the box (n, 4) that is looked at in turn: `looks` looks are shared out evenly over a
    scene's boxes, in their order.

    Args:
        boxes: of n scenes.
        look: (n,) or for all, from 0.
        looks: how many there are in an episode.
    """
    boxes = _several(boxes)
    present = np.maximum((~np.isnan(boxes[..., 0])).sum(axis=1), 1)
    turns = np.asarray(look) * present // np.maximum(looks, present)
    return boxes[np.arange(len(boxes)), turns % present]


def _several(boxes: NDArray) -> NDArray:
    return boxes if boxes.ndim == 3 else boxes[:, None]
