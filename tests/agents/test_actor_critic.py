"""A2C and PPO: one objective, exact where it can be enumerated, and learners that learn."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

import agents.algorithms.actor_critic
from agents.algorithms.actor_critic import (
    ActorCritic,
    clipped_objective,
    episode_losses,
)
from agents.algorithms.estimates import Estimates, estimate
from agents.episodes.rollout import play_episodes, replay_episodes
from agents.episodes.trajectory import Trajectory
from agents.policy.distributions import OptionalAnswer
from tests.support.episodes import CIRCLE_SQUARE
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
from tests.support.tiny import PPO, tiny_actor_critic, tiny_network

MONTE_CARLO: dict[str, dict[str, Any]] = {
    "gae": {"advantage": "gae", "gae_lambda": 1.0},
    "n_step": {"advantage": "n_step", "n_steps": 3},
}


# --- the objective --------------------------------------------------------------------------------


@pytest.mark.learning
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
    config = tiny_actor_critic(answer_by="reward", clip=0.2)
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
    judged = Estimates(
        (now - ratio.log()).detach(),
        advantages,
        values,
        returns,
        returns,
        torch.zeros_like(returns),
    )
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
        (tiny_actor_critic(answer_by="reward"), played.rewards),
        (tiny_actor_critic(look_signal="reward"), played.rewards),
        (tiny_actor_critic(look_signal="probability"), played.log_likelihood().exp() / BUDGET),
        (tiny_actor_critic(look_signal="log_likelihood"), played.log_likelihood() / BUDGET),
    ):
        expected = (earned + 0.9 * following).detach()
        for settings in ({"gae_lambda": 0.0}, {"advantage": "n_step", "n_steps": 1}):
            judged = estimate(played, replace(config, discount=0.9, **settings))
            torch.testing.assert_close(judged.returns, expected)
            torch.testing.assert_close(judged.advantages, expected - values)
            assert not judged.returns.requires_grad
            assert not judged.log_prob.requires_grad


def test_what_looks_gain_is_discounted_as_rewards_are() -> None:
    policy, sequences = make_policy(tiny_network()), enumerate_sequences(CLASSES)
    env = make_env(len(sequences.counted[0]))
    played = play_episodes(env, policy, forced(sequences, greedy=False), options=SCENE)
    config = tiny_actor_critic(look_signal="probability", gae_lambda=1.0, discount=0.9)
    plain, gained = (estimate(played, replace(config, look_gain=g)) for g in (False, True))
    likely = played.log_likelihood().detach().exp()
    torch.testing.assert_close(gained.returns, plain.returns - likely)


def test_advantages_are_normalised_over_the_decisions_that_count() -> None:
    policy, sequences = make_policy(tiny_network()), enumerate_sequences(1)
    env = make_env(len(sequences.counted[0]))
    played = play_episodes(env, policy, forced(sequences, greedy=True), options=SCENE)
    judged = estimate(played, tiny_actor_critic(normalise_advantages=True))
    looked = judged.advantages[played.continuing]
    assert looked.mean().item() == pytest.approx(0.0, abs=1e-6)
    assert looked.std(correction=0).item() == pytest.approx(1.0, abs=1e-6)
    plain = estimate(played, tiny_actor_critic())
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

    config = tiny_actor_critic(answer_by="reward", **MONTE_CARLO[advantage])
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


@pytest.mark.learning
@pytest.mark.parametrize("kind", KINDS)
def test_the_first_gradient_of_a_replay_is_that_of_the_play(kind: str) -> None:
    learner = ActorCritic(tiny_actor_critic(entropy_weight=0.01, **KINDS[kind]))
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


@pytest.mark.learning
def test_a_step_of_ppo_with_one_epoch_of_the_whole_batch_is_one_of_a2c(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played, replayed = (ActorCritic(tiny_actor_critic(answer_by="reward")) for _ in range(2))
    monkeypatch.setattr(replayed, "plays_once", False)
    one, two = (learner.update(0.5) for learner in (played, replayed))
    assert one == pytest.approx(two, rel=1e-4, abs=1e-6)
    for mine, other in zip(played.policy.parameters(), replayed.policy.parameters(), strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("answer_by", ["label", "reward"])
def test_what_had_no_effect_has_no_gradient(answer_by: Any) -> None:
    config = tiny_actor_critic(answer_by=answer_by)
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

    expected = {"look": trajectory.continuing, "stop": trajectory.stoppable}
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
    learner = ActorCritic(tiny_actor_critic(batch_size=16, copies=2, epochs=3, minibatches=4))
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
    metrics = ActorCritic(tiny_actor_critic(learning_rate=0.1, epochs=4)).update(0.1)
    assert metrics["approx_kl"] > 1e-3
    assert 0 < metrics["clip_fraction"] < 1
    metrics = ActorCritic(tiny_actor_critic(learning_rate=0.1)).update(0.1)
    assert metrics["approx_kl"] == metrics["clip_fraction"] == 0
    assert metrics["gradient_steps"] == 1


def test_a_batch_is_left_where_the_policy_has_moved_too_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings: dict[str, Any] = {"learning_rate": 0.1, "epochs": 6, "target_kl": 1e-3}
    learner = ActorCritic(tiny_actor_critic(**settings))
    rows = replays_of(learner, monkeypatch)
    metrics = learner.update(0.1)
    assert metrics["gradient_steps"] == len(rows) - 1 < 6
    assert metrics["approx_kl"] <= 1e-3
    far = ActorCritic(tiny_actor_critic(**{**settings, "target_kl": 1e9})).update(0.1)
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
    ActorCritic(tiny_actor_critic()).update(0.5)
    ActorCritic(tiny_actor_critic(**PPO)).update(0.5)
    assert kept == [True, False]


def _with(env_id: str, network: dict[str, Any], **env_kwargs: Any) -> dict[str, Any]:
    return {"env_id": env_id, "env_kwargs": env_kwargs, "network": tiny_network(**network)}


GLYPHS = "Glimpse/ClutteredGlyphs-v0"
HEADS: dict[str, dict[str, Any]] = {
    "cells": _with(
        GLYPHS, {"look_coordinates": "cells", "inhibition_of_return": True},
        budget=4, context=True, scales=3,
    ),
    "refined": _with(
        GLYPHS,
        {"look_coordinates": "cells", "refine_looks": True, "inhibition_of_return": True,
         "wide_inhibition": True, "detach_heads": True, "skip": True, "count_glimpses": True},
        budget=4, stop=True,
    ),
    "dram": _with(GLYPHS, {"core": "dram", "detach_heads": False}, budget=4, context=True),
    "log_move": _with(
        GLYPHS, {"look_coordinates": "log_move", "learn_look_std": True}, budget=4
    ),
    "tiles": _with(GLYPHS, {"inhibition_of_return": True, "skip": True}, budget=4, look="tiles"),
    "optional": _with(
        "Glimpse/Copy-v0",
        {"direct_access": "symbols", "answer_in_view": True, "skip": True},
        length=3,
    ),
    "bits": _with(
        "Glimpse/PointerChase-v0",
        {"direct_access": "all", "count_glimpses": True, "core": "feedforward"},
        length=3, cells=20,
    ),
    "words": _with("Glimpse/DescribeSceneGlyphs-v0", {"blind_memory": True}),
    "act": _with("Glimpse/Catch-v0", {"detach_heads": True}),
}  # fmt: skip
"""Kinds of heads, and of what they depend on besides the core."""


@pytest.mark.learning
@pytest.mark.parametrize("kind", HEADS)
def test_heads_that_read_all_steps_at_once_decide_as_step_by_step(kind: str) -> None:
    learner = ActorCritic(tiny_actor_critic(entropy_weight=0.01, **HEADS[kind]))
    config, policy = learner.config, learner.policy
    with torch.no_grad():
        for matrix in policy.parameters():  # so that every step and row differs
            if matrix.ndim > 1:
                matrix.normal_(std=0.3)
        played = play_episodes(learner.env, policy, learner.choose)
    judged, rows = estimate(played, config), torch.arange(config.batch_size).flip(0)[:-1]
    found = []
    for at_once in (1, 64):
        replayed = replay_episodes(policy, played, rows, encoded_at_once=at_once)
        losses = episode_losses(replayed, judged.rows(rows), config)
        total = torch.stack([loss.mean() for loss in losses.values() if loss.requires_grad]).sum()
        chances = {name: replayed.stack(name, "log_prob") for name in replayed.decisions[0].heads}
        found.append((chances, replayed.values, gradient(total, policy)))
    (chances, values, slope), (others, other_values, other_slope) = found
    assert slope.abs().max() > 1e-3
    for name, chance in chances.items():
        torch.testing.assert_close(others[name], chance, rtol=1e-4, atol=1e-5)
        steps = zip(played.decisions, played.actions, strict=True)
        own = torch.stack([step.heads[name].log_prob(action[name]) for step, action in steps])
        if not isinstance(played.decisions[0].heads[name], OptionalAnswer):  # of two choices
            torch.testing.assert_close(chance, own[:, rows], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(other_values, values, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(other_slope, slope, rtol=1e-3, atol=1e-5 * float(slope.abs().max()))
