"""`read_outcome` says the same of an action whatever the autoreset mode."""

from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from glimpse_envs.episodes.infos import read_outcome
from glimpse_envs.testing import random_actions
from tests.support.episodes import CENTRED, make_vector

MODES = [mode.value for mode in AutoresetMode]
ROWS = 5


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("env_id", [CENTRED, "Glimpse/Copy-v0"])
def test_it_speaks_of_the_action_just_taken(env_id: str, mode: str) -> None:
    """Held against single rows, whose `info` says it at once."""
    kwargs: dict[str, Any] = {"stop": True} if env_id == CENTRED else {"symbols": 2}
    envs = make_vector(env_id, ROWS, autoreset_mode=mode, **kwargs)
    singles = [make_vector(env_id, 1, autoreset_mode="Disabled", **kwargs) for _ in range(ROWS)]
    envs.reset(seed=list(range(ROWS)))
    for seed, single in enumerate(singles):
        single.reset(seed=[seed])
    rng, ends, waiting = np.random.default_rng(0), 0, np.zeros(ROWS, np.bool_)
    for _ in range(20):
        actions = random_actions(envs, rng)
        _, _, terminated, truncated, info = envs.step(actions)
        ended = terminated | truncated
        outcome = read_outcome(info, ended)
        assert not any(name.startswith("_") or name.startswith("final") for name in outcome)
        for row, single in enumerate(singles):
            if waiting[row]:  # a step of "NextStep" that deals, and is no action
                single.reset()
                continue
            own = {name: values[row : row + 1] for name, values in actions.items()}
            _, _, over, _, expected = single.step(own)
            assert over[0] == ended[row]
            for name in ("target", "target_mask", "success"):
                assert outcome[name][row] == expected[name][0], name
            if over[0] and mode != "NextStep":
                single.reset()
        ends += int(ended.sum())
        waiting = ended & (mode == "NextStep")
        if mode == "Disabled" and ended.any():
            envs.reset(options={"reset_mask": ended})
    assert ends > ROWS


def test_rows_that_ended_are_told_apart_whatever_the_shape() -> None:
    ended = np.array([True, False])
    info = {
        "target": np.array([[0, 0], [3, 4]]),
        "_target": ~ended,
        "length": np.array([7, 8]),
        "final_info": {"target": np.array([[1, 2], [0, 0]]), "_target": ended},
        "_final_info": ended,
        "final_obs": np.array([{}, None]),
    }
    outcome = read_outcome(info, ended)
    assert outcome.keys() == {"target", "length"}
    assert outcome["target"].tolist() == [[1, 2], [3, 4]]
    assert outcome["length"].tolist() == [7, 8]


def test_what_is_said_of_the_ended_alone_is_read_too() -> None:
    final = {"success": np.array([True, False]), "_success": np.array([True, False])}
    info = {"final_info": final, "_final_info": np.array([True, False])}
    assert read_outcome(info, np.array([True, False]))["success"].tolist() == [True, False]
    assert read_outcome({}, np.array([False, False])) == {}
