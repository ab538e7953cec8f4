"""Images at uniform places that do not overlap; one is of a class that no other image has."""

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from glimpse_envs import sources
from glimpse_envs.core.arguments import check_integers
from glimpse_envs.core.arrays import Bytes, Floats, Ints, KeyArrays
from glimpse_envs.core.kernels import kernel
from glimpse_envs.core.keys import Keys
from glimpse_envs.core.randomness import (
    SCENE,
    below,
    fill_keyed_words,
    index_of,
    keyed_block,
)
from glimpse_envs.vision.scenes.by_class import ImagesByClass
from glimpse_envs.vision.scenes.scene import Scene

_TRIES = 1000  # of places for an image, before one of those that are free is taken in turn


class ImageSearch(Scene):
    """An image of a source, the target, among images of other classes; the label is its class.

    The target's place is uniform over all that are wholly inside; each further image's is uniform
    over those at which it overlaps none of the images before it. In a fixed split scene k has image
    k for a target.

    Args:
        split: "train", "validation" or "test".
        source: the name of a source (see `glimpse_envs.sources`), with at least two classes.
        scene_size: the scene's side in pixels.
        images: their number, the target included; so few that each always finds a place.

    Raises:
        ValueError: an argument is not one of these, or the images may find no room.
    """

    dtype = np.uint8

    def __init__(self, *, split: str, source: str, scene_size: int, images: int) -> None:
        check_integers(1, scene_size=scene_size, images=images)
        size, info = int(scene_size), sources.describe(source)
        channels, height, width = info.image_shape
        most = room_for(size, height, width)
        if images > most:
            least = side_for(images, height, width)
            cure = f"choose images of at most {most}, or" if most else "choose"
            raise ValueError(
                f"images={images} of {height}x{width} pixels (source={source!r}) may find no room "
                f"in scene_size={size}: {cure} a scene_size of at least {least}"
            )
        if len(info.class_names) < 2:
            raise ValueError(
                f"source={source!r} has only one class: a search needs images of other classes"
            )
        self.shape = (channels, size, size)
        self.image_shape = (height, width)
        self.question = f"Where is the {info.kind} that is asked for?"
        self.answers, self.fingerprint = info.class_names, info.fingerprint
        self._split, self.pieces = split, int(images)
        self._examples = ImagesByClass(source, split)

    @property
    def num_scenes(self) -> int | None:
        return None if self._split == "train" else len(self._examples.load()[1])

    def draw(self, which: Ints, keys: Keys, canvas: NDArray, labels: Ints, boxes: Floats) -> Ints:
        examples = self._examples.load()
        pieces = np.empty((len(which), self.pieces, 4), np.int64)
        _draw(which, keys.arrays, examples, canvas, labels, boxes, pieces)
        return pieces


def room_for(size: int, height: int, width: int) -> int:
    """Return a number of images that always find a place each, wherever those before them lie: an
    image occupies all places at which others would overlap it."""
    if size < max(height, width):
        return 0
    places = (size - height + 1) * (size - width + 1)
    return 1 + (places - 1) // ((2 * height - 1) * (2 * width - 1))


def side_for(images: int, height: int, width: int) -> int:
    """Return the side of the smallest scene for which `room_for` is at least `images`."""
    places = 1 + (images - 1) * (2 * height - 1) * (2 * width - 1)
    more = abs(height - width)  # the number of places along the two axes differs by this
    few = (isqrt(more * more + 4 * places) - more) // 2
    while few * (few + more) < places:  # once or twice, because of rounding
        few += 1
    return max(height, width) - 1 + few


@kernel
def _draw(
    which: Ints,
    keys: KeyArrays,
    examples: tuple[Bytes, Ints, Ints, Ints],
    canvas: Bytes,
    labels: Ints,
    boxes: Floats,
    pieces: Ints,
) -> None:
    images, image_labels, order, begins = examples
    (count, _, h, w), shown = images.shape, pieces.shape[1]
    height, width = canvas.shape[2] - 2, canvas.shape[3] - 2
    words = np.empty(shown, np.uint32)
    corners = np.empty((shown, 2), np.int64)
    for m, n in enumerate(which):
        drawn = pieces[m]
        fill_keyed_words(words, n, keys, SCENE)
        target = index_of(n, keys, words[0], count)
        label = image_labels[target]
        alike = begins[label + 1] - begins[label]
        scene = canvas[n]
        block = (shown + 3) // 4
        for i in range(shown):
            image = target
            if i > 0:  # of another class: the target's class is left out
                place = below(words[i], count - alike)
                image = order[place if place < begins[label] else place + alike]
            for tried in range(_TRIES + 1):
                draws = keyed_block(block, n, keys, SCENE)
                block += 1
                y, x = below(draws[0], height - h + 1), below(draws[1], width - w + 1)
                if is_free(corners, i, y, x, h, w):
                    break
                if tried == _TRIES:
                    y, x = next_free(corners, i, y, x, (height, width, h, w))
            corners[i] = y, x
            scene[:, 1 + y : 1 + y + h, 1 + x : 1 + x + w] = images[image]
            drawn[i] = x, y, x + w, y + h
        y, x = corners[0]
        labels[n] = label
        boxes[n] = x, y, x + w, y + h


@kernel
def is_free(corners: Ints, placed: int, y: int, x: int, h: int, w: int) -> bool:
    """Whether an image (h, w) at (y, x) overlaps none of those `placed` at `corners`."""
    for j in range(placed):
        if abs(corners[j, 0] - y) < h and abs(corners[j, 1] - x) < w:
            return False
    return True


@kernel
def next_free(
    corners: Ints, placed: int, y: int, x: int, sides: tuple[int, int, int, int]
) -> tuple[int, int]:
    """Return the free place next to (y, x), row by row, continuing from the last to the first."""
    height, width, h, w = sides
    rows, columns = height - h + 1, width - w + 1
    for step in range(rows * columns):
        place = (y * columns + x + step) % (rows * columns)
        if is_free(corners, placed, place // columns, place % columns, h, w):
            return place // columns, place % columns
    return y, x
