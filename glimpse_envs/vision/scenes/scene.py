"""Interface of scenes: labelled pictures, each drawn from its own random stream."""

from abc import ABC, abstractmethod

from numpy.typing import NDArray

from glimpse_envs.core.arrays import Floats, Ints
from glimpse_envs.core.keys import Keys


class Scene(ABC):
    """A distribution of labelled pictures.

    Attributes:
        shape: (C, H, W), C = 1 (grey) or 3 (colour).
        class_names: indexed by label.
        dtype: of a canvas: uint8 (0 to 255) or float32 (0 to 1).
        fingerprint: of a user's own images; "" where there are none.
    """

    shape: tuple[int, int, int]
    class_names: tuple[str, ...]
    dtype: type
    fingerprint: str = ""

    @property
    @abstractmethod
    def num_scenes(self) -> int | None:
        """Number of scenes in a fixed split; None where scenes are drawn for ever."""

    @abstractmethod
    def draw(self, which: Ints, keys: Keys, canvas: NDArray, labels: Ints, boxes: Floats) -> None:
        """Draw the scenes `which` (m,) anew.

        Args:
            which: indices into the arrays below.
            keys: of all n scenes.
            canvas: (n, C, H + 2, W + 2), the picture within a border of zeros that stays zero.
            labels: (n,) in [0, len(class_names)).
            boxes: (n, 4), the target's x0, y0, x1, y1 in pixels.
        """
