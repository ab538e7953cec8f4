"""Agents learn in environments that nobody described, by what their spaces and rewards say."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from agents.algorithms.actor_critic import ActorCritic, ActorCriticConfig
from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.episodes.environments import make_training_env
from agents.episodes.rollout import play_episodes
from agents.policy.networks import NetworkConfig
from agents.train import main as train_main
from glimpse_envs.adapters.named_parts import NamedParts
from glimpse_envs.episodes.description import ACT, OBSERVATION, describe, task_of
from glimpse_envs.task import Component
from tests.support.pedals import DICTS, PEDALS, PLAIN, STEPS, Pedals, pedals
from tests.support.tiny import SMALL, tiny_network

DIAL = "GlimpseTest/Dial-v0"


@pytest.fixture(autouse=True)
def _environments() -> Any:
    with pedals():
        yield


@pytest.mark.parametrize("batched", [False, True])
def test_it_is_described_by_its_spaces(batched: bool) -> None:
    make: Any = (lambda env_id: gym.make_vec(env_id, num_envs=2)) if batched else gym.make
    env = make(DICTS)
    seen = describe(env)
    assert task_of(env) is None
    assert list(seen.observation_space) == ["glimpse"]
    assert seen.components == {
        name: Component(space)
        for name, space in Pedals().action_space.spaces.items()  # type: ignore[attr-defined]  # a Dict
    }
    assert seen.taught is None
    assert (seen.budget, seen.levels, seen.picture_view, seen.reading) == (None,) * 4
    assert np.isnan([seen.chance, seen.ceiling]).all()
    plain = describe(make(PLAIN))
    assert plain.observation_space == spaces.Dict(
        {OBSERVATION: Pedals(plain=True).observation_space}
    )
    assert plain.components == {ACT: Component(spaces.Discrete(PEDALS))}


@pytest.mark.parametrize("plain", [False, True])
def test_named_parts_are_those_of_the_environment(plain: bool) -> None:
    def make() -> SyncVectorEnv[Any, Any]:
        return SyncVectorEnv([lambda: Pedals(plain)] * 2, autoreset_mode=AutoresetMode.SAME_STEP)

    named, bare = NamedParts(make()), make()
    assert isinstance(named.single_observation_space, spaces.Dict)
    assert isinstance(named.single_action_space, spaces.Dict)
    assert list(named.single_action_space) == ([ACT] if plain else ["pedal", "other"])
    key = OBSERVATION if plain else "glimpse"
    kept, expected = named.reset(seed=3)[0][key], bare.reset(seed=3)[0]
    first = kept.copy()
    np.testing.assert_array_equal(kept, expected if plain else expected["glimpse"])
    named.action_space.seed(0)
    for step in range(1, 4):
        actions = named.action_space.sample()
        found = named.step(actions)
        reference = bare.step(actions[ACT] if plain else actions)
        assert named.observation_space.contains(found[0])
        np.testing.assert_array_equal(found[0][key], reference[0] if plain else reference[0][key])
        for mine, theirs in zip(found[1:4], reference[1:4], strict=True):
            np.testing.assert_array_equal(mine, theirs)
        assert found[2].tolist() == [step == STEPS] * 2
        if step == STEPS:
            final = [final if plain else final[key] for final in reference[4]["final_obs"]]
            for mine, theirs in zip(found[4]["final_obs"], final, strict=True):
                np.testing.assert_array_equal(mine[key], theirs)
    np.testing.assert_array_equal(kept, first, "what was returned is not written over")


class _Nested(gym.Env[dict[str, Any], np.int64]):
    """A Dict within a Dict, which counts the steps."""

    observation_space = spaces.Dict(
        {"inner": spaces.Dict({"steps": spaces.Box(0, 9, (1,), np.float32)})}
    )
    action_space = spaces.Discrete(2)

    def reset(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        self._steps = np.zeros(1, np.float32)
        return {"inner": {"steps": self._steps}}, {}

    def step(self, action: np.int64) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        self._steps += 1
        return {"inner": {"steps": self._steps}}, 0.0, False, False, {}


def test_parts_within_parts_stay_arrays_of_their_own() -> None:
    named = NamedParts(SyncVectorEnv([_Nested] * 2, autoreset_mode=AutoresetMode.SAME_STEP))
    first: Any = named.reset()[0]
    second: Any = named.step({ACT: np.zeros(2, np.int64)})[0]
    assert named.observation_space.contains(second)
    for step, seen in enumerate((first, second)):
        np.testing.assert_array_equal(seen["inner"]["steps"], np.full((2, 1), step))


def make_config(**changes: Any) -> ReinforceConfig:
    return ReinforceConfig(
        **{
            "env_id": DICTS,
            "batch_size": 64,
            "network": SMALL,
            "learning_rate": 1e-2,
            "look_weight": 1.0,
            "episodes": 64 * 60,
            **changes,
        }
    )


def test_a_component_that_nobody_declared_is_learned_by_reward() -> None:
    """Whatever `answer_by` says: there is no right answer to learn from. All of it is learned."""
    learner = Reinforce(make_config(answer_by="label"))
    assert learner.policy.components.keys() == {"pedal", "other"}
    played = play_episodes(learner.env, learner.policy, learner.choose)
    assert played.targets is None
    assert played.success is None
    effective = played.effective(looks_learned=True, taught=False)
    assert effective.keys() == {"pedal", "other"}
    assert all(torch.equal(mask, played.alive) for mask in effective.values())
    assert played.rewarded_for_entropy(effective).keys() == effective.keys()
    learner.learn(0.0)
    for name, head in learner.policy.heads.items():
        grads = [parameter.grad for parameter in head.parameters() if parameter.requires_grad]
        assert all(grad is not None and bool(grad.any()) for grad in grads), name


@pytest.mark.learning
def test_what_nobody_described_is_learned() -> None:
    learner = Reinforce(make_config())
    returns = [learner.update(step / 60)["return"] for step in range(60)]
    assert np.mean(returns[:3]) < 1.2
    assert np.mean(returns[-5:]) > 1.8


class Dial(gym.Env[Any, Any]):
    """Pays for how near a number comes to 9, and refuses numbers that are not in the box."""

    def __init__(self, space: spaces.Space[Any] | None = None) -> None:
        self.observation_space = spaces.Box(0.0, 1.0, (1,))
        self.action_space = spaces.Box(0.0, 10.0, (1,)) if space is None else space

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action), action
        return np.zeros(1, np.float32), -abs(float(action[0]) - 9) / 10, True, False, {}


@pytest.fixture
def dial() -> Any:
    gym.register(DIAL, entry_point=f"{__name__}:Dial")
    yield DIAL
    gym.registry.pop(DIAL)


@pytest.mark.learning
def test_numbers_reach_the_bounds_of_their_box_and_no_farther(dial: str) -> None:
    network = replace(SMALL, look_std=0.1)
    learner = Reinforce(make_config(env_id=dial, network=network, baseline="moving_average"))
    returns = [learner.update(step / 60)["return"] for step in range(60)]
    learner.close()
    assert returns[0] < -0.2
    assert np.mean(returns[-5:]) > -0.08, "as near as a deviation of 0.1 of 5 lets it be"


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (spaces.Box(-np.inf, np.inf, (1,)), "'act' has the space .* bounds are not finite"),
        (spaces.Box(0, 9, (1,), np.int64), "'act' has the space .* there is no head"),
        (spaces.Discrete(3, start=1), "'act' has the space .* must begin at 0, not at 1"),
        (spaces.MultiDiscrete([3, 2], start=[0, 1]), r"must begin at 0, not at \[0 1\]"),
    ],
)
def test_actions_that_no_head_chooses_from_are_named(space: Any, message: str, dial: str) -> None:
    with pytest.raises(ValueError, match=message):
        Reinforce(make_config(env_id=dial, env_kwargs={"space": space}))


def test_copies_need_a_task_that_deals_them() -> None:
    with pytest.raises(ValueError, match=r"copies=2: GlimpseTest/Pedals-v0 deals no scene"):
        make_training_env(make_config(copies=2))


def test_arguments_that_an_environment_does_not_take_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["reinforce", "--env-id", PLAIN, "--run", str(tmp_path / "run")]
    with pytest.raises(SystemExit):
        train_main([*command, "--env-kwargs", "pedals=4"])
    errors = capsys.readouterr().err.splitlines()
    assert errors[-1].startswith(f"error: {PLAIN}: ")
    assert "'pedals'" in errors[-1]
    assert not (tmp_path / "run").exists()


def test_state_that_cannot_be_saved_begins_new_episodes() -> None:
    """Weights, moments and samples go on as they were; the episodes under way are lost."""
    learner, other = Reinforce(make_config()), Reinforce(make_config(seed=5))
    learner.update(0.1)
    state = learner.state_dict()
    assert state["env"] == {"tells_success": False}, "no episodes"
    other.load_state_dict(state)
    for mine, theirs in zip(learner.policy.parameters(), other.policy.parameters(), strict=True):
        assert torch.equal(mine, theirs)
    assert np.isfinite(other.update(0.2)["return"])


@pytest.mark.learning
def test_a_pole_is_balanced_for_most_of_a_hundred_steps() -> None:
    """CartPole, whose plain action is a Dict of one component that nobody declared; its limit of
    100 steps, which the agent cannot see, truncates; random actions last for 22."""
    network = NetworkConfig(
        core="rnn",
        what_units=64,
        where_units=8,
        glimpse_units=64,
        core_units=32,
        head_units=32,
        skip=True,
        normalise=False,
    )
    updates = 100
    config = ActorCriticConfig(
        env_id="CartPole-v1",
        env_kwargs={"max_episode_steps": 100},
        episodes=24 * updates,
        batch_size=24,
        learning_rate=8e-3,
        discount=0.98,
        epochs=3,
        normalise_advantages=True,
        value_weight=1.0,
        max_gradient_norm=20.0,
        network=network,
    )
    learner, best = ActorCritic(config), 0.0
    for update in range(updates):
        best = max(best, learner.update(update / updates)["return"])
        if best > 80:
            break
    learner.close()
    assert best > 80


@pytest.mark.learning
def test_where_nothing_is_taught_the_teacher_of_answers_changes_nothing() -> None:
    config = ActorCriticConfig(
        env_id="CartPole-v1", episodes=8, batch_size=8, network=tiny_network()
    )
    by_label, by_reward = ActorCritic(config), ActorCritic(replace(config, answer_by="reward"))
    assert by_label.update(0.0) == by_reward.update(0.0)
    weights = zip(by_label.policy.parameters(), by_reward.policy.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in weights)
    for learner in (by_label, by_reward):
        learner.close()


def test_plain_spaces_of_ours_are_refused_in_training() -> None:
    config = ReinforceConfig(env_id="glimpse_envs.flat_ids:GlimpseBox/ClutteredGlyphs-v0")
    with pytest.raises(ValueError, match="has plain spaces"):
        make_training_env(config)
