"""Counts of glimpses as an input, and parts of observations that are left out."""

from contextlib import closing
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.wrappers import TimeLimit

from agents.policy.glimpse_counts import UNIT, glimpse_counts
from agents.policy.glimpse_policy import GlimpsePolicy
from agents.policy.making import policy_from
from agents.policy.networks import NetworkConfig, core_name
from agents.sb3.features import GlimpseFeatures
from glimpse_envs.episodes.description import describe
from glimpse_envs.wrappers import GlimpseWrapper
from tests.support.episodes import make_vector
from tests.support.pixel_world import PixelWorld

CHASE: dict[str, Any] = {"cells": 20, "values": 4, "length": 9, "slack": 2.0}
ROWS = 16


def make(env_id: str = "Glimpse/PointerChase-v0", **network: Any) -> GlimpsePolicy:
    config = NetworkConfig(what_units=8, where_units=8, glimpse_units=8, core_units=8)
    with closing(gym.make(env_id, **(CHASE if "Chase" in env_id else {}))) as env:
        torch.manual_seed(0)
        return policy_from(replace(config, **network), describe(env))


@pytest.mark.parametrize("budget", [1, 2, 7, 1000, 3000])
def test_both_numbers_follow_from_the_share_that_is_left(budget: int) -> None:
    taken = torch.arange(1, budget + 1, dtype=torch.float32)[:, None]
    counts = glimpse_counts(taken, {"remaining": (budget - taken) / budget})
    expected = torch.cat([taken, budget - taken], dim=1)
    torch.testing.assert_close(counts * UNIT, expected, rtol=0, atol=0)


def test_rows_are_counted_from_their_own_beginning() -> None:
    """Told anew, the environment's own budgets and glimpses are what the network is given."""
    policy = make(count_glimpses=True)
    given: list[torch.Tensor] = []
    policy.glimpse_network.counts.register_forward_pre_hook(  # type: ignore[union-attr]
        lambda module, inputs: given.append(inputs[0])
    )
    envs: Any = make_vector("Glimpse/PointerChase-v0", ROWS, autoreset_mode="NextStep", **CHASE)
    observation, _ = envs.reset(seed=0)
    state, start = None, np.ones(ROWS, np.bool_)
    for _ in range(30):
        action, state = policy.predict(observation, state, start)
        taken, budgets = envs._episodes.taken, envs.task.budgets
        expected = np.stack([taken, budgets - taken], axis=1)
        begun = ~envs.ended
        np.testing.assert_allclose(given[-1][begun] * UNIT, expected[begun], atol=1e-4)
        start = envs.ended.copy()
        observation, *_ = envs.step(action)


@pytest.mark.parametrize("core", ["lstm", "dram"])
def test_the_code_depends_on_the_counts(core: str) -> None:
    policy = make(count_glimpses=True, core=core)
    seen = torch.randn(2, policy.encode(_observation(policy)).shape[1])
    one, other = (policy.glimpse_network.joined(seen, torch.full((2, 2), n)) for n in (0.5, 1.5))
    assert not torch.allclose(one, other)


def test_encoding_many_glimpses_at_once_changes_nothing() -> None:
    policy = make(count_glimpses=True)
    observation = _observation(policy)
    state = policy.initial_state(2)
    at_once, _ = policy(observation, state, policy.encode(observation))
    by_step, _ = policy(observation, state)
    torch.testing.assert_close(at_once.value, by_step.value, rtol=0, atol=0)


def test_what_is_left_out_is_not_encoded() -> None:
    policy = make(leave_out=("query", "remaining"))
    observation = _observation(policy)
    other = observation | {"query": 1 - observation["query"], "remaining": torch.zeros(2, 1)}
    torch.testing.assert_close(policy.encode(observation), policy.encode(other), rtol=0, atol=0)
    other = observation | {"location": 1 - observation["location"]}
    assert not torch.allclose(policy.encode(observation), policy.encode(other))


@pytest.mark.parametrize(
    ("env_id", "network", "message"),
    [
        ("Glimpse/Catch-v0", {"leave_out": ("paddles",)}, r"leave_out=\('paddles',\) must name"),
        ("Glimpse/PointerChase-v0", {"leave_out": ("query", "glimpse", "location", "remaining")},
         "must name some, not all, of the parts that are encoded here: glimpse, "),
        ("CartPole-v1", {"count_glimpses": True}, r"needs `remaining` \(1,\).* are observation"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(env_id: str, network: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(env_id, **network)


def test_both_are_named() -> None:
    config = NetworkConfig(count_glimpses=True, leave_out=("query", "remaining"))
    assert core_name(config) == "LSTM, counts of glimpses, without query, without remaining"


def _observation(policy: GlimpsePolicy) -> dict[str, torch.Tensor]:
    rng = np.random.default_rng(0)
    return {
        name: torch.as_tensor(rng.random((2, *space.shape), np.float32) * 0.9)  # type: ignore[misc]
        for name, space in policy.observation_space.spaces.items()
    }


def test_the_share_of_a_time_limit_is_not_counted() -> None:
    """It is 1 at the first glimpse of a wrapped world, of which no glimpse is taken beforehand."""
    world = GlimpseWrapper(TimeLimit(PixelWorld(), 10), glimpse_size=8)
    assert "remaining" in describe(world).observation_space.spaces
    with pytest.raises(ValueError, match="here `remaining` is the share of a time limit"):
        policy_from(NetworkConfig(count_glimpses=True), describe(world))


def test_models_without_a_core_do_not_count() -> None:
    space = make().observation_space
    with pytest.raises(ValueError, match="count_glimpses=True is for agents with a core"):
        GlimpseFeatures(space, NetworkConfig(count_glimpses=True))
