"""Images side by side in a row, whose number is the scene's level."""

import numpy as np
from numpy.typing import NDArray

from glimpse_envs import sources
from glimpse_envs.core.arguments import check_integers
from glimpse_envs.core.arrays import Bytes, Floats, Ints, KeyArrays
from glimpse_envs.core.kernels import kernel
from glimpse_envs.core.keys import Keys
from glimpse_envs.core.memory import check_memory
from glimpse_envs.core.randomness import SCENE, below, fill_keyed_words, index_of
from glimpse_envs.vision.area_means import Shares, area_mean, shares
from glimpse_envs.vision.scenes.scene import Scene


class ImageRow(Scene):
    """A row of images of a source, scaled down, each a little higher or lower than the next.

    The images are drawn uniformly from the split, with replacement; in a fixed split the first of
    scene k is image k. Each is scaled to the side `image_size` by area means. Gaps between
    neighbours are uniform from 0 to `gap` pixels, and each image lies up to `jitter` pixels above
    or below the row; the row's place is uniform over all at which it is wholly inside.

    The labels of a scene are the classes from left to right, then -1; the boxes likewise.

    Args:
        split: "train", "validation" or "test".
        source: the name of a source (see `glimpse_envs.sources`).
        scene_size: the scene's height in pixels.
        scene_width: its width in pixels.
        length: the most images.
        image_size: the side of each in pixels, at most the source's.
        jitter: the most pixels above or below the row.
        gap: the most pixels between neighbours.

    Raises:
        ValueError: an argument is not one of these, or the longest row has no room.
    """

    dtype = np.uint8

    def __init__(
        self,
        *,
        split: str,
        source: str,
        scene_size: int,
        scene_width: int,
        length: int,
        image_size: int,
        jitter: int,
        gap: int,
    ) -> None:
        check_integers(
            1,
            scene_size=scene_size,
            scene_width=scene_width,
            length=length,
            image_size=image_size,
        )
        check_integers(0, jitter=jitter, gap=gap)
        info = sources.describe(source)
        channels, height, width = info.image_shape
        side = int(image_size)
        if side > min(height, width):
            raise ValueError(
                f"image_size={side} must be at most {min(height, width)}, the side of the "
                f"{height}x{width} images of source={source!r}: they are scaled down, not up"
            )
        needed = length * side + (length - 1) * gap
        if needed > scene_width:
            most = max((scene_width + gap) // (side + gap), 0)
            fewer = f"choose length of at most {most}, or" if most else "choose"
            raise ValueError(
                f"scene_width={scene_width} has no room for length={length} images of "
                f"image_size={side} with gap={gap}: {fewer} a scene_width of at least {needed}"
            )
        if side + 2 * jitter > scene_size:
            raise ValueError(
                f"scene_size={scene_size} is too low for image_size={side} with jitter={jitter}: "
                f"it must be at least {side + 2 * jitter}"
            )
        check_memory(20 * (3 * length + 2), length=length)  # random words
        self.shape = (channels, int(scene_size), int(scene_width))
        self.targets = self.parts = int(length)
        self.question = f"Which {info.kind}s are there, from left to right?"
        self.answers, self.fingerprint = info.class_names, info.fingerprint
        self._source, self._split = source, split
        self._sizes = side, int(jitter), int(gap)
        self._shrink = shares(height, side), shares(width, side)

    @property
    def num_scenes(self) -> int | None:
        if self._split == "train":
            return None
        return len(sources.load(self._source, self._split, self.fingerprint).labels)

    def draw(self, which: Ints, keys: Keys, canvas: NDArray, labels: Ints, boxes: Floats) -> None:
        examples = sources.load(self._source, self._split, self.fingerprint)
        labels, boxes = labels.reshape(len(labels), -1), boxes.reshape(len(boxes), -1, 4)
        _draw(
            which,
            (keys.arrays, keys.levels),
            (examples.images, examples.labels),
            (canvas, labels, boxes),
            self._sizes,
            self._shrink,
        )


@kernel
def _draw(
    which: Ints,
    keys_and_levels: tuple[KeyArrays, Ints],
    examples: tuple[Bytes, Ints],
    drawn: tuple[Bytes, Ints, Floats],
    sizes: tuple[int, int, int],
    shrink: tuple[Shares, Shares],
) -> None:
    keys, levels = keys_and_levels
    images, image_labels = examples
    canvas, labels, boxes = drawn
    side, jitter, gap = sizes
    count = len(images)
    height, width = canvas.shape[2] - 2, canvas.shape[3] - 2
    longest = labels.shape[1]
    words = np.empty(3 * longest + 2, np.uint32)
    for n in which:
        fill_keyed_words(words, n, keys, SCENE)
        length = levels[n]
        canvas[n] = 0
        labels[n] = -1
        boxes[n] = np.nan
        taken = length * side
        for i in range(1, length):
            taken += below(words[2 + 3 * i], gap + 1)
        row = jitter + below(words[0], height - side - 2 * jitter + 1)
        x = below(words[1], width - taken + 1)
        for i in range(length):
            draws = words[2 + 3 * i : 5 + 3 * i]
            if i > 0:
                x += below(draws[0], gap + 1)
            y = row + below(draws[1], 2 * jitter + 1) - jitter
            index = below(draws[2], count) if i else index_of(n, keys, draws[2], count)
            _place(canvas[n], images[index], y, x, shrink)
            labels[n, i] = image_labels[index]
            boxes[n, i, 0], boxes[n, i, 1] = x, y
            boxes[n, i, 2], boxes[n, i, 3] = x + side, y + side
            x += side


@kernel
def _place(scene: Bytes, image: Bytes, y: int, x: int, shrink: tuple[Shares, Shares]) -> None:
    """Put the area means of `image` (C, h, w) into `scene`, their top-left pixel at (y, x)."""
    down, across = shrink
    for c in range(image.shape[0]):
        plane = image[c]
        for i in range(len(down[0])):
            for j in range(len(across[0])):
                mean = area_mean(plane, down, across, i, j)
                scene[c, 1 + y + i, 1 + x + j] = np.uint8(mean + 0.5)
