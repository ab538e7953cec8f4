"""Pairs are stored where the agent says, overwritten where it says so, and asked for in the end."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.testing import Actions
from tests.support.episodes import Observation, make_vector, play
from tests.support.table_episodes import RECALL, looking, symbols, table_of, whole_table

KEYS, VALUES, CELLS = 20, 10, 8


def pair_of(part: NDArray[np.float32]) -> list[tuple[int, int]]:
    """The keys and values that cells or pairs (n, K + 1 + V + 1) show."""
    keys, values = symbols(part[:, : KEYS + 1]), symbols(part[:, KEYS + 1 :])
    return list(zip(keys.tolist(), values.tolist(), strict=True))


def asked_of(observation: Observation) -> list[int]:
    asked: list[int] = symbols(observation["query"]).tolist()
    return asked


def test_a_cell_holds_what_was_last_stored_there_and_the_value_of_the_key_is_right() -> None:
    """An interpreter with a dict for a memory, under looks at random."""
    n = 300
    envs = make_vector(RECALL, n, autoreset_mode="Disabled", slack=4.0)
    observation, info = envs.reset(seed=0)
    lengths = info["length"]
    rng = np.random.default_rng(0)
    memories: list[dict[int, tuple[int, int]]] = [{} for _ in range(n)]
    dealt: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    assert pair_of(observation["glimpse"]) == [(0, 0)] * n, "the first cell is empty"
    for step in range(11):  # the last look of the shortest budget is ignored
        shown, asked = pair_of(observation["shown"]), asked_of(observation)
        for row in range(n):
            storing = step < lengths[row]
            assert (shown[row] != (0, 0)) == storing
            assert (asked[row] == 0) == storing
        addresses = rng.integers(CELLS, size=n)
        observation, _, _, _, info = envs.step(looking(envs, addresses))
        seen = pair_of(observation["glimpse"])
        for row, address in enumerate(addresses.tolist()):
            if step < lengths[row]:
                memories[row][address] = shown[row]
                dealt[row].append(shown[row])
            assert seen[row] == memories[row].get(address, (0, 0))
    for row in range(n):
        pairs = dict(dealt[row])
        assert len(pairs) == len(dealt[row]) == lengths[row], "keys differ"
        key = asked_of(observation)[row]
        assert info["target"][row] == pairs[key]
        where = [a for a, pair in memories[row].items() if pair[0] == key]
        assert [info["target_cell"][row]] == (where or [-1])


def test_keys_values_and_questions_are_uniform() -> None:
    observation, target = whole_table(RECALL, 3000, 0, min_length=6)
    pairs = np.array([pair_of(scene) for scene in observation["scene"]])  # (rows, 6, 2)
    for place in range(6):
        assert np.bincount(pairs[:, place, 0], minlength=KEYS + 1)[1:].min() > 100
        assert np.bincount(pairs[:, place, 1], minlength=VALUES + 1)[1:].min() > 220
    asked = (pairs[..., 0] == symbols(observation["query"])[:, None]).argmax(axis=1)
    assert np.bincount(asked).min() > 400
    np.testing.assert_array_equal(pairs[np.arange(3000), asked, 1], target)


def test_the_full_view_shows_the_pairs_in_the_order_in_which_they_are_stored() -> None:
    whole, _ = whole_table(RECALL, 20, 3)
    envs = make_vector(RECALL, 20, autoreset_mode="Disabled")
    observation, info = envs.reset(seed=3)
    for place in range(6):
        assert pair_of(whole["scene"][:, place]) == pair_of(observation["shown"])
        observation, *_ = envs.step(looking(envs, place))
    assert (info["length"] < 6).any(), "some rows are blank beyond their pairs"
    np.testing.assert_array_equal(symbols(whole["query"]), asked_of(observation))


class Scanner:
    """Stores pair i in cell i, or all in one, then reads cell by cell until it sees the key."""

    def __init__(self, rows: int, one_cell: bool = False) -> None:
        self.one_cell, self.place = one_cell, np.zeros(rows, np.int64)
        self.asked_before = np.zeros(rows, np.bool_)

    def __call__(self, envs: GlimpseVectorEnv, observation: Observation) -> Actions:
        asked = np.array(asked_of(observation))
        held = np.array(pair_of(observation["glimpse"]))
        found = (asked > 0) & (held[:, 0] == asked)
        self.place[(asked > 0) & ~self.asked_before] = 0
        self.place[(asked == 0) & self.asked_before] = 0
        self.asked_before = asked > 0
        actions = looking(envs, self.place * (not self.one_cell), np.where(found, held[:, 1], 0))
        self.place = (self.place + 1) % CELLS
        return actions


def test_the_budget_lets_every_stored_pair_be_read_again() -> None:
    envs = make_vector(RECALL, 500)
    observation, _ = envs.reset(seed=1)
    played = play(envs, observation, Scanner(500))
    assert (played.returns == 1.0).all()


def test_an_agent_that_stores_all_in_one_cell_finds_the_last_pair_alone() -> None:
    envs = make_vector(RECALL, 3000, min_length=5, length=5)
    observation, _ = envs.reset(seed=1)
    whole, _ = whole_table(RECALL, 3000, 1, min_length=5, length=5)
    last = [pair[0] for pair in pair_of(whole["scene"][:, -1])]
    kept = symbols(whole["query"]) == last
    played = play(envs, observation, Scanner(3000, one_cell=True))
    np.testing.assert_array_equal(played.returns, kept)
    assert 0.16 < played.returns.mean() < 0.24


def test_an_answer_before_the_key_is_asked_for_is_wrong_even_when_it_would_be_right() -> None:
    _, target = whole_table(RECALL, 40, 2)
    envs = make_vector(RECALL, 40, autoreset_mode="Disabled")
    envs.reset(seed=2)
    _, reward, terminated, _, info = envs.step(looking(envs, 0, target))
    assert terminated.all()
    assert (reward == 0.0).all()
    assert not info["success"].any()
    assert not info["target_mask"].any(), "nothing was asked"


def test_the_asked_pair_has_no_cell_before_it_is_stored_nor_after_it_is_overwritten() -> None:
    envs = make_vector(RECALL, 1, min_length=3, length=3, slack=3.0)
    whole, _ = whole_table(RECALL, 1, 0, min_length=3, length=3, slack=3.0)
    asked = [pair[0] for pair in pair_of(whole["scene"][0])].index(int(symbols(whole["query"])[0]))
    _, info = envs.reset(seed=0)
    cells: list[Any] = [info["target_cell"][0]]
    for place in range(3):
        cells.append(envs.step(looking(envs, 5 - place))[4]["target_cell"][0])
    assert cells == [-1 if stored <= asked else 5 - asked for stored in range(4)]
    envs.reset(seed=0)
    for _ in range(3):
        (last,) = envs.step(looking(envs, 4))[4]["target_cell"]
    assert last == (4 if asked == 2 else -1)


def test_a_pair_stored_beyond_the_last_cell_is_lost() -> None:
    kwargs: dict[str, Any] = {"cells": 5, "min_length": 3, "length": 3, "look": "bits"}
    envs = make_vector(RECALL, 10, slack=3.0, **kwargs)
    envs.reset(seed=0)
    for _ in range(3):
        observation, _, _, _, info = envs.step(looking(envs, 6))
        assert (observation["glimpse"][:, 1:][:, :KEYS] == 0.0).all()
    assert (info["target_cell"] == -1).all()


def test_beyond_the_last_cell_nothing_stands_whatever_is_stored() -> None:
    envs = make_vector(RECALL, 10, cells=5, min_length=5, length=5, look="bits")
    envs.reset(seed=0)
    for place in range(5):
        envs.step(looking(envs, place))
    for beyond in (5, 6, 7):
        observation, *_ = envs.step(looking(envs, beyond))
        assert pair_of(observation["glimpse"]) == [(0, 0)] * 10


def test_copies_have_a_memory_each() -> None:
    envs = make_vector(RECALL, 2, copies=2, min_length=3)
    envs.reset(seed=0)
    first, *_ = envs.step(looking(envs, [1, 2]))
    np.testing.assert_array_equal(first["glimpse"][0], first["glimpse"][1])
    then, *_ = envs.step(looking(envs, [2, 2]))
    back, *_ = envs.step(looking(envs, [1, 1]))
    assert pair_of(then["glimpse"])[0] == pair_of(then["glimpse"])[1]
    assert pair_of(back["glimpse"])[0] == pair_of(back["glimpse"])[1], "a third pair, stored twice"
    cells = [{1, 2}, {2, 1}]
    for row, expected in enumerate(cells):
        assert table_of(envs).picture(row, "").written == expected
