"""Time that an agent cannot see truncates; whatever else ends an episode terminates it."""

import pickle
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from glimpse_envs.single import GlimpseEnv
from glimpse_envs.testing import assert_same, random_actions
from tests.support.episodes import row_of
from tests.support.hidden_clock import TASK, make_clock, staying

MODES = [mode.value for mode in AutoresetMode]
BUDGET = 4
SEEDS: list[int | None] = [3, 1, 4]
KINDS: dict[str, dict[str, Any]] = {
    "budget": {"budget": BUDGET},
    "limit": {"budget": 9, "limit": BUDGET},
    "limit and end": {"budget": 9, "limit": 3, "leave": True},
}


@pytest.mark.parametrize("kind", ["budget", "limit"])
@pytest.mark.parametrize("mode", MODES)
def test_hidden_time_truncates_and_a_stop_terminates(mode: str, kind: str) -> None:
    envs = make_clock(3, autoreset_mode=mode, **KINDS[kind])
    envs.reset(seed=0)
    for step in range(1, BUDGET + 1):
        # Row 1 stops half-way, row 2 with its last step: it ended of itself.
        stop = [False, step == 2, step == BUDGET]
        if mode == "Disabled" and step > 2:
            stop[1] = False
            envs.reset(options={"reset_mask": np.array([False, True, False])})
        _, _, terminated, truncated, info = envs.step(staying(3, stop))
        assert terminated.tolist() == stop
        assert truncated.tolist() == [step == BUDGET, False, False]
        if mode == "SameStep":
            ended = terminated | truncated
            assert info.get("_final_obs", np.zeros(3, np.bool_)).tolist() == ended.tolist()
    if mode == "Disabled":
        with pytest.raises(gym.error.ResetNeeded, match=r"rows \[0, 2\] have ended"):
            envs.step(staying(3))
    else:
        _, _, terminated, truncated, _ = envs.step(staying(3))
        assert not terminated.any()
        assert not truncated.any()


@pytest.mark.parametrize("kwargs", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("mode", MODES)
def test_a_mode_is_gymnasiums_where_time_truncates(mode: str, kwargs: dict[str, Any]) -> None:
    ours = make_clock(3, autoreset_mode=mode, **kwargs)
    theirs: SyncVectorEnv[Any, Any] = SyncVectorEnv(
        [partial(GlimpseEnv, task=TASK, **kwargs)] * 3, autoreset_mode=mode
    )
    assert_same(ours.reset(seed=SEEDS)[0], theirs.reset(seed=SEEDS)[0])
    rng, ends = np.random.default_rng(0), np.zeros(2)
    for _ in range(40):
        actions = random_actions(ours, rng)
        actions["stop"] *= rng.random(3) < 0.2
        mine, reference = ours.step(actions), theirs.step(actions)
        assert_same(mine[:4], reference[:4])
        for name in ("final_obs", "_final_obs", "_final_info"):
            assert_same(mine[4].get(name), reference[4].get(name), name)
        ends += [reference[2].sum(), reference[3].sum()]
        ended = reference[2] | reference[3]
        if mode == "Disabled" and ended.any():
            ours.reset(options={"reset_mask": ended})
            theirs.reset(options={"reset_mask": ended.copy()})
    assert (ends > 3).all(), "some episodes should end in each way"


def test_the_single_environment_truncates() -> None:
    env = GlimpseEnv(task=TASK, budget=2)
    env.reset(seed=0)
    action = row_of(staying(1), 0)
    assert env.step(action)[2:4] == (False, False)
    assert env.step(action)[2:4] == (False, True)
    with pytest.raises(gym.error.ResetNeeded):
        env.step(action)
    env.reset()
    assert env.step(row_of(staying(1, stop=1), 0))[2:4] == (True, False)


def test_a_truncated_row_stays_so_while_it_waits_for_its_copies() -> None:
    envs = make_clock(4, copies=2, budget=9, limit=2, leave=True)
    envs.reset(seed=0)
    ends = staying(4) | {"look": np.array([2, 0, 0, 0])}
    assert envs.step(ends)[2].tolist() == [True, False, False, False]
    _, _, terminated, truncated, info = envs.step(staying(4))
    assert terminated.tolist() == [True, False, False, False]
    assert truncated.tolist() == [False, True, True, True]
    assert info["waiting"].tolist() == [True, False, False, False]


@pytest.mark.parametrize("how", ["state_dict", "pickle"])
def test_a_truncated_row_that_waits_is_saved_and_restored(how: str) -> None:
    """Row 0 waits for row 1, whose clock is behind."""
    envs = make_clock(2, copies=2, budget=9, leave=True, limit=3)
    envs.reset(seed=0)
    envs.step(staying(2))
    state = envs.state_dict()
    state["taken"] = np.array([3, 1])
    envs.load_state_dict(state)
    assert envs.step(staying(2))[3].tolist() == [True, False]
    if how == "pickle":
        other = pickle.loads(pickle.dumps(envs))
    else:
        other = make_clock(2, copies=2, budget=9, leave=True, limit=3)
        other.load_state_dict(envs.state_dict())
    for step in range(4):
        mine, expected = other.step(staying(2)), envs.step(staying(2))
        assert_same(mine, expected)
        if step == 0:
            assert (mine[2].tolist(), mine[3].tolist()) == ([False, False], [True, False])
