"""Picture of one frame as plain data."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Float32s


@dataclass(frozen=True, eq=False)
class Picture:
    """One moment of an episode, in the scene's own pixels.

    Pixels are edge coordinates: pixel (row r, column c) covers x in [c, c + 1), y in [r, r + 1),
    so that (0, 0) is the scene's top-left corner and (W, H) its bottom-right one.

    A full view has no windows: `sides=()` with a glimpse of shape (0, 1, 1). Only its scene and
    its text are drawn.

    Raises:
        ValueError: a shape that does not fit the others, naming it and what would be right.
    """

    scene: NDArray[np.floating]
    """(C, H, W) in [0, 1]; C = 1 (grey) or 3 (RGB)."""
    path: Float32s
    """(t, 2) fixation centres so far, as (x, y) in pixels; t >= 1, the last is the present one."""
    sides: tuple[float, ...]
    """(K,) side of each scale's window in pixels, in the order of the glimpse's scales."""
    glimpse: Float32s
    """(K * C, g, g) in [0, 1], scale-major: all channels of scale 0, then of scale 1, ..."""
    answer: str | None
    """The agent's last answer; None before the first."""
    target: str | None
    """The right answer; None where there is none."""
    caption: str = ""
    """A line of text, such as "glimpse 3 / 8"."""

    def __post_init__(self) -> None:
        if self.scene.ndim != 3 or self.scene.shape[0] not in (1, 3) or 0 in self.scene.shape:
            raise ValueError(
                f"scene has shape {self.scene.shape}; it must be (1, H, W) grey or (3, H, W) RGB"
            )
        if self.path.ndim != 2 or self.path.shape[0] < 1 or self.path.shape[1] != 2:
            raise ValueError(
                f"path has shape {self.path.shape}; it must be (t, 2) with t >= 1: (x, y) a row"
            )
        if not np.isfinite(self.path).all():
            raise ValueError(f"path must be finite; it is {self.path.tolist()}")
        if not all(0 < side < np.inf for side in self.sides):
            raise ValueError(f"sides are {self.sides}; each must be positive and finite")
        channels = len(self.sides) * self.channels
        shape = self.glimpse.shape
        if len(shape) != 3 or shape[0] != channels or shape[1] != shape[2] or shape[1] < 1:
            raise ValueError(
                f"glimpse has shape {shape}; with {len(self.sides)} scales of {self.channels} "
                f"channels it must be ({channels}, g, g)"
            )

    @property
    def channels(self) -> int:
        """C: 1 for a grey scene, 3 for an RGB one."""
        return int(self.scene.shape[0])

    @property
    def scale_glimpses(self) -> Float32s:
        """(K, C, g, g): the glimpse, one entry a scale."""
        return self.glimpse.reshape(len(self.sides), self.channels, *self.glimpse.shape[1:])
