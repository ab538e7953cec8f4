"""Chains of pointers: drawn where they are read, followed hop by hop."""

import numpy as np
import pytest

from glimpse_envs.core.randomness import SCENE
from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.episodes.dealing import VALIDATION_SALT
from tests.support.episodes import (
    Observation,
    make_vector,
    play,
)
from tests.support.reference import below, philox
from tests.support.table_episodes import CHASE, looking, symbols, whole_table

CELLS, VALUES, BITS = 1000, 16, 10
HOPS = 16  # bits that say how many


def cell(address: int, key: tuple[int, int, int], purpose: int) -> tuple[int, int]:
    """What a cell holds, by the definition: two words of the (address + 1)-th block."""
    seed, stream, episode = key
    words = philox((address + 1, purpose, stream, episode), (seed % 2**32, seed >> 32))
    return below(np.uint32(words[0]), CELLS), 1 + below(np.uint32(words[1]), VALUES)


def addresses_in(bits: np.ndarray) -> list[int]:
    """The addresses that bits (n, b) say, least significant first."""
    return [sum(int(bit) << place for place, bit in enumerate(row)) for row in bits]


@pytest.mark.parametrize(
    ("split", "purpose", "salt"),
    [
        ("train", SCENE[0], 0),
        ("validation", SCENE[1], int(VALIDATION_SALT)),
        ("test", SCENE[1], 0),
    ],
)
def test_cells_are_words_of_the_scenes_key(split: str, purpose: int, salt: int) -> None:
    seed = 2**40 + 17
    observation, _ = whole_table(CHASE, 2, seed, split=split)
    held = addresses_in(observation["scene"][1, :, :BITS])
    values = symbols(observation["scene"][1, :, BITS:])
    for address in (0, 1, 2, 500, 999):
        expected = cell(address, (seed ^ salt, 1, 0), purpose)  # row 1, or scene 1
        assert (held[address], values[address]) == expected


def test_the_right_value_stands_at_the_end_of_the_chain() -> None:
    n = 100
    observation, target = whole_table(CHASE, n, 0)
    _, info = make_vector(CHASE, n, view="full").reset(seed=0)
    hops = addresses_in(observation["query"][:, :HOPS])
    np.testing.assert_array_equal(hops, info["length"])
    starts = addresses_in(observation["query"][:, HOPS:])
    for row in range(n):
        address = starts[row]
        held = addresses_in(observation["scene"][row, :, :BITS])
        for _ in range(hops[row]):
            address = held[address]
        assert info["target_cell"][row] == address
        assert symbols(observation["scene"][row, address, BITS:]) == target[row]


def test_the_first_glimpse_is_of_the_start_and_each_is_of_the_cell_looked_at() -> None:
    n = 50
    whole, _ = whole_table(CHASE, n, 1)
    envs = make_vector(CHASE, n, autoreset_mode="Disabled", slack=4.0)
    observation, _ = envs.reset(seed=1)
    rows = np.arange(n)
    heads = addresses_in(observation["location"])
    assert heads == addresses_in(whole["query"][:, HOPS:])
    np.testing.assert_array_equal(observation["glimpse"], whole["scene"][rows, heads])
    np.testing.assert_array_equal(observation["query"], whole["query"][:, :HOPS])
    rng = np.random.default_rng(0)
    for _ in range(5):
        addresses = rng.integers(CELLS, size=n)
        observation, *_ = envs.step(looking(envs, addresses))
        np.testing.assert_array_equal(observation["glimpse"], whole["scene"][rows, addresses])


class Chaser:
    """Copies what is read into what it does, and counts; it has no other access."""

    def __init__(self, rows: int) -> None:
        self.hops = np.zeros(rows, np.int64)

    def __call__(self, envs: GlimpseVectorEnv, observation: Observation) -> dict[str, np.ndarray]:
        ((key, start, stop),) = envs.task.components["look"].repeats
        look = observation[key][:, start:stop].astype(np.int64)
        ((key, start, stop),) = envs.task.components["answer"].repeats
        value = symbols(observation[key][:, start:stop])
        there = self.hops == addresses_in(observation["query"])
        self.hops += 1
        return {"look": look, "answer": np.where(there, value, 0)}


def test_an_agent_that_copies_what_it_reads_follows_every_chain() -> None:
    envs = make_vector(CHASE, 200, slack=1.0)
    observation, _ = envs.reset(seed=2)
    assert (play(envs, observation, Chaser(200)).returns == 1.0).all()


def test_longer_chains_have_the_same_spaces() -> None:
    short, long = make_vector(CHASE, 2), make_vector(CHASE, 50, length=300, slack=1.0)
    assert short.single_observation_space == long.single_observation_space
    assert short.single_action_space == long.single_action_space
    observation, _ = long.reset(seed=2)
    assert (play(long, observation, Chaser(50)).returns == 1.0).all()


def test_hops_that_cannot_be_shown_are_refused() -> None:
    with pytest.raises(ValueError, match=r"length=65536 must be at most 65,535"):
        make_vector(CHASE, 1, length=65_536)
    observation, _ = make_vector(CHASE, 1, min_length=65_535, length=65_535).reset(seed=0)
    assert addresses_in(observation["query"]) == [65_535]


def test_a_table_of_a_million_cells_is_dealt_at_once_and_solved() -> None:
    envs = make_vector(CHASE, 64, cells=1_000_000, slack=1.0)
    observation, info = envs.reset(seed=3)
    assert observation["location"].shape == (64, 20)
    assert info["target_cell"].max() > 900_000
    assert (play(envs, observation, Chaser(64)).returns == 1.0).all()


def test_pointers_and_values_are_uniform() -> None:
    observation, _ = whole_table(CHASE, 40, 4, cells=10)
    held = np.array([addresses_in(scene[:, :4]) for scene in observation["scene"]])
    assert np.bincount(held.ravel(), minlength=10).min() > 20
    assert held.max() == 9
    values = symbols(observation["scene"][..., 4:])
    assert np.bincount(values.ravel(), minlength=VALUES + 1)[1:].min() > 8


def test_direct_access_needs_addresses_by_their_bits() -> None:
    assert not make_vector(CHASE, 1, look="discrete").task.components["look"].repeats
