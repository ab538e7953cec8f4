"""Episodes on tapes and tables are played to their ends, and dropping rows changes nothing."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from agents.algorithms.look_rewards import learning_signal
from agents.algorithms.reinforce import episode_losses
from agents.episodes.playing import Choose
from agents.episodes.rollout import play_episodes, sample_actions
from agents.episodes.trajectory import Trajectory
from agents.policy.distributions import Bernoullis, OptionalAnswer
from agents.policy.glimpse_policy import Decision, GlimpsePolicy
from agents.policy.making import policy_from
from glimpse_envs.env import GlimpseVectorEnv
from glimpse_envs.episodes.description import describe
from glimpse_envs.task import Task
from glimpse_envs.testing import random_actions
from tests.support.episodes import make_vector
from tests.support.tiny import tiny_config, tiny_network

ROWS = 24
COPY, FORWARD = "Glimpse/Copy-v0", "Glimpse/ForwardReverse-v0"
RECALL = "Glimpse/AssociativeRecall-v0"
TASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "copy": (COPY, {"symbols": 3, "length": 5}),
    "memory": (FORWARD, {"symbols": 2, "length": 3}),
    "chase": ("Glimpse/PointerChase-v0", {"cells": 8, "values": 3, "length": 3}),
    "recall": (RECALL, {"keys": 6, "values": 3, "cells": 4, "length": 3}),
}


def make_env(name: str, rows: int = ROWS, **changes: Any) -> GlimpseVectorEnv:
    env_id, kwargs = TASKS[name]
    env = make_vector(env_id, rows, **kwargs | changes)
    env.reset(seed=3)
    return env


def make_policy(env: GlimpseVectorEnv, **network: Any) -> GlimpsePolicy:
    torch.manual_seed(0)
    config = tiny_network(direct_access="all", **network)
    return policy_from(config, describe(env)).double()


def oracle_but(task: Task, lapses: NDArray[np.bool_]) -> Choose:
    """Do what the oracle does, but put out a wrong symbol where `lapses` (T, B)."""
    solution: Any = task

    def choose(decision: Decision, seen: Any, info: Any, step: int) -> dict[str, Tensor]:
        action = {name: values.copy() for name, values in solution.oracle().items()}
        wrong = lapses[step] & (action["answer"] > 0)
        action["answer"][wrong] = action["answer"][wrong] % 2 + 1
        return {name: torch.as_tensor(values) for name, values in action.items()}

    return choose


def plan_of(env: GlimpseVectorEnv, seed: int = 0) -> dict[str, Tensor]:
    """Random actions of all rows and steps, name -> (T, B, ...), which seldom answer."""
    rng = np.random.default_rng(seed)
    steps = [random_actions(env, rng) for _ in range(env.task.budget)]
    plan = {name: np.stack([step[name] for step in steps]) for name in steps[0]}
    plan["answer"] *= rng.random(plan["answer"].shape) < 0.3
    return {name: torch.as_tensor(values) for name, values in plan.items()}


def forced(plan: dict[str, Tensor], asked: list[int]) -> Choose:
    """The plan's actions of the rows that are asked for, which are counted in `asked`."""

    def choose(decision: Decision, seen: Any, info: Any, step: int) -> dict[str, Tensor]:
        rows = seen["row"].long()
        asked.append(len(rows))
        return {name: values[step][rows] for name, values in plan.items()}

    return choose


class Numbered(GlimpsePolicy):
    """Also sees which row is whose, which the heads do not."""

    def as_tensors(self, observation: dict[str, NDArray]) -> dict[str, Tensor]:
        tensors = super().as_tensors(observation)
        rows = len(next(iter(tensors.values())))
        return tensors | {"row": torch.arange(rows)}

    def forward(
        self, observation: dict[str, Tensor], state: Any, seen: Tensor | None = None
    ) -> Any:
        return super().forward({k: v for k, v in observation.items() if k != "row"}, state, seen)


def numbered(env: GlimpseVectorEnv, **network: Any) -> Numbered:
    torch.manual_seed(0)
    made = Numbered(
        env.task.observation_space,
        env.task.components,
        tiny_network(direct_access="all", **network),
    )
    return made.double()


@pytest.mark.parametrize(
    ("name", "network"),
    [(name, {}) for name in TASKS]
    + [("recall", {"inhibition_of_return": True}), ("recall", {"recall_glimpses": 3})],
)
def test_rows_that_are_dropped_are_those_that_have_ended(
    name: str, network: dict[str, Any]
) -> None:
    trajectories: list[Trajectory] = []
    asked: list[list[int]] = [[], []]
    for drop_ended in (False, True):
        env = make_env(name)
        choose = forced(plan_of(env), asked[drop_ended])
        trajectories.append(
            play_episodes(env, numbered(env, **network), choose, drop_ended=drop_ended)
        )
    whole, dropped = trajectories
    assert set(asked[False]) == {ROWS}
    assert min(asked[True]) < ROWS / 2, "many have ended"
    left = [int(alive.sum()) for alive in whole.alive]
    assert all(kept >= some for kept, some in zip(asked[True], left, strict=True))

    for field in fields(Trajectory):
        mine = getattr(dropped, field.name)
        if isinstance(mine, Tensor) and field.name != "targets":
            assert torch.equal(mine, getattr(whole, field.name)), field.name
    alive = whole.alive
    assert dropped.targets is not None
    assert whole.targets is not None
    assert torch.equal(dropped.targets * alive, whole.targets * alive)
    torch.testing.assert_close(dropped.values * alive, whole.values * alive)
    for step, rows in enumerate(dropped.rows):
        if rows is not None:
            gone = torch.ones(ROWS, dtype=torch.bool).index_fill(0, rows, False)
            assert not alive[step][gone].any(), "who goes on is never dropped"
            assert not dropped.values[step][gone].any(), "0 of rows that were not asked for"
    for answer_by in ("label", "reward"):
        for signal in ("reward", "probability", "log_likelihood"):
            config = tiny_config(answer_by=answer_by, look_signal=signal)
            ours = episode_losses(dropped, config)
            for loss, expected in episode_losses(whole, config).items():
                torch.testing.assert_close(ours[loss], expected)


@pytest.mark.parametrize("name", TASKS)
def test_the_gradient_is_that_of_all_rows(name: str) -> None:
    found = []
    for drop_ended in (False, True):
        env = make_env(name)
        policy = numbered(env)
        trajectory = play_episodes(env, policy, forced(plan_of(env), []), drop_ended=drop_ended)
        losses = episode_losses(trajectory, tiny_config(look_signal="probability"))
        sum(loss.sum() for loss in losses.values()).backward()  # type: ignore[union-attr]
        found.append([parameter.grad for parameter in policy.parameters()])
    for mine, expected in zip(*found, strict=True):
        torch.testing.assert_close(mine, expected)


@pytest.mark.parametrize(("answer_by", "answers"), [("label", {0, 3}), ("reward", {0, 1, 2, 3})])
def test_whether_to_answer_is_sampled_and_what_only_where_rewards_teach_it(
    answer_by: str, answers: set[int]
) -> None:
    rows = 400
    answer = OptionalAnswer(torch.zeros(rows), torch.tensor([[0.0, 0.1, 0.4]]).expand(rows, 3))
    decision = Decision({"answer": answer, "look": Bernoullis(torch.zeros(rows, 2))}, answer.gate)
    components = make_env("chase").task.components
    action = sample_actions(decision, components, answer_by, torch.Generator().manual_seed(0))
    assert set(action["answer"].tolist()) == answers
    assert len({tuple(look) for look in action["look"].tolist()}) == 4


def test_masks_say_which_decisions_had_an_effect() -> None:
    env = make_env("memory", rows=1, min_length=2, length=2, slack=1.0)  # of 3 steps
    env.reset(seed=0)
    plan = {
        "look": torch.tensor([[[1, 2]], [[0, 0]], [[0, 0]]]),
        "answer": torch.zeros(3, 1, dtype=torch.int64),
        "write": torch.ones(3, 1, dtype=torch.int64),
    }
    oracle: Any = env.task

    def choose(decision: Decision, seen: Any, info: Any, step: int) -> dict[str, Tensor]:
        action = {name: torch.as_tensor(v.copy()) for name, v in oracle.oracle().items()}
        return action if step < 2 else {name: values[step] for name, values in plan.items()}

    played = play_episodes(env, make_policy(env), choose)
    masks = played.effective(looks_learned=True, taught=True)
    assert {name: mask[:, 0].tolist() for name, mask in masks.items()} == {
        "answer given": [True, True, True],
        "answer": [False, True, False],
        "look": [True, True, False],
        "write": [True, True, False],
    }
    assert played.effective(looks_learned=False, taught=False).keys() == {"answer given", "write"}
    assert played.rewards[:, 0].tolist() == [0.0, 0.5, 0.0]
    assert played.success is not None
    assert played.success.tolist() == [False]
    assert played.stoppable[:, 0].tolist() == [True, True, False]


@pytest.mark.parametrize("name", TASKS)
def test_what_is_wholly_right_is_solved(name: str) -> None:
    env = make_env(name, min_length=2)
    lapses = np.zeros((env.task.budget, ROWS), np.bool_)
    played = play_episodes(env, make_policy(env), oracle_but(env.task, lapses))
    assert played.success is not None
    assert played.success.all()
    torch.testing.assert_close(played.rewards.sum(dim=0), torch.ones(ROWS, dtype=torch.float64))
    assert played.levels.unique().tolist() == list(range(2, env.task.levels[1] + 1))  # type: ignore[index,no-untyped-call]
    if name in ("copy", "memory"):
        torch.testing.assert_close(played.answer_reward, 1 / played.levels.double())
    else:
        assert (played.answer_reward == 1).all()
    assert played.summary()["error"] == 0.0


def test_what_ends_half_way_is_not_solved() -> None:
    """The first rows err at their second symbol; all before it was right and paid."""
    env = make_env("copy", min_length=3)
    lapses = np.zeros((env.task.budget, ROWS), np.bool_)
    lapses[1, :10] = True
    env.reset(seed=8)
    played = play_episodes(env, make_policy(env), oracle_but(env.task, lapses))
    erred = torch.arange(ROWS) < 10
    assert played.targets is not None
    assert played.success is not None
    wrong = (played.actions[1]["answer"] != played.targets[1]) & erred
    assert torch.equal(played.success, ~wrong)
    assert 0 < int(wrong.sum()) <= 10
    assert torch.equal(played.alive.sum(dim=0) == 2, wrong)
    expected = torch.where(wrong, played.answer_reward, 1.0)
    torch.testing.assert_close(played.rewards.sum(dim=0), expected)
    assert played.summary()["error"] == pytest.approx(wrong.double().mean().item())


@pytest.mark.parametrize("signal", ["probability", "log_likelihood"])
def test_an_answer_before_the_key_is_asked_for_is_paid_nothing(signal: Any) -> None:
    env = make_env("recall", 200)
    played = play_episodes(env, numbered(env), forced(plan_of(env), []))
    early = torch.arange(1, len(played.rewards) + 1)[:, None] <= played.levels
    given = (torch.stack([action["answer"] for action in played.actions]) != 0) & played.alive
    assert (given & early).any()
    assert (given & ~early).any()
    config = tiny_config(answer_by="label", look_signal=signal)
    paid = learning_signal(played, played.log_likelihood(), config)
    assert not paid[early].any()
    assert (paid != 0)[given & ~early].all()
