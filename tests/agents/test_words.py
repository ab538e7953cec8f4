"""Words that name what is looked at: read from the present glimpse, never from memory."""

from typing import Any

import gymnasium as gym
import pytest
import torch

from agents.algorithms.reinforce import Reinforce
from agents.policy.glimpse_policy import GlimpsePolicy, policy_maker
from agents.policy.heads import LogitsHead
from agents.policy.words import WordsHead, join_words
from glimpse_envs.episodes.description import describe
from tests.support.tiny import tiny_config, tiny_network

DESCRIBE = "Glimpse/DescribeSceneGlyphs-v0"
CLASSES, WORDS = 10, 22
NETWORK = tiny_network(class_scales=2)


def policy_for(env_id: str, class_scales: int = 2, **network: Any) -> GlimpsePolicy:
    torch.manual_seed(0)
    config = tiny_network(class_scales=class_scales, **network)
    return policy_maker(config)(describe(gym.make(env_id)))


def seen_by(policy: GlimpsePolicy) -> dict[str, torch.Tensor]:
    space = gym.make(DESCRIBE).observation_space
    space.seed(0)
    return {name: torch.as_tensor(value)[None] for name, value in space.sample().items()}


def test_words_are_a_class_or_something_else() -> None:
    others = torch.log(torch.tensor([[0.5, 0.2, 0.3]]))
    classes = torch.log(torch.tensor([[0.9, 0.1]]))
    expected = torch.tensor([[0.45, 0.05, 0.2, 0.3]])
    torch.testing.assert_close(join_words(others + 3.0, classes - 1.0).exp(), expected)


@pytest.mark.parametrize("kind", ["dense", "conv"])
def test_which_class_is_read_from_the_fine_scales_alone(kind: str) -> None:
    policy = policy_for(DESCRIBE, glimpse_network=kind)
    head = policy.heads["answer"]
    assert any(isinstance(part, torch.nn.Conv2d) for part in head.modules()) == (kind == "conv")
    seen = seen_by(policy)

    def classes(observation: dict[str, torch.Tensor], remembered: float) -> torch.Tensor:
        state = tuple(part + remembered for part in policy.initial_state(1))
        decision, _ = policy(observation, state)
        return decision.heads["answer"].logits[:, :CLASSES].log_softmax(dim=-1)

    known = classes(seen, 0.0)
    elsewhere = seen | {"location": -seen["location"]}
    coarse = seen | {"glimpse": seen["glimpse"].clone()}
    coarse["glimpse"][:, 2] = 0.0
    fine = seen | {"glimpse": seen["glimpse"].clone()}
    fine["glimpse"][:, 1] = 0.0
    for changed, remembered in ((elsewhere, 0.0), (coarse, 0.0), (seen, 1.0)):
        torch.testing.assert_close(classes(changed, remembered), known)
    assert (classes(fine, 0.0) - known).abs().max() > 1e-3


def test_whether_a_class_is_named_is_up_to_memory() -> None:
    policy = policy_for(DESCRIBE)
    seen = seen_by(policy)
    shares = []
    for remembered in (0.0, 1.0):
        state = tuple(part + remembered for part in policy.initial_state(1))
        answer = policy(seen, state)[0].heads["answer"]
        shares.append(answer.logits.softmax(dim=-1)[:, :CLASSES].sum())
    assert abs(shares[0] - shares[1]) > 1e-4


def test_only_sentences_have_such_words() -> None:
    assert isinstance(policy_for(DESCRIBE).heads["answer"], WordsHead)
    assert isinstance(policy_for(DESCRIBE, class_scales=0).heads["answer"], LogitsHead)
    assert isinstance(policy_for("Glimpse/ClutteredGlyphs-v0").heads["answer"], LogitsHead)


def test_a_negative_number_of_scales_is_refused() -> None:
    with pytest.raises(ValueError, match="class_scales=-1 must be at least 0"):
        policy_for(DESCRIBE, class_scales=-1)


def test_the_model_is_named_for_it() -> None:
    learner = Reinforce(tiny_config(env_id=DESCRIBE, env_kwargs={}, network=NETWORK))
    learner.close()
    assert learner.model.name == "Reinforce LSTM, classes from the glimpse"
