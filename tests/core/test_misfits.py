"""Values that are not as their space promises, and spaces that differ, are told part by part."""

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from glimpse_envs.core.misfits import difference_of, misfit_of

SEEN = spaces.Dict(
    glimpse=spaces.Box(0.0, 1.0, (2,), np.float32),
    word=spaces.Discrete(4),
    inner=spaces.Dict(remaining=spaces.Box(0.0, 1.0, (1,), np.float32)),
)
RIGHT: dict[str, Any] = {
    "glimpse": np.ones(2, np.float32),
    "word": 3,
    "inner": {"remaining": np.zeros(1, np.float32)},
}
MISFITS: dict[str, tuple[Any, str]] = {
    "no dict": ([1], "it is [1]; its space promises a dict of glimpse, word, inner"),
    "missing": (
        {"glimpse": RIGHT["glimpse"]},
        "it has the parts glimpse; its space promises glimpse, word, inner",
    ),
    "a list": (
        {**RIGHT, "glimpse": [0, 0]},
        "it['glimpse'] is [0, 0]; its space promises Box(0.0, 1.0, (2,), float32)",
    ),
    "shape": (
        {**RIGHT, "glimpse": np.ones(3, np.float32)},
        "it['glimpse'] has shape (3,); its space promises (2,)",
    ),
    "dtype": (
        {**RIGHT, "glimpse": np.ones(2, np.int8)},
        "it['glimpse'] has dtype int8; its space promises float32",
    ),
    "range": (
        {**RIGHT, "glimpse": np.array([0, 2], np.float32)},
        "it['glimpse'] has a value 2.0; its space promises 0.0 to 1.0",
    ),
    "NaN": (
        {**RIGHT, "inner": {"remaining": np.full(1, np.nan, np.float32)}},
        "it['inner']['remaining'] has a value nan; its space promises 0.0 to 1.0",
    ),
    "choice": ({**RIGHT, "word": 4}, "it['word'] is 4; its space promises Discrete(4)"),
}


def test_what_is_as_promised_has_no_misfit() -> None:
    assert misfit_of(RIGHT, SEEN, "it") is None


@pytest.mark.parametrize(("value", "message"), MISFITS.values(), ids=MISFITS)
def test_a_misfit_is_named_with_its_part(value: Any, message: str) -> None:
    assert misfit_of(value, SEEN, "it") == message


def box(*shape: int, high: float = 1.0) -> spaces.Box:
    return spaces.Box(0.0, high, shape, np.float32)


DIFFERENCES: dict[str, tuple[spaces.Space, spaces.Space, str | None]] = {
    "nothing": (SEEN, SEEN, None),
    "bounds": (box(2), box(2, high=9.0), None),
    "parts": (spaces.Dict(a=box(1)), spaces.Dict(b=box(1)), "it had the parts a, and has b"),
    "shape": (
        spaces.Dict(a=box(6, 1)),
        spaces.Dict(a=box(1)),
        "it['a'] had shape (6, 1), and has (1,)",
    ),
    "choices": (spaces.Discrete(3), spaces.Discrete(4), "it was Discrete(3), and is Discrete(4)"),
    "kind": (
        spaces.MultiDiscrete([16, 10]),
        box(2),
        "it was MultiDiscrete([16 10]), and is Box(0.0, 1.0, (2,), float32)",
    ),
}


@pytest.mark.parametrize(("known", "given", "message"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_a_difference_is_named_with_its_part(
    known: spaces.Space, given: spaces.Space, message: str | None
) -> None:
    assert difference_of(known, given, "it") == message
