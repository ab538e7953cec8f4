"""A gaze that reacts passes without a warning; a collapsed one is named."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from numpy.typing import NDArray

from glimpse_envs.evaluation.policy import Action, Observation
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.evaluation.scanpaths import (
    ScanpathDiagnostics,
    diagnose,
    latest_location,
    shows_places,
)

E, T = 500, 8


def _uniform(steps: int = T, seed: int = 0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).uniform(-1, 1, size=(E, steps, 2))


def _describe(locations: NDArray[np.float64]) -> ScanpathDiagnostics:
    mask = np.ones(locations.shape[:2], dtype=np.bool_)
    return diagnose(locations, mask, ~mask)


def test_a_uniform_gaze_is_described_and_not_warned_about() -> None:
    found = _describe(_uniform())
    assert found.warnings == ()
    assert found.coverage == 1.0
    assert found.spread == pytest.approx(np.sqrt(2 / 3), abs=0.02)
    assert found.movement == pytest.approx(1.0428, abs=0.03)  # mean distance in a square of side 2
    assert found.share_on_target == 0.0


@pytest.mark.parametrize("place", [(0.0, 0.0), (1.0, 1.0), (-1.0, 0.3)])
def test_one_place_is_named(place: tuple[float, float]) -> None:
    locations = _uniform()
    locations[:, 1:] = np.clip(np.array(place) + 0.01 * _uniform(T - 1), -1, 1)
    assert "collapsed into one place" in _describe(locations).warnings[0]


def test_one_cell_is_one_place_however_it_jitters() -> None:
    locations = _uniform()
    locations[:, 1:] = 0.125 + 0.12 * _uniform(T - 1)
    found = _describe(locations)
    assert found.spread > 0.05
    assert found.coverage == 1 / 64
    assert "collapsed into one place" in found.warnings[0]


def test_one_fixed_path_is_named() -> None:
    locations = _uniform()
    locations[:, 1:] = np.linspace(-0.9, 0.9, T - 1)[:, None]
    found = _describe(locations)
    assert found.spread == pytest.approx(0.0, abs=1e-12)
    assert found.movement == pytest.approx(0.3 * np.sqrt(2))
    assert len(found.warnings) == 1
    assert "one fixed path" in found.warnings[0]


def test_staying_where_each_image_has_its_digit_is_no_collapse() -> None:
    locations = _uniform()
    locations[:, 1:] = locations[:, 1:2]
    found = _describe(locations)
    assert found.movement == 0.0
    assert found.warnings == ()


def test_a_single_choice_in_one_place_is_named() -> None:
    locations = _uniform(2)
    locations[:, 1] = 0.0
    assert "one place" in _describe(locations).warnings[0]


def test_nothing_chosen_gives_zeros_and_no_warning() -> None:
    nothing = ScanpathDiagnostics(0.0, 0.0, 0.0, 0.0, ())
    assert _describe(_uniform(1)) == nothing
    assert _describe(np.zeros((0, T, 2))) == nothing
    assert _describe(np.zeros((3, 0, 2))) == nothing


def test_few_episodes_are_not_judged() -> None:
    found = _describe(np.zeros((9, T, 2)))
    assert found.warnings == ()
    assert _describe(np.zeros((10, T, 2))).warnings != ()


def test_only_chosen_glimpses_that_were_taken_count() -> None:
    locations = np.full((2, 4, 2), np.nan)
    locations[0, :3] = [[0.9, 0.9], [0.0, 0.0], [0.0, 0.5]]
    locations[1, :2] = [[-0.9, 0.9], [0.6, 0.0]]
    visited = np.isfinite(locations[..., 0])
    on_target = np.zeros((2, 4), dtype=np.bool_)
    on_target[:, 0] = True
    on_target[0, 1] = on_target[1, 3] = True
    found = diagnose(locations, visited, on_target)
    assert found.coverage == 3 / 64
    assert found.spread == pytest.approx(0.3)  # step 1 alone: (0, 0) and (0.6, 0)
    assert found.movement == pytest.approx(0.5)
    assert found.share_on_target == pytest.approx(1 / 3)


def test_bad_input_is_refused() -> None:
    mask = np.ones((E, T), dtype=np.bool_)
    outside = _uniform()
    outside[3, 2, 0] = 1.5
    with pytest.raises(ValueError, match=r"1\.5"):
        diagnose(outside, mask, mask)
    outside[3, 2, 0] = np.nan
    with pytest.raises(ValueError, match="nan"):
        diagnose(outside, mask, mask)
    with pytest.raises(ValueError, match="on_target is bool"):
        diagnose(_uniform(), mask, mask[:, 1:])
    with pytest.raises(ValueError, match="visited is float64"):
        diagnose(_uniform(), mask.astype(float), mask)
    with pytest.raises(ValueError, match="episodes, steps, 2"):
        diagnose(_uniform()[..., 0], mask, mask)


def test_the_latest_location_is_that_of_the_last_glimpse_taken() -> None:
    places = np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 3, 2)  # four rows, a budget of 3
    remaining = (np.array([[2], [1], [0], [2]]) / 3).astype(np.float32)
    latest = latest_location({"location": places, "remaining": remaining})
    np.testing.assert_array_equal(latest, places[np.arange(4), [0, 1, 2, 0]])
    np.testing.assert_array_equal(latest_location({"location": places[:, 1]}), places[:, 1])
    assert latest_location({"location": np.zeros((4, 5), np.float32)}) is None, "an address's bits"
    assert latest_location({"scene": np.zeros((4, 1, 9, 9), np.float32)}) is None


@pytest.mark.parametrize(
    ("env_id", "env_kwargs", "places"),
    [
        ("Glimpse/PointerChase-v0", {"cells": 4}, False),
        ("Glimpse/AssociativeRecall-v0", {"cells": 3, "length": 2}, False),
        ("Glimpse/Copy-v0", {"length": 3, "look": "absolute"}, False),
        ("Glimpse/CenteredGlyphs-v0", {}, True),
        ("Glimpse/CenteredGlyphs-v0", {"history": True}, True),
        ("Glimpse/CenteredGlyphs-v0", {"view": "full"}, False),
    ],
)
def test_two_bits_of_an_address_are_no_place(
    env_id: str, env_kwargs: dict[str, Any], places: bool
) -> None:
    env = gymnasium.make(env_id, **env_kwargs)
    space, actions = env.observation_space, env.action_space
    assert isinstance(space, spaces.Dict)
    assert isinstance(actions, spaces.Dict)
    assert shows_places(space) == places

    def still(observation: Observation) -> Action:
        rows = len(next(iter(observation.values())))
        first = {name: leaf.sample() for name, leaf in actions.spaces.items()}
        return {name: np.stack([np.zeros_like(one)] * rows) for name, one in first.items()}

    evaluation = evaluate(still, env_id, episodes=20, **env_kwargs)
    assert (evaluation.scanpaths is not None) == (evaluation.locations is not None) == places
