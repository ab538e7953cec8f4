"""Pictures of episodes as JSON, for the page."""

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.opencv import cv2
from glimpse_envs.rendering import AnyPicture, Picture, Strip, TablePicture
from glimpse_envs.rendering.palette import scale_colour
from glimpse_envs.rendering.verdict import verdict_of

Json = dict[str, Any]


def frame_of(picture: AnyPicture) -> Json:
    """One moment of an episode, with nothing that `picture` does not show."""
    shared = {
        "answer": picture.answer,
        "target": picture.target,
        "verdict": verdict_of(picture) if picture.target is not None else None,
        "caption": picture.caption,
    }
    if isinstance(picture, Picture):
        return shared | _scene(picture)
    if isinstance(picture, TablePicture):
        return shared | _table(picture)
    return shared | {"kind": "tapes", "strips": [_strip(strip) for strip in picture.strips]}


def image_of(pixels: NDArray[np.floating]) -> str:
    """(C, H, W) in [0, 1], grey or RGB, as the data URI of a PNG image."""
    clipped = np.clip(np.nan_to_num(pixels), 0, 1)
    bgr = np.rint(255 * clipped[::-1]).astype(np.uint8).transpose(1, 2, 0)
    _, encoded = cv2.imencode(".png", np.ascontiguousarray(bgr))
    return "data:image/png;base64," + base64.b64encode(encoded.tobytes()).decode()


def _colour(scale: int) -> str:
    return "rgb({}, {}, {})".format(*scale_colour(scale))


def _scene(picture: Picture) -> Json:
    centre = picture.path[-1]
    known = picture.boxes[~np.isnan(picture.boxes).any(axis=1)]
    return {
        "kind": "scene",
        "question": picture.question,
        "width": picture.scene.shape[2],
        "height": picture.scene.shape[1],
        "image": image_of(picture.scene),
        "path": picture.path.tolist(),
        "outlines": [
            {"points": (centre + outline).tolist(), "colour": _colour(scale)}
            for scale, outline in enumerate(picture.outlines)
        ],
        "panels": [
            {"label": label, "image": image_of(shown), "colour": _colour(scale)}
            for scale, (label, shown) in enumerate(picture.panels)
        ],
        "boxes": known.tolist(),
    }


def _strip(strip: Strip) -> Json:
    shown = range(len(strip.cells)) if strip.seen is None else sorted(strip.seen)
    return {
        "name": strip.name,
        "cells": {index: strip.cells[index] for index in shown if 0 <= index < len(strip.cells)},
        # A blank beyond either end, where a head has been.
        "blanks": [index for index in shown if not 0 <= index < len(strip.cells)],
        "head": strip.head,
        "written": sorted(strip.written),
        "good": list(strip.good),
        "with_first": strip.read_with_first,
    }


def _table(picture: TablePicture) -> Json:
    steps: dict[int, list[int]] = {}
    for step, address in enumerate(picture.path, 1):
        steps.setdefault(address, []).append(step)
    return {
        "kind": "table",
        "lines": picture.lines,
        "query": picture.query,
        "present": picture.path[-1] if picture.path else None,
        "cells": [
            {
                "address": address,
                "text": text,
                "steps": steps.get(address, []),
                "written": address in picture.written,
                "relevant": address in picture.relevant,
                "seen": address not in picture.unseen,
            }
            for address, text in zip(picture.addresses, picture.cells, strict=True)
        ],
    }
