"""What stands on the tapes, what is right, and how short the shortest solutions are."""

from itertools import pairwise, permutations

import numpy as np
import pytest

from glimpse_envs.suite import SUITE
from glimpse_envs.tasks.tape.programs import PROGRAMS, longest, most_steps_of_sort
from tests.support.episodes import make_vector, play
from tests.support.tape_reference import IDS, outputs, tape_of, tapes_of

LENGTHS = range(1, 13)


@pytest.mark.parametrize("program", IDS)
def test_what_is_right_is_what_plain_python_says(program: str) -> None:
    for length in LENGTHS:
        tapes = tapes_of(program, 25, seed=length, length=length)
        envs = make_vector(IDS[program], 25, view="full", length=length)
        envs.reset(seed=length, options={"length": length})
        answers = envs.action_space.sample()
        targets = envs.step(answers)[4]["final_info"]["target"]
        for tape, target in zip(tapes, targets, strict=True):
            expected = outputs(program, tape)
            assert target.tolist() == expected + [0] * (len(target) - len(expected))


def test_programs_are_named_once_and_each_has_an_id() -> None:
    assert tuple(IDS) == PROGRAMS
    assert all(SUITE[name].kwargs["program"] == program for program, name in IDS.items())


@pytest.mark.parametrize("program", IDS)
def test_tapes_are_as_long_as_asked_for_and_use_every_symbol(program: str) -> None:
    cells = {"repeat_copy": 13, "duplicated_input": 36, "addition": 24}.get(program, 12)
    tapes = tapes_of(program, 100, seed=0, length=12, symbols=7)
    assert {len(tape.symbols) for tape in tapes} == {cells}
    first = 1 if program == "repeat_copy" else 0
    counts = np.bincount([s for tape in tapes for s in tape.symbols[first:]], minlength=8)
    assert counts[0] == 0
    assert len(counts) == 8
    mean = counts.sum() / 7
    assert (abs(counts[1:] - mean) < 5 * np.sqrt(3 * mean)).all(), "three of one kind may be joined"


def test_symbols_of_duplicated_input_stand_together() -> None:
    for tape in tapes_of("duplicated_input", 10, seed=0, length=6, duplicates=4):
        runs = np.array(tape.symbols).reshape(6, 4)
        assert (runs == runs[:, :1]).all()


@pytest.mark.parametrize(("repeats", "counts"), [(1, {1}), (2, {2}), (5, {2, 3, 4, 5})])
def test_all_counts_are_drawn(repeats: int, counts: set[int]) -> None:
    tapes = tapes_of("repeat_copy", 100, seed=0, length=2, repeats=repeats)
    assert {tape.symbols[0] for tape in tapes} == counts


def test_priorities_are_uniform_and_differ() -> None:
    tapes = tapes_of("priority_sort", 200, seed=0, length=20)
    priorities = np.array([tape.priorities for tape in tapes])
    assert all(len(set(row)) == 20 for row in priorities.tolist())
    assert 0 < priorities.min() < 0.01
    assert 0.99 < priorities.max() <= 1
    assert abs(priorities.mean() - 0.5) < 4 * np.sqrt(1 / 12 / priorities.size)


def shortest(program: str, n: int, absolute: bool, count: int) -> int:
    """Steps by hand: a walk over the tape moves by one cell a step, a jump takes one step."""
    jump = 1 if n > 1 else 0
    by_hand = {
        "copy": (n, n),
        "reverse": (2 * n - 1, n + jump),
        "repeat_copy": (1 + n + (count - 1) * (max(n - 1, 1) + n - 1), 1 + n * count),
        "duplicated_input": (3 * (n - 1) + 1, n),
        "forward_reverse": (2 * n - 1, 0),
        "addition": (2 * n + 1, 2 * n + 1),
    }
    return by_hand[program][absolute]


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("program", [p for p in IDS if p != "priority_sort"])
def test_shortest_solutions_are_as_counted_by_hand(program: str, absolute: bool) -> None:
    if program == "forward_reverse" and absolute:
        return
    for n in LENGTHS:
        counts = [tape.symbols[0] for tape in tapes_of(program, 8, seed=3, length=n)]
        look = "absolute" if absolute else "moves"
        envs = make_vector(IDS[program], 8, length=n, slack=1.0, look=look)
        envs.reset(seed=3, options={"length": n})
        expected = [shortest(program, n, absolute, count) for count in counts]
        assert tape_of(envs).budgets.tolist() == expected
        assert envs.task.budget == shortest(program, n, absolute, 3)


def sorting_steps(order: tuple[int, ...], absolute: bool) -> int:
    """To read all cells, then to walk to each in `order`; the last is put out at once if first."""
    n = len(order)
    walk = [n - 1, *order]
    steps = [abs(a - b) for a, b in pairwise(walk)]
    return n + sum(map(bool, steps)) if absolute else n + sum(steps)


@pytest.mark.parametrize("absolute", [False, True])
def test_sorting_takes_a_scan_and_a_walk(absolute: bool) -> None:
    look = "absolute" if absolute else "moves"
    for n in range(1, 8):
        envs = make_vector(IDS["priority_sort"], 30, length=n, slack=1.0, look=look)
        observation, _ = envs.reset(seed=1, options={"length": n})
        budgets = set(tape_of(envs).budgets.tolist())
        orders = [
            tuple(np.argsort(tape.priorities)[::-1].tolist())
            for tape in tapes_of("priority_sort", 30, seed=1, length=n)
        ]
        expected = [sorting_steps(order, absolute) for order in orders]
        played = play(envs, observation, lambda envs, _: envs.task.oracle())
        assert played.steps.tolist() == expected
        worst = max(sorting_steps(order, absolute) for order in permutations(range(n)))
        sizes = longest(PROGRAMS.index("priority_sort"), n, 30, 3, absolute)
        assert most_steps_of_sort(np.array([n]), absolute).tolist() == [worst]
        assert sizes.steps == envs.task.budget == worst
        assert budgets == {worst}, "an order of its own would be told"


def test_budgets_are_the_shortest_solution_times_slack_rounded_up() -> None:
    for slack, expected in [(1.0, 10), (1.1, 11), (1.11, 12), (2.5, 25)]:
        envs = make_vector(IDS["copy"], 3, slack=slack)
        envs.reset(seed=0, options={"length": 10})
        assert (envs.task.budgets == expected).all()
        assert envs.task.budget == expected
