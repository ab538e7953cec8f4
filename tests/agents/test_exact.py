"""Sums over looks are exact: they are what enumerating the environment gives."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from agents.algorithms.exact import (
    OBJECTIVES,
    Exact,
    ExactConfig,
    all_paths_losses,
    next_tile_losses,
)
from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.algorithms.reinforce import episode_losses as reinforce_losses
from agents.algorithms.tile_learner import TileEpisodes, TileLosses
from agents.episodes.rollout import play_episodes
from agents.policy.core import State
from agents.policy.distributions import Categorical
from agents.policy.glimpse_policy import Decision, GlimpsePolicy
from tests.support.episodes import CENTRED
from tests.support.sequences import (
    CLASSES,
    SCENE,
    TILES,
    enumerate_sequences,
    forced,
    gradient,
    make_env,
    make_policy,
    play_exactly,
)
from tests.support.tile_episodes import TILED, assert_close, enumerable_episodes, watched
from tests.support.tiny import tiny_network


def tiny_config(**changes: Any) -> ExactConfig:
    """Twelve updates of eight episodes on built-in digits, seen through four tiles."""
    return ExactConfig(**{**TILED, **changes})


def next_tile(policy: GlimpsePolicy, episodes: TileEpisodes, objective: str) -> TileLosses:
    generator = torch.Generator().manual_seed(0)
    return next_tile_losses(policy, episodes, OBJECTIVES[objective], generator)


def all_paths(policy: GlimpsePolicy, episodes: TileEpisodes, objective: str) -> TileLosses:
    return all_paths_losses(policy, episodes, OBJECTIVES[objective])


# --- against the environment ----------------------------------------------------------------------


@pytest.mark.parametrize("reward", ["final", "dense"])
def test_all_paths_give_the_gradient_of_the_expected_reward(reward: str) -> None:
    policy = make_policy(TILED["network"], reward=reward)
    sequences = enumerate_sequences(CLASSES, reward=reward)
    exact = play_exactly(policy, sequences, greedy=False, reward=reward)
    paid = (exact.probability * exact.reward).sum()
    outcome = all_paths(policy, enumerable_episodes(reward=reward), "expected_reward")
    loss = outcome.losses["objective"].sum()
    assert loss.item() == pytest.approx(-paid.item())
    assert_close(gradient(loss, policy), gradient(-paid, policy))


def test_all_paths_give_the_gradient_of_the_marginal_likelihood() -> None:
    policy = make_policy(TILED["network"])
    exact = play_exactly(policy, enumerate_sequences(1), greedy=True)
    marginal = (exact.probability * (-exact.cross_entropy).exp()).sum().log()
    outcome = all_paths(policy, enumerable_episodes(), "marginal_likelihood")
    loss = outcome.losses["objective"].sum()
    assert loss.item() == pytest.approx(-marginal.item())
    assert_close(gradient(loss, policy), gradient(-marginal, policy))


@pytest.mark.parametrize("reward", ["final", "dense"])
def test_all_paths_of_the_hybrid_are_the_mean_of_reinforces(reward: str) -> None:
    policy = make_policy(TILED["network"], reward=reward)
    sequences = enumerate_sequences(1, reward=reward)
    chances = play_exactly(policy, sequences, greedy=True, reward=reward).probability.detach()
    env = make_env(len(chances), reward=reward)
    trajectory = play_episodes(env, policy, forced(sequences, greedy=True), options=SCENE)
    losses = reinforce_losses(trajectory, ReinforceConfig())
    means = {name: (chances * loss).sum() for name, loss in losses.items()}
    found = all_paths(policy, enumerable_episodes(reward=reward), "hybrid").losses
    for mine, expected in (
        (found["objective"].sum(), means["policy"] + means["answer"]),
        (found["entropy"].sum(), means["entropy"]),
    ):
        assert_close(gradient(mine, policy, keep=True), gradient(expected, policy, keep=True))


def test_scenes_are_followed_apart() -> None:
    learner = Exact(tiny_config(paths="all", batch_size=3))
    episodes = learner.deal()
    together = all_paths(learner.policy, episodes, "expected_reward")
    for row in range(3):
        one = {n: getattr(episodes, n)[row : row + 1] for n in ("glimpses", "targets", "first")}
        alone = all_paths(learner.policy, replace(episodes, **one), "expected_reward")
        torch.testing.assert_close(alone.right[:, 0], together.right[:, row])
        for name, loss in alone.losses.items():
            torch.testing.assert_close(loss[0], together.losses[name][row])


def test_the_mean_of_many_samples_of_reinforce_tends_to_it() -> None:
    rows, policy = 4000, make_policy(TILED["network"])
    exact = all_paths(policy, enumerable_episodes(), "expected_reward").losses["objective"].sum()
    expected = gradient(exact, policy)

    sequences = enumerate_sequences(CLASSES)
    chances = play_exactly(policy, sequences, greedy=False).probability.detach()[:, None]
    env = make_env(len(chances))
    trajectory = play_episodes(env, policy, forced(sequences, greedy=False), options=SCENE)
    losses = reinforce_losses(trajectory, ReinforceConfig(answer_by="reward"))["policy"]
    gradients = torch.stack([gradient(loss, policy, keep=True) for loss in losses])  # (N, P)
    error_of_mean = ((chances * (gradients - expected) ** 2).sum(dim=0) / rows).sqrt()

    learner = Reinforce(ReinforceConfig(env_id=CENTRED, batch_size=1, answer_by="reward"))
    sampled = play_episodes(make_env(rows), policy, learner.choose, options=SCENE)
    found = gradient(reinforce_losses(sampled, learner.config)["policy"].mean(), policy)
    assert error_of_mean.max() > 1e-3
    assert ((found - expected).abs() <= 4 * error_of_mean + 1e-8).all()


# --- the next tile --------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("reward", ["final", "dense"])
@pytest.mark.parametrize("budget", [1, 2])
def test_with_one_look_or_none_the_next_tile_is_all_there_is(
    objective: str, reward: str, budget: int
) -> None:
    policy = make_policy(TILED["network"], reward=reward)
    episodes = enumerable_episodes(rows=3, reward=reward, budget=budget)
    one, whole = (way(policy, episodes, objective) for way in (next_tile, all_paths))
    for name, loss in whole.losses.items():
        torch.testing.assert_close(one.losses[name], loss)
    torch.testing.assert_close(one.right, whole.right)
    first, second = (o.losses["objective"].sum() for o in (one, whole))
    assert_close(gradient(first, policy), gradient(second, policy))


class Foreseeing(GlimpsePolicy):
    """Its baseline is right: after the second of three glimpses it tries all tiles."""

    episodes: TileEpisodes
    objective = "expected_reward"

    def forward(
        self, observation: dict[str, Tensor], state: State, seen: Tensor | None = None
    ) -> tuple[Decision, State]:
        decision, after = super().forward(observation, state, seen)
        if observation["remaining"][0, 0].item() != pytest.approx(1 / 3):
            return decision, after
        rows = len(decision.value)
        with torch.no_grad():
            everywhere = self.episodes.everywhere(3, paths=rows)
            repeated = tuple(part.repeat_interleave(TILES, dim=0) for part in after)
            tried, _ = super().forward(everywhere, repeated)
            targets = self.episodes.targets.repeat_interleave(rows * TILES)
            log_right = tried.heads["answer"].log_prob(targets).view(rows, TILES)
            log_p = decision.heads["look"].logits.log_softmax(dim=-1)  # type: ignore[attr-defined]
            _, earned = OBJECTIVES[self.objective](log_p, log_right)
        return replace(decision, value=self.episodes.pays[2] * earned), after


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("reward", ["final", "dense"])
def test_with_a_baseline_that_is_right_histories_average_to_the_exact_gradient(
    objective: str, reward: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, episodes = foreseeing(reward, objective), enumerable_episodes(reward=reward)
    first = episodes.shown(episodes.pick(episodes.first), taken=1)
    decision, _ = policy(first, policy.initial_state(1))
    log_p = decision.heads["look"].logits.log_softmax(dim=-1)[0]

    total, value = torch.zeros(()), torch.zeros(())
    for tile in range(TILES):  # the histories of three glimpses
        monkeypatch.setattr(Categorical, "sample", lambda *_, a=tile: torch.tensor([a]))
        losses = next_tile(policy, episodes, objective).losses
        loss = losses["objective"].sum()
        total = total + log_p[tile].detach().exp() * gradient(loss, policy)
        value = value + log_p[tile].exp() * loss
        # In the second state nothing is missed; in the first the exact backup was to be foreseen.
        assert losses["baseline"].item() == pytest.approx(
            (decision.value - backup(policy, episodes)).item() ** 2 / 4
        )
    if objective == "marginal_likelihood":  # of which paths="all" climbs another bound
        exact = bound(policy, episodes)
    else:
        exact = -all_paths(policy, episodes, objective).losses["objective"].sum()
    assert value.item() == pytest.approx(-exact.item())
    assert_close(total, gradient(-exact, policy))


def foreseeing(reward: str, objective: str) -> Foreseeing:
    like = make_policy(TILED["network"], reward=reward)
    task = make_env(1, reward=reward).task
    policy = Foreseeing(task.observation_space, task.components, TILED["network"]).double()
    policy.load_state_dict(like.state_dict())
    policy.episodes, policy.objective = enumerable_episodes(reward=reward), objective
    return policy


def look_tree(policy: Foreseeing, episodes: TileEpisodes) -> tuple[Tensor, Tensor, Tensor]:
    """By hand, of one episode: the log-probabilities of the second (n,) and third (n, n) tiles and
    of the right answers, those after the second glimpse (n,) in front of those after the third:
    (n, 1 + n)."""
    start = episodes.shown(episodes.pick(episodes.first), taken=1)
    decision, state = policy(start, policy.initial_state(1))
    second = decision.heads["look"].logits.log_softmax(dim=-1)[0]
    third, right = [], []
    for a in range(TILES):
        seen = episodes.shown(episodes.pick(torch.tensor([a])), taken=2)
        decision, after = policy(seen, state)
        third.append(decision.heads["look"].logits.log_softmax(dim=-1)[0])
        answered = [decision.heads["answer"].log_prob(episodes.targets)[0]]
        for b in range(TILES):
            seen = episodes.shown(episodes.pick(torch.tensor([b])), taken=3)
            last, _ = policy(seen, after)
            answered.append(last.heads["answer"].log_prob(episodes.targets)[0])
        right.append(torch.stack(answered))
    return second, torch.stack(third), torch.stack(right)


def bound(policy: Foreseeing, episodes: TileEpisodes) -> Tensor:
    """What `next_tile_losses` climbs with the marginal likelihood: its mean over histories."""
    start = episodes.shown(episodes.pick(episodes.first), taken=1)
    decision, _ = policy(start, policy.initial_state(1))
    second, third, right = look_tree(policy, episodes)
    last = (third + right[:, 1:]).logsumexp(dim=1)
    scored = [
        decision.heads["answer"].log_prob(episodes.targets)[0],
        (second + right[:, 0]).logsumexp(dim=0),
        (second.exp() * last).sum(),
    ]
    return torch.stack([w * s for w, s in zip(episodes.pays, scored, strict=True)]).sum()


def backup(policy: Foreseeing, episodes: TileEpisodes) -> Tensor:
    """What is earned after the first answer, as the objective counts it."""
    second, third, right = look_tree(policy, episodes)
    earned = OBJECTIVES[policy.objective]
    now = episodes.pays[1] * earned(second[None], right[None, :, 0])[1][0]
    return now + (second.exp() * episodes.pays[2] * earned(third, right[:, 1:])[1]).sum()


@pytest.mark.parametrize("detach", [True, False])
@pytest.mark.parametrize("reward", ["final", "dense"])
def test_the_objective_sends_no_gradient_into_the_baseline(reward: str, detach: bool) -> None:
    policy = make_policy(tiny_network(detach_heads=detach), reward=reward)
    losses = next_tile(policy, enumerable_episodes(reward=reward), "hybrid").losses
    assert not gradient(losses["objective"].sum(), policy, "baseline", keep=True).any()
    assert gradient(losses["objective"].sum(), policy, "heads.look", keep=True).any()
    assert gradient(losses["baseline"].sum(), policy, "baseline", keep=True).any()
    into_the_core = gradient(losses["baseline"].sum(), policy, "core", keep=True)
    assert bool(into_the_core.any()) is not detach


def test_all_that_is_tried_and_shown_is_as_the_environment_shows_it() -> None:
    policy, env, every = make_policy(TILED["network"]), make_env(TILES), np.arange(TILES)
    with watched(policy) as observations:
        next_tile(policy, enumerable_episodes(), "hybrid")
    start, _ = env.reset(options=SCENE)
    second, *_ = env.step({"look": every, "answer": 0 * every})
    third, *_ = env.step({"look": every, "answer": 0 * every})
    first, tried, sampled, tried_last = observations
    chosen = int((tried["location"] == sampled["location"]).all(dim=1).nonzero())
    for name in start:
        for found, expected in (
            (first[name], start[name][:1]),
            (tried[name], second[name]),
            (sampled[name], second[name][chosen : chosen + 1]),
            (tried_last[name], third[name]),
        ):
            assert torch.equal(found, torch.as_tensor(expected).double()), name
