"""Choices of another dtype than int64, which Gymnasium has since 1.2."""

from typing import Any

import pytest
from gymnasium import spaces


def discrete(n: int, dtype: Any, start: int = 0) -> spaces.Discrete:
    """A Discrete of this dtype; where there is none the test is skipped."""
    try:
        return spaces.Discrete(n, start=start, dtype=dtype)
    except TypeError:
        pytest.skip("choices are int64 in this version of Gymnasium")
