"""Megapixel MNIST: a few images far apart on a large canvas, most of one class, and strokes."""

import numpy as np
from numpy.typing import NDArray

from glimpse_envs import sources
from glimpse_envs.core.arguments import check_choice, check_flags, check_integers
from glimpse_envs.core.arrays import Bools, Bytes, Floats, Ints, KeyArrays
from glimpse_envs.core.fixed_splits import num_scenes_of
from glimpse_envs.core.kernels import kernel
from glimpse_envs.core.keys import Keys
from glimpse_envs.core.memory import check_memory
from glimpse_envs.core.randomness import SCENE, below, fill_keyed_words, index_of
from glimpse_envs.vision.scenes.by_class import (
    image_of_class,
    image_of_other_class,
    load_by_class,
)
from glimpse_envs.vision.scenes.places import draw_free_place, side_for
from glimpse_envs.vision.scenes.scene import Scene

FIXED_SETS = {"train": 5_000, "validation": 1_000, "test": 1_000}
"""Scenes of each split with `fixed=True`; only the validation set is this package's own."""

_SEEDS = {"train": 1, "validation": 2, "test": 0}  # of fixed sets and of strokes; as published


class ImageMajority(Scene):
    """Images whose boxes are disjoint, `majority` of them of one class, the label, and `strokes`
    patterns of two straight strokes each.

    The label is uniform; each further image is one of those of all other classes, so that several
    may be of one class. Images and patterns are drawn with replacement. An image's corner is
    round(U (side - h)) for a uniform U, drawn again until its box is disjoint from those before it;
    a pattern's, h + floor(U (side - 2 h)), may be anywhere, on an image too.

    In a scene of 1,500 pixels a retina of seven scales of 12 x 12 cells has a finest window of less
    than half a digit, as in cluttered MNIST, and a coarsest of 768 pixels, half of the scene's
    side. Of its cells of 64 pixels one in ten or so holds anything: they show where something is,
    and four looks survey all of it. With an eighth scale cells of 128 pixels would hold several
    things each.

    The boxes of targets are those of the images of the label's class, then those of the others.

    In "train" scenes are drawn afresh for ever, and in the other splits 10,000 are drawn from the
    environment's seed. This differs from the papers, whose 5,000 training and 1,000 test scenes
    were made once: with `fixed=True` each episode of "train" shows one of 5,000 scenes, "test"
    deals 1,000, and neither depends on the seed. The size of the training set is what accuracy
    depends on most.

    The generator is that of attention sampling (`scripts/make_mnist.py`), and with `noise="under"`
    its variant of iterative patch selection, which pastes the strokes first. Random numbers are
    this package's, so the sets are drawn alike and are not the same.

    ## References

    Katharopoulos and Fleuret, Processing Megapixel Images with Deep Attention-Sampling Models, ICML
    2019. Bergner, Lippert and Mahendran, Iterative Patch Selection for High-Resolution Image
    Recognition, ICLR 2023.

    Args:
        split: "train", "validation" or "test"; each has patterns of its own.
        source: the name of a source (see `glimpse_envs.sources`), with at least two classes where
            `majority` is less than `images`.
        scene_size: the scene's side in pixels; 500 is a published variant.
        images: their number; so few that each always finds a place.
        majority: how many of them are of the label's class, more than half.
        strokes: number of patterns in a scene, drawn from as many different ones.
        noise: "under", strokes below the images (iterative patch selection); or "over", strokes
            last, whole boxes with their black, which may hide parts of images (attention sampling).
        fixed: whether the scenes of each split are a fixed set.

    Raises:
        ValueError: an argument is not one of these, or the images may find no room.
    """

    dtype = np.uint8

    def __init__(
        self,
        *,
        split: str,
        source: str,
        scene_size: int,
        images: int = 5,
        majority: int = 3,
        strokes: int = 50,
        noise: str = "under",
        fixed: bool = False,
    ) -> None:
        check_choice("noise", noise, ("under", "over"))
        check_integers(1, scene_size=scene_size, images=images, majority=majority)
        check_integers(0, strokes=strokes)
        check_flags(fixed=fixed)
        if not majority <= images < 2 * majority:
            raise ValueError(
                f"majority={majority} must be more than half of images={images}, and at most all: "
                f"from {images // 2 + 1} to {images}"
            )
        info = sources.describe(source)
        channels, height, width = info.image_shape
        self._check_room(source, int(scene_size), (height, width), int(images), bool(strokes))
        if len(info.class_names) < 2 and majority < images:
            raise ValueError(
                f"source={source!r} has only one class: choose majority={images}, all images"
            )
        # Patterns are drawn in three arrays of 8 bytes and two of flags.
        check_memory(26 * height * width * strokes + 12 * strokes, strokes=strokes)
        size = int(scene_size)
        self.shape = (channels, size, size)
        self.question = f"Which {info.kind} is there most often?"
        self.answers, self.fingerprint = info.class_names, info.fingerprint
        self.targets = int(images)
        self._counts, self.pieces = (int(images), int(majority)), int(images) + int(strokes)
        self._split, self._fixed, self._over = split, bool(fixed), noise == "over"
        self._examples = (source, split, info)
        self._patterns = make_patterns(int(strokes), height, width, _SEEDS[split])

    @staticmethod
    def _check_room(
        source: str, size: int, image: tuple[int, int], images: int, strokes: bool
    ) -> None:
        least = max(2 * max(image) + 1 if strokes else 1, side_for(images, *image))
        if size < least:
            things = f"{images} images" + (" and strokes" if strokes else "")
            raise ValueError(
                f"scene_size={size} may have no room for {things} of {image[0]}x{image[1]} pixels "
                f"(source={source!r}): choose a scene_size of at least {least}"
            )

    @property
    def num_scenes(self) -> int | None:
        fixed = self._fixed and self._split != "train"
        return FIXED_SETS[self._split] if fixed else num_scenes_of(self._split)

    def draw(self, which: Ints, keys: Keys, canvas: NDArray, labels: Ints, boxes: Floats) -> Ints:
        arrays, pieces = keys.arrays, np.empty((len(which), self.pieces, 4), np.int64)
        if self._fixed:
            arrays = _keys_of_set(which, arrays, FIXED_SETS[self._split], _SEEDS[self._split])
        _draw(
            which,
            arrays,
            load_by_class(*self._examples),
            self._patterns,
            self._counts,
            self._over,
            canvas,
            labels,
            boxes.reshape(len(boxes), -1, 4),
            pieces,
        )
        return pieces


def make_patterns(count: int, height: int, width: int, seed: int) -> Bytes:
    """Return `count` patterns (count, height, width): each the union of its own straight stroke
    from the top-left corner, of slope tan(U pi / 2.5), and of another pattern's, which is mirrored
    with probability .33, and then once more; pixels are white times U[.8, 1]."""
    rng = np.random.default_rng([0x6D6D, seed])
    strokes = np.zeros((count, height, width), np.bool_)
    for stroke, slope in zip(strokes, np.tan(rng.random(count) * np.pi / 2.5), strict=True):
        down = np.linspace(0.0, min(height - 0.51, (width - 0.51) / slope), 2 * max(height, width))
        stroke[np.rint(down).astype(int), np.rint(slope * down).astype(int)] = True
    others = strokes[np.argsort(rng.random(count))]
    for _ in range(2):
        mirrored: Bools = rng.random(count) < 0.33
        others[mirrored] = others[mirrored, :, ::-1]
    whites = 0.8 + 0.2 * rng.random(strokes.shape)
    return (255 * (strokes | others) * whites).astype(np.uint8)


@kernel
def _keys_of_set(which: Ints, keys: KeyArrays, scenes: int, seed: int) -> KeyArrays:
    """Return keys of the scenes `which` (m,) as scenes of a fixed set; where scenes are drawn for
    ever, each becomes one of the set's `scenes`."""
    seeds, streams, episodes, indices = keys
    of_set = np.full_like(indices, -1)
    words = np.empty(1, np.uint32)
    for n in which:
        fill_keyed_words(words, n, keys, SCENE)
        of_set[n] = index_of(n, keys, words[0], scenes)
    return np.full_like(seeds, seed), streams, episodes, of_set


@kernel
def _draw(
    which: Ints,
    keys: KeyArrays,
    examples: tuple[Bytes, Ints, Ints, Ints],
    patterns: Bytes,
    counts: tuple[int, int],
    over: bool,
    canvas: Bytes,
    labels: Ints,
    boxes: Floats,
    pieces: Ints,
) -> None:
    images, _, order, begins = examples
    (shown, majority), strokes = counts, len(patterns)
    h, w = images.shape[2:]
    height, width = canvas.shape[2] - 2, canvas.shape[3] - 2
    words = np.empty(1 + shown + 3 * strokes, np.uint32)
    corners = np.empty((shown, 2), np.int64)
    for m, n in enumerate(which):
        drawn = pieces[m]
        fill_keyed_words(words, n, keys, SCENE)
        label = below(words[0], len(begins) - 1)
        if not over:
            _paste_patterns(canvas[n], patterns, words[1 + shown :], drawn[shown:])
        block = (len(words) + 3) // 4
        for i in range(shown):
            if i < majority:
                image = image_of_class(words[1 + i], label, order, begins)
            else:
                image = image_of_other_class(words[1 + i], label, order, begins)
            y, x, block = draw_free_place(corners, i, block, n, keys, (height, width, h, w), True)
            corners[i] = y, x
            canvas[n, :, 1 + y : 1 + y + h, 1 + x : 1 + x + w] = images[image]
            boxes[n, i] = drawn[i] = x, y, x + w, y + h
        if over:
            _paste_patterns(canvas[n], patterns, words[1 + shown :], drawn[shown:])
        labels[n] = label


@kernel
def _paste_patterns(scene: Bytes, patterns: Bytes, words: NDArray, places: Ints) -> None:
    """Paste one of `patterns`, whole, into `scene` (C, H + 2, W + 2) for every three of `words`,
    and fill `places` (as many, 4) with x0, y0, x1, y1."""
    count, h, w = patterns.shape
    height, width = scene.shape[1] - 2, scene.shape[2] - 2
    for i in range(len(words) // 3):
        y = h + below(words[3 * i], height - 2 * h)
        x = w + below(words[3 * i + 1], width - 2 * w)
        pattern = patterns[below(words[3 * i + 2], count)]
        for c in range(scene.shape[0]):
            scene[c, 1 + y : 1 + y + h, 1 + x : 1 + x + w] = pattern
        places[i] = x, y, x + w, y + h
