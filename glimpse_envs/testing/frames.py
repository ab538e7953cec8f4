"""Check that frames can be drawn."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from glimpse_envs.core.arguments import shown
from glimpse_envs.rendering import AnyPicture
from glimpse_envs.testing.batches import make_batch, random_actions
from glimpse_envs.vision.picture_task import PictureTask

_PANELS = (
    "it must return a list of (label, picture), each picture an array (1, h, w) grey or (3, h, w) "
    "RGB with values in [0, 1]"
)


def check_frames(env_id: str, kwargs: dict[str, Any]) -> None:
    """Frames are drawn at the start and after a step, both of one size."""
    envs = make_batch(env_id, 1, **kwargs | {"render_mode": "rgb_array"})
    task, name, rng = envs.task, type(envs.task).__name__, np.random.default_rng(12)
    envs.reset(seed=12)
    sizes = []
    for when in ("after a reset", "after a step"):
        if isinstance(task, PictureTask) and task.picture_view is not None:
            _check_panels(task)
        try:
            picture = task.picture(0, "")
            assert isinstance(picture, AnyPicture), (
                f"{name}.picture returns {shown(picture)} {when}; it must return a Picture, a "
                "TapePicture or a TablePicture of glimpse_envs.rendering"
            )
            frames = envs.render()
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(
                f"the frame {when} cannot be drawn from {name}.picture: {type(error).__name__}: "
                f"{error}"
            ) from error
        assert frames is not None
        sizes.append(frames[0].shape)
        envs.step(random_actions(envs, rng))
    assert sizes[0] == sizes[1], (
        f"frames of {name} have the size {sizes[0]} after a reset and {sizes[1]} after a step, and "
        "fit no film: the number of panels and the scene's size must stay the same"
    )
    envs.close()


def _check_panels(task: PictureTask) -> None:
    (glimpse,) = task._stage.read(np.array([0]), task._gaze.centres)
    method = f"{type(task._sensor).__name__}.panels"
    try:
        panels: Any = task._sensor.panels(glimpse)
    except Exception as error:
        raise AssertionError(
            f"{method} fails with a glimpse of shape {glimpse.shape}: {type(error).__name__}: "
            f"{error}; {_PANELS}"
        ) from error
    assert isinstance(panels, Sequence), f"{method} returns {_kind(panels)}; {_PANELS}"
    for panel in panels:
        pair = isinstance(panel, tuple) and len(panel) == 2 and isinstance(panel[0], str)
        assert pair, f"{method} returns a list with {_kind(panel)}; {_PANELS}"
        picture = panel[1]
        solid = isinstance(picture, np.ndarray) and picture.ndim == 3 and picture.size > 0
        fits = solid and picture.shape[0] in (1, 3)
        assert fits, (
            f"{method} returns, as the picture of {panel[0]!r}, {_kind(picture)}; {_PANELS}"
        )


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return shown(value)
