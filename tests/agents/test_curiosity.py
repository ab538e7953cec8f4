"""Curiosity pays for what is new, and pays less for it each time."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch.nn import functional as F

from agents.algorithms.actor_critic import ActorCritic
from agents.algorithms.curiosity import ICM, RND, Curiosity, Running
from agents.algorithms.estimates import estimate
from agents.episodes.rollout import play_episodes
from glimpse_envs.task import Component
from tests.support.same_runs import assert_repeats_and_resumes
from tests.support.tiny import PPO, tiny_actor_critic, tiny_network

KINDS = ("icm", "rnd")
SEARCH: dict[str, Any] = {"env_id": "Glimpse/SearchGlyphs-v0", "env_kwargs": {"budget": 4}}
TASKS: dict[str, dict[str, Any]] = {
    "pictures": {},
    "cells": {"network": tiny_network(look_coordinates="cells")},
    "moves": {"network": tiny_network(look_coordinates="log_move")},
    "stops": SEARCH | {"network": tiny_network(look_coordinates="cells")},
    "tapes": {"env_id": "Glimpse/Copy-v0", "env_kwargs": {"length": 3}},
    "addresses": {"env_id": "Glimpse/PointerChase-v0", "env_kwargs": {"cells": 16, "length": 2}},
    "others": {"env_id": "CartPole-v1", "env_kwargs": {"max_episode_steps": 12}},
}


@contextmanager
def curious(kind: Any, **changes: Any) -> Iterator[tuple[ActorCritic, Curiosity]]:
    torch.manual_seed(0)
    learner = ActorCritic(tiny_actor_critic(curiosity=kind, **changes))
    assert learner.curiosity is not None
    with closing(learner):
        yield learner, learner.curiosity


def test_running_moments_are_those_of_all_batches() -> None:
    values = 3 + 2 * torch.randn(1000, 4, generator=torch.Generator().manual_seed(0))
    moments = Running(4)
    for batch in torch.split(values, [1, 299, 0, 700]):
        moments.add(batch)
    torch.testing.assert_close(moments.mean, values.double().mean(dim=0))
    torch.testing.assert_close(moments.variance, values.double().var(dim=0, correction=0))
    assert moments.normalised(torch.full((1, 4), 1e6)).eq(5).all()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", KINDS)
def test_decisions_after_which_nothing_is_seen_earn_no_bonus(kind: Any, task: str) -> None:
    with curious(kind, **TASKS[task]) as (learner, curiosity):
        played = play_episodes(learner.envs, learner.policy, learner.choose)
        bonuses = curiosity.bonuses(played)
    assert (bonuses.rewards[played.followed] > 0).all()
    assert not bonuses.rewards[~played.followed].any()
    assert played.cut.any() == (task == "others"), "CartPole's time limit cuts"


def test_what_follows_a_cut_is_seen_and_what_follows_an_end_is_another_episode() -> None:
    short = {"env_id": "CartPole-v1", "env_kwargs": {"max_episode_steps": 20}}
    with curious("rnd", batch_size=32, **short) as (learner, curiosity):
        played = play_episodes(learner.envs, learner.policy, learner.choose)
        bonuses = curiosity.bonuses(played)
        last = curiosity.seen.normalised(played.last_observation["observation"])
        after = curiosity.critic(last)[:, 0]
    rows = torch.arange(len(after))
    at_end = bonuses.then[played.alive.sum(dim=0) - 1, rows]
    cut = played.cut
    assert 0 < cut.sum() < len(cut)
    torch.testing.assert_close(at_end[cut], last[cut])
    torch.testing.assert_close(bonuses.following[cut], after[cut])
    begun = bonuses.values[0].mean().expand(int((~cut).sum()))
    torch.testing.assert_close(bonuses.following[~cut], begun)


def test_returns_of_bonuses_go_on_over_the_end_of_an_episode() -> None:
    """Monte-Carlo returns of a bonus of 1 a decision, and 3 after the end, by hand; the critic of
    rewards does not see them."""
    with curious("rnd", gae_lambda=1.0, env_kwargs={"budget": 2}) as (learner, curiosity):
        played = play_episodes(learner.envs, learner.policy, learner.choose)
        dealt = curiosity.bonuses(played)
        paid = replace(
            dealt,
            rewards=torch.ones_like(dealt.rewards),
            values=torch.zeros_like(dealt.values),
            following=torch.full_like(dealt.following, 3.0),
        )
        plain, both = estimate(played, learner.config), estimate(played, learner.config, paid)
    late = 1 + 0.99 * 3
    early = 1 + 0.99 * late
    rows = played.alive.shape[1]
    expected = torch.tensor([[early], [late]]).expand(2, rows)
    torch.testing.assert_close(both.bonus_returns, expected)
    weight = learner.config.curiosity_weight
    torch.testing.assert_close(both.advantages, plain.advantages + weight * expected)
    assert torch.equal(both.returns, plain.returns)
    assert not plain.bonus_returns.any()


def test_returns_that_scale_bonuses_go_on_from_batch_to_batch() -> None:
    with curious("rnd") as (_, curiosity):
        alive = torch.ones(50, len(curiosity.flow), dtype=torch.bool)
        for _ in range(20):
            curiosity._count_returns(torch.ones(alive.shape), alive)
    sums = (1 - 0.99 ** torch.arange(1, 1001, dtype=torch.float64)) / (1 - 0.99)
    assert curiosity.returns.mean.item() == pytest.approx(sums.mean().item(), rel=1e-4)
    assert curiosity.returns.variance.item() == pytest.approx(
        sums.var(correction=0).item(), rel=1e-4
    )


def test_the_first_decision_of_all_earns_no_bonus() -> None:
    """A single return does not tell how large bonuses are."""
    short = {"env_id": "CartPole-v1", "env_kwargs": {"max_episode_steps": 1}}
    with curious("rnd", batch_size=1, **short) as (learner, curiosity):
        for paid in (False, True):
            played = play_episodes(learner.envs, learner.policy, learner.choose)
            assert played.followed.sum() == 1
            assert (curiosity.bonuses(played).rewards > 0).any() == paid


def test_the_critic_of_bonuses_learns_their_returns() -> None:
    with curious("rnd") as (learner, curiosity):
        played = play_episodes(learner.envs, learner.policy, learner.choose)
        bonuses = curiosity.bonuses(played)
        returns = 2 + bonuses.seen[..., :3].sum(dim=2)

        def missed() -> float:
            with torch.no_grad():
                return (curiosity.critic(bonuses.seen)[..., 0] - returns).square().mean().item()

        before = missed()
        curiosity.learn(played, bonuses, returns, steps=2, passes=300)
    assert missed() < 0.02 * before


@pytest.mark.parametrize("kind", [ICM, RND])
def test_what_was_seen_often_surprises_less_than_what_was_not(kind: type[ICM] | type[RND]) -> None:
    torch.manual_seed(0)
    learner = ActorCritic(tiny_actor_critic())
    model = kind(10, learner.description.components)
    learner.close()
    old, new = torch.randn(16, 10).repeat(4, 1), 3 * torch.randn(64, 10)
    action = {"look": old[:, :2], "answer": torch.arange(64) % 10}
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=3e-3)

    def surprise(then: torch.Tensor) -> float:
        return model.errors(old, then, action).mean().item()

    for _ in range(300):
        optimizer.zero_grad()
        loss: Any = model.loss(old, old, action)
        loss.backward()
        optimizer.step()
    assert surprise(old) < 0.3 * surprise(new)


def test_the_target_is_never_learned() -> None:
    learner = ActorCritic(tiny_actor_critic(curiosity="rnd"))
    assert learner.curiosity is not None
    model = learner.curiosity.model
    assert isinstance(model, RND)
    before = [p.clone() for p in model.target.parameters()]
    learned = [p.clone() for p in model.predictor.parameters()]
    learner.update(0.0)
    assert all(map(torch.equal, before, model.target.parameters()))
    assert not any(map(torch.equal, learned, model.predictor.parameters()))
    learner.close()


@pytest.mark.parametrize(("kind", "share"), [("icm", 1.0), ("rnd", 0.25)])
def test_what_comes_late_in_an_episode_is_learned_as_what_comes_early(
    kind: Any, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    learner = ActorCritic(
        tiny_actor_critic(curiosity=kind, batch_size=64, env_kwargs={"budget": 5})
    )
    assert learner.curiosity is not None
    model, taught = learner.curiosity.model, []
    loss = model.loss

    def watched(seen: torch.Tensor, then: torch.Tensor, action: Any) -> torch.Tensor:
        assert {len(seen), len(then), *map(len, action.values())} == {len(then)}
        taught.append(then[:, -1])  # the last part tells what remains of the budget
        return loss(seen, then, action)

    monkeypatch.setattr(model, "loss", watched)
    played = play_episodes(learner.envs, learner.policy, learner.choose)
    bonuses = learner.curiosity.bonuses(played)
    learner.curiosity.learn(played, bonuses, bonuses.values, 1, 2, learner.generator)
    learner.close()
    counts = [np.unique(of_times, return_counts=True)[1] for of_times in taught]
    assert [int(count.sum()) for count in counts] == [int(share * 64 * 4)] * 2
    assert all(len(count) == 4 and count.min() > 0.1 * count.sum() for count in counts)
    assert not torch.equal(*taught), "drawn anew"


def test_both_losses_of_icm_shape_its_features() -> None:
    """As in the authors' code; the loss as a whole weighs them by 0.8 and 0.2."""
    torch.manual_seed(0)
    model = ICM(4, {"act": Component(spaces.Discrete(3))})
    seen, then = torch.randn(2, 8, 4)
    action = {"act": torch.arange(8) % 3}
    parameters = list(model.encoder.parameters())
    by_forward = torch.autograd.grad(model.errors(seen, then, action).mean(), parameters)
    assert all(gradient.any() for gradient in by_forward)
    whole = torch.autograd.grad(model.loss(seen, then, action), parameters)
    rest = [part - 0.2 * forward for part, forward in zip(whole, by_forward, strict=True)]
    guess = model.inverse(torch.cat([model.encoder(seen), model.encoder(then)], dim=1))
    inverse = 0.8 * F.cross_entropy(guess, action["act"])
    for part, expected in zip(rest, torch.autograd.grad(inverse, parameters), strict=True):
        torch.testing.assert_close(part, expected)


def test_the_unit_of_an_act_does_not_matter_to_icm() -> None:
    seen, then = torch.randn(2, 8, 4)
    acts, losses = torch.rand(8, 2) * 2 - 1, []
    for unit in (1.0, 1_000.0):
        torch.manual_seed(0)
        model = ICM(4, {"act": Component(spaces.Box(-unit, 3 * unit, (2,)))})
        losses.append(model.loss(seen, then, {"act": unit * (2 * acts + 1)}).item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


@pytest.mark.learning
@pytest.mark.parametrize("kind", KINDS)
def test_a_curious_run_repeats_and_resumes(kind: str, tmp_path: Path) -> None:
    config = tiny_actor_critic(curiosity=kind, curiosity_weight=0.1, **PPO)
    assert_repeats_and_resumes(ActorCritic, config, tmp_path)


def test_records_name_the_bonus() -> None:
    learner = ActorCritic(tiny_actor_critic(curiosity="icm"))
    assert learner.model.name == "A2C LSTM, ICM"
    assert isinstance(learner.curiosity, Curiosity)
    learner.close()


@pytest.mark.parametrize("coordinates", ["scene", "log_move", "cells"])
def test_what_is_modelled_is_what_the_environment_took(coordinates: Any) -> None:
    network = tiny_network(look_coordinates=coordinates)
    learner = ActorCritic(tiny_actor_critic(network=network, **SEARCH))
    played = play_episodes(learner.envs, learner.policy, learner.choose, drop_ended=True)
    looks, stops = played.taken("look"), played.taken("stop")
    assert looks.shape == (*played.alive.shape, 2)
    for step, observation in enumerate(played.observations[1:]):
        went_on = played.continuing[step]
        torch.testing.assert_close(looks[step][went_on], observation["location"][went_on])
        assert not stops[step][went_on].any()
    learner.close()
