"""Interface of sensors, which read glimpses of a batch of scenes."""

from abc import ABC, abstractmethod

from numpy.typing import NDArray

from glimpse_envs.core.arrays import Float32s, Floats, Ints


class Sensor(ABC):
    """Reads glimpses of g x g cells around places in scenes (C, H, W)."""

    @property
    @abstractmethod
    def sides(self) -> tuple[float, ...]:
        """The side in pixels of each window that a glimpse shows, finest first."""

    @property
    @abstractmethod
    def glimpse_shape(self) -> tuple[int, int, int]:
        """(K * C, g, g): K windows, one after the other, each with its channels."""

    @property
    @abstractmethod
    def multiply_adds(self) -> int:
        """Spent on reading one glimpse, all its windows together."""

    @abstractmethod
    def allocate(self, scenes: int, dtype: type) -> tuple[NDArray, NDArray]:
        """Return zeroed arrays for `scenes` scenes and for the sums precomputed of each.

        Returns:
            `canvas` (scenes, C, H + 2, W + 2) of `dtype`, uint8 (0 to 255) or float32 (0 to 1): the
            pixels within a border of zeros; and `sums` (scenes, ...), of any shape and dtype.
        """

    @abstractmethod
    def sum_scenes(self, canvas: NDArray, sums: NDArray, which: Ints) -> None:
        """Fill `sums` of the scenes `which` (n,), whose canvas was drawn anew.

        Called on several threads at once, each with scenes of its own.
        """

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
