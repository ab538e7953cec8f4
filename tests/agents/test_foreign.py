"""Agents learn in environments that nobody described, by what their spaces and rewards say."""

import re
import shlex
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
from agents.evaluate import main as evaluate_main
from agents.policy.networks import NetworkConfig
from agents.report.__main__ import main as report
from agents.scoring.run_scores import evaluate_run
from agents.train import main as train_main
from agents.train import train_agent
from glimpse_envs.adapters.named_parts import NamedParts
from glimpse_envs.episodes.description import ACT, OBSERVATION, describe, task_of
from glimpse_envs.evaluation import counting, protocol
from glimpse_envs.evaluation.batches import make_batch
from glimpse_envs.evaluation.policy import Policy
from glimpse_envs.evaluation.protocol import evaluate
from glimpse_envs.task import Component
from tests.support.tiny import SMALL

DIAL = "GlimpseTest/Dial-v0"
DICTS, PLAIN = "GlimpseTest/Pedals-v0", "GlimpseTest/PlainPedals-v0"
TALKING = "GlimpseTest/TalkingPedals-v0"
PEDALS, STEPS = 3, 2


class Pedals(gym.Env[Any, Any]):
    """Pays 1 for each press of the pedal that is shown; two pedals, of which one does nothing."""

    def __init__(self, plain: bool = False) -> None:
        glimpse, pedal = spaces.Box(0.0, 1.0, (PEDALS,)), spaces.Discrete(PEDALS)
        self.plain = plain
        self.observation_space = glimpse if plain else spaces.Dict(glimpse=glimpse)
        other = spaces.Box(-1.0, 1.0, (2,))
        self.action_space = pedal if plain else spaces.Dict(pedal=pedal, other=other)

    def _show(self) -> Any:
        self.shown = int(self.np_random.integers(PEDALS))
        glimpse = np.eye(PEDALS, dtype=np.float32)[self.shown]
        return glimpse if self.plain else {"glimpse": glimpse}

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        return self._show(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        pressed = action if self.plain else action["pedal"]
        paid = float(pressed == self.shown)
        self.steps += 1
        return self._show(), paid, self.steps == STEPS, False, {}


class Talking(Pedals):
    """The same, whose infos and observations have names of ours with other meanings."""

    def __init__(self) -> None:
        super().__init__()
        glimpse = spaces.Box(0.0, 1.0, (PEDALS,))
        self.observation_space = spaces.Dict(glimpse=glimpse, remaining=spaces.Discrete(5))

    def _show(self) -> Any:
        return super()._show() | {"remaining": 0}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, paid, *ended, _ = super().step(action)
        return observation, paid, *ended, {"success": 0.25, "target": 0.5, "length": "short"}


@pytest.fixture(autouse=True)
def _environments() -> Any:
    gym.register(DICTS, entry_point=f"{__name__}:Pedals")
    gym.register(PLAIN, entry_point=f"{__name__}:Pedals", kwargs={"plain": True})
    gym.register(TALKING, entry_point=f"{__name__}:Talking")
    yield
    for env_id in (DICTS, PLAIN, TALKING):
        gym.registry.pop(env_id)


def test_names_of_ours_with_other_meanings_are_not_taken_for_ours(tmp_path: Path) -> None:
    config = ActorCriticConfig(
        env_id=TALKING, answer_by="reward", episodes=64, batch_size=16, network=SMALL
    )
    run = train_agent("actor_critic", config, tmp_path / "run", progress_bar=False)
    assert not any("error" in line for line in run.read_metrics())
    score = evaluate_run(run, episodes=8)
    assert score.success is None
    assert 0 <= score.mean_return <= STEPS


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
    assert state["env"] == {}
    other.load_state_dict(state)
    for mine, theirs in zip(learner.policy.parameters(), other.policy.parameters(), strict=True):
        assert torch.equal(mine, theirs)
    assert np.isfinite(other.update(0.2)["return"])


@pytest.mark.learning
def test_a_pole_is_balanced_for_most_of_five_hundred_steps() -> None:
    """CartPole, whose plain action is a Dict of one component that nobody declared; its limit of
    500 steps, which the agent cannot see, truncates."""
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
    updates = 80
    config = ActorCriticConfig(
        env_id="CartPole-v1",
        episodes=24 * updates,
        batch_size=24,
        learning_rate=8e-3,
        discount=0.98,
        epochs=3,
        normalise_advantages=True,
        look_weight=0.05,
        value_weight=0.05,
        max_gradient_norm=1.0,
        network=network,
    )
    learner, best = ActorCritic(config), 0.0
    for update in range(updates):
        best = max(best, learner.update(update / updates)["return"])
        if best > 400:
            break
    learner.close()
    assert best > 400


@pytest.mark.parametrize("env_id", [DICTS, PLAIN])
def test_an_environment_without_splits_is_evaluated(env_id: str) -> None:
    def press_what_is_shown(seen: dict[str, Any]) -> dict[str, Any]:
        plain = env_id == PLAIN
        shown = seen[OBSERVATION if plain else "glimpse"].argmax(axis=1)
        return {ACT: shown} if plain else {"pedal": shown, "other": np.zeros((len(shown), 2))}

    scores = [evaluate(press_what_is_shown, env_id, episodes=7, batch_size=n) for n in (3, 7)]
    for score in scores:
        assert score.returns.tolist() == [float(STEPS)] * 7
        assert score.glimpses.tolist() == [STEPS] * 7
        assert score.success is None


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ({"action": np.zeros(3, np.int64)}, "dict with the keys ['act'], not ['action']"),
        ({ACT: np.zeros(1, np.int64)}, "the action 'act' has the shape (1,); its first axis must"),
        (np.zeros(1, np.int64), "the action 'act' has the shape (1,); its first axis must"),
    ],
)
def test_actions_of_a_function_that_do_not_fit_are_named(action: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        evaluate(lambda seen: action, PLAIN, episodes=3)


def test_episodes_are_counted_before_environments_are_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = []

    def counted(env_id: str, num_envs: int, split: str, **env_kwargs: Any) -> Any:
        made.append(num_envs)
        return make_batch(env_id, num_envs, split, **env_kwargs)

    monkeypatch.setattr(counting, "make_batch", counted)
    monkeypatch.setattr(protocol, "make_batch", counted)
    with pytest.raises(ValueError, match=r"no fixed scenes: say how many .*--episodes 100"):
        evaluate(lambda seen: {ACT: np.zeros(len(seen[OBSERVATION]), np.int64)}, PLAIN)
    assert made == [1]


def test_the_command_that_training_prints_scores_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--env-id", PLAIN, "--episodes", "20", "--batch-size", "20"]
    train_main(["actor_critic", *options, "--run", str(tmp_path / "a run")])
    command = capsys.readouterr().out.partition("evaluate it: python -m agents.evaluate ")[2]
    assert command == f"'{tmp_path}/a run' --episodes 100\n"
    evaluate_main(shlex.split(command))
    assert "100 test episodes" in capsys.readouterr().out


def test_a_run_on_a_plain_environment_is_scored_and_reported(tmp_path: Path) -> None:
    config = ActorCriticConfig(env_id=PLAIN, episodes=40, batch_size=20, network=SMALL)
    run = train_agent("actor_critic", config, tmp_path / "run", progress_bar=False)
    assert evaluate_run(run, episodes=5).episodes == 5
    report([str(run.folder), "--episodes", "5"])
    assert (run.folder / "report.html").stat().st_size > 1000


def test_plain_spaces_of_ours_are_refused_in_training() -> None:
    config = ReinforceConfig(env_id="glimpse_envs.flat_ids:GlimpseBox/ClutteredGlyphs-v0")
    with pytest.raises(ValueError, match="has plain spaces"):
        make_training_env(config)


def test_a_view_that_it_does_not_take_is_refused_by_name() -> None:
    class Reader(Policy):
        view = "full"

        def predict(self, *_: Any, **__: Any) -> Any:
            raise AssertionError("nothing is played")

    with pytest.raises(ValueError, match=rf"^{PLAIN}: .*unexpected keyword argument 'view'$"):
        evaluate(Reader(), PLAIN, episodes=2)


class Goal(Pedals):
    """Pedals that tell of a goal and a length in their info, as worlds of others do."""

    def __init__(self) -> None:
        super().__init__(plain=True)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        seen, _ = super().reset(seed=seed)
        return seen, {"length": "long"}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        info = {"target": np.zeros(2), "target_mask": "none", "length": "long"}
        return *super().step(action)[:4], info


@pytest.fixture
def goal() -> Any:
    gym.register("GlimpseTest/Goal-v0", entry_point=f"{__name__}:Goal")
    yield "GlimpseTest/Goal-v0"
    gym.registry.pop("GlimpseTest/Goal-v0")


def test_infos_of_others_are_not_taken_for_answers(goal: str) -> None:
    changes: dict[str, Any] = {"env_id": goal, "network": SMALL, "batch_size": 8}
    learners = (
        Reinforce(ReinforceConfig(**changes)),
        ActorCritic(ActorCriticConfig(**changes)),
    )
    for learner in learners:
        played = play_episodes(learner.env, learner.policy, learner.choose)
        assert played.targets is None
        assert not played.levels.any()
        assert learner.update(0.5)["loss/answer"] == 0.0
        learner.close()
