"""Example images on a black canvas: centred, translated, or among pieces of other images."""

import numpy as np
from numpy.typing import NDArray

from glimpse_envs import sources
from glimpse_envs.core.arguments import check_integers
from glimpse_envs.core.arrays import Bytes, Floats, Ints, KeyArrays, Words
from glimpse_envs.core.kernels import kernel
from glimpse_envs.core.keys import Keys
from glimpse_envs.core.memory import check_memory
from glimpse_envs.core.randomness import SCENE, below, fill_keyed_words, index_of
from glimpse_envs.vision.scenes.scene import Scene


class ImageScene(Scene):
    """One image of a source, and pieces of others.

    Cluttered scenes are made as the public generator of cluttered MNIST makes them (RAM, section
    4.1): `clutter` pieces first, each a square crop at a uniform place of an image of the same
    split, added at a uniform place; then the image itself, added (not pasted) at a uniform place
    wholly inside; every sum is clipped at white. In a scene of the image's size the image is
    centred.

    ## References

    With MNIST, centred, translated and cluttered digits are the tasks of Mnih et al., Recurrent
    Models of Visual Attention, NIPS 2014.

    Args:
        split: "train", "validation" or "test".
        source: the name of a source (see `glimpse_envs.sources`).
        scene_size: the scene's side in pixels, at least the image's.
        clutter: number of pieces.
        clutter_size: a piece's side in pixels, at most the image's.
        overhang: the most pixels by which the image may stick out of the scene, on each side; only
            in the split "train", so that scenes repeat less often.

    Raises:
        ValueError: the image does not fit into the scene, or a piece into the image.
    """

    dtype = np.uint8

    def __init__(
        self,
        *,
        split: str,
        source: str,
        scene_size: int,
        clutter: int = 0,
        clutter_size: int = 8,
        overhang: int = 0,
    ) -> None:
        check_integers(1, scene_size=scene_size, clutter_size=clutter_size)
        check_integers(0, clutter=clutter, overhang=overhang)
        size = int(scene_size)
        info = sources.describe(source)
        channels, height, width = info.image_shape
        if size < max(height, width):
            raise ValueError(
                f"scene_size={size} is too small for the {height}x{width} images of "
                f"source={source!r}: it must be at least {max(height, width)}"
            )
        if clutter and clutter_size > min(height, width):
            raise ValueError(
                f"clutter_size={clutter_size} must be at most {min(height, width)}, the side of "
                f"the images of source={source!r} that the pieces are cut from"
            )
        if overhang >= min(height, width):
            raise ValueError(
                f"overhang={overhang} must be less than {min(height, width)}, the side of the "
                f"images of source={source!r}: a part of each is to be seen"
            )
        check_memory(84 * clutter, clutter=clutter)  # random words, and places twice
        self.shape = (channels, size, size)
        self.question = f"Which {info.kind} is it?"
        self.answers, self.fingerprint = info.class_names, info.fingerprint
        self._source, self._split = source, split
        self._clutter_size, self.pieces = int(clutter_size), int(clutter) + 1
        self._overhang = int(overhang) if split == "train" else 0

    @property
    def num_scenes(self) -> int | None:
        if self._split == "train":
            return None
        return len(sources.load(self._source, self._split, self.fingerprint).labels)

    def draw(self, which: Ints, keys: Keys, canvas: NDArray, labels: Ints, boxes: Floats) -> Ints:
        examples = sources.load(self._source, self._split, self.fingerprint)
        pieces = np.empty((len(which), self.pieces, 4), np.int64)
        _draw(
            which,
            keys.arrays,
            (examples.images, examples.labels),
            canvas,
            labels,
            boxes,
            pieces,
            self._clutter_size,
            self._overhang,
        )
        return pieces


@kernel
def _draw(
    which: Ints,
    keys: KeyArrays,
    examples: tuple[Bytes, Ints],
    canvas: Bytes,
    labels: Ints,
    boxes: Floats,
    pieces: Ints,
    piece: int,
    overhang: int,
) -> None:
    images, image_labels = examples
    count, _, h, w = images.shape
    height, width = canvas.shape[2] - 2, canvas.shape[3] - 2
    clutter = pieces.shape[1] - 1
    words = np.empty(3 + 5 * clutter, np.uint32)
    for i, n in enumerate(which):
        fill_keyed_words(words, n, keys, SCENE)
        index = index_of(n, keys, words[0], count)
        scene = canvas[n]
        add_pieces(scene, words[3:], images, piece, pieces[i])
        row = below(words[1], height - h + 1 + 2 * overhang) - overhang
        column = below(words[2], width - w + 1 + 2 * overhang) - overhang
        top, left = max(row, 0), max(column, 0)
        bottom, right = min(row + h, height), min(column + w, width)
        image = images[index][:, top - row : bottom - row, left - column : right - column]
        add(scene[:, 1 + top : 1 + bottom, 1 + left : 1 + right], image)
        pieces[i, clutter] = left, top, right, bottom
        labels[n] = image_labels[index]
        boxes[n] = column, row, column + w, row + h


@kernel
def add_pieces(scene: Bytes, words: Words, images: Bytes, piece: int, places: Ints) -> None:
    """Add a piece of side `piece` of one of `images` to `scene` for every five of `words`, and fill
    `places` (at least as many, 4) with x0, y0, x1, y1."""
    count, _, h, w = images.shape
    height, width = scene.shape[1] - 2, scene.shape[2] - 2
    for i in range(len(words) // 5):
        draws = words[5 * i : 5 * i + 5]
        image = images[below(draws[0], count)]
        row, column = below(draws[1], h - piece + 1), below(draws[2], w - piece + 1)
        crop = image[:, row : row + piece, column : column + piece]
        row, column = below(draws[3], height - piece + 1), below(draws[4], width - piece + 1)
        add(scene[:, 1 + row : 1 + row + piece, 1 + column : 1 + column + piece], crop)
        places[i] = column, row, column + piece, row + piece


@kernel
def add(canvas: Bytes, image: Bytes) -> None:
    """Add `image` (C, h, w) to `canvas` (C, h, w), clipped at white."""
    for c in range(image.shape[0]):
        for i in range(image.shape[1]):
            for j in range(image.shape[2]):
                total = np.uint8(canvas[c, i, j] + image[c, i, j])
                canvas[c, i, j] = total if total >= image[c, i, j] else np.uint8(255)
