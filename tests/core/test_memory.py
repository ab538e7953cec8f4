"""What the machine's memory does not hold is refused with what needs how much."""

from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from glimpse_envs.core import memory
from glimpse_envs.vision.picture_task import PictureTask
from tests.support.episodes import CIRCLE_SQUARE, CLUTTERED, make_single, make_vector

CHASE, LOOKUP = "Glimpse/PointerChase-v0", "Glimpse/DictionaryLookup-v0"
RECALL, COPY = "Glimpse/AssociativeRecall-v0", "Glimpse/Copy-v0"
HUGE = np.longdouble(2) ** 2000  # more than a float64 holds, on most machines


@pytest.mark.parametrize(
    ("env_id", "kwargs"),
    [
        ("Glimpse/AssociativeRecall-v0", {"keys": 2**40}),
        ("Glimpse/DictionaryLookup-v0", {"values": 2**40}),
        ("Glimpse/DictionaryLookup-v0", {"key_size": 2**40}),
        ("Glimpse/DigitSequenceGlyphs-v0", {"scene_width": 2**40}),
        ("Glimpse/DigitSequenceGlyphs-v0", {"scene_size": 2**40}),
        ("Glimpse/DuplicatedInput-v0", {"duplicates": 2**40}),
        ("Glimpse/RepeatCopy-v0", {"repeats": 2**40, "symbols": 2**40}),
        ("Glimpse/Copy-v0", {"length": 2**31}),
    ],
)
def test_a_size_beyond_memory_is_named_as_it_was_given(env_id: str, kwargs: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="bytes for each row") as refusal:
        make_single(env_id, **kwargs)
    for name, value in kwargs.items():
        assert f"{name}={value}" in str(refusal.value)
    assert "times=" not in str(refusal.value)


def test_an_argument_that_a_program_does_not_use_needs_no_memory() -> None:
    make_single("Glimpse/Copy-v0", duplicates=2**40, repeats=2**40).close()


TOO_MUCH: list[tuple[str, dict[str, Any], str]] = [
    (CIRCLE_SQUARE, {"scene_size": 2**17}, r"scene_size=131072 needs [0-9,]{17} bytes"),
    (CHASE, {"cells": 2**31, "view": "full"}, "cells=2147483648.*needs [0-9,]{17} bytes"),
    (CHASE, {"slack": 1e19}, r"slack=1e\+19 makes a budget of 6e\+19 steps: .* at most 2\*\*31"),
    (CHASE, {"length": 5 * 10**9}, r"length=5000000000 must be at most 2\*\*31"),
    (LOOKUP, {"cells": 2**31}, "cells=2147483648.*needs [0-9,]{15} bytes"),
    (LOOKUP, {"noise": HUGE}, "noise=.* must be a number"),
    (LOOKUP, {"noise": 1e308}, "noise=1e.308 must be a number of at least 0, at most 1e.100"),
    (RECALL, {"cells": 2**31, "keys": 2**32}, "cells=2147483648.*needs [0-9,]{15} bytes"),
    (COPY, {"length": 3 * 10**9}, r"length=3000000000 must be at most 2\*\*31"),
    (COPY, {"slack": 1e19}, r"slack=1e\+19 makes a budget of 1e\+20 steps"),
    (COPY, {"symbols": 10**12}, "symbols=1000000000000.*needs [0-9,]{18} bytes"),
]


@pytest.mark.parametrize(
    ("env_id", "kwargs", "right"), TOO_MUCH, ids=[str(k) for _, k, _ in TOO_MUCH]
)
def test_what_no_machine_holds_is_refused(env_id: str, kwargs: dict[str, Any], right: str) -> None:
    with pytest.raises(ValueError, match=right):
        make_vector(env_id, 1, **kwargs)


@pytest.mark.parametrize("env_id", ["Glimpse/CenteredGlyphs-v0", "Glimpse/PointerChase-v0"])
def test_more_rows_than_the_machine_holds_are_refused(
    env_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "memory_of_machine", lambda: 2**35)
    with pytest.raises(ValueError, match=r"num_envs=1000000000 needs at least [\d,]{14,} bytes"):
        gym.make_vec(env_id, num_envs=10**9)


def test_scenes_that_the_machine_does_not_hold_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their glimpses alone would find room."""
    made: Any = partial(gym.make_vec, CLUTTERED, num_envs=100)
    pixels = 100 * 60 * 60  # the glimpses' three bounds take as much again
    monkeypatch.setattr(memory, "memory_of_machine", lambda: 3 * 100 * 4 * 3 * 12**2 + pixels)
    with pytest.raises(ValueError, match=r"num_envs=100 needs at least [\d,]{7,9} bytes"):
        made()
    made(copies=2)

    def allocate(*_: Any) -> None:
        raise MemoryError("unable to allocate 210 GiB")

    monkeypatch.undo()
    monkeypatch.setattr(PictureTask, "allocate", allocate)
    with pytest.raises(ValueError, match=r"num_envs=100 needs more memory than is free \(unable"):
        made()
