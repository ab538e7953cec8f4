"""Mean returns of blind and informed search for a box at a uniform place, in closed form."""

from dataclasses import dataclass

import numpy as np

from glimpse_envs.core.arrays import Bools, Floats
from glimpse_envs.core.picture_view import PictureView


@dataclass(frozen=True)
class Axis:
    """One axis of a scene: a box of `length` lies at one of `side - length + 1` places, all equally
    likely, and contains the gaze at g where place <= g < place + length.

    Args:
        side: the scene's, in pixels.
        length: the box's, in pixels.
    """

    side: int
    length: int

    def chances(self, gazes: Floats) -> Floats:
        """Return the probability that the box holds each of `gazes` (m,), in pixels."""
        cells = np.floor(gazes)
        first = np.maximum(cells - self.length + 1, 0)
        last = np.minimum(cells, self.side - self.length)
        return np.maximum(last - first + 1, 0) / (self.side - self.length + 1)

    def uniform(self, margin: float) -> tuple[Floats, Floats]:
        """Return gazes (m,), and the probability of the pixels that they stand for, where a gaze is
        uniform over [margin, side - margin]."""
        least, greatest = margin, self.side - margin
        cells: Floats = np.arange(float(self.side))
        if greatest <= least:  # only one place
            return np.array([self.side / 2]), np.ones(1)
        lengths: Floats = np.minimum(cells + 1.0, greatest) - np.maximum(cells, least)
        inside = lengths > 0
        return cells[inside] + 0.5, lengths[inside] / (greatest - least)

    def held(self, least: Floats, greatest: Floats) -> float:
        """Return the probability that the box contains a gaze of one of the intervals from `least`
        (m,) to `greatest` (m,)."""
        places = np.arange(self.side - self.length + 1)[:, None]
        meets: Bools = (places <= greatest) & (places + self.length > least)
        return float(meets.any(axis=1).mean())


@dataclass(frozen=True)
class SearchReturns:
    """Mean returns of a search: 1 for stopping where the box contains the gaze, less all costs.

    With relative looks they are upper bounds: one look is taken to reach every place.

    Args:
        view: how the scene is looked at.
        image: (h, w) of the target, whose box lies uniformly in the scene.
        cost: of a glimpse after the first.
        looks: whether there is a look after the first glimpse.
        pointing: whether the episode is a single look, without a glimpse before it.
    """

    view: PictureView
    image: tuple[int, int]
    cost: float
    looks: bool
    pointing: bool

    @property
    def chance(self) -> float:
        """Return of the best policy that sees only its location: it stops where it is, or goes
        where the box is likeliest, whichever is better."""
        chances, weights = self._first_glimpses()
        best = float(chances.max())
        if self.pointing:
            return best
        elsewhere = best - self.cost if self.looks else 0.0
        return float((weights * np.maximum(chances, elsewhere)).sum())

    @property
    def ceiling(self) -> float:
        """Return of a policy that knows the box: it stops at once, or after a look."""
        chances, weights = self._first_glimpses()
        at_once = float((weights * chances).sum())
        if self.pointing:
            return self._reachable()
        after = max(1.0 - self.cost, 0.0) if self.looks else 0.0
        return at_once * (1.0 - after) + self._reachable() * after

    def _axes(self) -> tuple[Axis, Axis]:
        _, height, width = self.view.scene_shape
        return Axis(width, self.image[1]), Axis(height, self.image[0])

    def _tiles(self) -> Floats:
        """The tiles' middles (n, 2), (x, y) in pixels."""
        return self.view.space.to_pixels(self.view.tile_locations)

    def _first_glimpses(self) -> tuple[Floats, Floats]:
        """The probabilities (m,) that a box is at the places of the first glimpse, and of these."""
        across, down = self._axes()
        if self.view.look == "tiles":
            x, y = self._tiles().T
            return across.chances(x) * down.chances(y), np.full(len(x), 1 / len(x))
        margin = self.view.space.margin
        (x, wide), (y, high) = across.uniform(margin), down.uniform(margin)
        chances = down.chances(y)[:, None] * across.chances(x)
        return chances.ravel(), (high[:, None] * wide).ravel()

    def _reachable(self) -> float:
        """The probability that the box contains a place that can be looked at."""
        share = 1.0
        for i, axis in enumerate(self._axes()):
            if self.view.look == "tiles":
                middles = np.unique(self._tiles()[:, i])
                share *= axis.held(middles, middles)
            else:
                margin = np.array([self.view.space.margin])
                share *= axis.held(margin, axis.side - margin)
        return share
