"""What each hidden thing is drawn from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass
class Keys:
    """What each scene is drawn from: equal keys give equal scenes.

    Args:
        seeds: (n,) uint64.
        streams: (n,) int64, the row (or group of rows) of a train scene.
        episodes: (n,) int64, counted from 0 in each stream.
        indices: (n,) int64, the scene's number in a fixed split, -1 for a train scene.
        levels: (n,) int64, the scene's length where the task has levels, else 0.
    """

    seeds: NDArray[np.uint64]
    streams: NDArray[np.int64]
    episodes: NDArray[np.int64]
    indices: NDArray[np.int64]
    levels: NDArray[np.int64]
