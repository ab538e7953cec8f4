"""Words that name what is looked at: read from the present glimpse, never from memory."""

from typing import Any

import gymnasium as gym
import pytest
import torch

from agents.algorithms.reinforce import Reinforce
from agents.policy.glimpse_policy import GlimpsePolicy
from agents.policy.heads import LogitsHead
from agents.policy.making import policy_from
from agents.policy.words import Words, WordsHead, join_words
from agents.training.precision import autocast
from glimpse_envs.episodes.description import describe
from tests.support.tiny import tiny_config, tiny_network

DESCRIBE = "Glimpse/DescribeSceneGlyphs-v0"
CLASSES, WORDS = 10, 22
NETWORK = tiny_network(class_scales=2)


def policy_for(env_id: str, class_scales: int = 2, **network: Any) -> GlimpsePolicy:
    torch.manual_seed(0)
    config = tiny_network(class_scales=class_scales, **network)
    return policy_from(config, describe(gym.make(env_id)))


def seen_by(policy: GlimpsePolicy) -> dict[str, torch.Tensor]:
    space = gym.make(DESCRIBE).observation_space
    space.seed(0)
    return {name: torch.as_tensor(value)[None] for name, value in space.sample().items()}


def test_words_are_a_class_or_something_else() -> None:
    others = torch.log(torch.tensor([[0.5, 0.2, 0.3]]))
    classes = torch.log(torch.tensor([[0.9, 0.1]]))
    expected = torch.tensor([[0.45, 0.05, 0.2, 0.3]])
    torch.testing.assert_close(join_words(others + 3.0, classes - 1.0).exp(), expected)


class Reading:
    """Logits of three classes by a matrix, and the rows that were read."""

    def __init__(self, rows: int) -> None:
        generator = torch.Generator().manual_seed(0)
        self.others = torch.randn(rows, 4, generator=generator, requires_grad=True)
        self.seen = torch.randn(rows, 5, generator=generator)
        self.weights = torch.randn(5, 3, generator=generator, requires_grad=True)
        self.read: list[list[float]] = []

    @property
    def words(self) -> Words:
        def read(seen: torch.Tensor) -> torch.Tensor:
            self.read += seen.tolist()
            return seen @ self.weights

        return Words(self.others, self.seen, read, classes=3)


def test_the_likeliest_word_is_that_of_the_whole_distribution() -> None:
    reading = Reading(500)
    likeliest = reading.words.mode()
    named = reading.others.argmax(dim=1) == 0
    assert reading.read == reading.seen[named].tolist()  # where a class may be likeliest
    assert torch.equal(likeliest, reading.words.every.mode())
    assert 0 < (likeliest < 3).sum() < named.sum() < 500  # naming is likeliest, and no class is


def test_given_words_have_the_whole_distributions_probabilities_and_gradients() -> None:
    reading = Reading(60)
    words = torch.arange(60) % 6
    found = {}
    for kind in ("lazy", "whole"):
        reading.read.clear()
        log_p = (reading.words if kind == "lazy" else reading.words.every).log_prob(words)
        read = len(reading.read)
        loss = (log_p * torch.linspace(0.5, 2.0, 60)).sum()
        found[kind] = log_p, *torch.autograd.grad(loss, [reading.others, reading.weights])
        assert read == (30 if kind == "lazy" else 60)
    for lazy, whole in zip(found["lazy"], found["whole"], strict=True):
        torch.testing.assert_close(lazy, whole)


def test_words_that_name_no_class_leave_zero_gradients_to_reading() -> None:
    reading = Reading(4)
    torch.autograd.backward(reading.words.log_prob(torch.full((4,), 5)).sum())
    assert reading.weights.grad is not None
    assert not reading.weights.grad.any()


def test_classes_are_read_in_the_precision_of_the_policys_other_products() -> None:
    policy = policy_for(DESCRIBE)
    seen, rows = seen_by(policy), torch.zeros(1, dtype=torch.int64)
    for precision in (torch.float32, torch.bfloat16):
        with autocast(torch.device("cpu"), precision):
            decision, _ = policy(seen, policy.initial_state(1))
        words = decision.heads["answer"]
        assert isinstance(words, Words)
        assert words.read(words.seen[rows]).dtype == precision


@pytest.mark.parametrize(
    ("memory", "classes"), [("dense", None), ("conv", None), ("dense", "conv")]
)
def test_classes_are_read_by_a_network_of_their_own(memory: str, classes: str | None) -> None:
    sizes: dict[str, Any] = {} if classes is None else {"class_units": 48}
    policy = policy_for(DESCRIBE, glimpse_network=memory, class_network=classes, **sizes)
    head = policy.heads["answer"]
    assert isinstance(head, WordsHead)

    def convolves(network: torch.nn.Module) -> bool:
        return any(isinstance(part, torch.nn.Conv2d) for part in network.modules())

    assert convolves(policy.glimpse_network) == (memory == "conv")
    assert convolves(head) == ("conv" in (memory, classes))
    last = list(head.classes)[-1]
    assert isinstance(last, torch.nn.Linear)
    assert last.in_features == (48 if classes else policy.config.what_units)


@pytest.mark.parametrize("kind", ["dense", "conv"])
def test_which_class_is_read_from_the_fine_scales_alone(kind: str) -> None:
    policy = policy_for(DESCRIBE, class_network=kind)
    seen = seen_by(policy)

    def classes(observation: dict[str, torch.Tensor], remembered: float) -> torch.Tensor:
        state = tuple(part + remembered for part in policy.initial_state(1))
        decision, _ = policy(observation, state)
        return decision.heads["answer"].every.logits[:, :CLASSES].log_softmax(dim=-1)

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
        shares.append(answer.every.logits.softmax(dim=-1)[:, :CLASSES].sum())
    assert abs(shares[0] - shares[1]) > 1e-4


def test_only_sentences_have_such_words() -> None:
    assert isinstance(policy_for(DESCRIBE).heads["answer"], WordsHead)
    assert isinstance(policy_for(DESCRIBE, class_scales=0).heads["answer"], LogitsHead)
    assert isinstance(policy_for("Glimpse/ClutteredGlyphs-v0").heads["answer"], LogitsHead)


def test_a_negative_number_of_scales_is_refused() -> None:
    with pytest.raises(ValueError, match="class_scales=-1 must be at least 0"):
        policy_for(DESCRIBE, class_scales=-1)


def test_an_unknown_reader_of_classes_is_refused() -> None:
    with pytest.raises(ValueError, match="class_network='deep' must be one of 'dense', 'conv'"):
        policy_for(DESCRIBE, class_network="deep")
    with pytest.raises(ValueError, match="class_units"):
        policy_for(DESCRIBE, class_units=0)


def test_the_model_is_named_for_it() -> None:
    learner = Reinforce(tiny_config(env_id=DESCRIBE, env_kwargs={}, network=NETWORK))
    learner.close()
    assert learner.model.name == "Reinforce LSTM, classes from the glimpse"
