"""Runs of A2C and PPO repeat, resume, and refuse what cannot be."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import Tensor

import agents.algorithms.actor_critic
from agents.algorithms.actor_critic import (
    ActorCritic,
    ActorCriticConfig,
    episode_losses,
)
from agents.episodes.rollout import play_episodes
from agents.scoring.run_record import make_record
from agents.scoring.run_scores import evaluate_run
from agents.train import train_agent
from tests.support.marks import first_is_quick
from tests.support.same_runs import assert_repeats_and_resumes, assert_same_run
from tests.support.tiny import PPO, tiny_actor_critic, tiny_network
from tests.support.trainings import Killed, trained

RUNS: dict[str, ActorCriticConfig] = {
    "a2c": tiny_actor_critic(),
    "a2c_n_step": tiny_actor_critic(
        advantage="n_step", n_steps=1, discount=0.9, answer_by="reward"
    ),
    "ppo": tiny_actor_critic(**PPO),
    "ppo_tiles": tiny_actor_critic(**PPO, env_kwargs={"budget": 3, "look": "tiles"}),
    "ppo_copies_stop": tiny_actor_critic(**PPO, copies=2, env_kwargs={"budget": 3, "stop": True}),
    "ppo_kl": tiny_actor_critic(**PPO, target_kl=1e-4, learning_rate=0.01, final_look_std=0.05),
    "ppo_random_gaze": tiny_actor_critic(**PPO, gaze="random"),
    "ppo_bfloat16": tiny_actor_critic(**PPO, precision="bfloat16", normalise_advantages=True),
}


@pytest.mark.learning
@pytest.mark.parametrize("name", first_is_quick(RUNS))
def test_equal_seeds_give_equal_runs_and_a_run_resumed_is_the_unbroken_run(
    name: str, tmp_path: Path
) -> None:
    assert_repeats_and_resumes(ActorCritic, RUNS[name], tmp_path)


def test_looks_by_a_rule_are_not_learned() -> None:
    """The gradient of their head is that of nothing at all; the answer is learned."""
    learner = ActorCritic(tiny_actor_critic(**PPO, gaze="raster", answer_by="reward"))
    before = {name: value.clone() for name, value in learner.policy.state_dict().items()}
    learner.update(progress=0.5)
    changed = {
        name.split(".")[1]
        for name, value in learner.policy.state_dict().items()
        if name.startswith("heads.") and (value != before[name]).any()
    }
    assert changed == {"answer"}
    assert learner.model.gaze == "raster"


def test_an_oracle_looks_at_what_a_search_asks_for_in_every_row_under_way() -> None:
    """Rows that end early are dealt anew, and their oracle's looks with them."""
    config = tiny_actor_critic(
        env_id="Glimpse/SearchGlyphs-v0",
        env_kwargs={},
        gaze="oracle",
        answer_by="reward",  # stops are drawn
        batch_size=64,
    )
    learner = ActorCritic(config)
    played = play_episodes(learner.envs, learner.policy, learner.choose)
    assert played.targets is not None
    on_target = played.targets[1:][played.target_mask[1:]]
    assert len(on_target) > 20
    assert (on_target == 1).all()
    assert len(set(played.alive.sum(dim=0).tolist())) > 1, "rows end at different steps"
    learner.update(progress=0.5)


@pytest.mark.learning
@pytest.mark.parametrize("deadly", [1, 6, 18, 23])
def test_a_run_killed_between_two_minibatches_resumes(deadly: int, tmp_path: Path) -> None:
    class Mortal(ActorCritic):
        """Dies before its `deadly`-th step of Adam, four of which make an update."""

        def descend(self, total: Tensor, **parts: Tensor) -> float:
            if next(steps) == deadly:
                raise Killed
            return super().descend(total, **parts)

    steps = iter(range(1, 1000))
    with pytest.raises(Killed):
        trained(Mortal, RUNS["ppo"], tmp_path / "broken")
    resumed = trained(ActorCritic, RUNS["ppo"], tmp_path / "broken", resume=True)
    assert_same_run(resumed, trained(ActorCritic, RUNS["ppo"], tmp_path / "unbroken"))


@pytest.mark.learning
@pytest.mark.parametrize("name", ["policy", "answer", "value", "entropy"])
def test_a_loss_that_is_nan_stops_the_run_and_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoilt(*arguments: Any) -> dict[str, Tensor]:
        losses = episode_losses(*arguments)
        return {**losses, name: losses[name] * np.nan} if next(calls) == 22 else losses

    calls = iter(range(1000))
    monkeypatch.setattr(agents.algorithms.actor_critic, "episode_losses", spoilt)
    with pytest.raises(FloatingPointError, match=rf"the {name} loss is nan at update 6 \(40 "):
        trained(ActorCritic, RUNS["ppo"], tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"clip": 0.0}, "clip=0.0 must be above 0"),
        ({"clip": -0.2}, "clip=-0.2 must be above 0"),
        ({"target_kl": 0.0}, "target_kl=0.0 must be above 0"),
        ({"gae_lambda": 1.01}, "gae_lambda=1.01 must be from 0 to 1"),
        ({"gae_lambda": np.nan}, "gae_lambda=nan must be from 0 to 1"),
        ({"discount": -0.1}, "discount=-0.1 must be from 0 to 1"),
        ({"n_steps": 0}, "n_steps=0 must be at least 1"),
        ({"epochs": 0}, "epochs=0 must be at least 1"),
        ({"minibatches": 0}, "minibatches=0 must be at least 1"),
        ({"minibatches": 3}, r"minibatches=3 must divide the batch's 8 scenes \(batch_size=8"),
        ({"minibatches": 4, "copies": 4}, "minibatches=4 must divide the batch's 2 scenes"),
        ({"advantage": "td"}, "advantage='td' must be one of 'gae', 'n_step'"),
        ({"value_weight": np.inf}, "value_weight=inf must be at least 0 and finite"),
        ({"value_weight": -0.5}, "value_weight=-0.5 must be at least 0"),
        ({"curiosity_weight": -0.1}, "curiosity_weight=-0.1 must be at least 0"),
        ({"curiosity_weight": 0.5}, "curiosity_weight=0.5 has no effect without curiosity='icm'"),
        ({"n_steps": 3}, "n_steps=3 has no effect without advantage='n_step'"),
        ({"target_kl": 0.1, "epochs": 1, "minibatches": 1}, "target_kl=0.1 has no effect without"),
        ({"clip": 0.1, "epochs": 1, "minibatches": 1}, "clip=0.1 has no effect without"),
        ({"advantage": "n_step", "gae_lambda": 0.5}, "gae_lambda=0.5 has no effect without"),
        (
            {"network": tiny_network(refine_looks=True)},
            "refine_looks=True has no effect without look_coordinates='cells'",
        ),
        (
            {"network": tiny_network(look_coordinates="cells", learn_look_std=True)}
            | {"env_id": "Glimpse/ClutteredGlyphs-v0"},
            "learn_look_std=True has no effect without look_coordinates='scene' or 'log_move'",
        ),
        ({"look_weight": np.nan}, "look_weight=nan must be at least 0 and finite"),
        ({"final_look_std": -1.0}, "final_look_std=-1.0 must be above 0"),
        (
            {"final_look_std": 0.1, "network": tiny_network(learn_look_std=True)},
            "learn_look_std learns what final_look_std schedules",
        ),
    ],
)
def test_a_config_that_cannot_be_is_refused_before_a_run_is_made(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        trained(ActorCritic, tiny_actor_critic(**changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, "A2C LSTM"),
        ({"answer_by": "reward"}, "A2C LSTM, answer by reward"),
        ({"epochs": 2}, "PPO LSTM"),
        ({"minibatches": 2, "network": tiny_network(core="gru")}, "PPO GRU"),
        ({**PPO, "answer_by": "reward"}, "PPO LSTM, answer by reward"),
    ],
)
def test_its_name_tells_what_it_is(changes: dict[str, Any], name: str) -> None:
    assert ActorCritic(tiny_actor_critic(**changes)).model.name == name


def test_where_nothing_is_taught_the_reward_teaches() -> None:
    catch = ActorCritic(tiny_actor_critic(env_id="Glimpse/Catch-v0", env_kwargs={})).model
    assert (catch.name, catch.learns_from) == ("A2C LSTM, answer by reward", "reward")
    assert ActorCritic(tiny_actor_critic()).model.learns_from == "label"


@pytest.mark.learning
def test_a_run_is_trained_by_name_evaluated_and_recorded(tmp_path: Path) -> None:
    config = replace(RUNS["ppo"], validation_episodes=0)
    run = train_agent("actor_critic", config, tmp_path, progress_bar=False)
    logged = run.read_metrics()[-1]
    assert logged.keys() >= {
        "loss/policy", "loss/value", "loss/entropy", "loss/answer", "clip_fraction", "approx_kl",
        "explained_variance", "error", "return", "glimpses", "gradient_norm",
    }  # fmt: skip
    record = make_record(run, [evaluate_run(run, episodes=50)])
    assert record.model.name == "PPO LSTM"
    assert record.algorithm == "actor_critic"
    assert record.budget == 3
    assert record.curve == ()
