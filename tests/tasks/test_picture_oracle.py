"""The oracle of picture tasks collects the ceiling, and looks at what it answers."""

from typing import Any

import numpy as np
import pytest

from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.testing import Actions
from tests.support.episodes import (
    CIRCLE_SQUARE,
    CLUTTERED,
    Observation,
    leaves,
    make_vector,
    oracle,
    play,
)

ROWS = 24
LOOKS = ("continuous", "tiles", "relative")
ENDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "dense": {"reward": "dense"},
    "cost": {"glimpse_cost": 0.03},
    "stop": {"stop": True},
    "stop, cost": {"stop": True, "glimpse_cost": 0.03},
    "stop, dense": {"stop": True, "reward": "dense"},
    "stop, dense, cheap": {"stop": True, "reward": "dense", "glimpse_cost": 0.03},
    "stop, dense, dear": {"stop": True, "reward": "dense", "glimpse_cost": 0.4},
    "history": {"history": True, "stop": True},
}


@pytest.mark.parametrize("kwargs", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("env_id", [CLUTTERED, CIRCLE_SQUARE])
def test_it_collects_exactly_the_ceiling(env_id: str, look: str, kwargs: dict[str, Any]) -> None:
    kwargs = {"reward": "final", **kwargs}
    envs = make_vector(env_id, ROWS, look=look, **kwargs)
    space = envs.single_action_space

    def act(envs: GlimpseVectorEnv, observation: Observation) -> Actions:
        actions = oracle(envs, observation)
        assert actions.keys() == leaves(space).keys()
        for name, leaf in leaves(space).items():
            assert all(leaf.contains(row.astype(leaf.dtype)) for row in actions[name]), name
        return actions

    played = play(envs, envs.reset(seed=4)[0], act)
    np.testing.assert_allclose(played.returns, envs.task.ceiling, rtol=1e-12)
    assert played.success.all()
    stops_at_once = "stop" in kwargs and (
        kwargs["reward"] == "final" or kwargs.get("glimpse_cost", 0.0) > 0.3
    )
    assert (played.steps == (1 if stops_at_once else envs.task.budget)).all()


def test_it_answers_the_full_view_at_once() -> None:
    envs = make_vector(CLUTTERED, ROWS, view="full")
    played = play(envs, envs.reset(seed=4)[0], oracle)
    assert (played.returns == 1.0).all()
    assert (played.steps == 1).all()


@pytest.mark.parametrize("look", LOOKS)
def test_it_looks_at_the_target(look: str) -> None:
    """A relative look takes as many steps as the way is long; a tile's middle may lie outside."""
    kwargs = {"look": look, "budget": 40, "max_move": 0.2}
    envs = make_vector(CLUTTERED, ROWS, copies=2, autoreset_mode="Disabled", **kwargs)
    observation, info = envs.reset(seed=5)
    box = info["target_box"]
    middle = np.clip((box[:, :2] + box[:, 2:]) / 2, -1, 1)
    for step in range(1, 16):
        before = np.abs(observation["location"] - middle).max(axis=1)
        observation, *_ = envs.step(envs.task.oracle())
        away = np.abs(observation["location"] - middle).max(axis=1)
        if look == "continuous":
            assert (away < 1e-6).all()
        elif look == "tiles":
            assert (away <= 0.2 + 1e-6).all(), "half a tile of 12 on 60 pixels"
        else:
            assert (away <= np.maximum(before - 0.1, 1e-6)).all() or (away < 1e-6).all(), step
    assert look == "tiles" or (away < 1e-6).all()
