"""Where time that nobody sees cuts an episode, learners go on from the value of what followed."""

from typing import Any

import pytest
import torch
from torch import Tensor

from agents.algorithms import reinforce
from agents.algorithms.actor_critic import ActorCriticConfig
from agents.algorithms.estimates import estimate
from agents.episodes.playing import Choose
from agents.episodes.rollout import play_episodes, replay_episodes
from agents.episodes.trajectory import Trajectory
from agents.policy.glimpse_policy import Decision, GlimpsePolicy
from agents.policy.making import policy_from
from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.episodes.description import describe
from tests.support.hidden_clock import make_clock
from tests.support.tiny import tiny_config, tiny_network

BUDGET = 3
# When each row stops; 0: never, so that time cuts it.
STOPS: dict[str, list[int]] = {"SameStep": [0, 1, 2, 0, 3, 1], "Disabled": [0, 0, 3, 0, 3, 0]}
SEED = 1


def make_env(mode: str, budget: int = BUDGET) -> GlimpseVectorEnv:
    env = make_clock(6, budget=budget, autoreset_mode=mode)
    env.reset(seed=SEED)
    return env


def make_policy() -> GlimpsePolicy:
    torch.manual_seed(0)
    return policy_from(tiny_network(detach_heads=False), describe(make_env("SameStep"))).double()


def planned(stops: list[int]) -> Choose:
    """Look at cell 0, then at cell 1 for ever, and stop as planned."""

    def choose(decision: Decision, seen: Any, info: Any, step: int) -> dict[str, Tensor]:
        stop = torch.tensor([at == step + 1 for at in stops]).long()
        return {"look": torch.full((6,), min(step, 1)), "stop": stop}

    return choose


def play(mode: str, policy: GlimpsePolicy) -> Trajectory:
    return play_episodes(make_env(mode), policy, planned(STOPS[mode]))


def values_where_time_goes_on(policy: GlimpsePolicy) -> Tensor:
    """The values (BUDGET + 1, 6) of the same looks, had nobody stopped and time gone on."""
    longer = make_env("SameStep", budget=BUDGET + 1)
    return play_episodes(longer, policy, planned([0] * 6)).values.detach()


@pytest.mark.parametrize("mode", STOPS)
def test_what_follows_a_cut_has_its_value_and_what_follows_an_end_none(mode: str) -> None:
    policy = make_policy()
    played = play(mode, policy)
    expected = values_where_time_goes_on(policy)[BUDGET]
    cut = torch.tensor([at == 0 for at in STOPS[mode]])
    assert (expected.abs() > 1e-3).all()
    torch.testing.assert_close(played.last_values, expected * cut, atol=1e-6, rtol=1e-5)
    assert played.alive.sum(dim=0).tolist() == [at or BUDGET for at in STOPS[mode]]
    assert not played.last_values.requires_grad


def test_dropping_rows_that_have_ended_changes_no_last_value() -> None:
    policy = make_policy()
    env = make_env("SameStep")
    plan = planned(STOPS["SameStep"])
    left = [torch.arange(6), torch.tensor([0, 2, 3, 4]), torch.tensor([0, 3, 4])]

    def choose(decision: Decision, seen: Any, info: Any, step: int) -> dict[str, Tensor]:
        return {name: rows[left[step]] for name, rows in plan(decision, seen, info, step).items()}

    dropped = play_episodes(env, policy, choose, drop_ended=True)
    assert [None if rows is None else len(rows) for rows in dropped.rows] == [None, 4, 3]
    assert torch.equal(dropped.last_values, play("SameStep", policy).last_values)


@pytest.mark.parametrize("mode", STOPS)
def test_returns_go_on_from_the_last_value(mode: str) -> None:
    """By hand, for A2C; without a discount, as REINFORCE has none, the limit is the horizon."""
    policy, discount = make_policy(), 0.9
    played = play(mode, policy)
    config = ActorCriticConfig(
        advantage="n_step", n_steps=BUDGET, discount=discount, answer_by="reward"
    )
    found = estimate(played, config).returns
    undiscounted = torch.zeros_like(found)
    for row, at in enumerate(STOPS[mode]):
        following, undiscounted_following = played.last_values[row], torch.tensor(0.0)
        for step in reversed(range(at or BUDGET)):
            following = played.rewards[step, row] + discount * following
            undiscounted_following = played.rewards[step, row] + undiscounted_following
            torch.testing.assert_close(found[step, row], following)
            undiscounted[step, row] = undiscounted_following
    losses = reinforce.episode_losses(played, tiny_config(answer_by="reward"))
    errors = 0.5 * (played.values - undiscounted) ** 2 * played.alive
    torch.testing.assert_close(losses["baseline"], errors.sum(dim=0) / played.alive.sum(dim=0))


def test_a_replay_keeps_the_last_values_of_its_rows() -> None:
    policy = make_policy()
    played = play("SameStep", policy)
    rows = torch.tensor([3, 1, 0])
    replayed = replay_episodes(policy, played, rows)
    assert torch.equal(replayed.last_values, played.last_values[rows])


def test_to_stop_has_an_effect_even_at_the_last_step_where_nobody_sees_it() -> None:
    """It terminates what would be cut, and so earns what it earned and no more."""
    played = play("SameStep", make_policy())
    effective = played.effective(looks_learned=True, taught=True)
    assert effective.keys() == {"look", "stop"}
    assert torch.equal(effective["stop"], played.alive)
