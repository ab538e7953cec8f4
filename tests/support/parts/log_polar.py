"""A log-polar sensor: rings of cells around the place looked at, each ring wider than the last."""

from typing import Any

import numpy as np

from glimpse_envs.core.arguments import check_integers
from glimpse_envs.vision.sensors.sensor import Sensor, circle


class LogPolar(Sensor):
    """The means over the cells of `rings` rings of `wedges` wedges.

    Args:
        shape: (C, H, W) of the scenes.
        rings: number of rings, at least 2.
        wedges: cells of a ring.
        radius: of the widest ring, in pixels; the finest has the radius 2.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        *,
        rings: int = 6,
        wedges: int = 12,
        radius: int = 24,
    ) -> None:
        check_integers(2, rings=rings)
        check_integers(1, wedges=wedges)
        check_integers(3, radius=radius)
        self.shape, self.rings, self.wedges, self.radius = shape, rings, wedges, radius
        self.radii = np.geomspace(2.0, radius, rings)
        y, x = np.mgrid[-radius : radius + 1, -radius : radius + 1]
        ring = np.searchsorted(self.radii, np.hypot(x, y))  # `rings` beyond the widest
        wedge = ((np.arctan2(y, x) / (2 * np.pi) % 1.0) * wedges).astype(int) % wedges
        self.cells = np.where(ring < rings, ring * wedges + wedge, rings * wedges)
        self.inside = self.cells < rings * wedges
        self.x, self.y = x[self.inside], y[self.inside]
        # (pixels, cells): the share of each pixel in each cell's mean.
        mine = self.cells[self.inside][:, None] == np.arange(rings * wedges)
        self.shares = (mine / np.maximum(mine.sum(axis=0), 1)).astype(np.float32)

    @property
    def glimpse_shape(self) -> tuple[int, ...]:
        return (self.shape[0], self.rings, self.wedges)

    @property
    def outlines(self) -> tuple[Any, ...]:
        return tuple(circle(radius) for radius in self.radii)

    @property
    def multiply_adds(self) -> int:
        return self.shape[0] * len(self.x)  # each pixel is in one mean

    def panels(self, glimpse: Any) -> list[tuple[str, Any]]:
        flat = np.pad(glimpse.reshape(self.shape[0], -1), ((0, 0), (0, 1)))  # black beyond
        return [(f"{2 * self.radius} px", flat[:, self.cells])]

    def read(
        self, canvas: Any, sums: Any, scenes: Any, centres: Any, rows: Any, glimpses: Any
    ) -> None:
        _, height, width = self.shape
        x, y = np.floor(centres[rows]).astype(int).T[:, :, None]
        # Beyond the scene the border of zeros is read.
        lines = np.clip(y + self.y + 1, 0, height + 1)
        columns = np.clip(x + self.x + 1, 0, width + 1)
        pixels = canvas[scenes[rows][:, None], :, lines, columns].astype(np.float32)
        white = 255 if canvas.dtype == np.uint8 else 1
        means = np.einsum("npc,pk->nck", pixels / white, self.shares)
        glimpses[rows] = np.minimum(means, 1.0).reshape(-1, *self.glimpse_shape)
