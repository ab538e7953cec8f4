"""Models and policies are evaluated by Stable-Baselines3 through the adapter."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback, EvalCallback
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from agents.policy.glimpse_policy import GlimpsePolicy
from agents.policy.making import policy_from
from glimpse_envs.adapters.sb3 import GlimpseVecEnv, make_sb3_env
from glimpse_envs.episodes.description import describe
from glimpse_envs.testing import assert_same
from tests.support.episodes import CENTRED, make_vector
from tests.support.sb3 import ROWS, WHOLE, tiny_ppo
from tests.support.tiny import tiny_network

# `VecMonitor` says so around whatever counts returns itself, and counts them again.
pytestmark = pytest.mark.filterwarnings(
    "ignore:The environment is already wrapped with a `Monitor`"
)


def tiny_policy(venv: GlimpseVecEnv) -> GlimpsePolicy:
    """One of this project's agents, untrained."""
    return policy_from(tiny_network(), describe(venv.batch))


@pytest.mark.parametrize("seed", [None, 3])
def test_evaluations_of_a_fixed_split_are_of_the_same_scenes(seed: int | None) -> None:
    """With equal first glimpses: an `EvalCallback` compares models on equal terms."""
    venv = make_sb3_env(CENTRED, 4, split="validation", look="tiles", seed=seed)
    first, scenes = venv.reset(), [info["scene"] for info in venv.reset_infos]
    assert scenes == [0, 1, 2, 3]
    for _ in range(10):
        venv.step(np.zeros((4, 2), np.int64))
    assert_same(venv.reset(), first)
    assert [info["scene"] for info in venv.reset_infos] == scenes
    model = PPO(
        "MultiInputPolicy", make_sb3_env(CENTRED, 2, look="tiles"), n_steps=8, batch_size=16
    )
    scores = {evaluate_policy(model, venv, 20, warn=False) for _ in range(3)}
    assert len(scores) == 1
    venv.close()


def test_our_agents_are_evaluated_by_stable_baselines3() -> None:
    venv = make_sb3_env(CENTRED, ROWS, seed=2, **WHOLE)
    policy: Any = tiny_policy(venv)
    returns, lengths = evaluate_policy(
        policy, VecMonitor(venv), n_eval_episodes=40, return_episode_rewards=True
    )
    assert isinstance(returns, list)
    assert set(returns) <= {0.0, 1.0}
    assert lengths == [2] * 40


class Knowing:
    """Answers rightly, in Dict actions: it sees the scenes' labels, which come in turn."""

    def __init__(self) -> None:
        self.full = make_vector(CENTRED, ROWS, view="full", split="test")
        self.full.reset(seed=2)

    def predict(self, observation: dict[str, Any], **asked: Any) -> tuple[dict[str, Any], None]:
        if observation["remaining"][0] == 0.5:  # the first of two glimpses
            blind = {"answer": np.zeros(ROWS, np.int64)}
            self.labels = self.full.step(blind)[4]["final_info"]["target"]
        return {"look": np.zeros((ROWS, 2)), "answer": self.labels}, None


def test_right_answers_in_dict_actions_collect_all_through_the_wrappers() -> None:
    venv = make_sb3_env(CENTRED, ROWS, seed=2, budget=2, split="test")
    knowing: Any = Knowing()
    wrapped = VecNormalize(VecMonitor(venv), norm_obs=False, norm_reward=False)
    assert evaluate_policy(knowing, wrapped, n_eval_episodes=30) == (1.0, 0.0)


@pytest.mark.learning
def test_a_model_learns_and_is_evaluated_through_its_wrappers(tmp_path: Path) -> None:
    venv = make_sb3_env(CENTRED, ROWS, history=True, **WHOLE)
    normalised = VecNormalize(
        VecMonitor(venv, str(tmp_path / "monitor.csv")), norm_obs_keys=["glimpse"]
    )
    counted: list[int] = []

    class Count(BaseCallback):
        def _on_step(self) -> bool:
            counted.append(int(self.locals["dones"].sum()))
            return True

    eval_env = VecNormalize(
        VecMonitor(make_sb3_env(CENTRED, ROWS, history=True, **WHOLE)), norm_obs_keys=["glimpse"]
    )
    check = EvalCallback(eval_env, n_eval_episodes=10, eval_freq=8, verbose=0)
    model = tiny_ppo(normalised).learn(80, callback=[Count(), check])
    assert counted == [0, ROWS] * 8
    assert (tmp_path / "monitor.csv").read_text().count("\n") == 2 + 8 * ROWS
    assert f'"env_id": "{CENTRED}"' in (tmp_path / "monitor.csv").read_text()
    assert len(model.ep_info_buffer or []) == 8 * ROWS
    assert len(model.ep_success_buffer or []) == 8 * ROWS
    assert isinstance(check.last_mean_reward, float)
    glimpse = normalised.obs_rms["glimpse"]
    assert glimpse.mean.any()
    mean, _ = evaluate_policy(model, normalised, n_eval_episodes=10)
    assert 0.0 <= float(np.mean(mean)) <= 1.0
    normalised.close()


def test_wrappers_leave_shared_infos_alone_and_mend_terminal_observations() -> None:
    plain, wrapped = (make_sb3_env(CENTRED, 2, seed=1, stop=True, look="tiles") for _ in range(2))
    normalised = VecNormalize(VecMonitor(wrapped), norm_obs_keys=["glimpse"], norm_reward=False)
    plain.reset()
    normalised.reset()
    actions = np.array([[0, 0, 0], [0, 0, 1]])  # row 1 stops
    terminal = plain.step(actions)[3][1]["terminal_observation"]
    _, _, dones, infos = normalised.step(actions)
    assert dones.tolist() == [False, True]
    assert infos[1]["episode"]["l"] == 1
    expected = normalised.normalize_obs(terminal)
    assert_same(infos[1]["terminal_observation"], expected)
    assert "episode" not in infos[0]
