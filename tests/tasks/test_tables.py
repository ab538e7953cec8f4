"""What all tables share: addresses, answers, budgets, what is shown, and what is refused."""

import tracemalloc
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from glimpse_envs.testing import assert_same
from tests.support.episodes import leaves, make_vector, oracle, play, row_of
from tests.support.table_episodes import (
    CHASE,
    LENGTHS,
    LOOKUP,
    RECALL,
    SHORTEST,
    TABLES,
    looking,
    passing,
    symbols,
    table_of,
    whole_table,
)

LOOKS = ("discrete", "bits")


@pytest.fixture(params=TABLES)
def env_id(request: pytest.FixtureRequest) -> str:
    """Each table in turn."""
    name: str = request.param
    return name


# --- oracles and blind agents --------------------------------------------------------------------


@pytest.mark.parametrize("look", LOOKS)
def test_the_oracle_needs_the_shortest_solution_and_gets_exactly_1(env_id: str, look: str) -> None:
    envs = make_vector(env_id, 64, slack=1.0, look=look)
    for length in range(1, LENGTHS[env_id] + 1):
        observation, info = envs.reset(seed=length, options={"length": length})
        assert (info["length"] == length).all()
        shortest = SHORTEST[env_id](length)
        assert (envs.task.budgets == shortest).all()
        played = play(envs, observation, oracle)
        assert (played.returns == 1.0).all()
        assert played.success.all()
        if env_id != RECALL:  # there the pair that was stored last is in view
            assert (played.steps == shortest).all()
        assert played.steps.max() <= shortest


@pytest.mark.parametrize("env_id", TABLES)
@pytest.mark.parametrize("cost", [0.02, 0.1, 0.2, 0.6])
def test_the_oracle_collects_the_ceiling_whatever_a_glimpse_costs(env_id: str, cost: float) -> None:
    rows = 3000
    envs = make_vector(env_id, rows, values=4, min_length=1, length=4, glimpse_cost=cost)
    observation, _ = envs.reset(seed=0)
    returns = play(envs, observation, oracle).returns
    assert abs(returns.mean() - envs.task.ceiling) < 4 * returns.std() / np.sqrt(rows) + 1e-12


def test_the_oracle_of_the_full_view_answers_at_once(env_id: str) -> None:
    envs = make_vector(env_id, 32, view="full")
    observation, _ = envs.reset(seed=0)
    played = play(envs, observation, oracle)
    assert (played.returns == 1.0).all()
    assert (played.steps == 1).all()


@pytest.mark.parametrize("wait", [0, 3, 7])
def test_a_blind_agent_gets_no_more_than_chance(env_id: str, wait: int) -> None:
    """It sees nothing, waits `wait` steps and answers anything."""
    n = 4000
    envs = make_vector(env_id, n)
    chance = envs.task.chance
    observation, _ = envs.reset(seed=1)
    rng = np.random.default_rng(0)
    step = 0

    def act(envs: Any, _: Any) -> Any:
        nonlocal step
        step += 1
        actions = passing(envs, rng)
        if step > wait:
            actions["answer"] = rng.integers(1, table_of(envs).values + 1, n)
        return actions

    mean = play(envs, observation, act).returns.mean()
    noise = 4 * np.sqrt(chance * (1 - chance) / n)
    assert mean <= chance + noise
    if wait == 0 and env_id != RECALL:
        assert mean >= chance - noise, "chance is what the task says, not more"


# --- answers, budgets, rewards -------------------------------------------------------------------


def test_a_wrong_answer_ends_the_episode_without_reward(env_id: str) -> None:
    envs = make_vector(env_id, 32, autoreset_mode="Disabled")
    envs.reset(seed=0)
    _, target = whole_table(env_id, 32, 0)
    wrong = target % table_of(envs).values + 1
    _, reward, terminated, truncated, info = envs.step(looking(envs, 0, wrong))
    assert terminated.all()
    assert not truncated.any()
    assert (reward == 0.0).all()
    assert not info["success"].any()
    asked = env_id != RECALL  # of which none is at the first glimpse
    np.testing.assert_array_equal(info["target_mask"], asked)
    np.testing.assert_array_equal(info["target"], target)


def test_nothing_said_ends_nothing_until_the_budget_is_spent(env_id: str) -> None:
    envs = make_vector(env_id, 16)
    observation, _ = envs.reset(seed=2)
    rng = np.random.default_rng(0)
    budgets = envs.task.budgets.copy()
    _, _, _, _, info = envs.step(passing(envs, rng))
    still = info["_target"]
    assert not info["target_mask"][still].any()
    assert (info["target"][still] >= 1).all()

    observation, _ = envs.reset(seed=2)
    played = play(envs, observation, lambda envs, _: passing(envs, rng))
    np.testing.assert_array_equal(played.steps, budgets)
    assert (played.returns == 0.0).all()
    assert not played.success.any()


@pytest.mark.parametrize(("slack", "shortest", "budget"), [(1.0, 10, 10), (1.1, 10, 11)])
def test_the_budget_is_slack_times_the_shortest_solution_rounded_up(
    slack: float, shortest: int, budget: int
) -> None:
    envs = make_vector(LOOKUP, 2, slack=slack, cells=shortest, length=shortest)
    assert envs.task.budget == budget
    assert make_vector(CHASE, 1, slack=1.5, length=2).task.budget == 5


def test_glimpses_after_the_first_have_their_price(env_id: str) -> None:
    envs = make_vector(env_id, 16, glimpse_cost=0.01)
    observation, _ = envs.reset(seed=3)
    played = play(envs, observation, oracle)
    np.testing.assert_allclose(played.returns, 1.0 - 0.01 * (played.steps - 1))


# --- observations --------------------------------------------------------------------------------


@pytest.mark.parametrize("view", ["glimpse", "full"])
@pytest.mark.parametrize("look", LOOKS)
def test_observations_lie_in_their_space_key_by_key(env_id: str, look: str, view: str) -> None:
    envs = make_vector(env_id, 5, look=look, view=view, cells=11)
    observation, _ = envs.reset(seed=0)
    names = ["glimpse", "shown", "query", "location", "remaining"]
    if env_id != RECALL:
        names.remove("shown")
    assert list(observation) == (["scene", "query"] if view == "full" else names)
    assert list(leaves(envs.single_observation_space)) == list(observation)
    for _ in range(12):
        for row in range(5):
            assert envs.single_observation_space.contains(row_of(observation, row))
        observation, *_ = envs.step(envs.action_space.sample())


@pytest.mark.parametrize("look", LOOKS)
def test_location_is_the_bits_of_the_address_in_view(env_id: str, look: str) -> None:
    envs = make_vector(env_id, 11, look=look, cells=11, min_length=3, slack=3.0)
    envs.reset(seed=0)
    assert table_of(envs).address_bits == 4
    observation, *_ = envs.step(looking(envs, np.arange(11)))
    expected = [[int(bit) for bit in f"{a:04b}"[::-1]] for a in range(11)]
    np.testing.assert_array_equal(observation["location"], expected)


def test_an_address_beyond_the_last_shows_an_empty_cell(env_id: str) -> None:
    envs = make_vector(env_id, 5, look="bits", cells=11, min_length=3, slack=3.0)
    envs.reset(seed=0)
    look = np.array([11, 12, 13, 14, 15])
    observation, *_ = envs.step(looking(envs, look))
    ((_, start, stop),) = envs.task.components["answer"].repeats
    assert (symbols(observation["glimpse"][:, start:stop]) == 0).all()
    before = observation["glimpse"][:, :start]
    assert (before[:, 1:] == 0.0).all(), "an empty cell holds no key, and points nowhere"
    np.testing.assert_array_equal(observation["location"] @ [1, 2, 4, 8], look)


def test_what_can_be_read_is_what_is_answered(env_id: str) -> None:
    """At the oracle's last step the value in view, where it reads one, is the answer."""
    envs = make_vector(env_id, 64, min_length=2, look="bits")
    ((key, start, stop),) = envs.task.components["answer"].repeats
    assert leaves(envs.single_action_space)["answer"] == spaces.Discrete(stop - start)
    matches = 0
    observation, info = envs.reset(seed=4)
    for _ in range(SHORTEST[env_id](LENGTHS[env_id])):
        actions = oracle(envs, observation)
        heads = (observation["location"] @ (1 << np.arange(table_of(envs).address_bits))).astype(
            int
        )
        there = (actions["answer"] > 0) & (heads == info["target_cell"])
        read = symbols(observation[key][:, start:stop])
        np.testing.assert_array_equal(read[there], actions["answer"][there])
        matches += int(there.sum())
        observation, _, _, _, info = envs.step(actions)
    assert matches > 8


def test_a_full_view_has_nothing_to_copy(env_id: str) -> None:
    components = make_vector(env_id, 1, view="full").task.components
    assert not any(component.repeats for component in components.values())


# --- errors, specs, pictures ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"cells": 1, "length": 1}, "cells=1 must be an integer of at least 2"),
        ({"values": 0}, "values=0 must be an integer of at least 1"),
        ({"length": 0}, "length=0 must be an integer of at least 1"),
        ({"min_length": 4, "length": 3}, "min_length=4 must be at most length=3"),
        ({"slack": 0.5}, "slack=0.5 must be a number of at least 1"),
        ({"slack": float("nan")}, "slack=nan must be a number of at least 1"),
        ({"look": "tree"}, "look='tree' must be one of 'discrete', 'bits'"),
        ({"view": "soft"}, "view='soft' must be one of 'glimpse', 'full'"),
        ({"split": "dev"}, "split='dev' must be one of 'train', 'validation', 'test'"),
        ({"glimpse_cost": -1.0}, "glimpse_cost=-1.0 must be a number of at least 0"),
        ({"view": "full", "glimpse_cost": 0.1}, "view='full' shows no glimpses"),
    ],
)
def test_a_bad_argument_is_named(env_id: str, kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_vector(env_id, 1, **kwargs)


@pytest.mark.parametrize(
    ("env_id", "kwargs", "message"),
    [
        (RECALL, {"keys": 8}, "keys=8 must be more than cells=8"),
        (RECALL, {"length": 9}, "length=9 must be at most cells=8"),
        (LOOKUP, {"length": 17}, "length=17 must be at most cells=16"),
        (LOOKUP, {"noise": -0.1}, "noise=-0.1 must be a number of at least 0"),
        (LOOKUP, {"key_size": 1}, "key_size=1 must be an integer of at least 2"),
        (CHASE, {"cells": 2**31 + 1}, r"must be at most 2\*\*31"),
    ],
)
def test_a_tasks_own_bad_argument_is_named(
    env_id: str, kwargs: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make_vector(env_id, 1, **kwargs)


def test_the_spec_goes_through_json(env_id: str) -> None:
    env = gym.make(env_id, look="bits", split="test")
    assert env.spec is not None
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert_same(again.reset(seed=1), env.reset(seed=1))


@pytest.mark.parametrize("dtype", [bool, np.float32, np.uint8])
def test_bits_are_taken_in_any_dtype_as_in_their_space(env_id: str, dtype: type) -> None:
    env, twin = (gym.make(env_id, look="bits", split="test") for _ in range(2))
    env.action_space.seed(0)
    for each in (env, twin):
        each.reset(seed=0, options={"scene": 3})
    action = env.action_space.sample()
    for wrong in (action["look"] + 1, np.full_like(action["look"], 0.5, np.float32)):
        with pytest.raises(ValueError, match="it must hold zeros and ones"):
            env.step(action | {"look": wrong})
    given = action | {"look": action["look"].astype(dtype)}
    assert env.action_space.contains(given)
    assert_same(env.step(given), twin.step(action))


@pytest.mark.parametrize("cells", [11, 200])
@pytest.mark.parametrize("view", ["glimpse", "full"])
def test_every_picture_of_an_episode_shows_as_many_cells_and_the_present_one(
    env_id: str, view: str, cells: int
) -> None:
    kwargs = {"keys": 300} if env_id == RECALL else {}
    envs = make_vector(env_id, 3, cells=cells, look="bits", view=view, min_length=3, **kwargs)
    observation, info = envs.reset(seed=0)
    first = table_of(envs).picture(1, "first")
    counts = set()
    for _ in range(3 if view == "glimpse" else 0):
        picture = table_of(envs).picture(1, "a caption")
        counts.add(len(picture.cells))
        assert picture.target == str(table_of(envs)._targets[1])
        assert picture.relevant == {int(info["target_cell"][1])} - {-1}
        bits = observation["location"][1]
        assert picture.path[-1] == int(bits @ (1 << np.arange(len(bits))))
        observation, _, _, _, info = envs.step(oracle(envs, observation))
    assert first.caption == "first"
    assert counts == ({len(first.cells)} if view == "glimpse" else set())


def test_a_picture_of_a_large_table_is_as_small_as_that_of_a_small_one() -> None:
    envs = make_vector(CHASE, 1, cells=2**31)
    envs.reset(seed=0)
    tracemalloc.start()
    picture = table_of(envs).picture(0, "")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(picture.cells) < 100
    assert most < 2**20


def test_looks_are_numbers_or_bits(env_id: str) -> None:
    discrete = leaves(make_vector(env_id, 1, look="discrete").single_action_space)
    assert isinstance(discrete["look"], spaces.Discrete)
    bits = leaves(make_vector(env_id, 1, look="bits").single_action_space)
    assert isinstance(bits["look"], spaces.MultiBinary)
    assert list(bits) == ["look", "answer"]
    assert list(leaves(make_vector(env_id, 1, view="full").single_action_space)) == ["answer"]
