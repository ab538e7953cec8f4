"""Scenes, chosen by name. A new scene is one file and one row of `SCENES`."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from glimpse_envs.core.arguments import keyword_parameters
from glimpse_envs.core.classes import add_name, check_by_keyword, find_class
from glimpse_envs.vision.scenes.scene import Hidden, Scene

SCENES: dict[str, str] = {
    "images": "glimpse_envs.vision.scenes.images:ImageScene",
    "image_pairs": "glimpse_envs.vision.scenes.image_pairs:ImagePairs",
    "image_majority": "glimpse_envs.vision.scenes.image_majority:ImageMajority",
    "circle_square": "glimpse_envs.vision.scenes.circle_square:CircleSquareScene",
    "moving_images": "glimpse_envs.vision.scenes.moving_images:MovingImages",
}
"""The one list of scenes: name -> "module:Class"."""


def register_scene(name: str, path: str) -> None:
    """Let `scene=name` stand for the class "module:Class", in this process.

    Raises:
        ValueError: the name stands for another class.
    """
    add_name(SCENES, name, path)


def find_scene(scene: object) -> type[Hidden]:
    """Return the class of a scene, by its name in `SCENES` or as "module:Class".

    Raises:
        ValueError: there is no such scene.
    """
    found: type[Hidden] = find_class("scene", scene, Hidden, SCENES)
    return found


def make_scene(scene: object, arguments: Mapping[str, Any]) -> Hidden:
    """Return a scene with those of `arguments` that it takes.

    Raises:
        ValueError: there is no such scene, an argument is wrong, or its attributes are invalid.
    """
    kind: Any = find_scene(scene)
    check_by_keyword("scene", scene, kind)
    taken = {name: arguments[name] for name in keyword_parameters(kind) if name in arguments}
    made: Hidden = kind(**taken)
    _check_promises(scene, made)
    return made


def _check_promises(scene: object, made: Hidden) -> None:
    """Raise a ValueError where the attributes of a scene do not have the form that `Hidden` and
    `Scene` require."""
    shape = getattr(made, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 3 or shape[0] not in (1, 3):
        raise ValueError(
            f"scene={scene!r}: its shape is {shape!r}; it must be (C, H, W), C = 1 (grey) or 3"
        )
    targets = getattr(made, "targets", None)
    if not isinstance(targets, int | np.integer) or targets < 1:
        raise ValueError(
            f"scene={scene!r}: its targets are {targets!r}; they must be the most targets in a "
            "picture, at least 1 (of a picture without one the boxes are NaN)"
        )
    dtype = getattr(made, "dtype", None)
    if isinstance(made, Scene) and dtype not in (np.uint8, np.float32):
        raise ValueError(
            f"scene={scene!r}: its dtype is {dtype!r}; it must be np.uint8, pixels from 0 to 255, "
            "or np.float32, from 0 to 1"
        )
