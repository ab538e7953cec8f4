"""Catch against EnvPool's (pip install --group peers)."""

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.speed import catch
from benchmarks.speed.stepping import whole_episodes


def test_both_programs_are_timed_at_the_same_numbers_of_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stepped: list[int] = []

    def make(name: str, *, env_type: str, num_envs: int, num_threads: int) -> Any:
        assert (name, env_type, num_threads) == ("Catch-v0", "gymnasium", 1)

        def step(actions: np.ndarray) -> None:
            assert actions.shape == (num_envs,)
            stepped.append(num_envs)

        return SimpleNamespace(reset=lambda: None, step=step)

    monkeypatch.setitem(sys.modules, "envpool", SimpleNamespace(make=make))
    speeds = catch.measure(repeats=1)
    assert {name: list(rates) for name, rates in speeds.items()} == {
        "ours": list(catch.ROWS),
        "envpool": list(catch.ROWS),
    }
    # A burst to warm up, and one that is timed.
    assert {rows: stepped.count(rows) for rows in catch.ROWS} == {
        rows: 2 * whole_episodes(rows) for rows in catch.ROWS
    }
    assert min(min(rates.values()) for rates in speeds.values()) > 0


def test_envpool_takes_the_steps_that_it_is_timed_by() -> None:
    pytest.importorskip("envpool")
    burst: Callable[[], int] = catch.envpool_burst(rows=4)
    assert burst() == 4 * whole_episodes(4)
