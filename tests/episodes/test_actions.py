"""A bad action is refused by name, and changes nothing."""

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs.testing import assert_same
from tests.support.episodes import CENTRED, make_single, make_vector

ROWS = 3
GOOD: dict[str, Any] = {
    "look": np.array([[0.5, -0.5], [-1.0, 1.0], [0.0, 0.0]]),
    "answer": np.array([0, 9, 4]),
    "stop": np.array([0, 1, 0]),
}


IGNORED: dict[str, dict[str, Any]] = {
    "places": {},
    "tiles": {"look": "tiles"},
    "flat": {"flat": True},
    "flat tiles": {"flat": True, "look": "tiles"},
    "joint": {"flat": "discrete", "look": "tiles"},
}


def with_nonsense(actions: Any, row: int) -> Any:
    """A copy in which the action of `row` is in no space."""
    if isinstance(actions, dict):
        return {name: with_nonsense(value, row) for name, value in actions.items()}
    changed = actions.copy()
    changed[row] = np.nan if changed.dtype.kind == "f" else -3
    return changed


@pytest.mark.parametrize("kwargs", IGNORED.values(), ids=IGNORED)
@pytest.mark.parametrize("waits", [False, True], ids=["dealt anew", "waiting for copies"])
def test_the_action_of_a_row_that_has_ended_may_be_any(kwargs: dict[str, Any], waits: bool) -> None:
    kwargs = {**kwargs, "stop": True, "autoreset_mode": "NextStep", "copies": 2 if waits else 1}
    envs, twin = make_vector(CENTRED, 4, **kwargs), make_vector(CENTRED, 4, **kwargs)
    envs.reset(seed=0)
    twin.reset(seed=0)
    envs.action_space.seed(0)
    ended, ignored = np.zeros(4, np.bool_), 0
    for _ in range(40):
        actions = envs.action_space.sample()
        changed = actions
        for row in np.flatnonzero(ended):
            changed = with_nonsense(changed, int(row))
        result = envs.step(changed)
        assert_same(result, twin.step(actions))
        ignored += int(ended.sum())
        ended = result[2]
    assert ignored > 10


@pytest.mark.parametrize("kwargs", IGNORED.values(), ids=IGNORED)
def test_actions_of_rows_that_go_on_are_checked_beside_those_ignored(
    kwargs: dict[str, Any],
) -> None:
    envs = make_vector(CENTRED, 3, **kwargs, budget=1, autoreset_mode="NextStep", copies=1)
    envs.reset(seed=0)
    actions = envs.action_space.sample()
    envs.step(actions)  # all have ended
    envs.reset(options={"reset_mask": np.array([False, True, True])})
    with pytest.raises(ValueError, match="row 1 is"):
        envs.step(with_nonsense(with_nonsense(actions, 0), 1))
    envs.step(with_nonsense(actions, 0))


def look(row: int, x: float, y: float) -> Any:
    looks = GOOD["look"].copy()
    looks[row] = x, y
    return looks


BAD: dict[str, tuple[str, Any, str]] = {
    "NaN": ("look", look(1, np.nan, 0), "row 1 is [nan, 0.0]; it must lie between -1.0 and 1.0"),
    "infinite": ("look", look(2, 0, -np.inf), "row 2 is [0.0, -inf]; it must lie between"),
    "too far": (
        "look",
        look(0, 1.0001, 0),
        "row 0 is [1.0001, 0.0]; it must lie between -1.0 and 1.0; clip it first, as numpy.clip",
    ),
    "one row's look": ("look", np.zeros(2), "shape (2,); it must have shape (3, 2)"),
    "three numbers": ("look", np.zeros((3, 3)), "shape (3, 3); it must have shape (3, 2)"),
    "too many rows": ("look", np.zeros((4, 2)), "shape (4, 2); it must have shape (3, 2)"),
    "words": ("look", np.full((3, 2), "left"), "it must hold numbers"),
    "complex": ("look", np.zeros((3, 2), complex), "dtype complex128; it must hold numbers"),
    "truths": ("look", np.ones((3, 2), bool), "dtype bool; it must hold numbers"),
    "None": ("look", None, "shape (); it must have shape (3, 2)"),
    "no such answer": ("answer", np.array([0, 10, 0]), "row 1 is 10; it must lie between 0 and 9"),
    "negative": ("answer", np.array([0, 0, -1]), "row 2 is -1; it must lie between 0 and 9"),
    "half": ("answer", np.array([0.0, 1.0, 2.0]), "dtype float64; it must hold integers"),
    "bool": ("answer", np.array([True, False, True]), "dtype bool; it must hold integers"),
    "one answer": ("answer", 3, "shape (); it must have shape (3,)"),
    "column": ("answer", np.zeros((3, 1), int), "shape (3, 1); it must have shape (3,)"),
    "ragged": ("look", [[0, 1], [0], [0, 1]], "cannot become an array; it must have shape (3, 2)"),
    "ragged answers": ("answer", [0, [1, 2], 3], "cannot become an array; it must have shape (3,)"),
    "stop twice": ("stop", np.array([0, 2, 0]), "row 1 is 2; it must lie between 0 and 1"),
}


@pytest.mark.parametrize(("name", "value", "says"), BAD.values(), ids=BAD)
def test_a_bad_action_is_refused_by_name_and_changes_nothing(
    name: str, value: Any, says: str
) -> None:
    envs, twin = make_vector(CENTRED, ROWS, stop=True), make_vector(CENTRED, ROWS, stop=True)
    envs.reset(seed=0)
    twin.reset(seed=0)
    assert_same(envs.step(GOOD), twin.step(GOOD))
    before = envs.state_dict()
    with pytest.raises(ValueError, match=rf"action\['{name}'\].*{re.escape(says)}"):
        envs.step(GOOD | {name: value})
    assert_same(envs.state_dict(), before)
    for _ in range(8):
        assert_same(envs.step(GOOD), twin.step(GOOD))


@pytest.mark.parametrize(
    "action",
    [
        {},
        {"look": GOOD["look"], "answer": GOOD["answer"]},
        GOOD | {"glance": GOOD["look"]},
        GOOD["look"],
        (GOOD["look"], GOOD["answer"], GOOD["stop"]),
        None,
    ],
    ids=["empty", "missing", "extra", "array", "tuple", "None"],
)
def test_an_action_with_other_keys_is_refused(action: Any) -> None:
    envs = make_vector(CENTRED, ROWS, stop=True)
    envs.reset(seed=0)
    before = envs.state_dict()
    keys = re.escape("['look', 'answer', 'stop']")
    with pytest.raises(ValueError, match=rf"must be a dict with the keys {keys}"):
        envs.step(action)
    assert_same(envs.state_dict(), before)


@pytest.mark.parametrize("number", [-1, 16, 2.0])
def test_a_tile_that_is_none_is_refused(number: float) -> None:
    env = make_single(CENTRED, look="tiles")
    env.reset(seed=0)
    before = env.state_dict()
    with pytest.raises(ValueError, match=r"action\['look'\]"):
        env.step({"look": number, "answer": 0})
    assert_same(env.state_dict(), before)


BAD_ALONE: list[tuple[str, Any, str]] = [
    ("look", [np.nan, 0.0], "action['look'] is [nan, 0.0]; it must lie between -1.0 and 1.0"),
    ("look", [0.0, 2.0], "action['look'] is [0.0, 2.0]; it must lie between -1.0 and 1.0"),
    ("look", 0.5, "action['look'] has shape (); it must have shape (2,)"),
    ("look", np.zeros((1, 2)), "action['look'] has shape (1, 2); it must have shape (2,)"),
    ("look", [0, [1]], "which cannot become an array; it must have shape (2,)"),
    ("answer", 10, "action['answer'] is 10; it must lie between 0 and 9"),
    ("answer", 0.0, "action['answer'] has dtype float64; it must hold integers"),
    ("answer", [3], "action['answer'] has shape (1,); it must have shape ()"),
]


@pytest.mark.parametrize(("name", "value", "says"), BAD_ALONE)
def test_the_single_environment_refuses_too_and_speaks_of_one(
    name: str, value: Any, says: str
) -> None:
    env = make_single(CENTRED)
    env.reset(seed=0)
    before = env.state_dict()
    action: dict[str, Any] = {"look": np.zeros(2), "answer": 0}
    with pytest.raises(ValueError, match=re.escape(says)):
        env.step(action | {name: value})
    assert_same(env.state_dict(), before)
    assert not env.step(action)[2]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64])
def test_a_look_may_have_any_numbers(dtype: type) -> None:
    envs = make_vector(CENTRED, ROWS)
    envs.reset(seed=0)
    looks: NDArray[Any] = np.array([[0, 1], [-1, 0], [1, 1]], dtype)
    for answer in (np.array([1, 2, 3], np.uint8), [1, 2, 3]):
        observation = envs.step({"look": looks, "answer": answer})[0]
        np.testing.assert_array_equal(observation["location"], looks.astype(np.float32))


def test_the_callers_action_is_left_as_it_is() -> None:
    envs = make_vector(CENTRED, ROWS, stop=True, look="relative")
    envs.reset(seed=0)
    action = {name: value.copy() for name, value in GOOD.items()}
    for _ in range(8):
        envs.step(action)
    assert_same(action, GOOD)
