"""The tape machine: its oracle collects everything, and every step is that of a plain machine."""

from typing import Any

import numpy as np
import pytest

from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.rendering.tape_picture import TapePicture
from glimpse_envs.tasks.tape.programs import steps_of
from glimpse_envs.testing import Actions, random_actions
from tests.support.episodes import Observation, leaves, make_vector, play, row_of
from tests.support.tape_reference import (
    CASES,
    IDS,
    WAYS,
    Machine,
    one_hot,
    outputs,
    tape_of,
    tapes_of,
)

COPY = IDS["copy"]
# --- the oracle ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("program", "way"), CASES)
def test_the_oracle_collects_exactly_one_in_the_shortest_time(program: str, way: str) -> None:
    rows = 24
    lengths = np.arange(rows) % 12 + 1
    envs = make_vector(
        IDS[program], rows, length=12, slack=1.0, autoreset_mode="NextStep", **WAYS[way]
    )
    observation, _ = envs.reset(seed=7, options={"length": lengths})
    tape = tape_of(envs)
    absolute = tape._rules.absolute
    shortest = [
        steps_of(route, facts["visits"], absolute)
        for route, facts in zip(tape._tapes.routes, tape._tapes.facts, strict=True)
    ]

    def act(envs: GlimpseVectorEnv, observation: Observation) -> Actions:
        assert envs.observation_space.contains(observation)
        actions = envs.task.oracle()
        assert envs.action_space.contains(actions)
        return actions

    played = play(envs, observation, act)
    assert (played.returns == 1.0).all()
    assert played.success.all()
    np.testing.assert_array_equal(played.steps, shortest)


@pytest.mark.parametrize("program", IDS)
def test_the_whole_tape_is_answered_at_once(program: str) -> None:
    envs = make_vector(IDS[program], 12, view="full", length=12, autoreset_mode="Disabled")
    envs.reset(seed=7, options={"length": np.arange(12) + 1})
    actions = tape_of(envs).oracle()
    assert envs.action_space.contains(actions)
    _, reward, terminated, _, info = envs.step(actions)
    assert (reward == 1.0).all()
    assert terminated.all()
    assert info["success"].all()
    assert info["target_mask"].all()
    np.testing.assert_array_equal(info["target"], actions["answer"])


def test_the_whole_answer_pays_up_to_the_first_wrong_symbol() -> None:
    envs = make_vector(COPY, 4, view="full", length=5, autoreset_mode="Disabled")
    envs.reset(seed=0, options={"length": 4})
    answer = tape_of(envs).oracle()["answer"].copy()
    answer[0, 2] = answer[0, 2] % 30 + 1  # the third is wrong
    answer[1, 0] = 0  # nothing where the first should stand
    answer[2, 4] = 3  # one too many, after four right ones
    _, reward, _, _, info = envs.step({"answer": answer})
    assert reward.tolist() == [0.5, 0.0, 0.75, 1.0]
    assert info["success"].tolist() == [False, False, False, True]


# --- a step --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("program", "way"), CASES)
def test_every_step_is_that_of_a_plain_machine(program: str, way: str) -> None:
    """Random moves, jumps and writes; right symbols often, wrong ones seldom."""
    rows, kwargs, rng = 8, WAYS[way], np.random.default_rng(1)
    symbols = 4
    envs = make_vector(
        IDS[program],
        rows,
        autoreset_mode="NextStep",
        slack=3.0,
        length=5,
        symbols=symbols,
        **kwargs,
    )
    memory_cells = envs.task.budget if program == "forward_reverse" or "memory" in way else 0
    absolute = "absolute" in way
    for episode in range(3):
        tapes = tapes_of(program, rows, seed=episode, length=5, symbols=symbols)
        observation, _ = envs.reset(seed=episode, options={"length": 5})
        machines = [
            Machine(program, tape, outputs(program, tape, base=symbols), memory_cells, absolute)
            for tape in tapes
        ]
        playing = np.ones(rows, np.bool_)
        last = np.zeros_like(observation["last_action"])
        step = 0
        while playing.any():
            for row in np.flatnonzero(playing):
                assert_seen(observation, int(row), machines[row], last[row], symbols)
            actions = random_actions(envs, rng)
            right = np.array([m.right[m.done % len(m.right)] for m in machines])
            kind = rng.random(rows)
            actions["answer"] = np.select([kind < 0.03, kind < 0.5], [actions["answer"], right], 0)
            budgets = envs.task.budgets.copy()
            observation, reward, terminated, _, info = envs.step(actions)
            step += 1
            for row in np.flatnonzero(playing):
                machine, done = machines[row], machines[row].done
                action = row_of(actions, int(row))
                look = np.atleast_1d(action["look"]).tolist()
                earned, ended = machine.step(look, action["answer"], action.get("write", 0))
                assert reward[row] == pytest.approx(earned, abs=1e-12)
                assert terminated[row] == (ended or step == budgets[row])
                assert info["target"][row] == machine.right[done]
                assert info["target_mask"][row] == (action["answer"] != 0)
                assert info["success"][row] == (machine.done == len(machine.right))
                last[row] = shown_action(envs, action, absolute, symbols)
            playing &= ~terminated


def assert_seen(observation: Actions, row: int, machine: Machine, last: Any, symbols: int) -> None:
    """Hold an observation equal to what a plain machine has under its heads."""
    symbol, stored, priority = machine.seen()
    expected = one_hot(symbol, symbols + 1)
    if machine.memory_cells:
        expected = np.stack([expected, one_hot(stored, symbols + 1)])
    np.testing.assert_array_equal(observation["glimpse"][row], expected)
    np.testing.assert_array_equal(observation["last_action"][row], last)
    if machine.program == "priority_sort":
        assert observation["priority"][row].tolist() == [priority]
    if machine.absolute:
        bits = observation["location"][row].astype(np.int64).tolist()
        heads = [machine.head] + [machine.memory_head] * (machine.memory_cells > 0)
        width = len(bits) if len(heads) == 1 else (len(machine.tape.symbols)).bit_length()
        places = [bits[:width], bits[width:]]
        for head, place in zip(heads, places, strict=False):
            assert sum(bit << i for i, bit in enumerate(place)) == head


def shown_action(
    envs: GlimpseVectorEnv, action: dict[str, Any], absolute: bool, symbols: int
) -> Any:
    """The one-hot parts of an action: moves, symbol put out, symbol written."""
    parts = [one_hot(action["answer"], symbols + 1)]
    if "write" in action:
        parts.append(one_hot(action["write"], symbols + 1))
    if not absolute:
        space = leaves(envs.single_action_space)["look"]
        choices = getattr(space, "nvec", None)
        sizes = [int(getattr(space, "n", 0))] if choices is None else choices.tolist()
        moves = np.atleast_1d(action["look"])
        parts = [one_hot(m, n) for m, n in zip(moves, sizes, strict=True)] + parts
    return np.concatenate(parts)


def still(envs: GlimpseVectorEnv, look: int, answer: Any = 0) -> Actions:
    """One move for all rows."""
    n = envs.num_envs
    return {"look": np.full(n, look), "answer": np.broadcast_to(np.asarray(answer), n)}


def test_a_wrong_symbol_ends_the_episode_and_earns_nothing() -> None:
    envs = make_vector(COPY, 3, autoreset_mode="Disabled")
    envs.reset(seed=0, options={"length": 6})
    right = tape_of(envs).oracle()["answer"]
    _, reward, terminated, _, _ = envs.step(still(envs, 2, right))
    np.testing.assert_allclose(reward, 1 / 6, rtol=1e-12)
    assert not terminated.any()
    wrong = tape_of(envs).oracle()["answer"] % 30 + 1
    observation, reward, terminated, _, info = envs.step(still(envs, 2, wrong))
    assert (reward == 0.0).all()
    assert terminated.all()
    assert info["target_mask"].all()
    assert not info["success"].any()
    assert (observation["remaining"] == 0.0).all()


def test_putting_out_nothing_spends_the_budget_and_nothing_else() -> None:
    envs = make_vector(COPY, 2, autoreset_mode="Disabled")
    observation, _ = envs.reset(seed=0, options={"length": 3})
    for left in range(5, -1, -1):
        assert observation["remaining"][:, 0].tolist() == pytest.approx([(left) / 6] * 2)
        observation, reward, terminated, truncated, info = envs.step(still(envs, 1))
        assert (reward == 0.0).all()
        assert not info["target_mask"].any()
        assert not truncated.any()
        assert terminated.all() == (left == 0)


def test_a_head_beyond_an_end_comes_back_in_one_step() -> None:
    envs = make_vector(COPY, 1, slack=9.0, autoreset_mode="Disabled")
    start, _ = envs.reset(seed=0, options={"length": 2})
    for way, back in ((0, 2), (2, 0)):
        envs.reset(seed=0, options={"length": 2})
        for _ in range(5):
            beyond = envs.step(still(envs, way))[0]["glimpse"]
        assert beyond[0, 0] == 1.0
        there = envs.step(still(envs, back))[0]["glimpse"]
        assert there[0, 0] == 0.0
        if way == 0:
            np.testing.assert_array_equal(there, start["glimpse"])


@pytest.mark.parametrize("program", IDS)
def test_the_target_cell_holds_the_next_right_symbol(program: str) -> None:
    envs = make_vector(IDS[program], 20, autoreset_mode="Disabled")
    _, info = envs.reset(seed=4, options={"length": 7})
    tapes = tapes_of(program, 20, seed=4, length=7)
    for row, tape in enumerate(tapes):
        cell = info["target_cell"][row]
        if program == "addition":
            assert cell == -1
        else:
            assert tape.symbols[cell] == outputs(program, tape)[0]
    assert (info["length"] == 7).all()


@pytest.mark.parametrize("program", ["copy", "forward_reverse"])
def test_what_is_readable_is_the_symbol_under_a_head(program: str) -> None:
    envs = make_vector(IDS[program], 5)
    observation, _ = envs.reset(seed=0)
    flat = observation["glimpse"].reshape(5, -1)
    tapes = 2 if program == "forward_reverse" else 1
    for component in ["answer", "write"][:tapes]:
        parts = envs.task.components[component].repeats
        assert len(parts) == tapes
        for key, start, stop in parts:
            assert key == "glimpse"
            assert stop - start == leaves(envs.single_action_space)[component].n  # type: ignore[attr-defined]  # Discrete
            assert (flat[:, start:stop].sum(axis=1) == 1).all()
    repeating = {name for name, part in envs.task.components.items() if part.repeats}
    assert repeating == ({"answer", "write"} if tapes == 2 else {"answer"})


# --- frames --------------------------------------------------------------------------------------


def test_a_picture_shows_tapes_heads_and_what_was_put_out() -> None:
    envs = make_vector(IDS["forward_reverse"], 1, autoreset_mode="Disabled")
    envs.reset(seed=1, options={"length": 3})
    (tape,) = tapes_of("forward_reverse", 1, seed=1, length=3)
    for _ in range(3):
        envs.step(tape_of(envs).oracle())
    envs.step({"look": np.array([[0, 1]]), "answer": np.zeros(1, np.int64), "write": np.array([0])})
    wrong = tape.symbols[1] % 30 + 1
    picture = tape_of(envs).picture(0, "now")
    assert isinstance(picture, TapePicture)
    source, memory, output = picture.strips
    texts = [str(symbol) for symbol in tape.symbols]
    assert (source.name, memory.name, output.name) == ("input", "memory", "output")
    assert source.cells == (*texts, *[""] * 7)
    assert source.head == 2
    assert memory.cells[:3] == (texts[0], texts[1], "")
    assert memory.written == {0, 1}
    assert output.cells == (texts[2], "", "")
    assert output.good == (True,)
    assert (picture.answer, picture.target, picture.caption) == (texts[2], texts[1], "now")
    envs.step({"look": np.array([[0, 1]]), "answer": np.array([wrong]), "write": np.array([0])})
    output = tape_of(envs).picture(0, "").strips[-1]
    assert output.cells == (texts[2], str(wrong), "")
    assert output.good == (True, False)


def test_a_picture_of_an_addition_shows_digits_and_one_of_sorting_priorities() -> None:
    for program, shown in (("addition", "digits"), ("priority_sort", "priorities")):
        envs = make_vector(IDS[program], 1)
        envs.reset(seed=1, options={"length": 4})
        (tape,) = tapes_of(program, 1, seed=1, length=4)
        strips = tape_of(envs).picture(0, "").strips
        if shown == "digits":
            assert strips[0].cells[:8] == tuple(str(symbol - 1) for symbol in tape.symbols)
        else:
            assert strips[1].cells[:4] == tuple(f"{value:.2f}" for value in tape.priorities)


def test_a_whole_answer_is_pictured_without_heads() -> None:
    envs = make_vector(COPY, 1, view="full", autoreset_mode="Disabled")
    envs.reset(seed=1, options={"length": 3})
    envs.step(tape_of(envs).oracle())
    picture = tape_of(envs).picture(0, "")
    assert [strip.name for strip in picture.strips] == ["input", "output"]
    assert [strip.head for strip in picture.strips] == [None, None]
    assert picture.strips[1].good == (True, True, True)
