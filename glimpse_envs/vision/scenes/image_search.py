"""Images at uniform places that do not overlap; one is of a class that no other image has."""

import numpy as np
from numpy.typing import NDArray

from glimpse_envs import sources
from glimpse_envs.core.arguments import check_integers
from glimpse_envs.core.arrays import Bytes, Floats, Ints, KeyArrays
from glimpse_envs.core.kernels import kernel
from glimpse_envs.core.keys import Keys
from glimpse_envs.core.randomness import SCENE, fill_keyed_words, index_of
from glimpse_envs.vision.scenes.by_class import image_of_other_class, load_by_class
from glimpse_envs.vision.scenes.places import draw_free_place, room_for, side_for
from glimpse_envs.vision.scenes.scene import Scene


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
        self._examples = (source, split, info)

    @property
    def num_scenes(self) -> int | None:
        return None if self._split == "train" else len(load_by_class(*self._examples)[1])

    def draw(self, which: Ints, keys: Keys, canvas: NDArray, labels: Ints, boxes: Floats) -> Ints:
        examples = load_by_class(*self._examples)
        pieces = np.empty((len(which), self.pieces, 4), np.int64)
        _draw(which, keys.arrays, examples, canvas, labels, boxes, pieces)
        return pieces


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
        scene = canvas[n]
        block = (shown + 3) // 4
        for i in range(shown):
            image = target
            if i > 0:
                image = image_of_other_class(words[i], label, order, begins)
            y, x, block = draw_free_place(corners, i, block, n, keys, (height, width, h, w), False)
            corners[i] = y, x
            scene[:, 1 + y : 1 + y + h, 1 + x : 1 + x + w] = images[image]
            drawn[i] = x, y, x + w, y + h
        y, x = corners[0]
        labels[n] = label
        boxes[n] = x, y, x + w, y + h
