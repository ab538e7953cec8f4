"""Scenes, chosen by name. A new scene is one file and one row of `SCENES`."""

from collections.abc import Mapping
from typing import Any

from glimpse_envs.core.arguments import keyword_parameters
from glimpse_envs.core.classes import add_name, find_class
from glimpse_envs.vision.scenes.scene import Hidden

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
        ValueError: there is no such scene, or an argument is wrong.
    """
    kind: Any = find_scene(scene)
    return kind(**{name: arguments[name] for name in keyword_parameters(kind) if name in arguments})
