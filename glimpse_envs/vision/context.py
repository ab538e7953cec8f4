"""The context: a coarse view of the whole scene, as in DRAM."""

import numpy as np

from glimpse_envs.core.arrays import Bools, Float32s, Ints
from glimpse_envs.vision.area_means import scale_down
from glimpse_envs.vision.scenes.stage import Stage

CONTEXT_SIDE = 12
"""Side of a context in cells."""
_SCALED_TOGETHER = 64  # scenes


def coarse_views(stage: Stage, scenes: Ints, shown: Bools, channels: int) -> Float32s:
    """Return the contexts (m, channels, side, side) of `scenes` (m,); zeros for those not in
    `shown` (m,)."""
    views = np.zeros((len(scenes), channels, CONTEXT_SIDE, CONTEXT_SIDE), np.float32)
    places = np.flatnonzero(shown)
    for start in range(0, len(places), _SCALED_TOGETHER):
        some = places[start : start + _SCALED_TOGETHER]
        views[some] = scale_down(stage.whole(scenes[some]), CONTEXT_SIDE)
    return views
