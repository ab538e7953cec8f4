"""Which tapes are dealt: keys, splits, lengths, chance, and arguments that cannot be."""

import re
from typing import Any

import numpy as np
import pytest

from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.episodes.levels import ThresholdLevels
from glimpse_envs.tasks.tape.chance import blind_return
from glimpse_envs.tasks.tape.programs import PROGRAMS
from glimpse_envs.testing import Actions, assert_same, first_rows, random_actions
from tests.support.episodes import Observation, make_single, make_vector, play, row_of
from tests.support.tape_reference import CASES, IDS, WAYS

COPY = IDS["copy"]

# --- keys ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("program", IDS)
def test_rows_depend_neither_on_how_many_there_are_nor_on_the_batch(program: str) -> None:
    many, few = (make_vector(IDS[program], n) for n in (7, 3))
    single = make_single(IDS[program])
    rng = np.random.default_rng(0)
    whole = many.reset(seed=[5, 6, 7, 8, 9, 10, 11])
    part = few.reset(seed=[5, 6, 7])
    single.reset(seed=5)
    assert_same(first_rows(whole, 3), part)
    playing = True
    for _ in range(40):
        actions = random_actions(many, rng)
        actions["answer"] = np.where(rng.random(7) < 0.8, 0, actions["answer"])
        found = few.step(first_rows(actions, 3))
        step = many.step(actions)
        assert_same(first_rows(step[:4], 3), found[:4])
        if playing:
            alone = single.step(row_of(actions, 0))
            assert alone[1] == step[1][0]
            assert alone[2] == step[2][0]
            if not alone[2]:
                assert_same(first_rows(step[0], 1), {k: v[None] for k, v in alone[0].items()})
            playing = not alone[2]


def test_copies_share_a_tape_but_not_a_machine() -> None:
    envs = make_vector(IDS["forward_reverse"], 6, copies=3, autoreset_mode="Disabled")
    observation, info = envs.reset(seed=0)
    assert (observation["glimpse"][:3] == observation["glimpse"][:1]).all()
    assert (info["length"][3:] == info["length"][3]).all()
    moves = np.array([[1, 1], [0, 1], [1, 2]] * 2)
    write = np.array([0, 3, 5] * 2)
    envs.step({"look": moves, "answer": np.zeros(6, np.int64), "write": write})
    state = envs.state_dict()["task"]
    assert state["head"].tolist() == [1, 0, 1] * 2
    assert state["memory"][:, 0].tolist() == [0, 3, 5] * 2


@pytest.mark.parametrize(("program", "way"), CASES)
def test_a_saved_machine_goes_on_as_it_was(program: str, way: str) -> None:
    envs, twin = (make_vector(IDS[program], 6, symbols=3, **WAYS[way]) for _ in range(2))
    rng = np.random.default_rng(2)
    envs.reset(seed=3)

    def act() -> Actions:
        actions = random_actions(envs, rng)
        return actions | {"answer": actions["answer"] * (rng.random(6) < 0.2)}

    for _ in range(9):
        envs.step(act())
    twin.load_state_dict(envs.state_dict())
    for _ in range(30):
        actions = act()
        assert_same(twin.step(actions), envs.step(actions))


@pytest.mark.parametrize("look", ["moves", "absolute"])
@pytest.mark.parametrize("program", IDS)
def test_the_budget_tells_nothing_of_a_tape_but_its_length(program: str, look: str) -> None:
    """Nor, of repeat_copy, but the count, which the first glimpse shows."""
    if program == "forward_reverse" and look == "absolute":
        pytest.skip("its head can only go forward")
    envs = make_vector(IDS[program], 500, look=look)
    observation, info = envs.reset(seed=0)
    seen = info["length"].astype(int)
    if program == "repeat_copy":
        seen = 100 * seen + observation["glimpse"].argmax(axis=1)
    first = observation["remaining"][:, 0]
    for known in np.unique(seen):
        assert len(np.unique(first[seen == known])) == 1


def test_fixed_splits_are_fixed_and_disjoint() -> None:
    def scenes(split: str, seed: int = 0) -> Any:
        envs = make_vector(COPY, 200, split=split, view="full")
        observation, info = envs.reset(seed=seed, options={"length": 10})
        if split != "train":
            assert info["scene"].tolist() == list(range(200))
            assert envs.num_scenes == 10_000
        return {scene.tobytes() for scene in observation["scene"]}

    kinds = [scenes(split) for split in ("train", "validation", "test")] + [scenes("test", 1)]
    assert scenes("test") == kinds[2]
    assert sum(map(len, kinds)) == len(set().union(*kinds)) == 800


def test_a_scene_of_a_fixed_split_is_the_same_wherever_it_is_dealt() -> None:
    envs = make_vector(IDS["priority_sort"], 4, split="test")
    whole, info = envs.reset(seed=3, options={"scene": np.array([9, 7, 9, 1])})
    other, found = envs.reset(seed=3, options={"scene": np.array([1, 9, 0, 7])})
    for name in whole:
        np.testing.assert_array_equal(whole[name][[0, 2, 1, 3]], other[name][[1, 1, 3, 0]])
    assert info["length"][0] == info["length"][2] == found["length"][1]


# --- lengths -------------------------------------------------------------------------------------


def test_lengths_are_uniform_over_the_range_until_a_curriculum_says_otherwise() -> None:
    envs = make_vector(COPY, 2000, min_length=3, length=7)
    counts = np.bincount(envs.reset(seed=0)[1]["length"], minlength=8)
    assert counts[:3].sum() == 0
    assert (abs(counts[3:] - 400) < 5 * np.sqrt(400)).all()
    envs.level_distribution = ThresholdLevels(3, 7)
    assert set(envs.reset()[1]["length"].tolist()) == {3}


def test_an_episode_has_the_length_asked_for() -> None:
    envs = make_vector(COPY, 3, length=9, autoreset_mode="Disabled")
    _, info = envs.reset(seed=0, options={"length": np.array([2, 9, 4])})
    assert info["length"].tolist() == [2, 9, 4]
    assert envs.task.budgets.tolist() == [4, 18, 8]
    np.testing.assert_allclose(envs.task.answer_reward, [1 / 2, 1 / 9, 1 / 4])
    with pytest.raises(ValueError, match=r"options\['length'\] must lie between 1 and 9; it is 10"):
        envs.reset(options={"length": 10})


# --- chance --------------------------------------------------------------------------------------

# What the best blind agent puts out for tapes of length 2, whatever stands on them; in addition the
# second digit is the greatest, whose sum has no carry where it is right.
BLIND = {"repeat_copy": [5, 6] * 3, "addition": [4, 10, 1]}


@pytest.mark.parametrize("program", range(len(PROGRAMS)))
def test_chance_of_many_lengths_is_the_mean_of_their_chances(program: int) -> None:
    each = [blind_return(program, (length, length), 5, 3) for length in range(3, 9)]
    assert blind_return(program, (3, 8), 5, 3) == pytest.approx(np.mean(each), rel=1e-12)


@pytest.mark.parametrize("program", IDS)
def test_the_best_blind_agent_collects_chance(program: str) -> None:
    rows = 20_000
    envs = make_vector(IDS[program], rows, min_length=2, length=2, autoreset_mode="NextStep")
    observation, _ = envs.reset(seed=0)
    symbols = iter(BLIND.get(program, [5, 6]))

    def act(envs: GlimpseVectorEnv, _: Observation) -> Actions:
        looks = random_actions(envs, np.random.default_rng(0))
        return looks | {"answer": np.full(rows, next(symbols, 0))}

    returns = play(envs, observation, act).returns
    assert returns.mean() > 0.005
    assert abs(returns.mean() - envs.task.chance) < 4 * returns.std() / np.sqrt(rows)


# --- errors --------------------------------------------------------------------------------------

ERRORS: dict[str, tuple[dict[str, Any], str]] = {
    "program": ({"program": "sort"}, "program='sort' must be one of 'copy', 'reverse'"),
    "split": ({"split": "all"}, "split='all' must be one of"),
    "look": ({"look": "bits"}, "look='bits' must be one of 'moves', 'absolute'"),
    "view": ({"view": "tape"}, "view='tape' must be one of 'glimpse', 'full'"),
    "length": ({"length": 0}, "length=0 must be an integer of at least 1"),
    "min_length": ({"min_length": 11}, "min_length=11 must be at most length=10"),
    "symbols": ({"symbols": 2.5}, "symbols=2.5 must be an integer of at least 1"),
    "base": ({"program": "addition", "symbols": 1}, "symbols=1 must be at least 2"),
    "repeats": (
        {"program": "repeat_copy", "symbols": 2, "repeats": 3},
        "repeats=3 must be at most symbols=2",
    ),
    "duplicates": ({"duplicates": 0}, "duplicates=0 must be an integer of at least 1"),
    "memory": ({"memory": "yes"}, "memory='yes' must be True or False"),
    "no memory": (
        {"program": "forward_reverse", "memory": False},
        "memory=False: forward_reverse cannot be solved without a memory tape",
    ),
    "forward jumps": (
        {"program": "forward_reverse", "look": "absolute"},
        "look='absolute': the input head of forward_reverse can only go forward",
    ),
    "slack": ({"slack": 0.9}, "slack=0.9 must be a number of at least 1"),
}


@pytest.mark.parametrize(("kwargs", "says"), ERRORS.values(), ids=ERRORS)
def test_a_bad_argument_is_named(kwargs: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        make_vector(COPY, 2, **kwargs)
