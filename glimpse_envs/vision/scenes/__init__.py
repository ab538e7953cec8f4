"""Scenes, chosen by name. A new scene is one file and one branch of `make_scene`."""

from typing import TYPE_CHECKING

from glimpse_envs import sources

if TYPE_CHECKING:
    from glimpse_envs.vision.scenes.scene import Scene


def make_scene(source: str, split: str, size: int, clutter: int, clutter_size: int) -> "Scene":
    """Return the scene that the flat arguments of an environment name.

    Raises:
        ValueError: an argument does not fit the others; the message says what would.
    """
    if isinstance(source, str) and source == "circle_square":
        from glimpse_envs.vision.scenes.circle_square import CircleSquareScene

        if clutter:
            raise ValueError(f"clutter={clutter} must be 0 for source='circle_square'")
        return CircleSquareScene(split, size)
    if not sources.is_known(source):
        raise sources.unknown(source, ", circle_square")
    from glimpse_envs.vision.scenes.images import ImageScene

    return ImageScene(source, split, size, clutter, clutter_size)
