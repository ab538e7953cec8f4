"""Conversion of locations in [-1, 1] to places in pixels, for the whole package.

A location is (x, y), x to the right and y down. A place in pixels is (x, y) too, measured from the
scene's top-left corner, so that pixel (row r, column c) covers [c, c + 1) x [r, r + 1).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Floats


def place_of(location: Any, side: Any, margin: float) -> Any:
    """Convert one coordinate of a location to pixels, in a scene of `side` pixels."""
    return side / 2 + location * (side / 2 - margin)


def shortening(x: Any, y: Any) -> Any:
    """Return the divisor of a move (x, y) that shortens it to at most length 1."""
    return np.maximum(np.sqrt(x * x + y * y), 1.0)


@dataclass(frozen=True)
class LookSpace:
    """The places that can be looked at: [-1, 1] spans the scene, less a margin on every side.

    Args:
        height, width: the scene's sides in pixels.
        margin: pixels kept free on every side; 0 lets a glimpse's centre reach the scene's edge.

    Raises:
        ValueError: the margins leave nothing of the scene.
    """

    height: int
    width: int
    margin: float = 0.0

    def __post_init__(self) -> None:
        if 2 * self.margin > min(self.height, self.width):
            raise ValueError(
                f"a glimpse of {2 * self.margin:g} pixels does not fit inside a scene of "
                f"{self.height}x{self.width}: choose fewer scales, a smaller glimpse_size, "
                "or inside=False"
            )

    @property
    def _half_span(self) -> Floats:
        return np.array([self.width, self.height]) / 2 - self.margin  # (2,), (x, y)

    @property
    def _middle(self) -> Floats:
        return np.array([self.width, self.height]) / 2

    def to_pixels(self, locations: NDArray) -> Floats:
        """Locations (..., 2) in [-1, 1] to places (..., 2) in pixels."""
        return place_of(locations, np.array([self.width, self.height]), self.margin)

    def to_locations(self, places: NDArray) -> Floats:
        """Places (..., 2) in pixels to locations (..., 2), beyond [-1, 1] outside the look space.

        Where the margin leaves one place only (a glimpse as large as the scene), that place is 0.
        """
        span = self._half_span
        return (places - self._middle) / np.where(span > 0, span, np.inf)

    def to_offsets(self, distances: NDArray) -> Floats:
        """Distances (..., 2) in pixels, (x, y), to distances (..., 2) in look coordinates."""
        return self.to_locations(self._middle + distances)

    def tile_centres(self, tile: int) -> Floats:
        """Locations (n, 2) of the centres of ceil(H / tile) x ceil(W / tile) tiles, row by row.

        The grid is centred on the scene, so that every centre lies in it; a centre in the margin is
        moved to its border.
        """
        rows, columns = -(-self.height // tile), -(-self.width // tile)
        y = self.height / 2 + (np.arange(rows) - (rows - 1) / 2) * tile
        x = self.width / 2 + (np.arange(columns) - (columns - 1) / 2) * tile
        centres = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        return np.clip(self.to_locations(centres), -1.0, 1.0)


def project_to_disc(moves: NDArray) -> Floats:
    """Shorten each of the moves (..., 2) that is longer than 1 to length 1."""
    moves = np.asarray(moves, np.float64)
    return moves / shortening(moves[..., 0], moves[..., 1])[..., None]
