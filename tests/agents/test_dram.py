"""DRAM's core: a context tells where to look, and nothing of the answer."""

from contextlib import closing
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from agents.algorithms.reinforce import Reinforce
from agents.policy.glimpse_policy import Decision, GlimpsePolicy
from agents.policy.networks import NetworkConfig
from glimpse_envs.episodes.description import describe
from tests.support.same_runs import assert_repeats_and_resumes
from tests.support.tiny import tiny_config, tiny_network

PAIRS, ROWS = "Glimpse/DigitPairGlyphs-v0", 6
DRAM = tiny_network(core="dram", detach_heads=False)


def policy_of(network: NetworkConfig, **kwargs: Any) -> GlimpsePolicy:
    torch.manual_seed(0)
    with closing(gym.make(PAIRS, **kwargs)) as env:
        about = describe(env)
    return GlimpsePolicy(about.observation_space, about.components, network)


def two_glimpses(
    policy: GlimpsePolicy, **changes: NDArray[np.float32]
) -> tuple[list[Decision], list[torch.Tensor]]:
    """The decisions on two glimpses, and the state after them; `changes` are to the first."""
    with closing(gym.make_vec(PAIRS, num_envs=ROWS, context=True)) as env:
        first, _ = env.reset(seed=0)
        looks = {"look": np.zeros((ROWS, 2), np.float32), "answer": np.zeros(ROWS, np.int64)}
        second, *_ = env.step(looks)
    state, decisions = policy.initial_state(ROWS), []
    for observation in ({**first, **changes}, second):
        decision, state = policy(policy.as_tensors(observation), state)
        decisions.append(decision)
    return decisions, list(state)


def logits_and_looks(decision: Decision) -> tuple[torch.Tensor, torch.Tensor]:
    answer: Any = decision.heads["answer"]
    look: Any = decision.heads["look"]
    return answer.logits, look.mean


def test_a_context_moves_looks_and_no_answer() -> None:
    policy = policy_of(DRAM, context=True)
    other = np.random.default_rng(0).random((ROWS, 1, 12, 12), np.float32)
    as_it_is, changed = (two_glimpses(policy, **c)[0] for c in ({}, {"context": other}))
    for one, two in zip(as_it_is, changed, strict=True):
        (answers, looks), (same_answers, other_looks) = map(logits_and_looks, (one, two))
        assert torch.equal(answers, same_answers)
        assert (looks != other_looks).any(dim=1).all()
        assert (one.value != two.value).all()


def test_a_black_context_is_none() -> None:
    policy = policy_of(DRAM, context=True)
    black = {"context": np.zeros((ROWS, 1, 12, 12), np.float32)}
    decisions, _ = two_glimpses(policy, **black)
    with torch.no_grad():
        assert policy.core.context is not None  # DRAM's has one
        for parameter in policy.core.context.parameters():  # type: ignore[union-attr]
            parameter.add_(1.0)
    again, _ = two_glimpses(policy, **black)
    for one, two in zip(decisions, again, strict=True):
        assert torch.equal(logits_and_looks(one)[1], logits_and_looks(two)[1])


def test_what_is_seen_is_multiplied_by_where_it_is_seen() -> None:
    network = policy_of(DRAM).glimpse_network
    assert network.where is not None
    with torch.no_grad():
        network.where.weight.zero_()
        network.where.bias.zero_()
    with closing(gym.make_vec(PAIRS, num_envs=ROWS)) as env:
        observation, _ = env.reset(seed=0)
    tensors = {name: torch.as_tensor(part) for name, part in observation.items()}
    assert not network(tensors).any()


@pytest.mark.learning
@pytest.mark.parametrize("changes", [{"skip": True}, {"normalise": True}])
def test_a_run_with_a_context_repeats_and_resumes(changes: dict[str, Any], tmp_path: Path) -> None:
    config = tiny_config(
        env_id=PAIRS,
        env_kwargs={"context": True, "budget": 3},
        network=tiny_network(**{"core": "dram", "detach_heads": False, **changes}),
    )
    assert_repeats_and_resumes(Reinforce, config, tmp_path)
