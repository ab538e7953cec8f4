"""The images of a source sorted by class, for drawing images of a given class."""

import numpy as np

from glimpse_envs import sources
from glimpse_envs.core.arrays import Bytes, Ints
from glimpse_envs.core.kernels import kernel
from glimpse_envs.core.randomness import below
from glimpse_envs.sources import SourceError, SourceInfo


def load_by_class(source: str, split: str, info: SourceInfo) -> tuple[Bytes, Ints, Ints, Ints]:
    """Return the images (N, C, h, w) of a split of a source, their labels (N,), the images' indices
    in the order of their classes (N,), and where each class begins there (classes + 1,).

    Raises:
        glimpse_envs.sources.SourceError: files are missing or damaged, or a class has no image.
    """
    examples = sources.load(source, split, info.fingerprint)
    order, begins = examples.by_class
    found = set(np.flatnonzero(np.diff(begins)).tolist())
    missing = [name for k, name in enumerate(info.class_names) if k not in found]
    if missing:
        raise SourceError(
            f"source={source!r} has no image of the class {missing[0]!r} in the split "
            f"{split!r}: scenes that are drawn by class need one of each"
        )
    return examples.images, examples.labels, order, begins


@kernel
def image_of_class(word: np.uint32, label: int, order: Ints, begins: Ints) -> int:
    """Map a random word to the index of an image of the class `label`; `order` and `begins` as
    `load_by_class` returned them."""
    return order[begins[label] + below(word, begins[label + 1] - begins[label])]


@kernel
def image_of_other_class(word: np.uint32, label: int, order: Ints, begins: Ints) -> int:
    """Map a random word to the index of an image of any class but `label`."""
    alike = begins[label + 1] - begins[label]
    place = below(word, len(order) - alike)
    return order[place if place < begins[label] else place + alike]
