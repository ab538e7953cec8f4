"""Target boxes: (n, 4) of scenes with one target each, (n, targets, 4) of those with several.

A box is x0, y0, x1, y1; scenes with fewer targets than others are padded with NaN at the end.
"""

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Bools


def in_boxes(places: NDArray, boxes: NDArray) -> Bools:
    """Return whether each of `places` (n, 2) lies in each of its `boxes`, (n, boxes)."""
    boxes = _several(boxes)
    places = places[:, None]
    inside: Bools = np.all((boxes[..., :2] <= places) & (places <= boxes[..., 2:]), axis=2)
    return inside


def in_any_box(places: NDArray, boxes: NDArray) -> Bools:
    """Return whether each of `places` (n, 2) lies in one of its `boxes`, (n,)."""
    return np.asarray(in_boxes(places, boxes).any(axis=1))


def middles_of(boxes: NDArray) -> NDArray:
    """Return the middles (n, 2) of `boxes` (n, 4) in look coordinates, clipped to [-1, 1]; NaN
    where there is no box."""
    return np.asarray(np.clip((boxes[:, :2] + boxes[:, 2:]) / 2, -1.0, 1.0))


def places_at(boxes: NDArray) -> NDArray:
    """Return the places (n, 2) to look at to see `boxes` (n, 4): their middles, and the scene's,
    (0, 0), where there is no box."""
    return np.nan_to_num(middles_of(boxes), copy=False)


def box_in_turn(boxes: NDArray, look: NDArray | int, looks: int) -> NDArray:
    """Return the box (n, 4) to look at, where an episode's looks are shared out evenly over the
    boxes of its scene, in their order.

    Args:
        boxes: of n scenes.
        look: number of the present look, from 0; (n,), or one for all.
        looks: number of looks in an episode.
    """
    boxes = _several(boxes)
    present = np.maximum((~np.isnan(boxes[..., 0])).sum(axis=1), 1)
    turns = np.asarray(look) * present // np.maximum(looks, present)
    return boxes[np.arange(len(boxes)), turns % present]


def _several(boxes: NDArray) -> NDArray:
    return boxes if boxes.ndim == 3 else boxes[:, None]
