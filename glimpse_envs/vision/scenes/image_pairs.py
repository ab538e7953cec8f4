"""Two images on a black canvas, among pieces of other images: which they are, or their sum."""

import numpy as np
from numpy.typing import NDArray

from glimpse_envs import sources
from glimpse_envs.core.arguments import check_choice
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
from glimpse_envs.vision.scenes.images import ImageScene, add, add_pieces
from glimpse_envs.vision.scenes.scene import Scene

_TRIES = 1000  # of places for the two images, before they are put into opposite corners


class ImagePairs(Scene):
    """Two images of a source, and pieces of others.

    As in DRAM (section 4.1), which does not say whether its digits may overlap, nor what its noise
    is. Here the images' boxes are disjoint, at places uniform over all that are wholly inside and
    disjoint; the noise is `clutter` square pieces of other images of the split, at uniform places,
    and where things meet their sum is clipped at white.

    ## References

    Ba, Mnih and Kavukcuoglu, Multiple Object Recognition with Visual Attention, ICLR 2015.

    Args:
        split: "train", "validation" or "test".
        source: the name of a source (see `glimpse_envs.sources`).
        scene_size: the scene's side in pixels, at least twice the images'.
        clutter: number of pieces.
        clutter_size: a piece's side in pixels, at most the images'.
        asked: "pair", which two classes, in any order; or "sum" of the numbers that name them.

    Raises:
        ValueError: two images do not fit into the scene, or a piece into an image; or a sum is
            asked for, but the classes are not named by numbers.
    """

    dtype = np.uint8
    targets = 2

    def __init__(
        self,
        *,
        split: str,
        source: str,
        scene_size: int,
        clutter: int = 0,
        clutter_size: int = 8,
        asked: str = "pair",
    ) -> None:
        check_choice("asked", asked, ("pair", "sum"))
        one = ImageScene(
            split=split,
            source=source,
            scene_size=scene_size,
            clutter=clutter,
            clutter_size=clutter_size,
        )
        info = sources.describe(source)
        least = 2 * min(info.image_shape[1:])
        if scene_size < least:
            raise ValueError(
                f"scene_size={scene_size} has no room for two images of source={source!r}: it must "
                f"be at least {least}"
            )
        self.shape, self.fingerprint = one.shape, one.fingerprint
        self._one, self._source, self._split = one, source, split
        self._clutter_size, self.pieces = int(clutter_size), int(clutter) + 2
        names = info.class_names
        numbers = np.arange(len(names))
        if asked == "sum":
            if not all(name.isdecimal() for name in names):
                raise ValueError(
                    f"asked='sum' needs classes that are numbers; those of source={source!r} are "
                    f"{', '.join(names)}"
                )
            self.question = f"What is the sum of the two {info.kind}s?"
            values = np.array([int(name) for name in names])
            sums = values[:, None] + values
            found, labels = np.unique(sums, return_inverse=True)
            self.answers = tuple(str(value) for value in found)
            self._labels = labels.reshape(sums.shape)
        else:
            self.question = f"Which two {info.kind}s are there?"
            pairs = [(a, b) for a in numbers for b in numbers[a:]]
            self.answers = tuple(f"{names[a]} and {names[b]}" for a, b in pairs)
            self._labels = np.zeros((len(names), len(names)), np.int64)
            for label, (a, b) in enumerate(pairs):
                self._labels[a, b] = self._labels[b, a] = label

    @property
    def num_scenes(self) -> int | None:
        return self._one.num_scenes

    @property
    def chance(self) -> float:
        """Share of the most frequent answer, where all classes are equally frequent."""
        return float(np.bincount(self._labels.ravel()).max() / self._labels.size)

    def draw(self, which: Ints, keys: Keys, canvas: NDArray, labels: Ints, boxes: Floats) -> Ints:
        examples = sources.load(self._source, self._split, self.fingerprint)
        pieces = np.empty((len(which), self.pieces, 4), np.int64)
        _draw(
            which,
            keys.arrays,
            (examples.images, examples.labels, self._labels),
            canvas,
            labels,
            boxes,
            pieces,
            self._clutter_size,
        )
        return pieces


@kernel
def _draw(
    which: Ints,
    keys: KeyArrays,
    examples: tuple[Bytes, Ints, Ints],
    canvas: Bytes,
    labels: Ints,
    boxes: Floats,
    pieces: Ints,
    piece: int,
) -> None:
    images, image_labels, label_of = examples
    count, _, h, w = images.shape
    height, width = canvas.shape[2] - 2, canvas.shape[3] - 2
    clutter = pieces.shape[1] - 2
    words = np.empty(2 + 5 * clutter, np.uint32)
    shown, corners = np.empty(2, np.int64), np.empty((2, 2), np.int64)
    for place, n in enumerate(which):
        fill_keyed_words(words, n, keys, SCENE)
        shown[0] = index_of(n, keys, words[0], count)
        shown[1] = below(words[1], count)
        scene = canvas[n]
        add_pieces(scene, words[2:], images, piece, pieces[place])
        corners[0], corners[1] = (0, 0), (height - h, width - w)
        first = (len(words) + 3) // 4
        for block in range(first, first + _TRIES):
            draws4 = keyed_block(block, n, keys, SCENE)
            y0, x0 = below(draws4[0], height - h + 1), below(draws4[1], width - w + 1)
            y1, x1 = below(draws4[2], height - h + 1), below(draws4[3], width - w + 1)
            if abs(y1 - y0) >= h or abs(x1 - x0) >= w:
                corners[0], corners[1] = (y0, x0), (y1, x1)
                break
        for i in range(2):
            y, x = corners[i]
            add(scene[:, 1 + y : 1 + y + h, 1 + x : 1 + x + w], images[shown[i]])
            boxes[n, i] = pieces[place, clutter + i] = x, y, x + w, y + h
        labels[n] = label_of[image_labels[shown[0]], image_labels[shown[1]]]
