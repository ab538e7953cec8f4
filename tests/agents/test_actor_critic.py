"""A2C and PPO: one objective, exact where it can be enumerated, and learners that learn."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import agents.algorithms.actor_critic
from agents.algorithms.actor_critic import (
    ActorCritic,
    ActorCriticConfig,
    Estimates,
    clipped_objective,
    episode_losses,
    estimate,
)
from agents.episodes.rollout import play_episodes, replay_episodes
from agents.episodes.trajectory import Trajectory
from agents.scoring.run_record import make_record
from agents.scoring.run_scores import evaluate_run
from agents.train import train_agent
from agents.training.loop import train
from glimpse_envs.evaluation.runs import Run
from tests.support.episodes import CENTRED, CIRCLE_SQUARE
from tests.support.same_runs import assert_repeats_and_resumes, assert_same_run
from tests.support.sequences import (
    BUDGET,
    CLASSES,
    REWARDS,
    SCENE,
    enumerate_sequences,
    forced,
    gradient,
    make_env,
    make_policy,
    play_exactly,
)
from tests.support.tiny import SMALL, tiny_network

PPO: dict[str, Any] = {"epochs": 2, "minibatches": 2}
MONTE_CARLO: dict[str, dict[str, Any]] = {
    "gae": {"advantage": "gae", "gae_lambda": 1.0},
    "n_step": {"advantage": "n_step", "n_steps": 3},
}


def tiny_config(**changes: Any) -> ActorCriticConfig:
    """Twelve updates of eight episodes on built-in digits; lines and checkpoints alternate."""
    defaults: dict[str, Any] = {
        "env_id": CENTRED,
        "env_kwargs": {"budget": 3},
        "episodes": 96,
        "batch_size": 8,
        "log_every": 3,
        "checkpoint_every": 4,
        "network": tiny_network(detach_heads=False),
    }
    return ActorCriticConfig(**{**defaults, **changes})


# --- the objective --------------------------------------------------------------------------------


def test_the_clipped_objective_by_hand() -> None:
    ratio = torch.tensor([1.0, 1.5, 0.5, 1.5, 0.5, 1.1], requires_grad=True)
    advantages = torch.tensor([2.0, 2.0, 2.0, -2.0, -2.0, -2.0])
    objective = clipped_objective(ratio, advantages, clip=0.2)
    torch.testing.assert_close(objective, torch.tensor([2.0, 2.4, 1.0, -3.0, -1.6, -2.2]))
    objective.sum().backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    assert ratio.grad is not None
    # No gain from going on where it has gone too far; every gain from coming back.
    torch.testing.assert_close(ratio.grad, torch.tensor([2.0, 0.0, 2.0, -2.0, 0.0, -2.0]))


def test_the_losses_by_hand() -> None:
    """Two enumerated rows and two steps, of which the first look has become likelier by half."""
    config = tiny_config(answer_by="reward", clip=0.2)
    policy, env = make_policy(tiny_network(), budget=2), make_env(2, budget=2)
    plan = {"look": torch.tensor([[2, 1], [0, 0]]), "answer": torch.tensor([[0, 0], [0, 1]])}
    sequences = replace(enumerate_sequences(CLASSES), actions=plan)
    trajectory = play_episodes(env, policy, forced(sequences, greedy=False), options=SCENE)

    first, second = ({n: h.logits.log_softmax(-1) for n, h in d.heads.items()}  # type: ignore[attr-defined]
                     for d in trajectory.decisions)  # fmt: skip
    now = torch.stack([first["look"][[0, 1], [2, 1]], second["answer"][[0, 1], [0, 1]]])  # (T, B)
    ratio = torch.tensor([[1.5, 1.5], [1.0, 0.5]], dtype=torch.float64)
    advantages = torch.tensor([[2.0, -1.0], [3.0, 4.0]], dtype=torch.float64)
    returns = torch.tensor([[0.5, 0.0], [1.0, 0.0]], dtype=torch.float64)
    values = trajectory.values.detach()
    judged = Estimates((now - ratio.log()).detach(), advantages, values, returns, returns)
    losses = episode_losses(trajectory, judged, config)

    objective = [1.2 * 2.0 + 3.0, -1.5 * 1.0 + 0.5 * 4.0]  # clipped at 1.2; a loss is not
    assert losses["policy"].tolist() == pytest.approx([-value for value in objective])
    errors = 0.5 * (values - returns) ** 2
    assert losses["value"].tolist() == pytest.approx(errors.mean(dim=0).tolist())
    assert losses["clip_fraction"].tolist() == [0.5, 1.0]
    moved = ratio - 1 - ratio.log()
    assert losses["approx_kl"].tolist() == pytest.approx(moved.mean(dim=0).tolist())
    spread = -(first["look"].exp() * first["look"]).sum(dim=1)
    assert losses["entropy"].tolist() == pytest.approx(spread.tolist())


def test_estimates_are_of_what_was_earned() -> None:
    """One step from the critic by hand, on the environment's rewards and on the answer's odds."""
    policy = make_policy(tiny_network(), reward="dense")
    sequences = enumerate_sequences(CLASSES, reward="dense")
    env = make_env(len(sequences.counted[0]), reward="dense")
    played = play_episodes(env, policy, forced(sequences, greedy=False), options=SCENE)
    values = played.values.detach()
    following = torch.cat([values[1:], torch.zeros_like(values[:1])])
    assert set(played.rewards.flatten().tolist()) == {0.0, 1 / BUDGET}
    for config, earned in (
        (tiny_config(answer_by="reward"), played.rewards),
        (tiny_config(look_signal="reward"), played.rewards),
        (tiny_config(look_signal="probability"), played.log_likelihood().exp() / BUDGET),
        (tiny_config(look_signal="log_likelihood"), played.log_likelihood() / BUDGET),
    ):
        expected = (earned + 0.9 * following).detach()
        for settings in ({"gae_lambda": 0.0}, {"advantage": "n_step", "n_steps": 1}):
            judged = estimate(played, replace(config, discount=0.9, **settings))
            torch.testing.assert_close(judged.returns, expected)
            torch.testing.assert_close(judged.advantages, expected - values)
            assert not judged.returns.requires_grad
            assert not judged.log_prob.requires_grad


def test_advantages_are_normalised_over_the_decisions_that_count() -> None:
    policy, sequences = make_policy(tiny_network()), enumerate_sequences(1)
    env = make_env(len(sequences.counted[0]))
    played = play_episodes(env, policy, forced(sequences, greedy=True), options=SCENE)
    judged = estimate(played, tiny_config(normalise_advantages=True))
    looked = judged.advantages[played.going_on]
    assert looked.mean().item() == pytest.approx(0.0, abs=1e-6)
    assert looked.std(correction=0).item() == pytest.approx(1.0, abs=1e-6)
    plain = estimate(played, tiny_config())
    torch.testing.assert_close(judged.returns, plain.returns)


# --- gradients ------------------------------------------------------------------------------------


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("advantage", MONTE_CARLO)
@pytest.mark.parametrize("replayed", [False, True], ids=["played", "replayed"])
def test_it_follows_the_gradient_of_the_expected_reward(
    reward: str, advantage: str, replayed: bool
) -> None:
    kwargs = REWARDS[reward]
    policy = make_policy(tiny_network(detach_heads=False), **kwargs)
    sequences = enumerate_sequences(CLASSES, **kwargs)
    exact = play_exactly(policy, sequences, greedy=False, **kwargs)
    expected = gradient(-(exact.probability * exact.reward).sum(), policy)

    config = tiny_config(answer_by="reward", **MONTE_CARLO[advantage])
    rows = torch.arange(len(exact.reward))
    env = make_env(len(rows), **kwargs)
    trajectory = play_episodes(env, policy, forced(sequences, greedy=False), options=SCENE)
    judged = estimate(trajectory, config)
    if replayed:
        trajectory = replay_episodes(policy, trajectory, rows)
    loss = episode_losses(trajectory, judged, config)["policy"]
    found = gradient((exact.probability.detach() * loss).sum(), policy)
    assert expected.abs().max() > 1e-3, "the gradient should be there to be found"
    assert (found - expected).abs().max() < 1e-8


KINDS: dict[str, dict[str, Any]] = {
    "continuous": {},
    "tiles": {"env_kwargs": {"budget": 3, "look": "tiles"}},
    "reward": {"answer_by": "reward", "env_id": CIRCLE_SQUARE},
    "copies_stop": {"copies": 2, "env_kwargs": {"budget": 3, "stop": True}},
    "history": {"env_kwargs": {"budget": 3, "history": True}},
    "rnn": {"network": tiny_network(core="rnn", glimpse_network="conv")},
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_gradient_of_a_replay_is_that_of_the_play(kind: str) -> None:
    learner = ActorCritic(tiny_config(entropy_weight=0.01, **KINDS[kind]))
    config, policy = learner.config, learner.policy
    played = play_episodes(learner.env, policy, learner.choose)
    judged = estimate(played, config)
    rows = torch.randperm(config.batch_size)
    assert rows.tolist() != sorted(rows.tolist())
    found = []
    for trajectory, what in (
        (played, judged),
        (replay_episodes(policy, played, rows), judged.rows(rows)),
    ):
        means = {n: loss.mean() for n, loss in episode_losses(trajectory, what, config).items()}
        assert means["approx_kl"].abs() < 1e-6
        found.append(gradient(learner._total(means), policy))
    assert found[0].abs().max() > 1e-3
    torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-6)


def test_a_step_of_ppo_with_one_epoch_of_the_whole_batch_is_one_of_a2c(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played, replayed = (ActorCritic(tiny_config(answer_by="reward")) for _ in range(2))
    monkeypatch.setattr(replayed, "plays_once", False)
    one, two = (learner.update(0.5) for learner in (played, replayed))
    assert one == pytest.approx(two, rel=1e-4, abs=1e-6)
    for mine, other in zip(played.policy.parameters(), replayed.policy.parameters(), strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("answer_by", ["label", "reward"])
def test_what_had_no_effect_has_no_gradient(answer_by: Any) -> None:
    config = tiny_config(answer_by=answer_by)
    kwargs = REWARDS["stop"]
    policy = make_policy(tiny_network(), **kwargs)
    sequences = enumerate_sequences(CLASSES, **kwargs)
    env = make_env(len(sequences.counted[0]), **kwargs)
    trajectory = play_episodes(env, policy, forced(sequences, greedy=False), options=SCENE)
    assert not trajectory.alive.all(), "some episodes should end early"
    for decision in trajectory.decisions:
        for head in decision.heads.values():
            head.logits.retain_grad()  # type: ignore[attr-defined]
        decision.value.retain_grad()
    losses = episode_losses(trajectory, estimate(trajectory, config), config)
    total = losses["policy"] + losses["answer"] + losses["value"] - losses["entropy"]
    total.sum().backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped

    expected = {"look": trajectory.going_on, "stop": trajectory.stoppable}
    expected["answer"] = trajectory.target_mask
    for name, mask in expected.items():
        grads = torch.stack([d.heads[name].logits.grad for d in trajectory.decisions])  # type: ignore[attr-defined]
        assert torch.equal(grads.ne(0).any(dim=-1), mask), name
    values = torch.stack([d.value.grad for d in trajectory.decisions])  # type: ignore[misc]
    assert torch.equal(values != 0, trajectory.alive)


# --- epochs and minibatches -----------------------------------------------------------------------


def replays_of(learner: ActorCritic, monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The rows of each minibatch of the updates to come."""
    rows: list[list[int]] = []

    def remember(policy: Any, played: Trajectory, chosen: Tensor, **options: Any) -> Trajectory:
        rows.append(chosen.tolist())
        return replay_episodes(policy, played, chosen, **options)

    monkeypatch.setattr(agents.algorithms.actor_critic, "replay_episodes", remember)
    return rows


def test_an_epoch_takes_every_row_once_and_keeps_copies_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learner = ActorCritic(tiny_config(batch_size=16, copies=2, epochs=3, minibatches=4))
    rows = replays_of(learner, monkeypatch)
    metrics = learner.update(0.5)
    assert metrics["gradient_steps"] == 12
    assert [len(share) for share in rows] == [4] * 12
    epochs = [[row for share in rows[i : i + 4] for row in share] for i in (0, 4, 8)]
    assert all(sorted(epoch) == list(range(16)) for epoch in epochs)
    assert epochs[0] != epochs[1]
    for share in rows:
        assert all(row ^ 1 in share for row in share), "rows 2i and 2i + 1 see the same image"


def test_the_policy_moves_between_minibatches_and_not_in_a2c() -> None:
    metrics = ActorCritic(tiny_config(learning_rate=0.1, epochs=4)).update(0.1)
    assert metrics["approx_kl"] > 1e-3
    assert 0 < metrics["clip_fraction"] < 1
    metrics = ActorCritic(tiny_config(learning_rate=0.1)).update(0.1)
    assert metrics["approx_kl"] == metrics["clip_fraction"] == 0
    assert metrics["gradient_steps"] == 1


def test_a_batch_is_left_where_the_policy_has_moved_too_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings: dict[str, Any] = {"learning_rate": 0.1, "epochs": 6, "target_kl": 1e-3}
    learner = ActorCritic(tiny_config(**settings))
    rows = replays_of(learner, monkeypatch)
    metrics = learner.update(0.1)
    assert metrics["gradient_steps"] == len(rows) - 1 < 6
    assert metrics["approx_kl"] <= 1e-3
    far = ActorCritic(tiny_config(**{**settings, "target_kl": 1e9})).update(0.1)
    assert far["gradient_steps"] == 6


def test_episodes_are_played_without_a_gradient_where_they_are_replayed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = []

    def remember(*arguments: Any, **options: Any) -> Trajectory:
        trajectory = play_episodes(*arguments, **options)
        kept.append(trajectory.values.requires_grad)
        return trajectory

    monkeypatch.setattr(agents.algorithms.actor_critic, "play_episodes", remember)
    ActorCritic(tiny_config()).update(0.5)
    ActorCritic(tiny_config(**PPO)).update(0.5)
    assert kept == [True, False]


# --- learning -------------------------------------------------------------------------------------


def learned_error(episodes: int, **changes: Any) -> float:
    """The mean error of the last tenth of a training."""
    defaults: dict[str, Any] = {
        "env_id": CENTRED, "batch_size": 100, "learning_rate": 3e-3, "network": SMALL,
    }  # fmt: skip
    config = ActorCriticConfig(**{**defaults, "episodes": episodes, **changes})
    learner, updates = ActorCritic(config), episodes // config.batch_size
    errors = [learner.update(update / updates)["error"] for update in range(updates)]
    return float(np.mean(errors[-updates // 10 :]))


@pytest.mark.parametrize(
    ("answer_by", "episodes", "settings"),
    [
        ("label", 10_000, {}),
        ("label", 4_000, PPO),
        ("reward", 50_000, {}),
        ("reward", 15_000, {"epochs": 4}),
    ],
    ids=["a2c-label", "ppo-label", "a2c-reward", "ppo-reward"],
)
def test_what_one_glimpse_shows_is_soon_learned(
    answer_by: Any, episodes: int, settings: dict[str, Any]
) -> None:
    whole = {"glimpse_size": 28, "inside": True, "budget": 2}
    assert learned_error(episodes, env_kwargs=whole, answer_by=answer_by, **settings) < 0.1


@pytest.mark.parametrize(
    ("episodes", "settings"), [(20_000, {}), (10_000, PPO)], ids=["a2c", "ppo"]
)
def test_which_tile_to_look_at_is_learned(episodes: int, settings: dict[str, Any]) -> None:
    """One look at a digit in the middle: who learns where errs less than who looks anywhere."""
    tiles = {"glimpse_size": 10, "budget": 2, "look": "tiles"}
    learned = learned_error(episodes, env_kwargs=tiles, **settings)
    anywhere = learned_error(episodes, env_kwargs=tiles, **settings, look_weight=0.0)
    assert learned < anywhere - 0.2


@pytest.mark.parametrize(("updates", "settings"), [(150, {}), (60, PPO)], ids=["a2c", "ppo"])
def test_looks_go_where_they_are_paid(
    updates: int, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looks alone, apart from answers: paid for being near a place, they come to be near it."""
    distances: list[float] = []

    def play_and_pay(*arguments: Any, **options: Any) -> Trajectory:
        played = play_episodes(*arguments, **options)
        away = (played.actions[0]["look"] - torch.tensor([0.5, -0.5])).norm(dim=1)  # (B,)
        distances.append(away.mean().item())
        return replace(played, rewards=torch.stack([-away, torch.zeros_like(away)]))

    monkeypatch.setattr(agents.algorithms.actor_critic, "play_episodes", play_and_pay)
    config = ActorCriticConfig(
        env_id=CENTRED, env_kwargs={"budget": 2}, look_signal="reward", look_weight=1.0,
        learning_rate=5e-3, network=SMALL, **settings,
    )  # fmt: skip
    learner = ActorCritic(config)
    for update in range(updates):
        learner.update(update / updates)
    assert distances[0] > 0.5
    assert distances[-1] < 0.25, "as near as a deviation of 0.15 on both axes lets them be"


# --- runs -----------------------------------------------------------------------------------------

RUNS: dict[str, ActorCriticConfig] = {
    "a2c": tiny_config(),
    "a2c_n_step": tiny_config(advantage="n_step", n_steps=1, discount=0.9, answer_by="reward"),
    "ppo": tiny_config(**PPO),
    "ppo_tiles": tiny_config(**PPO, env_kwargs={"budget": 3, "look": "tiles"}),
    "ppo_copies_stop": tiny_config(**PPO, copies=2, env_kwargs={"budget": 3, "stop": True}),
    "ppo_kl": tiny_config(**PPO, target_kl=1e-4, learning_rate=0.01, final_look_std=0.05),
    "ppo_bfloat16": tiny_config(**PPO, precision="bfloat16", normalise_advantages=True),
}


def trained(config: ActorCriticConfig, folder: Path, **options: Any) -> Run:
    return train(ActorCritic, config, folder, progress_bar=False, **options)


@pytest.mark.parametrize("name", RUNS)
def test_equal_seeds_give_equal_runs_and_a_run_resumed_is_the_unbroken_run(
    name: str, tmp_path: Path
) -> None:
    assert_repeats_and_resumes(ActorCritic, RUNS[name], tmp_path)


class Killed(BaseException):
    """Ends a training as abruptly as a test can within its own process."""


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
        train(Mortal, RUNS["ppo"], tmp_path / "broken", progress_bar=False)
    resumed = trained(RUNS["ppo"], tmp_path / "broken", resume=True)
    assert_same_run(resumed, trained(RUNS["ppo"], tmp_path / "unbroken"))


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
        trained(RUNS["ppo"], tmp_path)


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
        ({"value_weight": np.inf}, "value_weight=inf must be finite"),
        ({"look_weight": np.nan}, "look_weight=nan must be finite"),
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
        trained(tiny_config(**changes), tmp_path / "run")
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
    assert ActorCritic(tiny_config(**changes)).model.name == name


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
