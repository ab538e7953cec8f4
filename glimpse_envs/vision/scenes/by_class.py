"""The images of a source sorted by class, for drawing images of a given class."""

import numpy as np

from glimpse_envs import sources
from glimpse_envs.core.arrays import Bytes, Ints
from glimpse_envs.sources import SourceError


class ImagesByClass:
    """The images of one split of a source, sorted by class when first needed.

    Args:
        source: the name of a source (see `glimpse_envs.sources`).
        split: "train", "validation" or "test".
    """

    def __init__(self, source: str, split: str) -> None:
        self._source, self._split = source, split
        self._info = sources.describe(source)
        self._sorted: tuple[Bytes, Ints, Ints, Ints] | None = None

    def load(self) -> tuple[Bytes, Ints, Ints, Ints]:
        """Return images (N, C, h, w), their labels (N,), the images' indices in the order of their
        classes (N,), and where each class begins there (classes + 1,).

        Raises:
            glimpse_envs.sources.SourceError: files are missing or damaged, or a class has no image.
        """
        if self._sorted is None:  # several threads may do so at once, with equal results
            examples = sources.load(self._source, self._split, self._info.fingerprint)
            names = self._info.class_names
            counts = np.bincount(examples.labels, minlength=len(names))
            if not counts.all():
                missing = names[int(counts.argmin())]
                raise SourceError(
                    f"source={self._source!r} has no image of the class {missing!r} in the split "
                    f"{self._split!r}: scenes that are drawn by class need one of each"
                )
            order = np.argsort(examples.labels, kind="stable")
            begins = np.concatenate([[0], np.cumsum(counts)])
            self._sorted = examples.images, examples.labels, order, begins
        return self._sorted
