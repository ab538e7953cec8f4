"""The gradient of REINFORCE on tapes and tables is the exact sum over all that can be done there.

What is exact is computed apart from rollout, distributions and losses: a product of the
probabilities that the logits stand for, and what the environment pays.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
import torch
from gymnasium import spaces
from torch import Tensor

from agents.algorithms.actor_critic import ActorCriticConfig
from agents.algorithms.actor_critic import episode_losses as actor_critic_losses
from agents.algorithms.estimates import estimate
from agents.algorithms.reinforce import episode_losses
from agents.episodes.playing import Choose
from agents.episodes.rollout import play_episodes
from agents.episodes.trajectory import Trajectory
from agents.policy.distributions import OptionalAnswer
from agents.policy.glimpse_policy import Decision, GlimpsePolicy
from agents.policy.making import policy_from
from agents.policy.networks import NetworkConfig
from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.episodes.description import describe
from tests.support.episodes import make_vector
from tests.support.sequences import assert_exact, gradient
from tests.support.tiny import tiny_config, tiny_network

# A scene of the greatest length is played; budgets are 3, 2 and 3 steps.
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "copy": ("Glimpse/Copy-v0", {"symbols": 2, "min_length": 2, "length": 2, "slack": 1.5}),
    "memory": ("Glimpse/ForwardReverse-v0", {"symbols": 2, "length": 1}),
    "table": ("Glimpse/PointerChase-v0", {"cells": 4, "values": 2, "length": 1, "slack": 1.5}),
}
SCENE = {"scene": 5}

Plan = dict[str, Tensor]  # name -> (T, N, ...)


def make_env(setting: str, rows: int) -> GlimpseVectorEnv:
    env_id, kwargs = SETTINGS[setting]
    env = make_vector(env_id, rows, split="test", **kwargs)
    env.reset(seed=0)
    return env


def make_policy(setting: str, **network: Any) -> GlimpsePolicy:
    """A float64 policy with decided opinions, so that no gradient is small by symmetry."""
    torch.manual_seed(7)
    env = make_env(setting, 1)
    config: NetworkConfig = tiny_network(detach_heads=False, direct_access="all", **network)
    policy = policy_from(config, describe(env)).double()
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.mul_(2.0)
    return policy


def choices_of(space: spaces.Space, greedy: bool) -> Iterator[Any]:
    """All of `space`; of an answer that is the likeliest symbol only whether it is given."""
    if isinstance(space, spaces.MultiDiscrete):
        return product(*(range(int(n)) for n in space.nvec))
    if isinstance(space, spaces.MultiBinary):
        return product(range(2), repeat=space.shape[0])
    assert isinstance(space, spaces.Discrete)
    return iter(range(2 if greedy else int(space.n)))


def enumerate_plans(setting: str, greedy: bool) -> Plan:
    """Every sequence of actions, those that differ in nothing that has an effect too."""
    env = make_env(setting, 1)
    named = env.task.action_space.spaces
    each = [choices_of(space, greedy and name == "answer") for name, space in named.items()]
    steps = list(product(*each))
    sequences = torch.cartesian_prod(*[torch.arange(len(steps))] * env.task.budget).T  # (T, N)
    columns = [torch.tensor(column) for column in zip(*steps, strict=True)]
    return {name: column[sequences] for name, column in zip(named, columns, strict=True)}


def forced(plan: Plan, greedy: bool) -> Choose:
    def choose(decision: Decision, observation: Any, info: Any, step: int) -> dict[str, Tensor]:
        action = {name: values[step] for name, values in plan.items()}
        if greedy:
            action["answer"] = action["answer"] * (likeliest(decision) + 1)
        return action

    return choose


def likeliest(decision: Decision) -> Tensor:
    answer = decision.heads["answer"]
    assert isinstance(answer, OptionalAnswer)
    return answer.symbols.argmax(dim=1)


@dataclass(frozen=True)
class Exact:
    """Of every sequence that counts once, N of them."""

    plan: Plan
    probability: Tensor
    """(N,)"""
    reward: Tensor
    """(N,)"""
    likelihoods: Tensor
    """(T, N), the probability of the right symbol if one is given."""
    counted: Tensor
    """(T, N), where one was."""


def chance_of(name: str, decision: Decision, choice: Tensor, greedy: bool) -> Tensor:
    """The probability (N,) of `choice` (N, ...), straight from the logits."""
    head: Any = decision.heads[name]
    every = torch.arange(len(choice))
    if isinstance(head, OptionalAnswer):
        given = head.gate.sigmoid()
        which = given if greedy else given * head.symbols.softmax(1)[every, (choice - 1).clamp(0)]
        return torch.where(choice == 0, 1 - given, which)
    if choice.ndim == 1:
        return head.logits.softmax(dim=1)[every, choice]
    if not hasattr(head, "sizes"):
        on = head.logits.sigmoid()
        return torch.where(choice == 1, on, 1 - on).prod(dim=1)
    parts = torch.split(head.logits, list(head.sizes), dim=1)
    chances = [part.softmax(1)[every, choice[:, i]] for i, part in enumerate(parts)]
    return torch.stack(chances).prod(dim=0)


def play_exactly(policy: GlimpsePolicy, setting: str, greedy: bool) -> Exact:
    """Play all sequences; keep those in which all that has no effect is 0."""
    plan = enumerate_plans(setting, greedy)
    rows = plan["answer"].shape[1]
    env = make_env(setting, rows)
    observation, _ = env.reset(options=SCENE)
    state = policy.initial_state(rows)
    probability = torch.ones(rows, dtype=torch.float64)
    paid = torch.zeros_like(probability)
    alive = kept = torch.ones(rows, dtype=torch.bool)
    likelihoods, counted = [], []
    for step in range(env.task.budget):
        decision, state = policy(policy.as_tensors(observation), state)
        action = forced(plan, greedy)(decision, {}, {}, step)
        taken = {name: values.numpy() for name, values in action.items()}
        observation, reward, ended, _, info = env.step(taken)
        final = info.get("final_info", {})
        over = torch.as_tensor(ended)
        target = torch.as_tensor(final["target"] if over.all() else info["target"])
        if over.any():
            target = torch.where(over, torch.as_tensor(final["target"]), target)
        given = alive & (action["answer"] != 0)
        symbols = decision.heads["answer"].symbols.softmax(dim=1)
        likelihoods.append(symbols[torch.arange(rows), (target - 1).clamp(0)])
        counted.append(given)
        going = alive & ~over
        for name, choice in action.items():
            had_effect = alive if name == "answer" else going
            chance = chance_of(name, decision, choice, greedy)
            probability = torch.where(had_effect, probability * chance, probability)
            nothing = (plan[name][step].reshape(rows, -1) == 0).all(dim=1)
            kept = kept & (had_effect | nothing)
        paid = paid + torch.as_tensor(reward) * alive
        alive = going
    assert not alive.any()
    assert probability[kept].sum().item() == pytest.approx(1.0, abs=1e-12)
    return Exact(
        {name: values[:, kept] for name, values in plan.items()},
        probability[kept],
        paid[kept],
        torch.stack(likelihoods)[:, kept],
        torch.stack(counted)[:, kept],
    )


def played(policy: GlimpsePolicy, setting: str, exact: Exact, greedy: bool) -> Trajectory:
    env = make_env(setting, len(exact.reward))
    return play_episodes(env, policy, forced(exact.plan, greedy), options=SCENE, drop_ended=True)


@pytest.mark.parametrize("setting", SETTINGS)
def test_pure_reward_follows_the_gradient_of_the_expected_reward(setting: str) -> None:
    policy = make_policy(setting)
    exact = play_exactly(policy, setting, greedy=False)
    assert exact.reward.min() < exact.reward.max()
    expected = gradient(-(exact.probability * exact.reward).sum(), policy)
    loss = episode_losses(
        played(policy, setting, exact, greedy=False), tiny_config(answer_by="reward")
    )["policy"]
    assert_exact(gradient((exact.probability.detach() * loss).sum(), policy), expected)


@pytest.mark.parametrize("signal", ["reward", "probability", "log_likelihood"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_hybrid_learns_whether_to_answer_by_reward_and_what_by_the_label(
    setting: str, signal: str
) -> None:
    policy = make_policy(setting)
    exact = play_exactly(policy, setting, greedy=True)
    log_likelihood = exact.likelihoods.log()
    scored = exact.likelihoods if signal == "probability" else log_likelihood
    share = make_env(setting, 1).task.answer_reward
    earned = (scored * exact.counted).sum(dim=0).detach() * torch.as_tensor(share).max()
    if signal == "reward":
        earned = exact.reward
    missed = -(log_likelihood * exact.counted).sum(dim=0) / exact.counted.sum(dim=0).clamp(min=1)
    weight = exact.probability.detach()
    expected = gradient(-(exact.probability * earned).sum() + (weight * missed).sum(), policy)

    losses = episode_losses(
        played(policy, setting, exact, greedy=True), tiny_config(look_signal=signal)
    )
    total = losses["policy"] + losses["answer"]
    assert_exact(gradient((weight * total).sum(), policy), expected)


@pytest.mark.parametrize("setting", SETTINGS)
def test_an_actor_critic_that_trusts_returns_alone_follows_it_too(setting: str) -> None:
    config = ActorCriticConfig(answer_by="reward", gae_lambda=1.0)
    policy = make_policy(setting)
    exact = play_exactly(policy, setting, greedy=False)
    expected = gradient(-(exact.probability * exact.reward).sum(), policy)
    trajectory = played(policy, setting, exact, greedy=False)
    losses = actor_critic_losses(trajectory, estimate(trajectory, config), config)
    assert_exact(gradient((exact.probability.detach() * losses["policy"]).sum(), policy), expected)


@pytest.mark.parametrize("setting", SETTINGS)
def test_entropy_is_that_of_what_had_an_effect(setting: str) -> None:
    """Its expected sum along an episode is the entropy of the whole episode (the chain rule)."""
    policy = make_policy(setting)
    exact = play_exactly(policy, setting, greedy=False)
    whole = -torch.xlogy(exact.probability, exact.probability).sum()
    trajectory = played(policy, setting, exact, greedy=False)
    effective = trajectory.effective(looks_learned=True, taught=True)
    entropy = trajectory.joint("entropy", effective).sum(dim=0)
    torch.testing.assert_close((exact.probability * entropy).sum(), whole)


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_bonus_is_for_the_entropy_of_looks_and_of_whether_to_answer(setting: str) -> None:
    policy = make_policy(setting)
    exact = play_exactly(policy, setting, greedy=False)
    trajectory = played(policy, setting, exact, greedy=False)
    looks = trajectory.stack("look", "entropy") * trajectory.continuing
    answering = trajectory.stack("answer given", "entropy") * trajectory.alive
    entropy = episode_losses(trajectory, tiny_config(answer_by="reward"))["entropy"]
    torch.testing.assert_close(entropy, (looks + answering).sum(dim=0))
