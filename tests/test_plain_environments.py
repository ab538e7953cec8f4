"""Plain actions and observations, for learners without Dict spaces."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.flat import FlatActions, FlatObservations
from glimpse_envs.flat_ids import FLAT_SUITE
from glimpse_envs.suite import SUITE
from glimpse_envs.testing import assert_same, random_actions
from tests.support.episodes import CENTRED, CLUTTERED, make_single, make_vector

COPY = "Glimpse/Copy-v0"
ROWS = 5
CASES: list[tuple[str, dict[str, Any], bool | str]] = [
    (CLUTTERED, {"stop": True}, True),
    (CENTRED, {"look": "tiles", "stop": True}, True),
    (CENTRED, {"look": "tiles", "stop": True}, "discrete"),
    (COPY, {}, True),
    (COPY, {}, "discrete"),
    ("Glimpse/PointerChase-v0", {"cells": 5}, "discrete"),
]


def flattened(space: spaces.Dict, observation: dict[str, NDArray]) -> NDArray:
    return np.asarray(spaces.flatten(space, observation))


@pytest.mark.parametrize("mode", [mode.value for mode in AutoresetMode if mode.value != "Disabled"])
@pytest.mark.parametrize(("env_id", "kwargs", "flat"), CASES)
def test_a_plain_batch_plays_what_the_dict_batch_plays(
    env_id: str, kwargs: dict[str, Any], flat: bool | str, mode: str
) -> None:
    envs = make_vector(env_id, ROWS, autoreset_mode=mode, **kwargs)
    plain = make_vector(
        env_id, ROWS, autoreset_mode=mode, flat=flat, flat_observation=True, **kwargs
    )
    seen = envs.single_observation_space
    assert isinstance(seen, spaces.Dict)
    assert isinstance(plain.single_observation_space, spaces.Box)
    codec, rng = FlatActions(envs.single_action_space, flat == "discrete"), np.random.default_rng(0)
    assert plain.single_action_space == codec.space

    def as_plain(observation: dict[str, NDArray]) -> NDArray:
        rows = [{name: value[i] for name, value in observation.items()} for i in range(ROWS)]
        return np.stack([flattened(seen, row) for row in rows])

    np.testing.assert_array_equal(plain.reset(seed=1)[0], as_plain(envs.reset(seed=1)[0]))
    for _ in range(25):
        actions = codec.encode(random_actions(envs, rng))
        assert plain.action_space.contains(actions)
        expected, found = envs.step(codec.decode(actions)), plain.step(actions)
        np.testing.assert_array_equal(found[0], as_plain(expected[0]))
        assert plain.observation_space.contains(found[0])
        assert_same(found[1:4], expected[1:4])
        for row in np.flatnonzero(found[4].get("_final_obs", ())):
            final = flattened(seen, expected[4]["final_obs"][row])
            np.testing.assert_array_equal(found[4]["final_obs"][row], final)


@pytest.mark.parametrize(("env_id", "kwargs", "flat"), CASES)
def test_a_plain_single_environment_is_gymnasiums_flattened_one(
    env_id: str, kwargs: dict[str, Any], flat: bool | str
) -> None:
    plain = gym.make(env_id, flat=flat, flat_observation=True, **kwargs)
    other = gym.wrappers.FlattenObservation(gym.make(env_id, flat=flat, **kwargs))
    assert plain.observation_space == other.observation_space
    plain.action_space.seed(0)
    assert_same(plain.reset(seed=2), other.reset(seed=2))
    for _ in range(20):
        action = plain.action_space.sample()
        found = plain.step(action)
        assert_same(found, other.step(action))
        if found[2]:
            assert_same(plain.reset(), other.reset())


def test_words_among_observations_are_one_hot() -> None:
    seen = spaces.Dict(words=spaces.MultiDiscrete([3, 2]), place=spaces.Box(0, 1, (2,)))
    rows = {"words": np.array([[2, 0], [0, 1]]), "place": np.zeros((2, 2), np.float32)}
    found = FlatObservations(seen)(rows)
    np.testing.assert_array_equal(found[:, :5], [[0, 0, 1, 1, 0], [1, 0, 0, 0, 1]])


def test_words_that_begin_elsewhere_are_as_gymnasium_flattens_them() -> None:
    words = spaces.MultiDiscrete(np.array([[3, 4], [2, 5]]), start=np.array([[1, 0], [-2, 7]]))
    words.seed(0)
    rows = np.stack([words.sample() for _ in range(9)])
    expected = [spaces.flatten(words, row) for row in rows]
    found = FlatObservations(spaces.Dict(words=words))({"words": rows})
    np.testing.assert_array_equal(found, expected)


def test_a_place_is_no_joint_choice() -> None:
    with pytest.raises(ValueError, match=r"look has real numbers; choose .* look='tiles', or flat"):
        make_single(CLUTTERED, flat="discrete")
    with pytest.raises(ValueError, match=r"34,359,738,368 joint choices.* choose flat=True"):
        FlatActions(spaces.Dict(look=spaces.MultiBinary(35)), joint=True)
    with pytest.raises(ValueError, match="flat='box' must be one of False, True, 'discrete'"):
        make_vector(CLUTTERED, 2, flat="box")


@pytest.mark.parametrize("flat_id", FLAT_SUITE)
def test_ids_of_plain_environments_round_trip(flat_id: str) -> None:
    env = gym.make(f"glimpse_envs.flat_ids:{flat_id}")
    assert env.spec is not None
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    assert again.action_space == env.action_space
    assert again.observation_space == env.observation_space
    assert isinstance(env.observation_space, spaces.Box)
    if flat_id.startswith("GlimpseDiscrete/"):
        assert isinstance(env.action_space, spaces.Discrete)
    else:
        assert isinstance(env.action_space, spaces.Box | spaces.MultiDiscrete)


def test_every_id_of_the_suite_has_two_plain_ones() -> None:
    names = {name.partition("/")[2] for name in SUITE}
    kinds = ("GlimpseBox", "GlimpseDiscrete")
    assert FLAT_SUITE.keys() == {f"{kind}/{name}" for kind in kinds for name in names}


def test_the_rows_of_a_batch_share_their_attributes() -> None:
    envs = make_vector(COPY, 3, render_mode="rgb_array")
    assert envs.get_attr("num_scenes") == (None,) * 3
    assert envs.call("state_dict")[2]["taken"].shape == (3,)
    envs.reset(seed=0)
    frames = envs.call("render")
    assert len(frames) == 3
    assert (frames[0] != frames[1]).any()
    levels = envs.get_attr("level_distribution")[0]
    envs.set_attr("level_distribution", [levels] * 3)
    envs.set_attr("any_array", [np.arange(2)] * 3)
    assert envs.level_distribution is levels
    with pytest.raises(ValueError, match="the rows share one attribute; give one value, or 3"):
        envs.set_attr("render_mode", [None, "human", None])


def test_batches_reset_themselves_at_the_next_step_as_gymnasiums_do() -> None:
    envs: Any = gym.make_vec(COPY, num_envs=2)
    assert envs.autoreset_mode is AutoresetMode.NEXT_STEP
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP


class PlainOracle:
    """The right answer at once, as a plain action, from plain observations."""

    privileged = True

    def __init__(self, flat: bool | str) -> None:
        env = gym.make(CENTRED, look="tiles", flat_observation=True)
        self.observation_space = env.observation_space
        self.codec = FlatActions(gym.make(CENTRED, look="tiles").action_space, flat == "discrete")

    def predict(
        self, observation: Any, state: Any, episode_start: Any, deterministic: bool, info: Any
    ) -> tuple[NDArray, Any]:
        assert all(row in self.observation_space for row in observation)
        zeros = np.zeros(len(observation), np.int64)
        return self.codec.encode({"look": zeros, "answer": zeros + 3}), state


@pytest.mark.parametrize("flat", [True, "discrete"])
def test_plain_policies_are_scored_as_they_are(flat: bool | str) -> None:
    score = evaluate(PlainOracle(flat), CENTRED, look="tiles", episodes=200)  # type: ignore[arg-type]
    always = evaluate(
        lambda seen: {"look": np.zeros(len(seen["remaining"]), np.int64),
                      "answer": np.full(len(seen["remaining"]), 3)},
        CENTRED, look="tiles", episodes=200,
    )  # fmt: skip
    assert score == always
    with pytest.raises(ValueError, match="plain spaces, which are made by themselves"):
        evaluate(PlainOracle(flat), "glimpse_envs.flat_ids:GlimpseDiscrete/Reverse-v0")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="flat: evaluate sets this itself"):
        evaluate(PlainOracle(flat), CENTRED, flat=True)  # type: ignore[arg-type]


class Swinger:
    """Declares the plain spaces of Pendulum, as a model of Stable-Baselines3 does."""

    def __init__(self, shape: tuple[int, ...] = (1,)) -> None:
        self.observation_space = gym.make("Pendulum-v1").observation_space
        self.action_space = spaces.Box(-2.0, 2.0, shape, np.float32)

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> Any:
        assert observation.shape[1:] == self.observation_space.shape
        return np.full((len(observation), *self.action_space.shape), 1.5, np.float32), None


def test_real_actions_of_other_packages_are_passed_on_as_they_are() -> None:
    """Pendulum takes torques from -2 to 2, which no flat action of this package holds."""

    def swing(observation: Any) -> Any:
        return np.full((len(observation["observation"]), 1), 1.5, np.float32)

    scored = evaluate(Swinger(), "Pendulum-v1", episodes=3)
    assert scored.returns.tolist() == evaluate(swing, "Pendulum-v1", episodes=3).returns.tolist()
    named = evaluate(lambda seen: {"act": swing(seen)}, "Pendulum-v1", episodes=3)
    assert scored.returns.tolist() == named.returns.tolist()


def test_real_actions_of_another_shape_are_named() -> None:
    with pytest.raises(ValueError, match=r"action had shape \(2,\)"):
        evaluate(Swinger((2,)), "Pendulum-v1", episodes=3)
    flat: Any = np.zeros(3, np.float32)
    with pytest.raises(ValueError, match=r"shape \(3,\); it must have shape \(n, \*\(1,\)\)"):
        evaluate(lambda seen: flat, "Pendulum-v1", episodes=3)
