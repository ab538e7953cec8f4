"""Short names of the array types in signatures; shapes stand in the docstrings."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Bools: TypeAlias = NDArray[np.bool_]
Bytes: TypeAlias = NDArray[np.uint8]
Halves: TypeAlias = NDArray[np.uint16]
Words: TypeAlias = NDArray[np.uint32]
Ints: TypeAlias = NDArray[np.int64]
Float32s: TypeAlias = NDArray[np.float32]
Floats: TypeAlias = NDArray[np.float64]
Records: TypeAlias = NDArray[np.void]
KeyArrays: TypeAlias = tuple[NDArray, NDArray, NDArray, NDArray]
"""`glimpse_envs.core.keys.Keys.arrays`: seeds, streams, episodes and indices, (n,) each."""
