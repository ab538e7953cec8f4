"""Whether to answer is apart from what; and heads repeat what is read, where they may."""

from typing import Any, Literal

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import Tensor

from agents.policy.distributions import (
    Bernoullis,
    Categorical,
    Distribution,
    IndependentCategoricals,
    OptionalAnswer,
)
from agents.policy.glimpse_policy import Decision, GlimpsePolicy
from agents.policy.heads import Repeater, make_head
from agents.policy.making import policy_from
from glimpse_envs.episodes.description import describe
from glimpse_envs.task import Component
from tests.support.episodes import make_vector
from tests.support.tiny import tiny_network

ROWS, SYMBOLS, SAMPLES = 4, 5, 20_000
COPY, FORWARD = "Glimpse/Copy-v0", "Glimpse/ForwardReverse-v0"
CHASE, RECALL = "Glimpse/PointerChase-v0", "Glimpse/AssociativeRecall-v0"

Observation = dict[str, Tensor]


def head(gates: list[float]) -> OptionalAnswer:
    """A row for each gate, its symbols' logits alike."""
    symbols = torch.tensor([[0.5, -1.0, 2.0, 0.0]], requires_grad=True)
    return OptionalAnswer(torch.tensor(gates, requires_grad=True), symbols.expand(len(gates), 4))


# --- whether, and what ---------------------------------------------------------------------------


def test_zero_says_nothing_and_k_the_kth_symbol() -> None:
    mine = head([0.3] * 5)
    gate = torch.sigmoid(torch.tensor(0.3))
    which = mine.symbols[0].softmax(dim=0)
    expected = torch.cat([(1 - gate)[None], gate * which])
    torch.testing.assert_close(mine.log_prob(torch.arange(5)).exp(), expected)


def test_the_mode_answers_where_that_is_likelier_than_not() -> None:
    """The symbol 3 is likelier than nothing in the second row too, but an answer is not."""
    assert head([2.0, -0.1, -9.0]).mode().tolist() == [3, 0, 0]


def test_a_guess_is_the_likeliest_symbol_as_often_as_an_answer_is_given() -> None:
    mine = head([-0.7] * SAMPLES)
    guesses = mine.guess(torch.Generator().manual_seed(0))
    assert set(guesses.tolist()) == {0, 3}
    chance = torch.sigmoid(torch.tensor(-0.7)).item()
    error = 4 * (chance * (1 - chance) / SAMPLES) ** 0.5
    assert abs((guesses == 3).float().mean().item() - chance) < error
    assert not guesses.requires_grad
    samples = mine.sample(torch.Generator().manual_seed(0))
    assert set(samples.tolist()) == {0, 1, 2, 3, 4}


def test_the_right_answer_is_as_likely_as_if_one_were_given() -> None:
    target = torch.tensor([3, 1, 4])
    found = head([5.0, 0.0, -5.0]).log_likelihood(target)
    torch.testing.assert_close(found, head([0.0] * 3).symbols[0].log_softmax(dim=0)[target - 1])


def test_each_is_learned_from_what_it_decided() -> None:
    """Saying nothing teaches nothing of symbols, and the label nothing of whether to answer."""
    mine = head([0.4, 0.4])
    silent, spoken = mine.log_prob(torch.tensor([0, 2]))
    label = mine.log_likelihood(torch.tensor([1, 2])).sum()
    for value, gate, symbols in ((silent, True, False), (spoken, True, True), (label, False, True)):
        grads = torch.autograd.grad(
            value,
            [mine.gate, mine.symbols],
            retain_graph=True,
            allow_unused=True,
            materialize_grads=True,
        )
        assert [bool(grad.any()) for grad in grads] == [gate, symbols]


# --- heads ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "space", "optional", "kind", "logits"),
    [
        ("answer", spaces.Discrete(6), True, OptionalAnswer, 6),
        ("answer", spaces.Discrete(6), False, Categorical, 6),
        ("write", spaces.Discrete(6), False, Categorical, 6),
        ("look", spaces.Discrete(3), False, Categorical, 3),
        ("look", spaces.MultiDiscrete([2, 3]), True, IndependentCategoricals, 5),
        ("answer", spaces.MultiDiscrete([6, 6]), False, IndependentCategoricals, 12),
        ("look", spaces.MultiBinary(7), True, Bernoullis, 7),
    ],
)
def test_each_component_has_the_head_of_its_space(
    name: str, space: spaces.Space, optional: bool, kind: type[Distribution], logits: int
) -> None:
    torch.manual_seed(0)
    config = tiny_network()
    made = make_head(name, Component(space, optional=optional), config)
    choice = made(torch.randn(ROWS, config.core_units), {})
    assert type(choice) is kind
    parameters = [part for part in vars(choice).values() if isinstance(part, Tensor)]
    assert sum(part.numel() for part in parameters) == ROWS * logits
    if isinstance(choice, IndependentCategoricals):
        assert choice.sizes == tuple(space.nvec)  # type: ignore[attr-defined]  # has several choices
    for draw in (choice.sample(), choice.mode()):
        assert all(space.contains(space.dtype.type(one)) for one in choice.to_env(draw).numpy())  # type: ignore[union-attr]  # all these spaces have one


def test_heads_of_half_precision_decide_in_float32() -> None:
    for space in (spaces.MultiBinary(3), spaces.MultiDiscrete([2, 2])):
        made = make_head("look", Component(space), tiny_network()).to(torch.bfloat16)
        choice = made(torch.zeros(1, 8, dtype=torch.bfloat16), {})
        assert choice.logits.dtype == torch.float32


# --- direct access -------------------------------------------------------------------------------


def make_policy(
    env_id: str, direct_access: Literal["symbols", "all"] | None = None, **network: Any
) -> GlimpsePolicy:
    torch.manual_seed(0)
    envs = make_vector(env_id, 1, **small(env_id))
    config = tiny_network(direct_access=direct_access, **network)
    return policy_from(config, describe(envs))


def small(env_id: str) -> dict[str, Any]:
    if env_id == CHASE:
        return {"cells": 8, "values": SYMBOLS, "length": 2}
    if env_id == RECALL:
        return {"keys": 6, "values": SYMBOLS, "cells": 4, "length": 2, "look": "bits"}
    return {"symbols": SYMBOLS, "length": 3}


def observed(env_id: str) -> Observation:
    """The first observations of ROWS rows."""
    seen, _ = make_vector(env_id, ROWS, **small(env_id)).reset(seed=0)
    return {name: torch.as_tensor(value) for name, value in seen.items()}


def decide(policy: GlimpsePolicy, seen: Observation) -> Decision:
    decision: Decision = policy(seen, policy.initial_state(ROWS))[0]
    return decision


def set_strength(policy: GlimpsePolicy, component: str, strengths: list[float]) -> None:
    """Repeat every part as much as is answered, whatever the memory holds."""
    repeater = policy.repeaters[component]
    assert isinstance(repeater, Repeater)
    with torch.no_grad():
        repeater.strength.weight.zero_()
        repeater.strength.bias.copy_(torch.tensor(strengths))


@pytest.mark.parametrize(
    ("env_id", "direct_access", "repeated"),
    [
        (COPY, None, set()),
        (COPY, "symbols", {"answer"}),
        (FORWARD, "symbols", {"answer", "write"}),
        (FORWARD, "all", {"answer", "write"}),
        (CHASE, None, set()),
        (CHASE, "symbols", {"answer"}),
        (CHASE, "all", {"answer", "look"}),
        (RECALL, "all", {"answer"}),
    ],
)
def test_what_may_be_repeated_is(env_id: str, direct_access: Any, repeated: set[str]) -> None:
    assert set(make_policy(env_id, direct_access).repeaters) == repeated


def test_the_symbol_that_is_read_is_raised_and_no_other() -> None:
    policy, seen = make_policy(COPY, "symbols"), observed(COPY)
    seen["glimpse"] = torch.eye(SYMBOLS + 1)[[0, 1, 3, SYMBOLS]]
    set_strength(policy, "answer", [0.0])
    before = decide(policy, seen)
    set_strength(policy, "answer", [2.5])
    after = decide(policy, seen)
    answer, usual = after.heads["answer"], before.heads["answer"]
    assert isinstance(answer, OptionalAnswer)
    assert isinstance(usual, OptionalAnswer)
    assert torch.equal(answer.gate, usual.gate), "a blank does not say whether to answer"
    expected = 2.5 * seen["glimpse"][:, 1:]
    torch.testing.assert_close(answer.symbols - usual.symbols, expected, atol=1e-5, rtol=0)
    assert torch.equal(after.heads["look"].logits, before.heads["look"].logits)  # type: ignore[attr-defined]
    assert torch.equal(after.value, before.value)


def test_at_first_what_is_read_is_written_and_hardly_anything_else() -> None:
    policy, seen = make_policy(FORWARD, "symbols"), observed(FORWARD)
    seen["glimpse"] = torch.eye(SYMBOLS + 1)[
        torch.tensor([[1, 0], [2, 3], [3, 3], [0, 0]])
    ]  # input, memory
    chances = decide(policy, seen).heads["write"].logits.softmax(dim=1)  # type: ignore[attr-defined]
    repeated = (chances * (seen["glimpse"].sum(dim=1) > 0)).sum(dim=1)
    assert (repeated > 0.98).all()
    assert (chances[0, :2] > 0.1).all(), "whether to write is open"


def test_each_tapes_symbol_is_repeated_by_its_own_strength() -> None:
    policy, seen = make_policy(FORWARD, "symbols"), observed(FORWARD)
    hot = torch.eye(SYMBOLS + 1)
    seen["glimpse"] = torch.stack([hot[[1, 2, 0, 4]], hot[[0, 2, 3, 5]]], dim=1)  # (B, 2, S + 1)
    for component in ("answer", "write"):
        set_strength(policy, component, [0.0, 0.0])
    before = decide(policy, seen)
    set_strength(policy, "answer", [1.0, -3.0])
    set_strength(policy, "write", [0.5, 4.0])
    after = decide(policy, seen)
    first, second = seen["glimpse"].unbind(dim=1)
    answers = after.heads["answer"].symbols - before.heads["answer"].symbols  # type: ignore[attr-defined]
    torch.testing.assert_close(answers, (first - 3 * second)[:, 1:], atol=1e-5, rtol=0)
    writes = after.heads["write"].logits - before.heads["write"].logits  # type: ignore[attr-defined]
    torch.testing.assert_close(writes, 0.5 * first + 4 * second, atol=1e-5, rtol=0)


def test_an_address_that_is_read_is_raised_bit_by_bit() -> None:
    policy, seen = make_policy(CHASE, "all"), observed(CHASE)
    seen["glimpse"][:, :3] = torch.tensor([[0, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1]])
    set_strength(policy, "look", [0.0])
    before = decide(policy, seen).heads["look"]
    set_strength(policy, "look", [1.5])
    after = decide(policy, seen).heads["look"]
    assert isinstance(before, Bernoullis)
    assert isinstance(after, Bernoullis)
    expected = 1.5 * (2 * seen["glimpse"][:, :3] - 1)
    torch.testing.assert_close(after.logits - before.logits, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("env_id", [COPY, FORWARD, CHASE, RECALL])
def test_what_is_readable_has_as_many_entries_as_there_is_to_choose(env_id: str) -> None:
    task = make_vector(env_id, 1, **small(env_id)).task
    repeating = [component for component in task.components.values() if component.repeats]
    assert repeating
    for component in repeating:
        space = component.space
        choices = space.shape[0] if isinstance(space, spaces.MultiBinary) else int(space.n)  # type: ignore[attr-defined]
        for key, start, stop in component.repeats:
            assert stop - start == choices
            assert 0 <= start < stop <= spaces.flatdim(task.observation_space[key])


def test_a_strong_repeater_copies_a_tape() -> None:
    """Direct access, a head that goes right and one that answers are all that Copy needs."""
    policy = make_policy(COPY, "symbols")
    envs = make_vector(COPY, 50, **small(COPY), autoreset_mode="Disabled")
    seen, _ = envs.reset(seed=0, options={"length": 3})
    set_strength(policy, "answer", [50.0])
    state, earned = None, np.zeros(50)
    for _ in range(3):
        action, state = policy.predict(seen, state, deterministic=True)
        which = policy(policy.as_tensors(seen), policy.initial_state(50))[0].heads["answer"].which
        action |= {"look": np.full(50, 2), "answer": which.mode().numpy() + 1}
        seen, reward, ended, _, _ = envs.step(action)
        earned += reward
    assert ended.all()
    np.testing.assert_allclose(earned, 1.0)


# --- past the core -------------------------------------------------------------------------------


def test_skip_shows_heads_the_glimpse_past_the_core() -> None:
    """With what heads take from the core cut off, they follow the glimpse and not the memory."""
    seen, rng = observed(COPY), torch.Generator().manual_seed(0)
    other = {**seen, "glimpse": torch.eye(SYMBOLS + 1)[torch.arange(ROWS)]}
    memory = tuple(torch.randn(2, ROWS, 8, generator=rng))
    for skip, follows_glimpse in ((True, True), (False, False)):
        policy = make_policy(COPY, skip=skip, glimpse_units=16)
        linear = policy.heads["answer"].logits
        assert isinstance(linear, torch.nn.Linear)
        assert linear.in_features == (24 if skip else 8)
        with torch.no_grad():
            linear.weight[:, :8] = 0

        def answers(seen: Observation, state: Any, policy: GlimpsePolicy = policy) -> Tensor:
            return policy(seen, state)[0].heads["answer"].symbols

        usual = answers(seen, policy.initial_state(ROWS))
        assert torch.equal(answers(seen, memory), usual)
        assert torch.equal(answers(other, memory), usual) is not follows_glimpse


@pytest.mark.parametrize("detach", [True, False])
def test_skip_is_detached_with_the_heads(detach: bool) -> None:
    policy = make_policy(CHASE, "all", skip=True, detach_heads=detach, glimpse_units=32)
    decision = decide(policy, observed(CHASE))
    below = [*policy.core.parameters(), *policy.glimpse_network.parameters()]
    for name, expected in (("look", not detach), ("answer", True)):
        choice = decision.heads[name]
        grads = torch.autograd.grad(
            choice.log_prob(choice.mode()).sum(),
            below,
            retain_graph=True,
            allow_unused=True,
            materialize_grads=True,
        )
        assert any(bool(grad.any()) for grad in grads) is expected, name
