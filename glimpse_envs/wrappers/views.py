"""What is seen of a frame at one place: a glimpse, or the frame with everything else black."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Float32s, Floats, Ints
from glimpse_envs.vision.sensors.sensor import Sensor, square


class SensorView:
    """The glimpses of a sensor, at any sub-pixel place.

    Args:
        sensor: of frames.
        num_envs: rows.
        dtype: of the frames, uint8 or float32.
    """

    def __init__(self, sensor: Sensor, num_envs: int, dtype: type) -> None:
        self._sensor, self._scenes = sensor, np.arange(num_envs)
        self._made_of = (sensor, num_envs, dtype)
        self._canvas, self._sums = sensor.allocate(num_envs, dtype)
        channels, height, width = sensor.glimpse_shape
        self.shape = (channels, height, width)
        self.outlines, self.window_sides = sensor.outlines, sensor.window_sides
        self.panels = sensor.panels

    def __reduce__(self) -> tuple[type[SensorView], tuple[Sensor, int, type]]:
        # A copied view needs a canvas of its own; each `read` draws what it reads.
        return SensorView, self._made_of

    def read(self, frames: NDArray, rows: Ints, centres: Floats, seen: Float32s) -> None:
        """Fill `seen[rows]` (m, *shape) with what `frames` (m, C, H, W), uint8 or float32, show
        around `centres[rows]`, (x, y) in pixels; values in [0, 1]."""
        self._canvas[rows, :, 1:-1, 1:-1] = frames
        self._sensor.sum_scenes(self._canvas, self._sums, rows)
        self._sensor.read(self._canvas, self._sums, self._scenes, centres, rows, seen)


class MaskedView:
    """The whole frame, black except in a square window; its corner is rounded to whole pixels.

    Args:
        shape: (C, H, W) of frames.
        side: of the window, in pixels.
        periphery: side to which the frame is reduced before it is enlarged again, in place of
            black; None: black.
    """

    def __init__(self, shape: tuple[int, int, int], side: int, periphery: int | None) -> None:
        self.shape, self._side, self._periphery = shape, side, periphery
        self.outlines, self.window_sides = (square(side),), ()

    def panels(self, seen: Float32s) -> Sequence[tuple[str, Float32s]]:
        return [("masked", seen)]

    def read(self, frames: NDArray, rows: Ints, centres: Floats, seen: Float32s) -> None:
        pixels = frames.astype(np.float32)
        if frames.dtype == np.uint8:
            pixels /= 255.0
        corners = np.rint(centres[rows] - self._side / 2).astype(np.int64)
        for row, frame, (left, top) in zip(rows, pixels, corners, strict=True):
            seen[row] = 0.0 if self._periphery is None else self._squeezed(frame)
            window = (
                slice(None),
                slice(max(top, 0), max(top + self._side, 0)),
                slice(max(left, 0), max(left + self._side, 0)),
            )
            seen[row][window] = frame[window]

    def _squeezed(self, frame: Float32s) -> Float32s:
        from glimpse_envs.core.opencv import cv2

        assert self._periphery is not None
        small, size = (self._periphery, self._periphery), (frame.shape[2], frame.shape[1])
        squeezed = (cv2.resize(plane, small, interpolation=cv2.INTER_AREA) for plane in frame)
        planes = [cv2.resize(plane, size, interpolation=cv2.INTER_LINEAR) for plane in squeezed]
        return np.stack(planes).clip(0.0, 1.0)


View = SensorView | MaskedView
