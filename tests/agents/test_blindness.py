"""A memory that sees where something is learns nothing of what it is."""

from typing import Any

import gymnasium as gym
import pytest
import torch
from torch import Tensor

from agents.algorithms.reinforce import Reinforce
from agents.policy.blindness import LIT, lit_parts
from agents.policy.glimpse_policy import GlimpsePolicy
from agents.policy.making import policy_from
from glimpse_envs.episodes.description import describe
from tests.support.tiny import tiny_config, tiny_network

DESCRIBE = "Glimpse/DescribeSceneGlyphs-v0"
CLASSES = 10
NETWORK = tiny_network(blind_memory=True)


def policy_for(env_id: str = DESCRIBE) -> GlimpsePolicy:
    torch.manual_seed(0)
    return policy_from(NETWORK, describe(gym.make(env_id)))


def seen(word: int = 3) -> dict[str, Tensor]:
    env = gym.make(DESCRIBE)
    observation, _ = env.reset(seed=0)
    batch = {name: torch.as_tensor(value)[None] for name, value in observation.items()}
    batch["glimpse"] = torch.rand(1, 3, 12, 12, generator=torch.Generator().manual_seed(0))
    batch["last_action"] = torch.zeros_like(batch["last_action"])
    batch["last_action"][0, word] = 1.0
    return batch


def remembered(policy: GlimpsePolicy, observation: dict[str, Tensor]) -> Tensor:
    _, state = policy(observation, policy.initial_state(1))
    return torch.cat(state, dim=1)


def test_memory_does_not_see_classes() -> None:
    policy, first = policy_for(), seen(word=3)
    other_class = seen(word=7)
    other_shape = {**first, "glimpse": first["glimpse"].clone()}
    other_shape["glimpse"][:, :2] = 0.0  # fine scales
    other_shape["glimpse"][:, 2, :3, :3] = first["glimpse"][:, 2, :3, :3].flip(-1)
    for changed in (other_class, other_shape):
        assert torch.equal(remembered(policy, changed), remembered(policy, first))
    answers = [policy(o, policy.initial_state(1))[0].heads["answer"] for o in (first, other_shape)]
    assert not torch.equal(*(answer.every.logits[:, :CLASSES] for answer in answers))


def test_memory_sees_where_something_is_and_what_kind_of_word_was_written() -> None:
    policy, first = policy_for(), seen()
    dark = {**first, "glimpse": first["glimpse"].clone()}
    dark["glimpse"][:, 2, :3, :3] = LIT / 2
    elsewhere = {**first, "location": first["location"] + 0.1}
    for changed in (dark, elsewhere, seen(word=CLASSES)):
        assert not torch.equal(remembered(policy, changed), remembered(policy, first))


@pytest.mark.parametrize(("scales", "parts"), [(1, 1), (2, 2), (3, 4), (4, 8)])
def test_parts_are_as_large_at_every_number_of_scales(scales: int, parts: int) -> None:
    env = gym.make(DESCRIBE, scales=scales)
    blindness = policy_from(NETWORK, describe(env)).blindness
    assert blindness is not None
    assert blindness.space["glimpse"].shape == (1, parts, parts)
    observation, _ = env.reset(seed=0)
    batch = {name: torch.as_tensor(value)[None] for name, value in observation.items()}
    assert blindness(batch)["glimpse"].shape == (1, 1, parts, parts)


def test_coloured_parts_are_lit_by_all_channels() -> None:
    picture = torch.zeros(1, 3, 4, 4)
    picture[0, 0, :2, :2] = 4 * LIT
    picture[0, 2, 2:, 2:] = 2 * LIT
    assert lit_parts(picture, (2, 2)).tolist() == [[[[1.0, 0.0], [0.0, 0.0]]]]


@pytest.mark.parametrize(
    "changes", [{"core": "dram", "detach_heads": False}, {"look_coordinates": "cells"}]
)
def test_a_blind_memory_sees_no_context(changes: dict[str, Any]) -> None:
    network = tiny_network(blind_memory=True, **changes)
    blindness = policy_from(network, describe(gym.make(DESCRIBE, context=True))).blindness
    assert blindness is not None
    assert "context" not in blindness.space.spaces


def test_only_who_writes_sentences_has_a_blind_memory() -> None:
    assert policy_for().blindness is not None
    assert policy_for("Glimpse/ClutteredGlyphs-v0").blindness is None
    with pytest.raises(ValueError, match="blind_memory=True needs class_scales of at least 1"):
        policy_from(tiny_network(blind_memory=True, class_scales=0), describe(gym.make(DESCRIBE)))


def test_the_model_is_named_for_it() -> None:
    learner = Reinforce(tiny_config(env_id=DESCRIBE, env_kwargs={}, network=NETWORK))
    learner.close()
    assert learner.model.name == "Reinforce LSTM, classes from the glimpse, blind memory"
