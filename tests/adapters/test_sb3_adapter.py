"""Stable-Baselines3's `VecEnv` says what the batched environment says, and its tools take it."""

import copy
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.error import NameNotFound
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

import glimpse_envs
from glimpse_envs.adapters.sb3 import make_sb3_env
from glimpse_envs.episodes.levels import ThresholdLevels
from glimpse_envs.flat import FlatActions
from glimpse_envs.task import Arrays, Component, Outcome, Rows
from glimpse_envs.testing import assert_same, random_actions
from tests.support.episodes import CENTRED, CIRCLE_SQUARE, VARIANTS, make_vector
from tests.support.hidden_clock import TASK, staying
from tests.support.sb3 import ROWS, WHOLE, tiny_ppo
from tests.support.tasks.two_answers import TwoAnswers

# `VecMonitor` says so around whatever counts returns itself, and counts them again.
pytestmark = pytest.mark.filterwarnings(
    "ignore:The environment is already wrapped with a `Monitor`"
)


@pytest.mark.learning
@pytest.mark.parametrize("as_dict", [False, True], ids=["flat", "dict"])
@pytest.mark.parametrize(("env_id", "kwargs"), VARIANTS.values(), ids=VARIANTS)
def test_it_plays_what_the_batch_plays(env_id: str, kwargs: dict[str, Any], as_dict: bool) -> None:
    envs, venv = make_vector(env_id, ROWS, **kwargs), make_sb3_env(env_id, ROWS, seed=7, **kwargs)
    flat, rng = FlatActions(envs.single_action_space), np.random.default_rng(0)
    observation, info = envs.reset(seed=7)
    assert_same(venv.reset(), observation)
    for row in range(ROWS):
        np.testing.assert_array_equal(venv.reset_infos[row]["target_box"], info["target_box"][row])
    total_ended = 0
    for _ in range(40):
        actions = random_actions(envs, rng)
        encoded = flat.encode(actions)
        actions = flat.decode(encoded)  # looks as float32 holds them
        observation, rewards, terminated, _, info = envs.step(actions)
        found, paid, dones, infos = venv.step(actions if as_dict else encoded)
        assert_same(found, observation)
        assert paid.dtype == np.float32
        np.testing.assert_array_equal(paid, rewards.astype(np.float32))
        np.testing.assert_array_equal(dones, terminated)
        for row in range(ROWS):
            ended_info = info["final_info"] if dones[row] else info
            assert infos[row]["target"] == ended_info["target"][row]
            assert infos[row]["target_mask"] == ended_info["target_mask"][row]
            assert infos[row]["TimeLimit.truncated"] is False
            assert ("terminal_observation" in infos[row]) == dones[row]
            np.testing.assert_array_equal(
                venv.reset_infos[row]["target_box"], info["target_box"][row]
            )
            if dones[row]:
                assert_same(infos[row]["terminal_observation"], info["final_obs"][row])
                np.testing.assert_array_equal(
                    infos[row]["target_box"], info["final_info"]["target_box"][row]
                )
                right = actions["answer"][row] == ended_info["target"][row]
                assert infos[row]["is_success"] is bool(right)
        total_ended += int(dones.sum())
    assert total_ended >= ROWS


@pytest.mark.parametrize("view", ["glimpse", "full"])
def test_success_on_tapes_and_tables_is_that_all_was_right(memory_id: str, view: str) -> None:
    venv = make_sb3_env(memory_id, 8, seed=0, view=view)
    task: Any = venv.batch.task
    rng, found = np.random.default_rng(0), []
    venv.reset()
    for _ in range(60):
        actions = {name: np.copy(value) for name, value in task.oracle().items()}
        answers = actions["answer"].reshape(8, -1)
        answers[rng.random(8) < 0.05] = 1  # mostly wrong
        _, rewards, dones, infos = venv.step(actions)
        for row in np.flatnonzero(dones):
            assert type(infos[row]["is_success"]) is bool
            assert infos[row]["is_success"] == infos[row]["success"]
            if infos[row]["is_success"]:
                assert rewards[row] > 0
            found.append(infos[row]["is_success"])
    assert {True, False} == set(found)


@pytest.mark.learning
def test_a_model_learns_on_a_tape_whose_lengths_a_curriculum_sets() -> None:
    venv = make_sb3_env("Glimpse/Copy-v0", 8, length=3, symbols=2)
    venv.set_attr("level_distribution", ThresholdLevels(1, 3))
    venv.set_options({"length": 1})
    model = tiny_ppo(VecMonitor(venv), batch_size=32).learn(256)
    assert len(model.ep_success_buffer or []) > 8
    assert {type(success) for success in model.ep_success_buffer or []} == {bool}


def test_returns_and_lengths_of_episodes_are_those_that_a_monitor_counts() -> None:
    plain, monitored = (make_sb3_env(CENTRED, 3, seed=1, stop=True, look="tiles") for _ in range(2))
    twin, rng, ended = VecMonitor(monitored), np.random.default_rng(0), 0
    for _ in range(2):  # a reset in mid-episode begins them anew
        plain.reset()
        twin.reset()
        for _ in range(15):
            actions = np.stack([rng.integers(plain.action_space.nvec) for _ in range(3)])  # type: ignore[attr-defined]
            _, _, dones, infos = plain.step(actions)
            expected = twin.step(actions)[3]
            for row in np.flatnonzero(dones):
                counted = infos[row]["episode"]
                assert counted.keys() == expected[row]["episode"].keys()
                assert all(counted[name] == expected[row]["episode"][name] for name in "rl")
            assert not any("episode" in infos[row] for row in np.flatnonzero(~dones))
            ended += int(dones.sum())
    assert ended > 20


@pytest.mark.learning
def test_a_model_without_a_monitor_logs_its_episodes() -> None:
    model = tiny_ppo(make_sb3_env(CENTRED, ROWS, history=True, **WHOLE)).learn(80)
    assert len(model.ep_info_buffer or []) == 8 * ROWS
    assert {episode["l"] for episode in model.ep_info_buffer or []} == {2}


def test_what_is_observed_fits_the_spaces() -> None:
    venv = make_sb3_env(CENTRED, ROWS, seed=0, look="tiles")
    assert venv.action_space == spaces.MultiDiscrete([16, 10])
    observation = venv.reset()
    assert isinstance(venv.observation_space, spaces.Dict)
    for row in range(ROWS):
        own = {name: value[row] for name, value in observation.items()}
        assert venv.observation_space.contains(own)


def test_seeds_and_options_are_of_the_next_reset() -> None:
    venv = make_sb3_env(CENTRED, 2)
    assert venv.seed(3) == [3, 3]
    first = venv.reset()
    later = venv.reset()
    assert (first["glimpse"] != later["glimpse"]).any(), "the streams go on"
    venv.seed(3)
    assert_same(venv.reset(), first)
    assert list(venv.seed()) != list(venv.seed())

    venv = make_sb3_env(CENTRED, 2, split="test")
    venv.set_options({"scene": 41})
    venv.reset()
    assert [info["scene"] for info in venv.reset_infos] == [41, 41]
    venv.set_options([{"scene": 5}, {"scene": 6}])
    venv.reset()
    assert [info["scene"] for info in venv.reset_infos] == [5, 6]
    venv.reset()
    assert [info["scene"] for info in venv.reset_infos] != [5, 6], "options are used once"
    venv.set_options([{"scene": 5}, {}])
    with pytest.raises(ValueError, match=r"environments \[1\] have no option 'scene', and others"):
        venv.reset()


def test_actions_may_be_one_number() -> None:
    """As an argument, or as an id has them; observations alike."""
    named = "glimpse_envs.flat_ids:GlimpseDiscrete/CenteredGlyphs-v0"
    own = gym.make(named)
    for venv in (
        make_sb3_env(named, 2),
        make_sb3_env(
            CENTRED, 2, look="tiles", history=True, flat="discrete", flat_observation=True
        ),
    ):
        assert venv.action_space == own.action_space
        assert venv.observation_space == own.observation_space
        DQN("MlpPolicy", venv, learning_starts=4, buffer_size=100).learn(16)
        venv.close()
    assert isinstance(make_sb3_env(named, 2, flat=True).action_space, spaces.MultiDiscrete)
    with pytest.raises(ValueError, match="flat='joint' must be True, 'discrete' or None"):
        make_sb3_env(CENTRED, 2, flat="joint")
    with pytest.raises(ValueError, match="flat='discrete': look has real numbers"):
        make_sb3_env(CENTRED, 2, flat="discrete")


def test_shared_infos_refuse_to_be_changed_and_copies_do_not() -> None:
    venv = make_sb3_env(CENTRED, 3, seed=0, look="tiles")
    venv.reset()
    infos = venv.step(np.zeros((3, 2), np.int64))[3]
    assert not any("terminal_observation" in info for info in infos)
    with pytest.raises(TypeError, match="shared and cannot be changed"):
        infos[0]["mine"] = 1
    with pytest.raises(TypeError, match="shared and cannot be changed"):
        infos[0].update(mine=1)
    for own in (infos[0].copy(), copy.deepcopy(infos[0]), pickle.loads(pickle.dumps(infos[0]))):
        own["mine"] = 1
        assert own["target"] == infos[0]["target"]
    assert "mine" not in infos[0]


def test_what_a_time_limit_has_cut_is_told_from_what_has_ended() -> None:
    glimpse_envs.register("GlimpseTest/Cut-v0", task=TASK)
    try:
        venv = make_sb3_env("GlimpseTest/Cut-v0", 3, seed=0, budget=2)
    finally:
        gym.registry.pop("GlimpseTest/Cut-v0")
    venv.reset()
    venv.step(staying(3))
    _, _, dones, infos = venv.step(staying(3, [0, 0, 1]))  # the last row stops
    assert dones.all()
    assert [info["TimeLimit.truncated"] for info in infos] == [True, True, False]
    assert [info["episode"]["l"] for info in infos] == [2, 2, 2]


def test_infos_without_targets_are_shared_alike() -> None:
    venv = make_sb3_env("Glimpse/Catch-v0", 3, seed=0)
    venv.reset()
    infos = venv.step(np.stack([venv.action_space.sample() for _ in range(3)]))[3]
    for info in infos:
        assert info == {"TimeLimit.truncated": False}
        with pytest.raises(TypeError, match="shared and cannot be changed"):
            info["mine"] = 1


class ClassAndParity(TwoAnswers):
    """A digit's class and its parity are asked for at every step, and every answer counts."""

    def __init__(self, *, split: str = "train", masked: bool = True) -> None:
        super().__init__(split=split)
        answer = Component(spaces.MultiDiscrete([10, 2]), taught=True)
        self.components = self.components_with(answer=answer)
        self._masked = masked

    def act(self, rows: Rows, actions: Arrays, last: Any) -> Outcome:
        labels = self._stage.labels[self._stage.scene_of[rows]]
        target = np.stack([labels, labels % 2], axis=1) if self._masked else labels
        success = (actions["answer"][rows, 0] == labels) & last
        mask = np.ones(len(rows), np.bool_) if self._masked else None
        return Outcome(success.astype(np.float64), success, target, mask)


@pytest.mark.parametrize("masked", [True, False])
def test_targets_of_several_parts_and_without_a_mask_are_told(masked: bool) -> None:
    env_id = f"Tiny/ClassAndParity{masked}-v0"
    glimpse_envs.register(env_id, task=f"{__name__}:ClassAndParity", masked=masked)
    envs, venv = make_vector(env_id, ROWS), make_sb3_env(env_id, ROWS, seed=1)
    envs.reset(seed=1)
    venv.reset()
    actions = random_actions(envs, np.random.default_rng(0))
    for _ in range(envs.task.budget):
        _, _, ended, _, info = envs.step(actions)
        infos = venv.step(actions)[3]
        told = info["final_info"] if ended.all() else info
        for row in range(ROWS):
            np.testing.assert_array_equal(infos[row]["target"], told["target"][row])
            assert infos[row].get("target_mask", "none") == (True if masked else "none")
            assert infos[row]["TimeLimit.truncated"] is False
    assert ended.all()


def test_frames_show_what_was_seen() -> None:
    venv = make_sb3_env(CENTRED, 2, seed=0, render_mode="rgb_array", reveal="seen")
    venv.reset()
    frames = make_vector(CENTRED, 2, render_mode="rgb_array", reveal="seen")
    frames.reset(seed=0)
    assert_same(tuple(venv.get_images()), frames.render())


def test_films_by_stable_baselines3_are_as_fast_as_the_environment_says() -> None:
    venv = make_sb3_env(CENTRED, 2, render_mode="rgb_array")
    assert venv.metadata["render_fps"] == gym.make(CENTRED).metadata["render_fps"]


def test_returns_of_normalised_rewards_are_those_before() -> None:
    venv = VecNormalize(make_sb3_env(CENTRED, 2, seed=0), norm_obs=False)
    model = PPO("MultiInputPolicy", venv, n_steps=16, batch_size=16, n_epochs=1).learn(64)
    venv.training = False
    returns, _ = evaluate_policy(model, venv, 6, return_episode_rewards=True)
    assert set(np.ravel(returns)) <= {0.0, 1.0}
    assert venv.env_is_wrapped(Monitor) == [True] * 2


def test_attributes_and_methods_are_those_of_all_rows() -> None:
    venv = make_sb3_env(CENTRED, 3, budget=4)
    assert venv.get_attr("num_scenes") == [None] * 3
    assert [task.budget for task in venv.get_attr("task", indices=[0, 2])] == [4, 4]
    assert venv.has_attr("task")
    assert not venv.has_attr("tusk")
    assert venv.env_is_wrapped(gym.wrappers.TimeLimit, indices=1) == [False]
    venv.set_attr("level", 3)
    assert venv.get_attr("level", indices=0) == [3]
    venv.seed(0)
    venv.reset()
    states = venv.env_method("state_dict")
    assert len(states) == 3
    with pytest.raises(ValueError, match=r"env_method\('state_dict'\) is of all rows"):
        venv.env_method("state_dict", indices=[0])
    with pytest.raises(ValueError, match=r"set_attr\('level'\) is of all rows"):
        venv.set_attr("level", 2, indices=1)


def test_rows_are_drawn_side_by_side() -> None:
    venv = make_sb3_env(CIRCLE_SQUARE, 4, seed=0, render_mode="rgb_array")
    venv.reset()
    frames = venv.get_images()
    assert len(frames) == 4
    assert frames[0] is not None
    height, width, _ = frames[0].shape
    picture = venv.render()
    assert picture is not None
    assert picture.shape == (2 * height, 2 * width, 3)
    blank = make_sb3_env(CIRCLE_SQUARE, 2)
    assert blank.get_images() == [None, None]


ERRORS: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "id": ({"env_id": "Glimpse/Nothing-v0"}, NameNotFound, "Nothing"),
    "another's id": ({"env_id": "CartPole-v1"}, ValueError, "'CartPole-v1' is made of no task of"),
    "a wrapped world": ({"env_id": "Glimpse/MiniGrid-v0"}, ValueError, "wrappers.FlatAction"),
    "rows": ({"n_envs": 0}, ValueError, "n_envs=0 must be an integer of at least 1"),
    "num_envs": ({"num_envs": 3}, ValueError, "num_envs: make_sb3_env sets this itself"),
    "mode": ({"autoreset_mode": "NextStep"}, ValueError, "autoreset_mode: make_sb3_env sets"),
    "copies": ({"copies": 2}, ValueError, "copies: make_sb3_env sets this itself"),
    "argument": ({"budgett": 2}, ValueError, "does not take budgett; it takes budget, clutter"),
    "value": ({"budget": 0}, ValueError, "budget=0 must be an integer of at least 1"),
}


@pytest.mark.parametrize(("changes", "kind", "says"), ERRORS.values(), ids=ERRORS)
def test_what_cannot_be_made_is_refused_by_name(
    changes: dict[str, Any], kind: type[Exception], says: str
) -> None:
    with pytest.raises(kind, match=says):
        make_sb3_env(**{"env_id": CENTRED, "n_envs": 2, **changes})


def test_a_bad_action_is_refused_and_changes_nothing() -> None:
    venv, twin = (make_sb3_env(CENTRED, 2, seed=1, look="tiles") for _ in range(2))
    assert_same(venv.reset(), twin.reset())
    with pytest.raises(ValueError, match=r"row 1 is \[0, 10\]; it must hold integers from 0 to"):
        venv.step(np.array([[0, 0], [0, 10]]))
    with pytest.raises(ValueError, match=r"action\['answer'\] of row 0 is -1"):
        venv.step({"look": np.zeros(2, int), "answer": np.array([-1, 0])})
    actions = np.zeros((2, 2), np.int64)
    assert_same(venv.step(actions)[0], twin.step(actions)[0])
