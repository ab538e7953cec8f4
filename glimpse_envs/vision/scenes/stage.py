"""The stage: the present pictures of a batch, read through a sensor."""

from abc import ABC, abstractmethod

from glimpse_envs.core.arrays import Float32s, Floats, Ints
from glimpse_envs.core.keys import Keys


class Stage(ABC):
    """The pictures that the rows of a batch see.

    Attributes:
        scene_of: (num_envs,) int64, the index of the picture that each row sees: one per group of
            rows, or one per row if pictures move.
        boxes: (scenes, 4) float64, the target's x0, y0, x1, y1 in pixels; (scenes, targets, 4)
            where there are several.
        labels: (scenes,) int64, the right answer, 0 if nothing is asked; (scenes, parts) where
            several numbers label a picture.
    """

    scene_of: Ints
    boxes: Floats
    labels: Ints

    @abstractmethod
    def draw(self, groups: Ints, keys: Keys) -> Ints:
        """Draw the pictures of `groups` (m,) of rows anew, as they are at the first glimpse, and
        return their indices."""

    def show(self, rows: Ints, steps: Ints) -> None:  # noqa: B027
        """Show `rows` (m,) their pictures as they are `steps` (m,) after the first glimpse; nothing
        needs to be done if they stand still."""

    @abstractmethod
    def read(self, rows: Ints, centres: Floats) -> Float32s:
        """Return the glimpses (m, *glimpse_shape) of `rows` (m,) at `centres` (num_envs, 2), (x, y)
        in pixels."""

    @abstractmethod
    def whole(self, scenes: Ints) -> Float32s:
        """Return the whole pictures `scenes` (m,) in [0, 1], (m, C, H, W)."""
