"""One-hot vectors of symbols, and spaces of numbers in [0, 1]."""

import numpy as np
from gymnasium import spaces

from glimpse_envs.core.arrays import Float32s, Ints


def one_hot(symbols: Ints, size: int) -> Float32s:
    """Return one-hot vectors (..., size) of `symbols` (...)."""
    hot = np.zeros((symbols.size, size), np.float32)
    hot[np.arange(symbols.size), symbols.ravel()] = 1.0
    return hot.reshape(*symbols.shape, size)


def box(*shape: int) -> spaces.Box:
    """Return the space of float32 arrays of `shape` in [0, 1]."""
    return spaces.Box(0.0, 1.0, shape, np.float32)
