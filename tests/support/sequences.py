"""A tiny task whose action sequences can all be enumerated, and what is exact about each.

The task is one scene and first glimpse of CircleSquare, seen through 4 tiles and 3 glimpses, in
every row. What is exact is computed apart from rollout, distributions and losses: a product of
softmax probabilities, and what the environment pays.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from agents.episodes.playing import Choose
from agents.policy.glimpse_policy import Decision, GlimpsePolicy
from agents.policy.networks import NetworkConfig
from glimpse_envs.env import GlimpseVectorEnv
from tests.support.episodes import CIRCLE_SQUARE, make_single, make_vector

TILES, CLASSES, BUDGET = 4, 2, 3
SCENE = {"scene": 3}
TOLERANCE = 1e-8
SEED = 16  # a policy whose answers depend on where it looked
TASK: dict[str, Any] = {
    "scene_size": 28,
    "glimpse_size": 14,
    "inside": False,
    "look": "tiles",
    "budget": BUDGET,
    "reward": "final",
}
REWARDS: dict[str, dict[str, Any]] = {
    "final": {},
    "dense": {"reward": "dense"},
    "stop": {"stop": True, "glimpse_cost": 0.1},
    "dense_stop": {"reward": "dense", "stop": True, "glimpse_cost": 0.05},
}
Step = tuple[int, int, int]  # look, answer, stop


@dataclass(frozen=True)
class Sequences:
    """All N action sequences that differ in effect; what has no effect is 0.

    Args:
        actions: name -> (T, N).
        effective: name -> (T, N) bool.
        counted: (T, N) bool, where the answer counts.
    """

    actions: dict[str, Tensor]
    effective: dict[str, Tensor]
    counted: Tensor


def enumerate_sequences(
    answers: int, *, reward: str = "final", stop: bool = False, **_: Any
) -> Sequences:
    """Every sequence of looks, stops and, unless `answers` is 1 (greedy), answers."""

    def following(taken: int) -> Iterator[tuple[Step, ...]]:
        last = taken == BUDGET
        for stopped in (0, 1) if stop and not last else (0,):
            ends = last or stopped == 1
            looks = range(1 if ends else TILES)
            spoken = range(answers if ends or reward == "dense" else 1)
            for look, answer in product(looks, spoken):
                for rest in [()] if ends else following(taken + 1):
                    yield ((look, answer, stopped), *rest)

    sequences = list(following(1))
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    padded = [s + ((0, 0, 0),) * (BUDGET - len(s)) for s in sequences]
    looks, spoken, stops = torch.tensor(padded).permute(2, 1, 0)  # (T, N) each
    step = torch.arange(1, BUDGET + 1)[:, None]
    alive, ends = step <= lengths, step == lengths
    counted = alive if reward == "dense" else ends
    actions = {"look": looks, "answer": spoken}
    effective = {"look": alive & ~ends, "answer": counted if answers > 1 else counted & False}
    if stop:
        actions["stop"], effective["stop"] = stops, alive & (step < BUDGET)
    return Sequences(actions, effective, counted)


def make_env(rows: int, **kwargs: Any) -> GlimpseVectorEnv:
    env = make_vector(CIRCLE_SQUARE, rows, split="test", **{**TASK, **kwargs})
    env.reset(seed=5)
    return env


def make_policy(network: NetworkConfig, **kwargs: Any) -> GlimpsePolicy:
    """A float64 policy with decided opinions, so that no gradient is small by symmetry."""
    torch.manual_seed(SEED)
    task = make_env(1, **kwargs).task
    policy = GlimpsePolicy(task.observation_space, task.components, network).double()
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.mul_(2.0)
    return policy


def right_answer(**kwargs: Any) -> int:
    env = make_single(CIRCLE_SQUARE, split="test", **{**TASK, "budget": 1, **kwargs})
    env.reset(seed=5, options=SCENE)
    stop = {"stop": 0} if kwargs.get("stop") else {}
    return int(env.step({"look": 0, "answer": 0, **stop})[4]["target"])


def forced(sequences: Sequences, greedy: bool) -> Choose:
    def choose(decision: Decision, observation: Any, info: Any, step: int) -> dict[str, Tensor]:
        action = {name: values[step] for name, values in sequences.actions.items()}
        return {**action, "answer": decision.heads["answer"].mode()} if greedy else action

    return choose


@dataclass(frozen=True)
class Exact:
    """Of every sequence: its probability (N,), what it pays (N,), its cross-entropy (N,)."""

    probability: Tensor
    reward: Tensor
    cross_entropy: Tensor


def play_exactly(policy: GlimpsePolicy, sequences: Sequences, greedy: bool, **kwargs: Any) -> Exact:
    rows = len(sequences.counted[0])
    env, target = make_env(rows, **kwargs), right_answer(**kwargs)
    observation, _ = env.reset(options=SCENE)
    state, every = policy.initial_state(rows), torch.arange(rows)
    probability = torch.ones(rows, dtype=torch.float64)
    paid, missed = torch.zeros_like(probability), torch.zeros_like(probability)
    alive = torch.ones(rows, dtype=torch.bool)
    for step in range(BUDGET):
        decision, state = policy(
            {name: torch.as_tensor(value).double() for name, value in observation.items()}, state
        )
        chances = {n: torch.softmax(h.logits, dim=-1) for n, h in decision.heads.items()}
        action = {name: values[step] for name, values in sequences.actions.items()}
        for name, effective in sequences.effective.items():
            probability = torch.where(
                effective[step], probability * chances[name][every, action[name]], probability
            )
        missed = missed - chances["answer"][:, target].log() * sequences.counted[step]
        if greedy:
            action["answer"] = chances["answer"].argmax(dim=-1)
        taken = {name: values.numpy() for name, values in action.items()}
        observation, reward, ended, _, _ = env.step(taken)
        paid = paid + torch.as_tensor(reward) * alive
        alive = alive & ~torch.as_tensor(ended)
    assert not alive.any()
    assert probability.sum().item() == pytest.approx(1.0, abs=1e-12)
    return Exact(probability, paid, missed / sequences.counted.sum(dim=0))


def gradient(of: Tensor, policy: GlimpsePolicy, part: str = "", keep: bool = False) -> Tensor:
    """The gradient of a scalar by all parameters whose name begins with `part`, as one vector."""
    named = [(n, p) for n, p in policy.named_parameters() if n.startswith(part) and p.requires_grad]
    parts = torch.autograd.grad(
        of, [p for _, p in named], allow_unused=True, materialize_grads=True, retain_graph=keep
    )
    return torch.cat([part.flatten() for part in parts])


def assert_exact(found: Tensor, expected: Tensor) -> None:
    """Assert that two gradients of float64 are the same, and more than rounding."""
    assert expected.abs().max() > 1e-3, "the gradient should be there to be found"
    assert (found - expected).abs().max() < TOLERANCE
