"""Words as they are observed: numbers of a vocabulary, or one-hot."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Ints
from glimpse_envs.tasks.encoding import box, one_hot


@dataclass(frozen=True)
class Words:
    """An encoding of words.

    Args:
        vocabulary: V, the number of words, the blank included.
        one_hot: whether each is V float32 numbers, of which one is 1, and not an integer.
    """

    vocabulary: int
    one_hot: bool

    @property
    def units(self) -> int:
        """Numbers that show one word."""
        return self.vocabulary if self.one_hot else 1

    def space(self, *shape: int) -> spaces.Space:
        """Return the space of words (..., n): `MultiDiscrete` of this shape, or float32 (...,
        n V)."""
        if self.one_hot:
            return box(*shape[:-1], shape[-1] * self.vocabulary)
        return spaces.MultiDiscrete(np.full(shape, self.vocabulary))

    def encode(self, words: Ints) -> NDArray[Any]:
        """Return `words` (..., n), numbers below V, as an element of their space."""
        if not self.one_hot:
            return words
        return one_hot(words, self.vocabulary).reshape(*words.shape[:-1], -1)
