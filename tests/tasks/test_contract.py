"""What the contract promises of any task, on three tiny ones of other families."""

import copy
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from glimpse_envs.episodes.description import describe, task_of
from glimpse_envs.task import COMPONENTS, Task
from tests.support.episodes import assert_same, random_actions, row_of
from tests.support.tasks import ROWS

MODES = ("Disabled", "NextStep", "SameStep")


@pytest.fixture(params=ROWS)
def tiny_id(request: pytest.FixtureRequest) -> str:
    return request.param


def task(env: gym.Env | VectorEnv) -> Task:
    found = task_of(env)
    assert found is not None
    return found


def first_returns(envs: VectorEnv, act: Any) -> NDArray[np.float64]:
    """The returns (n,) of the rows' first episodes, in batches that end all together or reset
    themselves."""
    returns, playing = np.zeros(envs.num_envs), np.ones(envs.num_envs, np.bool_)
    while playing.any():
        _, reward, terminated, truncated, _ = envs.step(act())
        returns += reward * playing
        playing &= ~(terminated | truncated)
    return returns


def test_gymnasiums_checker_has_nothing_to_say(tiny_id: str) -> None:
    check_env(gym.make(tiny_id).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_the_oracle_collects_exactly_the_ceiling(tiny_id: str, mode: str) -> None:
    envs = gym.make_vec(tiny_id, num_envs=50, autoreset_mode=mode)
    envs.reset(seed=3)
    returns = first_returns(envs, task(envs).oracle)
    np.testing.assert_allclose(returns, describe(envs).ceiling)


def test_blind_actions_collect_no_more_than_chance(tiny_id: str) -> None:
    envs = gym.make_vec(tiny_id, num_envs=3000, autoreset_mode="NextStep")
    envs.reset(seed=4)
    rng = np.random.default_rng(0)
    returns = first_returns(envs, lambda: random_actions(envs.unwrapped, rng))  # type: ignore[arg-type]
    error = returns.std() / np.sqrt(len(returns))
    assert returns.mean() < describe(envs).chance + 4 * error


def test_a_single_environment_is_a_batch_of_one(tiny_id: str) -> None:
    envs: Any = gym.make_vec(tiny_id, num_envs=1, autoreset_mode="Disabled")
    env = gym.make(tiny_id).unwrapped
    (seen,), (batch,) = env.reset(seed=5)[:1], envs.reset(seed=[5])[:1]
    assert_same(seen, row_of(batch, 0))
    rng, ended = np.random.default_rng(1), False
    while not ended:
        actions = random_actions(envs.unwrapped, rng)
        seen, reward, ended, cut, _ = env.step(row_of(actions, 0))
        batch, *outcomes, _ = envs.step(actions)
        assert_same(seen, row_of(batch, 0))
        assert [reward, ended, cut] == [values[0] for values in outcomes]
        ended = ended or cut


def test_a_copy_in_mid_episode_goes_on_alike(tiny_id: str) -> None:
    envs = gym.make_vec(tiny_id, num_envs=4, autoreset_mode="NextStep").unwrapped
    envs.reset(seed=6)
    rng = np.random.default_rng(2)
    envs.step(random_actions(envs, rng))  # type: ignore[arg-type]
    twins = [pickle.loads(pickle.dumps(envs)), copy.deepcopy(envs)]
    for _ in range(12):
        actions = random_actions(envs, rng)  # type: ignore[arg-type]
        results = envs.step(actions)
        for twin in twins:
            assert_same(twin.step(actions), results)


def test_a_frame_is_drawn_at_every_step(tiny_id: str) -> None:
    env = gym.make(tiny_id, render_mode="rgb_array").unwrapped
    env.reset(seed=0)
    shapes, ended = set(), False
    while not ended:
        frame: Any = env.render()
        shapes.add(frame.shape)
        action = {name: value[0] for name, value in task(env).oracle().items()}
        _, _, terminated, truncated, _ = env.step(action)
        ended = terminated or truncated
    assert len(shapes) == 1


def test_components_stand_in_the_order_of_the_contract(tiny_id: str) -> None:
    names = list(task(gym.make(tiny_id)).components)
    assert names == [name for name in COMPONENTS if name in names]


def test_infos_say_what_was_asked_and_nothing_else() -> None:
    """A world without an answer has neither target nor success; two answers count in their turn."""
    ball = gym.make_vec("Tiny/FallingBall-v0", num_envs=2, autoreset_mode="Disabled")
    ball.reset(seed=0)
    info = ball.step(task(ball).oracle())[-1]
    assert not {"target", "target_mask", "success"} & info.keys()

    pair = gym.make_vec("Tiny/TwoAnswers-v0", num_envs=2, autoreset_mode="Disabled")
    pair.reset(seed=0)
    infos = [pair.step(task(pair).oracle())[-1] for _ in range(4)]
    assert [info["target_mask"].tolist() for info in infos] == [[False] * 2, [True] * 2] * 2
    assert [info["success"].tolist() for info in infos] == [[False] * 2] * 3 + [[True] * 2]
    assert (infos[3]["target"] == 1 - infos[1]["target"] % 2).all()
