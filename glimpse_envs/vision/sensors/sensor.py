"""Interface of sensors, which read glimpses of a batch of scenes."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Float32s, Floats, Ints


class Sensor(ABC):
    """Reads glimpses around places in scenes.

    The constructor takes the scenes' `shape` (C, H, W), and its own arguments by keyword;
    `gymnasium.make` passes on those that it names.

    Attributes:
        shape: (C, H, W) of the scenes.
        window_sides: (K,) sides in pixels, finest first, if a glimpse is (K C, g, g), the means
            over the cells of K square windows. Empty for any other kind of glimpse.
    """

    shape: tuple[int, int, int]
    window_sides: tuple[float, ...] = ()

    @property
    @abstractmethod
    def glimpse_shape(self) -> tuple[int, ...]:
        """Shape of one glimpse, of at least one axis."""

    @property
    @abstractmethod
    def outlines(self) -> tuple[Floats, ...]:
        """The region of a scene that a glimpse shows, for drawings and costs: polygons, finest
        first, each as its corners (n, 2), (x, y) in pixels from the place looked at."""

    @property
    @abstractmethod
    def multiply_adds(self) -> int:
        """Multiply-adds of reading one whole glimpse."""

    @property
    def tile(self) -> int:
        """The side in pixels of the tiles of `look="tiles"`: the width of the finest outline."""
        return max(1, round(float(np.ptp(self.outlines[0][:, 0]))))

    def panels(self, glimpse: Float32s) -> Sequence[tuple[str, Float32s]]:
        """Return the drawing of a `glimpse`, as (label, picture (C, h, w) in [0, 1]), the k-th in
        the colour of the k-th outline."""
        return [("", glimpse.reshape(1, -1, glimpse.shape[-1]))]

    def allocate(self, scenes: int, dtype: type) -> tuple[NDArray, NDArray]:
        """Return zeroed arrays for `scenes` scenes and for their precomputed sums.

        Returns:
            `canvas` (scenes, C, H + 2, W + 2) of `dtype`, uint8 (0 to 255) or float32 (0 to 1): the
            pixels within a border of zeros; and `sums` (scenes, ...), of any shape and dtype.
        """
        return plain_canvas(self.shape, scenes, dtype), np.zeros((scenes, 0))

    def sum_scenes(self, canvas: NDArray, sums: NDArray, which: Ints) -> None:  # noqa: B027
        """Fill `sums` of the scenes `which` (n,), which were just drawn; the default does nothing.

        Called on several threads at once, each with scenes of its own.
        """

    def sum_pieces(self, canvas: NDArray, sums: NDArray, which: Ints, pieces: Ints) -> None:
        """Fill `sums` of scenes that are black outside their `pieces` (scenes, P, 4), rectangles
        x0, y0, x1, y1 in pixels; the default makes no use of that."""
        self.sum_scenes(canvas, sums, which)

    @abstractmethod
    def read(
        self,
        canvas: NDArray,
        sums: NDArray,
        scenes: Ints,
        centres: Floats,
        rows: Ints,
        glimpses: Float32s,
    ) -> None:
        """Read a glimpse for each of `rows` (n,), on several threads at once.

        Args:
            canvas, sums: as `allocate` returned them.
            scenes: (m,), which scene each row sees.
            centres: (m, 2), (x, y) in pixels from the scene's corner, anywhere.
            rows: (n,) in [0, m).
            glimpses: (m, *glimpse_shape), whose `rows` are overwritten with values in [0, 1];
                outside the scene there are zeros.
        """


def plain_canvas(shape: tuple[int, int, int], scenes: int, dtype: type) -> NDArray:
    """Return zeroed pixels (scenes, C, H + 2, W + 2) of scenes of `shape`, with a border."""
    channels, height, width = shape
    return np.zeros((scenes, channels, height + 2, width + 2), dtype)


def square(side: float) -> Floats:
    """Return the corners (4, 2) of a square around the place looked at."""
    return np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * side / 2


def circle(radius: float, corners: int = 64) -> Floats:
    """Return `corners` places (corners, 2) on a circle around the place looked at."""
    angles = np.arange(corners) * (2 * np.pi / corners)
    return radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
