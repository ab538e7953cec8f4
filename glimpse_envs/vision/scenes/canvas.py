"""The canvas: pictures that are drawn in memory and read through a sensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Float32s, Floats, Ints
from glimpse_envs.core.kernels import kernel
from glimpse_envs.core.keys import Keys
from glimpse_envs.core.threads import for_chunks
from glimpse_envs.vision.scenes.stage import Stage
from glimpse_envs.vision.sensors.sensor import Sensor, plain_canvas

if TYPE_CHECKING:
    from glimpse_envs.vision.scenes.scene import Scene

# The number of rows whose glimpses one call of the kernel reads.
_READ_TOGETHER = 256


class CanvasStage(Stage):
    """Pictures that are drawn on a canvas and read through a sensor.

    Args:
        scene_of: the picture that each row sees.
        shape: (C, H, W) of a picture.
        dtype: of the canvas.
        sensor: reads the glimpses; None if there are none.
    """

    def __init__(
        self, scene_of: Ints, shape: tuple[int, int, int], dtype: type, sensor: Sensor | None
    ) -> None:
        self.scene_of, self._sensor = scene_of, sensor
        scenes = int(scene_of[-1]) + 1
        if sensor is None:
            self._canvas = plain_canvas(shape, scenes, dtype)
        else:
            self._canvas, self._sums = sensor.allocate(scenes, dtype)

    def _sum_scenes(self, which: Ints) -> None:
        """Let the sensor sum the pictures `which` (m,), which were just drawn."""
        if self._sensor is not None:
            self._sensor.sum_scenes(self._canvas, self._sums, which)

    def read(self, rows: Ints, centres: Floats) -> Float32s:
        sensor, canvas, scenes = self._sensor, self._canvas, self.scene_of
        assert sensor is not None, "without a sensor nothing is read"
        glimpses, order = np.empty((len(rows), *sensor.glimpse_shape), np.float32), rows
        if len(rows) < len(scenes):
            scenes, centres, order = scenes[rows], centres[rows], np.arange(len(rows))
        for_chunks(
            lambda chunk: sensor.read(canvas, self._sums, scenes, centres, chunk, glimpses),
            order,
            size=_READ_TOGETHER,
        )
        return glimpses

    def whole(self, scenes: Ints) -> Float32s:
        count, (_, channels, height, width) = len(scenes), self._canvas.shape
        shown = np.empty((count, channels, height - 2, width - 2), np.float32)
        white = np.float32(255 if self._canvas.dtype == np.uint8 else 1)
        for_chunks(lambda chunk: _show(chunk, self._canvas, scenes, white, shown), np.arange(count))
        return shown


class StillStage(CanvasStage):
    """A picture for each group of rows, drawn once per episode.

    Args:
        scene: draws the pictures of groups.
        sensor: reads the glimpses; None if there are none.
        num_envs: rows.
        copies: rows in a group.
    """

    def __init__(self, scene: Scene, sensor: Sensor | None, num_envs: int, copies: int) -> None:
        groups, targets, parts = num_envs // copies, scene.targets, scene.parts
        super().__init__(np.repeat(np.arange(groups), copies), scene.shape, scene.dtype, sensor)
        self._scene = scene
        self._answers = len(scene.answers) if parts == 1 else 0  # of which a label is the index
        self.labels = np.zeros(groups if parts == 1 else (groups, parts), np.int64)
        self.boxes = np.zeros((groups, 4) if targets == 1 else (groups, targets, 4))
        self._pieces = np.zeros((groups, scene.pieces, 4), np.int64)
        self._whole = np.array([0, 0, scene.shape[2], scene.shape[1]])
        self._most = np.tile(self._whole[2:], 2)

    def draw(self, groups: Ints, keys: Keys) -> Ints:
        def draw(which: Ints) -> Ints | None:
            return self._scene.draw(which, keys, self._canvas, self.labels, self.boxes)

        def deal(which: Ints) -> None:
            draw(which)
            self._sum_scenes(which)

        def deal_in_pieces(which: Ints) -> None:
            _clear(which, self._pieces, self._canvas)
            self._pieces[which, 0] = self._whole  # until it is known, if this is broken off
            self._pieces[which] = self._checked(draw(which), len(which))
            if self._sensor is not None:
                self._sensor.sum_pieces(self._canvas, self._sums, which, self._pieces)

        if self._pieces.shape[1]:
            draw(groups[:0])  # a source that cannot be read is told of before scenes are cleared
            for_chunks(deal_in_pieces, groups)
        else:
            for_chunks(deal, groups)
        self._check_labels(groups)
        return groups

    def _check_labels(self, groups: Ints) -> None:
        """Raise a ValueError where a label of `groups` (m,) is the index of no answer."""
        labels = self.labels[groups]
        if self._answers and len(labels) and not 0 <= labels.min() <= labels.max() < self._answers:
            wrong = labels[(labels < 0) | (labels >= self._answers)][0]
            raise ValueError(
                f"{type(self._scene).__name__}.draw gave the label {wrong}; labels must lie "
                f"between 0 and {self._answers - 1}, as its `answers` are {self._answers}"
            )

    def _checked(self, drawn: Ints | None, scenes: int) -> Ints:
        """Return the pieces that were `drawn`, as far as they lie in the picture."""
        shape, found = (scenes, *self._pieces.shape[1:]), None if drawn is None else drawn.shape
        if drawn is None or found != shape:
            raise ValueError(
                f"`draw` of a scene in {shape[1]} pieces must return where they are, {shape}: x0, "
                f"y0, x1, y1 each; it returned {found}"
            )
        return np.maximum(np.minimum(drawn, self._most), 0)  # faster than np.clip


@kernel
def _clear(which: Ints, pieces: Ints, canvas: NDArray) -> None:
    """Blacken the `pieces` (scenes, P, 4) of the scenes `which` (m,)."""
    for n in which:
        for x0, y0, x1, y1 in pieces[n]:
            canvas[n, :, 1 + y0 : 1 + y1, 1 + x0 : 1 + x1] = 0


@kernel
def _show(which: Ints, canvas: NDArray, scenes: Ints, white: float, shown: Float32s) -> None:
    """Fill `shown[which]` (m, C, H, W) with the pictures `scenes` (m,) of `canvas`, which have a
    border of one pixel, divided by `white`: in one pass, since memory takes most of the time."""
    for i in which:
        for c in range(shown.shape[1]):
            for y in range(shown.shape[2]):
                row = canvas[scenes[i], c, y + 1]
                for x in range(shown.shape[3]):
                    shown[i, c, y, x] = np.float32(row[x + 1]) / white
