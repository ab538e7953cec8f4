"""One image in a corner, or two side by side or above each other, in combinations of class and
place of which some are held out."""

import numpy as np
from numpy.typing import NDArray

from glimpse_envs import sources
from glimpse_envs.core.arguments import check_choice, check_integers
from glimpse_envs.core.arrays import Bools, Bytes, Floats, Ints, KeyArrays
from glimpse_envs.core.fixed_splits import num_scenes_of
from glimpse_envs.core.kernels import kernel
from glimpse_envs.core.keys import Keys
from glimpse_envs.core.randomness import SCENE, below, fill_keyed_words
from glimpse_envs.vision.scenes.by_class import image_of_class, load_by_class
from glimpse_envs.vision.scenes.scene import Scene

RELATIONS = (
    "left of", "right of", "above", "below", "top left", "top right", "bottom left", "bottom right"
)  # fmt: skip
"""How a subject lies: relative to an object in the first four, alone in the scene in the others.
The index is also the subject's place; the object's place is the opposite relation's index."""
PAIRS = 4
"""The first so many relations have an object."""
COMBINATIONS = ("trained", "new", "all")

_HELD_OUT = 5  # one in so many combinations
_FAR = 3  # places of each of two images across the line on which they lie


class ImageLayout(Scene):
    """A subject, and for four of eight relations an object. Labels are the relation, the subject's
    class and the object's, -1 where there is none.

    The relation is uniform; classes are uniform over those allowed at each place, images over those
    of a class. An image lies uniformly within its half or quarter of the scene; but across the line
    on which two images lie, each is at most two pixels below or to the right of the middle.

    Of class c at place p (an index into `RELATIONS`) the combination is held out where
    (c + p) % 5 == 0: one in five, two of ten classes at each place.

    Args:
        split: "train", "validation" or "test" (the fixed splits are 10,000 scenes each, drawn from
            keys of their own, of the split's images).
        source: the name of a source (see `glimpse_envs.sources`).
        scene_size: the scene's side in pixels, at least twice the images'.
        combinations: "trained", those that are not held out; "new", in which every image has a
            combination that is held out; or "all".

    Raises:
        ValueError: an argument is out of its range, the images do not fit into the scene, or
            there are too few classes to hold out any.
    """

    dtype = np.uint8
    targets, parts = 2, 3

    def __init__(self, *, split: str, source: str, scene_size: int, combinations: str) -> None:
        check_choice("combinations", combinations, COMBINATIONS)
        check_integers(1, scene_size=scene_size)
        info = sources.describe(source)
        channels, height, width = info.image_shape
        least = 2 * max(height, width)
        if scene_size < least:
            raise ValueError(
                f"scene_size={scene_size} has no room for two {height}x{width} images of "
                f"source={source!r} side by side: it must be at least {least}"
            )
        classes = len(info.class_names)
        if combinations != "all" and classes < _HELD_OUT:
            raise ValueError(
                f"combinations={combinations!r} needs a source of at least {_HELD_OUT} classes, of "
                f"which some are held out at each place; source={source!r} has {classes}: choose "
                "combinations='all'"
            )
        size = int(scene_size)
        self.shape = (channels, size, size)
        self.kind = info.kind
        self.question = f"Which {info.kind}s are there, and where?"
        self.answers, self.fingerprint = info.class_names, info.fingerprint
        self.allowed = allowed(classes, combinations)
        self._split, self._examples = split, (source, split, info)
        self._choices = np.argsort(~self.allowed, axis=1, kind="stable"), self.allowed.sum(axis=1)

    @property
    def num_scenes(self) -> int | None:
        return num_scenes_of(self._split)

    def draw(self, which: Ints, keys: Keys, canvas: NDArray, labels: Ints, boxes: Floats) -> None:
        images, _, order, begins = load_by_class(*self._examples)
        examples = images, order, begins
        _draw(which, keys.arrays, examples, self._choices, canvas, labels, boxes)


def allowed(classes: int, combinations: str) -> Bools:
    """Return whether each class may lie at each place, (places, classes)."""
    held_out = np.add.outer(np.arange(len(RELATIONS)), np.arange(classes)) % _HELD_OUT == 0
    kinds = {"trained": ~held_out, "new": held_out, "all": np.ones_like(held_out)}
    return kinds[combinations]


@kernel
def _draw(
    which: Ints,
    keys: KeyArrays,
    examples: tuple[Bytes, Ints, Ints],
    choices: tuple[Ints, Ints],
    canvas: Bytes,
    labels: Ints,
    boxes: Floats,
) -> None:
    images, order, begins = examples
    classes, counts = choices
    h, w = images.shape[2:]
    words = np.empty(9, np.uint32)
    for n in which:
        fill_keyed_words(words, n, keys, SCENE)
        relation = below(words[0], len(counts))
        canvas[n] = 0
        labels[n, 0], labels[n, 2] = relation, -1
        boxes[n] = np.nan
        for i in range(2 if relation < PAIRS else 1):
            draws = words[1 + 4 * i : 5 + 4 * i]
            place = relation if i == 0 else relation ^ 1  # the index of the opposite relation
            label = classes[place, below(draws[0], counts[place])]
            image = images[image_of_class(draws[1], label, order, begins)]
            y, x = _corner(place, draws[2], draws[3], canvas.shape[2] - 2, h, w)
            canvas[n, :, 1 + y : 1 + y + h, 1 + x : 1 + x + w] = image
            labels[n, 1 + i] = label
            boxes[n, i, 0], boxes[n, i, 1] = x, y
            boxes[n, i, 2], boxes[n, i, 3] = x + w, y + h


@kernel
def _corner(
    place: int, down: np.uint32, across: np.uint32, size: int, h: int, w: int
) -> tuple[int, int]:
    """Return the top-left pixel (y, x) of an image (h, w) at a place, from two random words."""
    half, middle = size // 2, (size - min(h, size)) // 2
    y, x = below(down, half - h + 1), below(across, half - w + 1)
    if place < 2:  # left, right: about the middle's height
        y = middle + below(down, min(_FAR, size - h - middle + 1))
    elif place < PAIRS:  # above, below
        x = (size - w) // 2 + below(across, min(_FAR, size - w - (size - w) // 2 + 1))
    if place in (3, 6, 7):
        y += size - half
    if place in (1, 5, 7):
        x += size - half
    return y, x
