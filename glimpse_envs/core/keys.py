"""Random keys of the hidden things."""

from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Ints, KeyArrays


@dataclass
class Keys:
    """Random keys of n scenes; equal keys give equal scenes.

    Args:
        seeds: (n,) uint64.
        streams: (n,) int64, the row (or group of rows) of a train scene.
        episodes: (n,) int64, numbered from 0 in each stream.
        indices: (n,) int64, the scene's number in a fixed split, -1 for a train scene.
        levels: (n,) int64, the scene's length where the task has levels, else 0.
    """

    seeds: NDArray[np.uint64]
    streams: Ints
    episodes: Ints
    indices: Ints
    levels: Ints

    @property
    def arrays(self) -> KeyArrays:
        """Seeds, streams, episodes and indices, (n,) each, for kernels."""
        return self.seeds, self.streams, self.episodes, self.indices

    def generator(self, n: int, name: str) -> np.random.Generator:
        """Return a NumPy generator for scene n; `name`, such as a task's and its split's, selects
        the stream. For draws that are not worth a kernel."""
        index = int(self.indices[n])
        place = (int(self.streams[n]), int(self.episodes[n])) if index < 0 else (index, 0)
        words = (crc32(name.encode()), index >= 0, int(self.seeds[n]), *place)
        return np.random.Generator(np.random.Philox(np.random.SeedSequence(words)))
