"""Diagnostics of a policy's gaze, and warnings when it has collapsed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Bools, Float32s, Floats

GRID = 8  # cells along each side of the look space for `coverage`

# Lengths are in look units (the scene spans 2). A uniform gaze has a spread of sqrt(2/3) = 0.82;
# 0.05 is a sixteenth of that and 1.5 pixels of a 60-pixel scene, an eighth of a 12-pixel glimpse:
# two such looks show the same thing.
STILL = 0.05

# With fewer episodes that look alike, chance explains them as well as a fixed path does.
FEWEST_EPISODES = 10


@dataclass(frozen=True)
class ScanpathDiagnostics:
    """Statistics of the chosen glimpses; the first glimpse, dealt at random, is left out.

    Where nothing was chosen every number is 0.
    """

    coverage: float
    """Share of an 8x8 grid of the look space that was visited in any episode, in [0, 1]."""
    spread: float
    """Root mean square distance of the t-th look from its mean over images, averaged over t.

    In look units; 0.82 for a uniform gaze. Relative looks inherit spread from their random start.
    """
    movement: float
    """Mean distance of consecutive chosen glimpses, in look units."""
    share_on_target: float
    """Share of the chosen glimpses on the target, in [0, 1]."""
    warnings: tuple[str, ...]
    """Plain sentences; empty when nothing looks wrong."""


def shows_places(space: spaces.Dict) -> bool:
    """Return whether the `location` of a row's observation space is a place (x, y) in [-1, 1], or
    one for each glimpse of the budget; the bits of an address, which may be two, lie in [0, 1]."""
    location = space.spaces.get("location")
    if not isinstance(location, spaces.Box) or len(location.shape) not in (1, 2):
        return False
    return location.shape[-1] == 2 and bool((location.low == -1).all())


def latest_location(observation: Mapping[str, Float32s] | Float32s) -> Float32s | None:
    """Return the place of each row's latest glimpse, (B, 2) as (x, y); None without places.

    Args:
        observation: name -> (B, ...); a flattened one has no places that can be read. With
            `history` its `location` is (B, T, 2) for a budget of T, and `remaining` (B, 1) gives
            the number of these not taken yet, over T. The two bits of an address look like a place
            here: ask `shows_places` of the space first.
    """
    if isinstance(observation, np.ndarray):
        return None
    location = observation.get("location")
    if location is None or location.shape[-1] != 2 or location.ndim > 3:
        return None
    if location.ndim == 2:
        return location
    budget = location.shape[1]
    left = np.rint(observation["remaining"][:, 0] * budget).astype(np.int64)
    return location[np.arange(len(location)), np.maximum(budget - left, 1) - 1]


def diagnose(
    locations: NDArray[np.floating], visited: Bools, on_target: Bools
) -> ScanpathDiagnostics:
    """Describe the scanpaths of E episodes of at most T glimpses.

    Args:
        locations: (E, T, 2) float, (x, y) of each glimpse in [-1, 1]; ignored where not visited.
        visited: (E, T) bool, whether the glimpse was taken (an episode may stop early).
        on_target: (E, T) bool, whether the glimpse lay on the target.

    Raises:
        ValueError: shapes or dtypes do not fit, or a visited location lies outside [-1, 1].
    """
    _check(locations, visited, on_target)
    chosen = visited.copy()
    chosen[:, :1] = False
    if not chosen.any():
        return ScanpathDiagnostics(0.0, 0.0, 0.0, 0.0, ())
    places = np.where(chosen[..., None], locations, 0.0).astype(np.float64)  # (E, T, 2)
    coverage = _coverage(places[chosen])
    spread = _spread(places, chosen)
    movement = _movement(places, chosen)
    compared = int(chosen.any(axis=1).sum())
    warnings = _warnings(coverage, spread, movement) if compared >= FEWEST_EPISODES else ()
    share = float(on_target[chosen].mean())
    return ScanpathDiagnostics(coverage, spread, movement, share, warnings)


def _coverage(fixations: Floats) -> float:
    """Return the share of the grid's cells with at least one of the fixations (F, 2)."""
    cells = np.minimum(((fixations + 1) / 2 * GRID).astype(np.int64), GRID - 1)
    return len(np.unique(cells @ np.array([1, GRID]))) / GRID**2


def _spread(places: Floats, chosen: Bools) -> float:
    """Return the spread over images, averaged over steps with at least two chosen glimpses."""
    takers = chosen.sum(axis=0)  # (T,)
    steps = takers >= 2
    if not steps.any():
        return 0.0
    places, chosen, takers = places[:, steps], chosen[:, steps], takers[steps]
    means = places.sum(axis=0) / takers[:, None]  # (T', 2)
    squares = np.square(places - means).sum(axis=2) * chosen  # (E, T')
    return float(np.sqrt(squares.sum(axis=0) / takers).mean())


def _movement(places: Floats, chosen: Bools) -> float:
    pairs = chosen[:, 1:] & chosen[:, :-1]  # (E, T - 1)
    if not pairs.any():
        return 0.0
    return float(np.linalg.norm(np.diff(places, axis=1), axis=2)[pairs].mean())


def _warnings(coverage: float, spread: float, movement: float) -> tuple[str, ...]:
    one_cell = coverage <= 1 / GRID**2
    if one_cell or (spread < STILL and movement < STILL):
        return (
            "The gaze has collapsed into one place: whatever the image, every chosen glimpse is "
            f"taken there (spread {spread:.3f}, movement {movement:.3f}).",
        )
    if spread < STILL:
        return (
            "The gaze follows one fixed path: it moves, but in the same way whatever the image "
            f"(spread {spread:.3f}, movement {movement:.3f}).",
        )
    return ()


def _check(locations: NDArray[np.floating], visited: Bools, on_target: Bools) -> None:
    if locations.ndim != 3 or locations.shape[2] != 2:
        raise ValueError(f"locations has shape {locations.shape}; it must be (episodes, steps, 2)")
    for name, mask in (("visited", visited), ("on_target", on_target)):
        if mask.shape != locations.shape[:2] or mask.dtype != np.bool_:
            raise ValueError(
                f"{name} is {mask.dtype} {mask.shape}; it must be bool {locations.shape[:2]}"
            )
    seen = locations[visited]
    inside = np.abs(seen) <= 1 + 1e-6  # NaN is not
    if not inside.all():
        raise ValueError(
            f"locations holds {seen[~inside][0]}; a visited glimpse must lie in [-1, 1]"
        )
