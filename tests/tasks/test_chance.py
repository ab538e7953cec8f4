"""Chance and ceiling follow from a task's arguments, by enumeration where that can be had."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from glimpse_envs.tasks.tape.machine import TapeMachine
from tests.support.episodes import CENTRED, CIRCLE_SQUARE, make_single
from tests.support.table_episodes import CHASE, LOOKUP, RECALL, TABLES
from tests.support.tape_reference import IDS, Tape, outputs

# --- tapes ---------------------------------------------------------------------------------------


def all_tapes(program: str, length: int, symbols: int, times: int) -> list[Tape]:
    """Every tape of `length` that can be dealt, all alike likely."""
    cells = list(product(range(1, symbols + 1), repeat=length))
    if program == "repeat_copy":
        counts = range(2, times + 1) if times > 1 else (1,)
        return [Tape([count, *tape], []) for count in counts for tape in cells]
    if program == "duplicated_input":
        return [Tape(np.repeat(tape, times).tolist(), []) for tape in cells]
    if program == "addition":
        return [Tape(list(tape), []) for tape in product(range(1, symbols + 1), repeat=2 * length)]
    if program == "priority_sort":  # which order is right is as random as the symbols
        orders = list(product((0.2, 0.8), repeat=length))
        return [
            Tape(list(t), [p + 0.01 * i for i, p in enumerate(o)]) for t in cells for o in orders
        ]
    return [Tape(list(tape), []) for tape in cells]


def best_blind_return(
    program: str, length: int, symbols: int, times: int, at_once: bool = False
) -> float:
    """The greatest mean return of any sequence of symbols that is put out unseen; `at_once`: as one
    answer, which ends with its last symbol that is not 0."""
    rights = [
        outputs(program, tape, base=symbols, duplicates=times)
        for tape in all_tapes(program, length, symbols, times)
    ]
    longest = max(map(len, rights))
    padded = np.array([right + [-1] * (longest - len(right)) for right in rights])  # (n, longest)
    counts = np.array([len(right) for right in rights])
    best = 0.0
    for sequence in product(range(1, symbols + 1), repeat=longest):
        for end in range(longest + 1) if at_once else (longest,):
            answer = np.array([*sequence[:end], *[0] * (longest - end)])
            earned = np.logical_and.accumulate(padded == answer, axis=1).sum(axis=1)
            if at_once:  # the last symbol counts as wrong if anything follows it
                earned -= (earned == counts) & (counts < end)
            best = max(best, float((earned / counts).mean()))
    return best


@pytest.mark.parametrize("view", ["glimpse", "full"])
@pytest.mark.parametrize(("symbols", "times"), [(2, 2), (3, 1), (3, 3)])
@pytest.mark.parametrize("program", IDS)
def test_chance_on_tapes_is_the_best_of_all_blind_sequences(
    program: str, symbols: int, times: int, view: str
) -> None:
    longest = 2 if symbols == 3 else 3
    kwargs = dict(program=program, symbols=symbols, repeats=times, duplicates=times, view=view)
    by_length = [
        best_blind_return(program, length, symbols, times, view == "full")
        for length in range(1, longest + 1)
    ]
    for least in range(1, longest + 1):
        task = TapeMachine(min_length=least, length=longest, **kwargs)  # type: ignore[arg-type]
        assert task.chance == pytest.approx(np.mean(by_length[least - 1 :]), rel=1e-12)
        assert task.ceiling == 1.0


# --- tables --------------------------------------------------------------------------------------


def chance_of(env_id: str, **kwargs: Any) -> float:
    return make_single(env_id, **kwargs).task.chance


def ceiling_of(env_id: str, **kwargs: Any) -> float:
    return make_single(env_id, **kwargs).task.ceiling


@pytest.mark.parametrize("env_id", TABLES)
@pytest.mark.parametrize("view", ["glimpse", "full"])
def test_chance_in_tables_is_that_of_one_value(env_id: str, view: str) -> None:
    for values in (2, 10, 256):
        assert chance_of(env_id, values=values, view=view) == 1 / values
        assert chance_of(env_id, values=values, view=view, reward="final") == 1 / values
    assert ceiling_of(env_id, view=view) == 1.0


def test_glimpses_that_cost_lower_the_ceiling_by_those_of_the_shortest_solution() -> None:
    kwargs = dict(min_length=2, length=4, glimpse_cost=0.01)
    assert ceiling_of(LOOKUP, **kwargs) == pytest.approx(1 - 0.01 * np.mean([1, 2, 3]))
    assert ceiling_of(CHASE, **kwargs) == pytest.approx(1 - 0.01 * np.mean([2, 3, 4]))
    # Of n pairs the one stored last is in view: a glimpse less, once in n times.
    looks = [n + 1 - 1 / n for n in (2, 3, 4)]
    assert ceiling_of(RECALL, **kwargs) == pytest.approx(1 - 0.01 * np.mean(looks))
    for env_id in TABLES:
        assert ceiling_of(env_id, view="full") == 1.0


def test_a_blind_agent_pays_no_more_than_it_expects() -> None:
    """It answers at once but in recall, where it knows the length and waits while that pays."""
    for env_id in (LOOKUP, CHASE):
        assert chance_of(env_id, values=10, glimpse_cost=0.5) == 0.1
    kwargs = dict(values=10, glimpse_cost=0.04, min_length=1)
    assert chance_of(RECALL, **kwargs, length=2) == pytest.approx(np.mean([0.06, 0.02]))
    assert chance_of(RECALL, **kwargs, length=4) == pytest.approx(np.mean([0.06, 0.02, 0.0, 0.0]))


def test_where_the_last_answer_counts_all_glimpses_are_paid_for() -> None:
    kwargs = dict(reward="final", values=10, glimpse_cost=0.01, slack=2.0, min_length=2, length=4)
    for env_id, looks in ((LOOKUP, (3, 5, 7)), (CHASE, (5, 7, 9)), (RECALL, (7, 9, 11))):
        paid = 0.01 * np.mean(looks)
        assert chance_of(env_id, **kwargs) == pytest.approx(0.1 - paid)
        assert ceiling_of(env_id, **kwargs) == pytest.approx(1.0 - paid)


@pytest.mark.parametrize("env_id", TABLES)
def test_the_ceiling_is_no_less_than_chance(env_id: str) -> None:
    for cost in (0.1, 1.0):
        assert ceiling_of(env_id, glimpse_cost=cost) >= chance_of(env_id, glimpse_cost=cost) - 1e-12


# --- pictures ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kwargs", "chance", "ceiling"),
    [
        ({}, 0.1, 1.0),
        ({"view": "full"}, 0.1, 1.0),
        ({"reward": "dense"}, 0.1, 1.0),
        ({"glimpse_cost": 0.01}, 0.1 - 0.05, 1.0 - 0.05),
        # Who may stop pays for no more than the first glimpse, ...
        ({"glimpse_cost": 0.01, "stop": True}, 0.1, 1.0),
        # ... but where every answer pays 1/6 stays as long as that is more than a glimpse costs.
        ({"stop": True, "reward": "dense"}, 0.1, 1.0),
        ({"glimpse_cost": 0.01, "stop": True, "reward": "dense"}, 0.1 - 0.05, 1.0 - 0.05),
        ({"glimpse_cost": 0.05, "stop": True, "reward": "dense"}, 0.1 / 6, 1.0 - 0.25),
        ({"glimpse_cost": 0.5, "stop": True, "reward": "dense"}, 0.1 / 6, 1 / 6),
    ],
)
def test_chance_and_ceiling_of_pictures(
    kwargs: dict[str, Any], chance: float, ceiling: float
) -> None:
    """Ten classes, six glimpses."""
    assert chance_of(CENTRED, **kwargs) == pytest.approx(chance)
    assert ceiling_of(CENTRED, **kwargs) == pytest.approx(ceiling)


def test_chance_of_pictures_is_that_of_one_class() -> None:
    assert chance_of(CIRCLE_SQUARE) == 0.5
