"""The key most like the query, by plain dot products."""

import numpy as np
import pytest

from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.testing import Actions
from tests.support.episodes import Observation, make_vector, play
from tests.support.table_episodes import LOOKUP, looking, symbols, whole_table

SIZE, CELLS = 8, 16


def best_of(query: list[float], keys: list[list[float]]) -> int:
    """The index of the key with the greatest dot product, in plain Python."""
    dots = [sum(q * k for q, k in zip(query, key, strict=True)) for key in keys]
    return dots.index(max(dots))


def test_the_right_value_is_that_of_the_key_with_the_greatest_dot_product() -> None:
    n = 300
    observation, target = whole_table(LOOKUP, n, 0, noise=1.0)
    _, info = make_vector(LOOKUP, n, view="full", noise=1.0).reset(seed=0)
    values = symbols(observation["scene"][..., SIZE:])
    for row, length in enumerate(info["length"].tolist()):
        keys = observation["scene"][row, :length, :SIZE].tolist()
        best = best_of(observation["query"][row].tolist(), keys)
        assert info["target_cell"][row] == best
        assert target[row] == values[row, best]


def test_keys_and_queries_have_length_1_and_empty_cells_follow_the_entries() -> None:
    observation, _ = whole_table(LOOKUP, 200, 1)
    _, info = make_vector(LOOKUP, 200, view="full").reset(seed=1)
    norms = np.linalg.norm(observation["scene"][..., :SIZE], axis=2)
    filled = np.arange(CELLS) < info["length"][:, None]
    np.testing.assert_allclose(norms, filled, atol=1e-6)
    np.testing.assert_array_equal(symbols(observation["scene"][..., SIZE:]) > 0, filled)
    np.testing.assert_allclose(np.linalg.norm(observation["query"], axis=1), 1.0, atol=1e-6)


def test_keys_point_everywhere_alike() -> None:
    observation, _ = whole_table(LOOKUP, 2000, 2, min_length=8)
    keys = observation["scene"][:, :8, :SIZE].reshape(-1, SIZE).astype(np.float64)
    np.testing.assert_allclose(keys.mean(axis=0), 0.0, atol=0.015)
    np.testing.assert_allclose(keys.T @ keys / len(keys), np.eye(SIZE) / SIZE, atol=0.01)


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_the_noise_has_the_length_asked_for(noise: float) -> None:
    """A single key k of length 1 becomes k + e, |e| about `noise`, then scaled to length 1: the
    cosine between both is (1 + k.e) / |k + e|, on average about 1 / sqrt(1 + noise^2)."""
    kwargs = {"length": 1, "noise": noise, "key_size": 64}
    observation, _ = whole_table(LOOKUP, 500, 3, **kwargs)
    cosines = (observation["scene"][:, 0, :64] * observation["query"]).sum(axis=1)
    assert cosines.mean() == pytest.approx(1 / np.sqrt(1 + noise**2), abs=0.01)


def test_a_glimpse_is_the_cell_at_the_address_and_the_first_is_of_an_entry() -> None:
    whole, _ = whole_table(LOOKUP, 64, 4)
    envs = make_vector(LOOKUP, 64, autoreset_mode="Disabled", min_length=1)
    observation, info = envs.reset(seed=4)
    starts = (observation["location"] @ (1 << np.arange(4))).astype(int)
    assert (starts < info["length"]).all()
    assert len(set(starts.tolist())) > 4
    rows = np.arange(64)
    np.testing.assert_array_equal(observation["glimpse"], whole["scene"][rows, starts])
    np.testing.assert_array_equal(observation["query"], whole["query"])
    addresses = rows % CELLS
    observation, *_ = envs.step(looking(envs, addresses))
    going = ~envs.ended
    expected = whole["scene"][rows, addresses]
    np.testing.assert_array_equal(observation["glimpse"][going], expected[going])


class Reader:
    """Reads the next cell, round and round, and answers with the value of the best key so far,
    when it sees that entries end, or has read all cells that the longest has."""

    def __init__(self, rows: int, entries: int) -> None:
        self.best = np.full(rows, -np.inf)
        self.value = np.zeros(rows, np.int64)
        self.entries = entries
        self.seen = np.zeros(rows, np.int64)

    def __call__(self, envs: GlimpseVectorEnv, observation: Observation) -> Actions:
        keys, values = observation["glimpse"][:, :SIZE], symbols(observation["glimpse"][:, SIZE:])
        dots = (keys.astype(np.float64) * observation["query"]).sum(axis=1)
        better = (values > 0) & (dots > self.best)
        self.best[better], self.value[better] = dots[better], values[better]
        self.seen += 1
        heads = (observation["location"] @ (1 << np.arange(4))).astype(int)
        answers = np.where(self.seen >= self.entries, self.value, 0)
        return looking(envs, (heads + 1) % self.entries, answers)


def test_an_agent_that_reads_every_entry_once_solves_it_within_the_shortest_budget() -> None:
    envs = make_vector(LOOKUP, 400, slack=1.0, min_length=8, noise=0.8)
    observation, _ = envs.reset(seed=5)
    played = play(envs, observation, Reader(400, 8))
    assert (played.returns == 1.0).all()
    assert (played.steps == 8).all()


def test_an_agent_that_reads_half_of_the_entries_is_right_about_half_of_the_time() -> None:
    envs = make_vector(LOOKUP, 2000, min_length=8, noise=0.0)
    observation, _ = envs.reset(seed=5)
    reader = Reader(2000, 8)

    def half(envs: GlimpseVectorEnv, observation: Observation) -> Actions:
        actions = reader(envs, observation)
        if reader.seen[0] >= 4:
            actions["answer"] = reader.value.copy()
        return actions

    found, by_chance = 0.5, 0.5 * 0.1
    assert play(envs, observation, half).returns.mean() == pytest.approx(
        found + by_chance, abs=0.05
    )
