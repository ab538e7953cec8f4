"""The stage: the scenes of a batch, drawn in place and read through a sensor."""

import numpy as np

from glimpse_envs.core.arrays import Float32s, Floats, Ints
from glimpse_envs.core.keys import Keys
from glimpse_envs.core.threads import for_chunks
from glimpse_envs.vision.scenes.scene import Scene
from glimpse_envs.vision.sensors.sensor import Sensor, plain_canvas

# Rows whose glimpses one call of the kernel reads.
_READ_TOGETHER = 256


class Stage:
    """One scene for each group of rows, read through a sensor.

    Args:
        scene: drawn for each group.
        sensor: reads the glimpses; None where none are read.
        num_envs: rows.
        copies: rows in a group.

    Attributes:
        group_of: (num_envs,) int64, the scene that each row sees.
        labels: (groups,) int64.
        boxes: (groups, 4) float64, the target's x0, y0, x1, y1 in pixels; (groups, targets, 4) of a
            scene with several.
    """

    def __init__(self, scene: Scene, sensor: Sensor | None, num_envs: int, copies: int) -> None:
        groups = num_envs // copies
        self._scene, self._sensor = scene, sensor
        if sensor is None:
            self._canvas = plain_canvas(scene.shape, groups, scene.dtype)
        else:
            self._canvas, self._sums = sensor.allocate(groups, scene.dtype)
        self.group_of = np.repeat(np.arange(groups), copies)
        self.labels = np.zeros(groups, np.int64)
        self.boxes = np.zeros((groups, 4) if scene.targets == 1 else (groups, scene.targets, 4))

    def draw(self, groups: Ints, keys: Keys) -> None:
        """Draw the scenes of `groups` (m,) anew."""

        def draw(which: Ints) -> None:
            self._scene.draw(which, keys, self._canvas, self.labels, self.boxes)
            if self._sensor is not None:
                self._sensor.sum_scenes(self._canvas, self._sums, which)

        for_chunks(draw, groups)

    def read(self, rows: Ints, centres: Floats) -> Float32s:
        """Return the glimpses (m, *glimpse_shape) of `rows` (m,) at `centres` (num_envs, 2), (x, y)
        in pixels."""
        sensor = self._sensor
        assert sensor is not None, "without a sensor nothing is read"
        glimpses = np.empty((len(rows), *sensor.glimpse_shape), np.float32)
        scenes, order = self.group_of, rows
        if len(rows) < len(scenes):
            scenes, centres, order = scenes[rows], centres[rows], np.arange(len(rows))
        for_chunks(
            lambda chunk: sensor.read(self._canvas, self._sums, scenes, centres, chunk, glimpses),
            order,
            size=_READ_TOGETHER,
        )
        return glimpses

    def whole(self, groups: Ints) -> Float32s:
        """Return the whole scenes (m, C, H, W) in [0, 1] of `groups` (m,)."""
        scenes = self._canvas[groups, :, 1:-1, 1:-1].astype(np.float32)
        return scenes / np.float32(255) if self._canvas.dtype == np.uint8 else scenes
