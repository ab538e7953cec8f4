"""Recall reads the latest glimpses as its formula says, and holds what a small core cannot."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from agents.algorithms.actor_critic import ActorCritic
from agents.policy.core import State
from agents.policy.cores import LSTMCore, make_core
from agents.policy.making import policy_from
from agents.policy.networks import NetworkConfig
from agents.policy.recall import RecallCore
from agents.scoring.multiply_adds import multiply_adds
from agents.training.optimizers import Optimizer
from baselines.memories.lstm_memory import LSTMMemory, LSTMMemoryConfig
from baselines.pictures.gaussian_window import GaussianWindow, GaussianWindowConfig
from baselines.setting import Setting
from glimpse_envs.episodes.description import describe
from tests.agents.test_optimizers import Rates
from tests.support.episodes import CLUTTERED, make_vector
from tests.support.tiny import tiny_actor_critic, tiny_network

ROWS, INPUTS, UNITS, RECALLED, GLIMPSES = 3, 5, 8, 4, 3


def make_recall(core: str = "lstm") -> RecallCore:
    torch.manual_seed(0)
    config = NetworkConfig(
        core=core,
        core_units=UNITS,
        recall_glimpses=GLIMPSES,
        recall_units=RECALLED,
    )
    made = make_core(config, INPUTS).double()
    assert isinstance(made, RecallCore)
    return made


def codes(steps: int) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(steps, ROWS, INPUTS, generator=generator, dtype=torch.float64)


def played(core: RecallCore, seen: Tensor) -> State:
    state = core.initial_state(seen.shape[1])
    for code in seen:
        state = core(code, state)
    return state


@pytest.mark.parametrize("steps", [1, 2, GLIMPSES, GLIMPSES + 2])
@pytest.mark.parametrize("core", ["rnn", "gru", "lstm", "feedforward"])
def test_the_read_out_is_that_of_the_formula(core: str, steps: int) -> None:
    """Worked out in NumPy, row by row and glimpse by glimpse, from the latest codes alone."""
    made, seen = make_recall(core), codes(steps)
    parts = {name: p.detach().numpy() for name, p in made.named_parameters()}
    with torch.no_grad():
        states = [made.initial_state(ROWS)]
        for code in seen:
            states.append(made(code, states[-1]))
        stored = made.store(seen).numpy()  # (steps, ROWS, 2 RECALLED)
    for row in range(ROWS):
        marks: list[float] = []
        for step in range(steps):
            output = states[step + 1][0][row, :UNITS].numpy()
            query = parts["query.weight"] @ output + parts["query.bias"]
            strength = np.exp(parts["strength.weight"] @ output + parts["strength.bias"])[0]
            gate = 1 / (1 + np.exp(-(parts["gate.weight"] @ output + parts["gate.bias"])))[0]
            marks = [*marks, 0.0][-GLIMPSES:]
            entries = stored[: step + 1, row][-GLIMPSES:]
            asked = [query + parts["marked.weight"][:, 0] * mark for mark in marks]
            scores = [
                strength * (parts["score.weight"][0] @ np.maximum(entry[:RECALLED] + q, 0.0))
                for entry, q in zip(entries, asked, strict=True)
            ]
            weights = np.exp(scores) / np.exp(scores).sum()
            marks = [mark + gate * w for mark, w in zip(marks, weights, strict=True)]
        read_out = weights @ entries[:, RECALLED:]
        np.testing.assert_allclose(states[-1][0][row, UNITS:], read_out)
        np.testing.assert_allclose(states[-1][-1][row, -len(marks) :], marks)


def test_what_was_read_is_fed_to_the_next_step() -> None:
    made, seen = make_recall(), codes(2)
    with torch.no_grad():
        state = made(seen[0], made.initial_state(ROWS))
        expected = made.core(
            torch.cat([seen[1], state[0][:, UNITS:]], dim=1), (state[0][:, :UNITS], state[1])
        )
        output = made(seen[1], state)[0]
    torch.testing.assert_close(output[:, :UNITS], expected[0])


@pytest.mark.parametrize("strength", [9.0, 1000.0])
def test_places_that_hold_no_glimpse_have_no_weight(strength: float) -> None:
    """However far below 0 the scores of those that do."""
    made = make_recall()
    nn.init.constant_(made.strength.bias, strength)
    nn.init.constant_(made.score.weight, -10.0)
    nn.init.constant_(made.query.bias, 10.0)
    output, *_, entries, marks = played(made, codes(2))
    weights = made.weights(output[:, :UNITS], entries, marks)
    assert torch.isfinite(output).all()
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(ROWS).double())
    assert (weights[:, : GLIMPSES - 2] == 0).all()


def test_a_process_without_rows_goes_on() -> None:
    made = make_recall()
    assert played(made, codes(2)[:, :0])[0].shape == (0, UNITS + RECALLED)


def test_what_is_read_is_counted_as_work() -> None:
    """Of a kept glimpse its mark, its score and its value: a product for each of their units."""

    def cost(glimpses: int) -> int:
        config = NetworkConfig(core_units=UNITS, recall_glimpses=glimpses, recall_units=RECALLED)
        core = make_core(config, INPUTS)
        with multiply_adds() as count, torch.no_grad():
            core(torch.zeros(1, INPUTS), core.initial_state(1))
        return count()

    assert cost(7) - cost(6) == 3 * RECALLED


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        (LSTMMemory, LSTMMemoryConfig),
        (GaussianWindow, GaussianWindowConfig),
    ],
)
def test_baselines_have_none(kind: Any, config: Any) -> None:
    network = NetworkConfig(recall_glimpses=4)
    env_id = "Glimpse/Copy-v0" if kind is LSTMMemory else "Glimpse/CenteredGlyphs-v0"
    with pytest.raises(ValueError, match="recall_glimpses=4 is for agents"):
        kind(Setting.of(env_id, {}), config(env_id=env_id, network=network))


def test_every_part_learns() -> None:
    made = make_recall()
    played(made, codes(3))[0].square().sum().backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    assert [n for n, p in made.named_parameters() if p.grad is None or not p.grad.any()] == []


def test_gates_of_the_inner_core_are_orthogonalised_one_by_one() -> None:
    inner = LSTMCore(32, 32)
    optimizer = Optimizer(RecallCore(32, inner, 32, GLIMPSES), Rates())
    blocks = [whole for _, whole, _ in optimizer._blocks]
    assert sum(whole is inner.gates.weight for whole in blocks) == 4


def test_equal_precision_of_the_memory_under_bfloat16() -> None:
    """Keys are stored rounded, but nothing is added up in half precision."""
    made = make_recall().float()
    with torch.autocast("cpu", torch.bfloat16):
        state = played(made, codes(4).float())
    assert {part.dtype for part in state[-2:]} == {torch.float32}
    assert torch.isfinite(state[0]).all()


def test_a_policy_with_recall_starts_with_an_empty_memory() -> None:
    network = tiny_network(recall_glimpses=GLIMPSES, recall_units=RECALLED)
    env = make_vector(CLUTTERED, ROWS)
    policy = policy_from(network, describe(env))
    observation, _ = env.reset(seed=0)
    fresh, state = policy.predict(observation, deterministic=True)
    assert state[-2].shape == (ROWS, GLIMPSES * (2 * RECALLED + 1))
    assert state[-1].shape == (ROWS, GLIMPSES)
    start = np.array([True, True, False])
    again, _ = policy.predict(observation, state, start, deterministic=True)
    np.testing.assert_array_equal(again["look"][:2], fresh["look"][:2])
    assert (again["look"][2] != fresh["look"][2]).any()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"recall_glimpses": -1}, "recall_glimpses=-1 must be at least 0"),
        ({"recall_glimpses": 2, "recall_units": 0}, "recall_units=0 must be at least 1"),
        ({"recall_glimpses": 2, "core": "dram"}, "recall_glimpses=2 needs another core than"),
        ({"core": "dram"}, "detach_heads=True needs another core than 'dram': nothing but looks"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, object], message: str) -> None:
    network = replace(tiny_network(), **changes)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ValueError, match=message):
        ActorCritic(tiny_actor_critic(network=network))


@pytest.mark.learning
@pytest.mark.parametrize(("glimpses", "least", "most"), [(8, 0.95, 1.0), (0, 0.0, 0.7)])
def test_a_few_units_find_any_of_many_glimpses(glimpses: int, least: float, most: float) -> None:
    """Seven names are shown, each with one of four symbols; then one name, whose symbol is asked.
    Without recall a core of eight units does not hold them all."""
    torch.manual_seed(0)
    names, symbols, rows = 7, 4, 256
    config = NetworkConfig(core_units=8, recall_glimpses=glimpses, recall_units=16)
    core = make_core(config, names + symbols)
    answer = nn.Linear(core.units, symbols)
    optimizer = torch.optim.Adam([*core.parameters(), *answer.parameters()], lr=1e-2)
    for _ in range(250):
        order = torch.rand(rows, names).argsort(dim=1)
        shown = torch.randint(symbols, (rows, names))
        seen = torch.cat([F.one_hot(order, names), F.one_hot(shown, symbols)], dim=2).float()
        asked = torch.randint(names, (rows, 1))
        asking = F.one_hot(order.gather(1, asked)[:, 0], names + symbols).float()
        state = core.initial_state(rows)
        for code in (*seen.unbind(dim=1), asking):
            state = core(code, state)
        right = shown.gather(1, asked)[:, 0]
        logits = answer(state[0])
        optimizer.zero_grad()
        F.cross_entropy(logits, right).backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        optimizer.step()
    share = (logits.argmax(dim=1) == right).double().mean().item()
    assert least <= share <= most
