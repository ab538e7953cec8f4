"""Two digits side by side, whose sum is asked for."""

from typing import Any

import numpy as np

from glimpse_envs import sources
from glimpse_envs.core.arguments import check_integers
from glimpse_envs.core.fixed_splits import num_scenes_of
from glimpse_envs.vision.scenes.scene import Scene


class DigitSum(Scene):
    """Two digits of a source, one in the left half of the scene and one in the right.

    Args:
        split: "train", "validation" or "test".
        source: of grey digits of at most half the scene's side.
        scene_size: the scene's side in pixels.
        largest: the greatest digit, 1 to 9.
    """

    question = "What is the sum of the two digits?"
    targets = 2
    dtype = np.uint8

    def __init__(
        self, *, split: str, source: str = "glyphs", scene_size: int = 60, largest: int = 9
    ) -> None:
        check_integers(1, largest=largest)
        if largest > 9:
            raise ValueError(f"largest={largest} must be at most 9")
        _, self.height, self.width = sources.describe(source).image_shape
        least = max(self.height, 2 * self.width)
        if scene_size < least:
            raise ValueError(f"scene_size={scene_size} must be at least {least} for two digits")
        self.split, self.source, self.largest = split, source, largest
        self.shape = (1, scene_size, scene_size)
        self.answers = tuple(str(total) for total in range(2 * largest + 1))

    num_scenes = property(lambda self: num_scenes_of(self.split))
    chance = property(lambda self: 1 / (self.largest + 1))  # of the middle sum

    def draw(self, which: Any, keys: Any, canvas: Any, labels: Any, boxes: Any) -> None:
        examples = sources.load(self.source, self.split)
        half = self.shape[2] // 2
        for n in which:
            rng = keys.generator(n, "digit sum")
            digits = rng.integers(self.largest + 1, size=2)
            canvas[n], labels[n] = 0, digits.sum()
            for i, digit in enumerate(digits):
                image = examples.images[rng.choice(np.flatnonzero(examples.labels == digit))]
                x = i * half + int(rng.integers(half - self.width + 1))
                y = int(rng.integers(self.shape[1] - self.height + 1))
                boxes[n, i] = x, y, x + self.width, y + self.height
                # The canvas has a border of one pixel.
                canvas[n, :, y + 1 : y + 1 + self.height, x + 1 : x + 1 + self.width] = image
