"""Every autoreset mode against Gymnasium's own SyncVectorEnv over single environments."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.testing import assert_same, random_actions
from tests.support.episodes import CENTRED, CLUTTERED, make_single, make_vector

SEEDS: list[int | None] = [3, 1, 4, 159, 26]
ROWS = len(SEEDS)
MODES = [mode.value for mode in AutoresetMode]
KWARGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "stop": {"stop": True},
    "stop, dense, at a cost": {"stop": True, "reward": "dense", "glimpse_cost": 0.1},
    "history": {"stop": True, "history": True, "look": "tiles"},
    "full": {"view": "full"},
}


def both(mode: str, **kwargs: Any) -> tuple[GlimpseVectorEnv, SyncVectorEnv[Any, Any]]:
    """Our rows, and Gymnasium's over single environments."""
    ours = make_vector(CENTRED, ROWS, autoreset_mode=mode, **kwargs)
    singles = [partial(make_single, CENTRED, **kwargs)] * ROWS
    return ours, SyncVectorEnv(singles, autoreset_mode=mode)


def assert_same_infos(actual: dict[str, Any], expected: dict[str, Any]) -> None:
    """Keys and masks are equal, and so is every value where its mask is True; only single
    environments repeat success as `is_success`."""
    expected = {name: v for name, v in expected.items() if not name.endswith("is_success")}
    assert actual.keys() == expected.keys()
    for name in expected:
        if name[0] == "_":
            assert_same(actual[name], expected[name], name)
        elif isinstance(expected[name], dict):
            assert_same_infos(actual[name], expected[name])
        else:
            mask = expected.get(f"_{name}", np.ones(ROWS, np.bool_))
            # Gymnasium collects NumPy's bools as objects.
            here = expected[name][mask]
            if here.dtype == object and isinstance(here[0], np.bool_ | bool):
                here = here.astype(np.bool_)
            assert_same(actual[name][mask], here, name)


def assert_same_step(actual: tuple[Any, ...], expected: tuple[Any, ...]) -> None:
    """Observations, and a step's rewards and ends, are equal; so are the infos."""
    assert_same(actual[:-1], expected[:-1])
    assert_same_infos(actual[-1], expected[-1])


@pytest.mark.parametrize("kwargs", KWARGS.values(), ids=KWARGS)
@pytest.mark.parametrize("mode", MODES)
def test_a_mode_is_gymnasiums(mode: str, kwargs: dict[str, Any]) -> None:
    ours, theirs = both(mode, **kwargs)
    assert ours.metadata["autoreset_mode"] is theirs.metadata["autoreset_mode"]
    assert_same_step(ours.reset(seed=SEEDS), theirs.reset(seed=SEEDS))
    rng = np.random.default_rng(0)
    ends = 0
    for _ in range(25):
        actions = random_actions(ours, rng)
        mine, reference = ours.step(actions), theirs.step(actions)
        assert_same_step(mine, reference)
        ended = reference[2]
        ends += int(ended.sum())
        if mode == "Disabled" and ended.any():
            mine_reset = ours.reset(options={"reset_mask": ended})
            assert_same_step(mine_reset, theirs.reset(options={"reset_mask": ended.copy()}))
    assert ends >= 3 * ROWS


@pytest.mark.parametrize("mode", MODES)
def test_resets_in_mid_episode_are_gymnasiums(mode: str) -> None:
    ours, theirs = both(mode, stop=True)
    rng = np.random.default_rng(1)
    ours.reset(seed=SEEDS)
    theirs.reset(seed=SEEDS)
    for _ in range(6):
        actions = random_actions(ours, rng) | {"stop": np.zeros(ROWS, np.int64)}
        actions["stop"][2] = mode != "Disabled"
        assert_same_step(ours.step(actions), theirs.step(actions))
        mask = rng.random(ROWS) < 0.5
        mask[rng.integers(ROWS)] = True
        seeds: list[int | None] = [int(seed) for seed in rng.integers(100, size=ROWS)]
        for seed in (seeds, None):
            mine = ours.reset(seed=seed, options={"reset_mask": mask})
            assert_same_step(mine, theirs.reset(seed=seed, options={"reset_mask": mask.copy()}))
    assert_same_step(ours.reset(), theirs.reset())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("masked", [False, True])
def test_a_list_of_seeds_with_none_among_them_is_gymnasiums(mode: str, masked: bool) -> None:
    ours, theirs = both(mode)
    rng = np.random.default_rng(1)
    ours.reset(seed=SEEDS)
    theirs.reset(seed=SEEDS)
    lists: list[list[int | None]] = [
        [None, 7, None, 8, 9],
        [None] * ROWS,
        [5, None, None, None, None],
    ]
    for seeds in lists:
        options = {"reset_mask": np.array([True, True, False, True, False])} if masked else {}
        ours_reset = ours.reset(seed=seeds, options=dict(options))
        assert_same_step(ours_reset, theirs.reset(seed=seeds, options=dict(options)))
        for _ in range(1 if mode == "Disabled" else 4):
            actions = random_actions(ours, rng)
            assert_same_step(ours.step(actions), theirs.step(actions))


def test_a_first_reset_draws_the_seeds_that_are_none() -> None:
    envs = make_vector(CENTRED, 3)
    once, again = (envs.reset(seed=[None, 7, None])[0]["location"], envs.reset(seed=[3, 7, 4]))
    assert len(np.unique(once, axis=0)) == 3
    np.testing.assert_array_equal(once[1], again[0]["location"][1])


Moment = tuple[list[int], list[int], list[bool]]

# Of each step: which rows stop, how many glimpses each has left then, and which are terminated.
TRUTH_TABLES: dict[str, list[Moment]] = {
    "NextStep": [
        ([0, 0, 0], [4, 4, 4], [False, False, False]),
        ([1, 0, 0], [0, 3, 3], [True, False, False]),
        ([1, 1, 1], [5, 0, 0], [False, True, True]),
        ([0, 1, 1], [4, 5, 5], [False, False, False]),
    ],
    "SameStep": [
        ([0, 0, 0], [4, 4, 4], [False, False, False]),
        ([1, 0, 0], [5, 3, 3], [True, False, False]),
        ([0, 1, 1], [4, 5, 5], [False, True, True]),
        ([1, 0, 0], [5, 4, 4], [True, False, False]),
    ],
}


@pytest.mark.parametrize("mode", TRUTH_TABLES)
def test_the_truth_table(mode: str) -> None:
    envs = make_vector(CENTRED, 3, autoreset_mode=mode, stop=True, glimpse_cost=0.25)
    envs.reset(seed=8)
    idle = np.zeros(3, np.bool_)
    for stop, left, ended in TRUTH_TABLES[mode]:
        actions = {"look": np.zeros((3, 2)), "answer": np.zeros(3, np.int64), "stop": stop}
        observation, reward, terminated, truncated, info = envs.step(actions)
        np.testing.assert_allclose(observation["remaining"][:, 0] * 6, left, rtol=1e-6)
        assert terminated.tolist() == ended
        assert not truncated.any()
        looked = ~np.array(ended) & ~idle
        assert (reward[looked] == -0.25).all()
        assert (reward[idle] == 0.0).all()
        assert (reward[terminated] >= 0.0).all()
        assert ("final_obs" in info) is (mode == "SameStep" and any(ended))
        idle = terminated if mode == "NextStep" else idle


def test_a_row_that_has_ended_cannot_be_stepped_when_autoreset_is_disabled() -> None:
    envs = make_vector(CENTRED, 3, autoreset_mode="Disabled", stop=True)
    envs.reset(seed=0)
    actions = {"look": np.zeros((3, 2)), "answer": np.zeros(3, np.int64), "stop": [0, 1, 0]}
    envs.step(actions)
    before = envs.state_dict()
    with pytest.raises(gym.error.ResetNeeded, match=r"rows \[1\] have ended.*reset_mask"):
        envs.step(actions)
    assert_same(envs.state_dict(), before)
    envs.reset(options={"reset_mask": np.array([False, True, False])})
    assert envs.step(actions)[2].tolist() == [False, True, False]


@pytest.mark.parametrize("mode", MODES)
def test_the_first_step_needs_a_reset(mode: str) -> None:
    envs = make_vector(CENTRED, 2, autoreset_mode=mode)
    with pytest.raises(gym.error.ResetNeeded, match=r"reset\(\)"):
        envs.step({"look": np.zeros((2, 2)), "answer": np.zeros(2, np.int64)})


def test_a_single_environment_that_has_ended_needs_a_reset() -> None:
    env = make_single(CENTRED, budget=1)
    env.reset(seed=0)
    action: dict[str, Any] = {"look": np.zeros(2), "answer": 0}
    assert env.step(action)[2]
    with pytest.raises(gym.error.ResetNeeded, match=r"^no episode is under way: call reset\(\)"):
        env.step(action)


def test_a_partial_reset_leaves_the_other_rows_alone() -> None:
    envs = make_vector(CLUTTERED, 4)
    before, _ = envs.reset(seed=0)
    mask = np.array([True, False, False, True])
    after, info = envs.reset(options={"reset_mask": mask})
    for name, value in before.items():
        np.testing.assert_array_equal(after[name][~mask], value[~mask])
    assert (after["location"][mask] != before["location"][mask]).all()
    np.testing.assert_array_equal(info["_target_box"], mask)


@pytest.mark.parametrize(
    ("mask", "error"),
    [
        ([True, False, True], TypeError),
        (np.array([1, 0, 1]), TypeError),
        (np.array([True, False]), ValueError),
        (np.array([[True, False, True]]), ValueError),
        (np.array([False, False, False]), ValueError),
    ],
)
def test_a_bad_reset_mask_is_refused_as_gymnasium_does(mask: Any, error: type[Exception]) -> None:
    envs = make_vector(CENTRED, 3)
    envs.reset(seed=0)
    before = envs.state_dict()
    with pytest.raises(error, match="reset_mask"):
        envs.reset(seed=1, options={"reset_mask": mask})
    assert_same(envs.state_dict(), before)
    singles = [partial(make_single, CENTRED)] * 3
    with pytest.raises((error, AssertionError), match="reset_mask"):  # Gymnasium 1.1 asserts
        SyncVectorEnv(singles).reset(options={"reset_mask": mask})


def test_the_first_reset_must_take_all_rows() -> None:
    mask: NDArray[np.bool_] = np.array([True, False])
    with pytest.raises(ValueError, match=r"reset_mask.*first reset"):
        make_vector(CENTRED, 2).reset(options={"reset_mask": mask})


def test_reset_leaves_the_callers_options_as_they_are() -> None:
    envs = make_vector(CENTRED, 2)
    envs.reset(seed=0)
    mask = np.array([True, False])
    options = {"reset_mask": mask}
    envs.reset(options=options)
    assert options == {"reset_mask": mask}
