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

    def decode(self, shown: NDArray[Any]) -> Ints:
        """Undo `encode`, for words of one sentence.

        Raises:
            ValueError: `shown` is not an array (n,) of numbers below V, or of (n V,) one-hot.
        """
        words = np.asarray(shown)
        if words.ndim == 1 and self.one_hot and len(words) % self.vocabulary == 0:
            words = words.reshape(-1, self.vocabulary).argmax(axis=1)
        wrong = words.ndim != 1 or (
            words.size and not 0 <= words.min() <= words.max() < self.vocabulary
        )
        if wrong or words.dtype.kind not in "iu":
            right = (
                f"(n {self.vocabulary},) one-hot"
                if self.one_hot
                else f"(n,) from 0 to {self.vocabulary - 1}"
            )
            raise ValueError(
                f"words must be those of one sentence, as they are observed, {right}; they are an "
                f"array {np.shape(shown)} of {np.asarray(shown).dtype}"
            )
        return words.astype(np.int64)
