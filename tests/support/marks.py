"""Which of many alike cases `make quick` leaves out."""

from collections.abc import Iterable
from typing import Any

import pytest


def first_is_quick(names: Iterable[str]) -> list[Any]:
    """Parameters for `parametrize`, all but the first of which are marked `learning`."""
    first, *others = names
    return [first, *(pytest.param(name, marks=pytest.mark.learning) for name in others)]
