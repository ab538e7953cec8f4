"""Common types of all sources: splits, labelled images, their description, the error."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from glimpse_envs.core.arguments import SPLITS
from glimpse_envs.core.arrays import Bytes, Ints

__all__ = ["HELD_OUT", "SPLITS", "Examples", "SourceError", "SourceInfo"]

HELD_OUT = 10_000
"""Number of images in the validation split: the last of the published training images."""


class SourceError(RuntimeError):
    """A source's files are missing, damaged or out of reach. The message names file and cure."""


@dataclass(frozen=True)
class SourceInfo:
    """Description of a source, without its pixels."""

    name: str
    image_shape: tuple[int, int, int]
    """(C, h, w): C is 1 for grey and 3 for RGB."""
    class_names: tuple[str, ...]
    """Indexed by label."""
    fingerprint: str = ""
    """Fingerprint of the images, if they are a user's own; published ones have checksums."""
    kind: str = "class"
    """What a label names, as in the question "Which ... is it?"."""


@dataclass(frozen=True)
class Examples:
    """Labelled images. The arrays cannot be written to: every environment shares them."""

    images: Bytes
    """(N, C, h, w), C-contiguous, 0 black to 255 white, colours in the order RGB."""
    labels: Ints
    """(N,), indices into the source's class names."""

    def __post_init__(self) -> None:
        """Check that the arrays fit each other, and keep read-only views of them.

        Raises:
            ValueError: if `images` has not four axes, or not one image for each label, or an array
                is of another kind: a cast would turn images from 0 to 1 black.
        """
        if self.images.dtype != np.uint8:
            raise ValueError(
                f"images must be uint8, 0 black to 255 white, but are {self.images.dtype}"
            )
        if self.labels.dtype.kind not in "iu":
            raise ValueError(f"labels must be integers, but are {self.labels.dtype}")
        if self.images.ndim != 4:
            raise ValueError(f"images must be (N, C, h, w), but have shape {self.images.shape}")
        if self.labels.shape != (len(self.images),):
            raise ValueError(
                f"{len(self.images)} images need labels of shape ({len(self.images)},), "
                f"but these have shape {self.labels.shape}"
            )
        for name, dtype in (("images", np.uint8), ("labels", np.int64)):
            array = np.ascontiguousarray(getattr(self, name), dtype=dtype).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @cached_property
    def by_class(self) -> tuple[Ints, Ints]:
        """The images' indices in the order of their classes (N,), and where each class begins there
        (classes + 1,), up to the last class that has an image."""
        begins = np.concatenate([[0], np.cumsum(np.bincount(self.labels))])
        return np.argsort(self.labels, kind="stable"), begins

    def __len__(self) -> int:
        return len(self.labels)
