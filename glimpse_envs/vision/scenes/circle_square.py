"""A filled square or disc on a gradient that leads to it: ap_gym's CircleSquare."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arguments import check_integers
from glimpse_envs.core.arrays import Float32s, Floats, Ints, KeyArrays
from glimpse_envs.core.fixed_splits import num_scenes_of
from glimpse_envs.core.kernels import kernel
from glimpse_envs.core.keys import Keys
from glimpse_envs.core.memory import check_memory
from glimpse_envs.core.randomness import SCENE, below, fill_keyed_words
from glimpse_envs.vision.scenes.scene import Scene

_u = np.uint64
_RADIUS = 4


class CircleSquareScene(Scene):
    """A filled square or disc on a gradient that leads to it.

    The object's centre is uniform over all pixels, so it may stick out of the scene. Class 0 is a
    square (|dx|, |dy| <= 4), class 1 a disc (distance <= 4), both at 1; elsewhere a pixel is 1
    minus its distance to the centre over the length of the scene's diagonal. The
    splits draw from one distribution.

    ## References

    APPLE (ICLR 2026), whose environment this is in ap_gym. There an answer is a probability of each
    class, and each step pays minus the normalised cross-entropy and minus 0.001 times the length of
    the action, of which a move is a fifth; here an answer is a class, and a right one pays.
    Accuracies compare, returns do not.

    Args:
        split: "train", "validation" or "test" (the fixed splits are 10,000 scenes each, drawn from
            keys of their own).
        scene_size: the scene's side in pixels.
    """

    question = "Is it a square or a circle?"
    answers = ("square", "circle")
    dtype = np.float32

    def __init__(self, *, split: str, scene_size: int) -> None:
        check_integers(1, scene_size=scene_size)
        size = int(scene_size)
        check_memory(2 * 20 * (2 * size) ** 2, scene_size=size)  # what `_objects` draws
        self.shape = (1, size, size)
        self._split, self._size = split, size

    @property
    def num_scenes(self) -> int | None:
        return num_scenes_of(self._split)

    def draw(self, which: Ints, keys: Keys, canvas: NDArray, labels: Ints, boxes: Floats) -> None:
        _draw(
            which,
            keys.arrays,
            _objects(self._size),
            canvas,
            labels,
            boxes,
        )


@cache
def _objects(size: int) -> Float32s:
    """Both objects in the middle of a picture so large that every scene is a window of it:
    (2, 2 size - 1, 2 size - 1), by label."""
    offsets = np.abs(np.arange(1 - size, size))
    dy, dx = offsets[:, None], offsets[None, :]
    distance = np.sqrt((dy * dy + dx * dx).astype(np.float64))
    gradient = 1.0 - distance / np.sqrt(2.0 * size * size)
    objects = [np.maximum(dy, dx) <= _RADIUS, distance <= _RADIUS]
    return np.stack([np.where(inside, 1.0, gradient) for inside in objects]).astype(np.float32)


@kernel
def _draw(
    which: Ints,
    keys: KeyArrays,
    objects: Float32s,
    canvas: Float32s,
    labels: Ints,
    boxes: Floats,
) -> None:
    height, width = canvas.shape[2] - 2, canvas.shape[3] - 2
    words = np.empty(3, np.uint32)
    for n in which:
        fill_keyed_words(words, n, keys, SCENE)
        label, row, column = below(words[0], 2), below(words[1], height), below(words[2], width)
        # Unsigned indices cannot be negative, so LLVM makes this a copy row by row.
        top, left = _u(height - 1 - row), _u(width - 1 - column)
        for i in range(_u(height)):
            for j in range(_u(width)):
                canvas[n, 0, i + _u(1), j + _u(1)] = objects[label, top + i, left + j]
        labels[n] = label
        boxes[n, 0], boxes[n, 1] = column - _RADIUS, row - _RADIUS
        boxes[n, 2], boxes[n, 3] = column + _RADIUS + 1, row + _RADIUS + 1
