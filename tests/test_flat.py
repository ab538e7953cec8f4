"""Flat actions say what Dict actions say, and Stable-Baselines3's checker accepts them."""

import re
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.env_checker import check_env

from glimpse_envs.episodes.lookup import load_task
from glimpse_envs.flat import FlatActions
from glimpse_envs.suite import SUITE
from glimpse_envs.testing import assert_same
from tests.support.episodes import CIRCLE_SQUARE, CLUTTERED, leaves, make_single

CHANGES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "tiles": {"look": "tiles"},
    "stop": {"stop": True},
    "history": {"history": True},
    "full": {"view": "full"},
}
CHANGED = [
    (env_id, change)
    for env_id, row in SUITE.items()
    for change, kwargs in CHANGES.items()
    if (change == "full" or "scene_size" in row.kwargs or not kwargs)
    and kwargs.keys() <= load_task(row.task).parameters(row.kwargs).keys()
]
"""Every id with what can be changed in it."""
SPACES: dict[str, spaces.Dict] = {
    "address": spaces.Dict(look=spaces.Discrete(7), answer=spaces.Discrete(4)),
    "bits": spaces.Dict(look=spaces.MultiBinary(5), answer=spaces.Discrete(4)),
    "heads": spaces.Dict(look=spaces.MultiDiscrete([3, 3]), write=spaces.Discrete(6)),
    "from 1": spaces.Dict(look=spaces.Discrete(3, start=1), answer=spaces.Discrete(2)),
    "heads and a place": spaces.Dict(
        move=spaces.MultiDiscrete([3, 4], start=[1, 2]),
        look=spaces.Box(-1.0, 1.0, (2,), np.float32),
        bits=spaces.MultiBinary((2, 2)),
    ),
    "a place alone": spaces.Dict(look=spaces.Box(-1.0, 1.0, (2,), np.float32)),
}


def sampled(space: spaces.Dict, rows: int) -> dict[str, NDArray]:
    """Actions of `rows` rows, name -> (rows, ...)."""
    space.seed(0)
    samples = [space.sample() for _ in range(rows)]
    return {name: np.stack([sample[name] for sample in samples]) for name in space.spaces}


def assert_round_trips(space: spaces.Dict) -> None:
    flat, actions = FlatActions(space), sampled(space, 50)
    encoded = flat.encode(actions)
    assert encoded.shape == (50, *(flat.space.shape or ()))
    assert all(row in flat.space for row in encoded)
    decoded = flat.decode(encoded)
    assert list(decoded) == list(space.spaces)
    for name, values in actions.items():
        np.testing.assert_array_equal(decoded[name], values)
    flat.space.seed(1)
    drawn = flat.decode(np.stack([flat.space.sample() for _ in range(50)]))
    for row in range(50):
        for name, leaf in space.spaces.items():
            value = drawn[name][row]
            assert leaf.contains(value.astype(leaf.dtype)), (name, value)


@pytest.mark.parametrize(("env_id", "change"), CHANGED)
def test_every_action_of_the_suite_round_trips(env_id: str, change: str) -> None:
    space = make_single(env_id, **CHANGES[change]).action_space
    assert isinstance(space, spaces.Dict)
    assert_round_trips(space)


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_every_kind_of_action_round_trips(space: spaces.Dict) -> None:
    assert_round_trips(space)


def test_choices_alone_are_columns() -> None:
    flat = FlatActions(
        spaces.Dict(
            look=spaces.MultiDiscrete([3, 4]),
            answer=spaces.Discrete(5, start=1),
            write=spaces.MultiBinary(2),
        )
    )
    assert flat.space == spaces.MultiDiscrete([3, 4, 5, 2, 2])
    decoded = flat.decode(np.array([[2, 3, 4, 1, 0], [0, 1, 0, 0, 1]]))
    assert_same(
        decoded,
        {
            "look": np.array([[2, 3], [0, 1]]),
            "answer": np.array([5, 1]),
            "write": np.array([[1, 0], [0, 1]]),
        },
    )


def test_beside_a_place_the_greatest_score_is_chosen_and_of_ties_the_first() -> None:
    flat = FlatActions(
        spaces.Dict(
            look=spaces.Box(-1.0, 1.0, (2,), np.float32),
            answer=spaces.Discrete(3),
            stop=spaces.Discrete(2),
        )
    )
    assert flat.space == spaces.Box(-1.0, 1.0, (7,), np.float32)
    rows = [[0.5, -0.25, -1, 0.2, 0.1, 0, 1], [-1, 1, 0.3, 0.3, -0.3, 0, 0]]
    decoded = flat.decode(np.array(rows, np.float32))
    np.testing.assert_array_equal(decoded["look"], np.array([[0.5, -0.25], [-1, 1]], np.float32))
    np.testing.assert_array_equal(decoded["answer"], [1, 0])
    np.testing.assert_array_equal(decoded["stop"], [1, 0])


PLACE = SPACES["heads and a place"]
BAD: dict[str, tuple[spaces.Dict, Any, str]] = {
    "one row": (PLACE, np.zeros(17), "shape (17,); they must have shape (n, 17)"),
    "too short": (PLACE, np.zeros((3, 16)), "shape (3, 16); they must have shape (n, 17)"),
    "too far": (
        SPACES["a place alone"],
        np.array([[0, 0], [0, 1.5]]),
        "of row 1 is [0.0, 1.5]; it must hold numbers between -1 and 1; gymnasium.wrappers.ClipAc",
    ),
    "NaN": (SPACES["a place alone"], np.array([[np.nan, 0]]), "row 0 is [nan, 0.0]; it must hold"),
    "no such choice": (
        SPACES["address"],
        np.array([[0, 0], [6, 3], [1, 4]]),
        "of row 2 is [1, 4]; it must hold integers from 0 to [6, 3]",
    ),
    "halves": (SPACES["address"], np.zeros((1, 2)), "dtype float64; they must hold integers"),
}


@pytest.mark.parametrize(("space", "value", "says"), BAD.values(), ids=BAD)
def test_a_bad_flat_action_is_refused(space: spaces.Dict, value: Any, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        FlatActions(space).decode(value)


def test_clipping_is_no_cure_for_nan() -> None:
    with pytest.raises(ValueError, match=r"must hold numbers between -1 and 1$"):
        FlatActions(SPACES["a place alone"]).decode(np.array([[0, 0], [np.nan, 2.0]]))


@pytest.mark.parametrize("wrong", [1, None, np.int64(1)])
def test_numbers_in_place_of_batches_of_choices_are_refused(wrong: Any) -> None:
    flat = FlatActions(spaces.Dict({"look": spaces.Discrete(2), "answer": spaces.Discrete(4)}))
    with pytest.raises(ValueError, match="must have shape"):
        flat.encode({"look": wrong, "answer": wrong})


@pytest.mark.parametrize(
    ("look", "message"),
    [
        (1, r"action\['look'\] has shape \(\); it must have shape \(2, 2\)"),
        ("ab", r"action\['look'\] has shape \(\)"),
        (
            [[0.1, 0.2], [0.3]],
            r"action\['look'\] is \[\[0.1, 0.2\], \[0.3\]\], which cannot become",
        ),
        (np.float32(1), r"action\['look'\] has shape \(\)"),
    ],
)
def test_the_part_that_is_wrong_is_named(look: Any, message: str) -> None:
    place = spaces.Box(-1.0, 1.0, (2,), np.float32)
    flat = FlatActions(spaces.Dict({"look": place, "answer": spaces.Discrete(4)}))
    with pytest.raises(ValueError, match=message):
        flat.encode({"look": look, "answer": [1, 2]})


def test_the_letters_of_a_text_are_no_rows() -> None:
    place = spaces.Box(-1.0, 1.0, (2,), np.float32)
    flat = FlatActions(spaces.Dict({"look": place, "answer": spaces.Discrete(4)}))
    with pytest.raises(ValueError, match=r"action\['answer'\]"):
        flat.encode({"answer": "abc", "look": [[0.1, 0.2], [0.3, 0.4]]})


def test_a_bad_dict_action_is_not_encoded() -> None:
    flat = FlatActions(SPACES["address"])
    with pytest.raises(ValueError, match=r"action\['answer'\] of row 1 is 4; it must lie between"):
        flat.encode({"look": np.array([0, 1]), "answer": np.array([0, 4])})
    with pytest.raises(ValueError, match=r"must be a dict with the keys \['look', 'answer'\]"):
        flat.encode({"look": np.array([0, 1])})


def test_spaces_that_have_no_flat_form_are_refused() -> None:
    with pytest.raises(ValueError, match="only a Dict of actions can be flattened"):
        FlatActions(spaces.Discrete(3))
    with pytest.raises(ValueError, match=r"action\['say'\] is Text.* cannot be flattened"):
        FlatActions(spaces.Dict(say=spaces.Text(3)))
    with pytest.raises(ValueError, match=r"action\['look'\] .* must lie between -1 and 1"):
        FlatActions(spaces.Dict(look=spaces.Box(0.0, 1.0, (2,), np.float32)))


@pytest.mark.parametrize("env_id", [CLUTTERED, CIRCLE_SQUARE])
def test_a_flat_environment_plays_what_the_dict_environment_plays(env_id: str) -> None:
    plain, flat = make_single(env_id, stop=True), make_single(env_id, stop=True, flat=True)
    codec = flat.batch.flat_actions
    assert codec is not None
    space = plain.action_space
    assert isinstance(space, spaces.Dict)
    assert flat.action_space == FlatActions(space).space
    assert_same(flat.reset(seed=3), plain.reset(seed=3))
    actions = sampled(space, 20)
    ended = False
    for row in range(20):
        if ended:
            assert_same(flat.reset(), plain.reset())
        action = {name: values[row] for name, values in actions.items()}
        encoded = codec.encode({name: value[None] for name, value in action.items()})[0]
        expected = plain.step(action)
        assert_same(flat.step(encoded), expected)
        ended = expected[2]


WITHOUT_FILES = [
    (env_id, change)
    for env_id, change in CHANGED
    if SUITE[env_id].kwargs.get("source", "none") in ("none", "glyphs")
]


# The checker takes a float box of three axes for an image of bytes and wants four axes flattened.
# Float boxes pass through Stable-Baselines3 unchanged, and the project's own features read them.
@pytest.mark.filterwarnings(
    "ignore:It seems that your observation (space )?(glimpse|scene) is an i"
)
@pytest.mark.filterwarnings("ignore:The minimal resolution for an image is 36x36")
@pytest.mark.filterwarnings("ignore:Your observation (glimpse|location|scene) has an unconvention")
@pytest.mark.parametrize(("env_id", "change"), WITHOUT_FILES, indirect=["env_id"])
def test_stable_baselines3s_checker_passes(env_id: str, change: str) -> None:
    check_env(gym.make(env_id, **CHANGES[change], flat=True))


def test_the_leaves_of_observations_stay_float_boxes() -> None:
    env = gym.make(CLUTTERED, history=True, flat=True)
    assert all(leaf.dtype == np.float32 for leaf in leaves(env.observation_space).values())


@pytest.mark.parametrize("env_id", ["Glimpse/Stories-v0", "Glimpse/CenteredGlyphs-v0"])
def test_flat_observations_are_of_the_type_that_networks_take(env_id: str) -> None:
    env = gym.make(env_id, flat_observation=True)
    observation, _ = env.reset(seed=0)
    assert env.observation_space.dtype == observation.dtype == np.float32
    assert env.observation_space.contains(observation)


ALONE: list[tuple[dict[str, Any], Any, str]] = [
    ({"flat": True}, np.zeros(11), "the flat action has shape (11,); it must have shape (12,)"),
    ({"flat": True}, np.zeros((1, 12)), "has shape (1, 12); it must have shape (12,)"),
    ({"flat": True}, np.full(12, 2.0), "the flat action is [2.0, 2.0"),
    ({"flat": True}, np.array(["a"] * 12), "the flat action has dtype <U1; it must hold numbers"),
    ({"flat": True}, [[0.0], [0.0, 0.0]], "cannot become an array; it must have shape (12,)"),
    ({"flat": "discrete"}, np.array([3]), "the flat action has shape (1,); it must have shape ()"),
    ({"flat": "discrete"}, -1, "the flat action is -1; it must hold integers from 0 to"),
    ({"flat": "discrete"}, 0.5, "the flat action has dtype float64; it must hold integers"),
]


@pytest.mark.parametrize(("kwargs", "action", "message"), ALONE)
def test_errors_of_a_single_environment_speak_of_no_rows(
    kwargs: dict[str, Any], action: Any, message: str
) -> None:
    look = "tiles" if kwargs["flat"] == "discrete" else "continuous"
    env = make_single("Glimpse/CenteredGlyphs-v0", look=look, **kwargs)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=re.escape(message)) as raised:
        env.step(action)
    assert "row" not in str(raised.value)
    env.step(env.action_space.sample())
