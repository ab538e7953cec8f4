"""A memory of keys and values reads softly, or one cell that is sampled and learned by reward."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from agents.scoring.run_scores import score_run
from baselines.learner import cross_entropies, read_losses
from baselines.memories.key_value_memory import ALL_HARD_AT, KeyValueConfig, KeyValueMemory
from baselines.setting import SequenceScene, Setting
from tests.support.baselines import COPY, tiny_config
from tests.support.baselines import trained as trained_baseline
from tests.support.tiny import tiny_network

TAPE = SequenceScene(cells=4, features=3, query=0, outputs=2, outputs_per_cell=1.0)
TABLE = SequenceScene(cells=4, features=3, query=2, hops=3)
TINY = KeyValueConfig(network=tiny_network(), key_units=4, value_units=4, address_bits=3)


def make(shape: SequenceScene = TAPE, **changes: Any) -> KeyValueMemory:
    torch.manual_seed(0)
    return KeyValueMemory(Setting("Made-up", shape, num_answers=3), replace(TINY, **changes))


def scene(rows: int = 2, cells: int = 4) -> Tensor:
    return torch.rand(rows, cells, 3, generator=torch.Generator().manual_seed(1))


def observation(shape: SequenceScene, rows: int = 2) -> dict[str, Tensor]:
    return {"scene": scene(rows), "query": torch.ones(rows, shape.query)}


def test_cells_that_show_the_same_are_told_apart_by_the_bits_of_their_addresses() -> None:
    model = make()
    alike = torch.ones(1, 6, 3)
    keys = model.begin(alike).keys[0]
    assert len({tuple(key.tolist()) for key in keys}) == 6
    weight = model.key.weight[:, 3:]
    # Cell 5 differs from cell 1 in bit 2, which goes from -1 to 1.
    torch.testing.assert_close(keys[5] - keys[1], 2 * weight[:, 2])


def test_more_cells_than_addresses_are_refused() -> None:
    with pytest.raises(ValueError, match="address_bits=1 tell 2 cells apart, and there are 4"):
        make(address_bits=1)
    with pytest.raises(ValueError, match="there are 9"):
        make().begin(scene(cells=9))


@pytest.mark.learning
def test_it_is_scored_at_the_lengths_whose_addresses_it_tells_apart(tmp_path: Path) -> None:
    config = tiny_config("soft", **COPY, address_bits=2)  # 4 cells
    run = trained_baseline(config, "soft", tmp_path)
    scores = score_run(run, episodes=8)
    assert [score.env_kwargs["length"] for score in scores] == [2, 4]


def test_the_likeliest_cell_is_read_when_it_is_scored() -> None:
    hard = make(addressing="hard").eval()
    memory, core = hard.begin(scene()), torch.randn(2, 8)
    read, after = hard.visit(core, memory, answering=True)
    best = (hard.query(core)[:, None] * memory.keys).sum(dim=-1).argmax(dim=1)
    torch.testing.assert_close(read, memory.values[torch.arange(2), best])
    assert after.log_probs == ()


@pytest.mark.parametrize(("shape", "steps"), [(TAPE, 2), (TABLE, 3)])
@pytest.mark.parametrize("addressing", ["soft", "hard", "soft_to_hard"])
def test_each_step_touches_every_cell_whose_key_it_scores(
    addressing: str, shape: SequenceScene, steps: int
) -> None:
    assert make(shape, addressing=addressing).cells_read(4) == 4 + 4 * steps


@pytest.mark.parametrize("shape", [TAPE, TABLE])
def test_answers_and_samples_have_a_row_each(shape: SequenceScene) -> None:
    answers = make(shape, addressing="hard")(observation(shape))
    steps = shape.outputs or shape.hops
    assert answers.logits.shape == (shape.outputs or 1, 2, 3)
    assert answers.log_probs is not None
    assert answers.values is not None
    assert answers.log_probs.shape == answers.values.shape == (steps, 2)
    soft = make(shape)(observation(shape))
    assert soft.log_probs is None
    assert soft.values is None


def test_soft_to_hard_takes_more_and_more_samples() -> None:
    model, generator = make(addressing="soft_to_hard"), torch.Generator().manual_seed(0)
    shares = []
    for progress in (0.0, 0.5 * ALL_HARD_AT, ALL_HARD_AT, 1.0):
        model.set_progress(progress, generator)
        log_probs = model(observation(TAPE, rows=2000)).log_probs
        sampled = 0.0 if log_probs is None else (log_probs != 0).float().mean().item()
        shares.append(sampled)
    np.testing.assert_allclose(shares, [0.0, 0.5, 1.0, 1.0], atol=0.03)


def test_cells_that_are_not_fed_are_seen_through_the_memory_alone() -> None:
    """The first query is then the same whatever the scene; fed, it is not."""
    for feed in (True, False):
        model = make(feed=feed)
        queries: list[Tensor] = []
        hook = model.query.register_forward_hook(lambda *seen, q=queries: q.append(seen[2]))
        model({"scene": scene()})
        hook.remove()
        assert torch.equal(queries[0][0], queries[0][1]) is not feed


def test_reinforce_is_on_average_the_exact_gradient() -> None:
    """The gradient of the expected log-likelihood by summing over all pairs of cells read: samples
    agree with it, but for the division by the advantages' deviation."""
    model = make(addressing="hard", feed=False)
    shown, targets = scene(1), torch.tensor([[1], [2]])

    def expected_by_enumeration() -> Tensor:
        memory = model.begin(shown)
        total = torch.zeros(())
        for cells in product(range(4), repeat=2):
            state, read = model.core.initial_state(1), torch.zeros(1, 4)
            log_prob, likelihood = torch.zeros(()), torch.zeros(())
            for cell, target in zip(cells, targets[:, 0], strict=True):
                seen = torch.cat([torch.zeros(1, 3), torch.ones(1, 1), read], dim=1)
                state = model.core(seen, state)
                weights = (model.query(state[0]) @ memory.keys[0].T / 2).log_softmax(dim=-1)
                log_prob = log_prob + weights[0, cell]
                read = memory.values[:, cell]
                logits = model.answer_head(torch.cat([state[0], read], dim=1))
                likelihood = likelihood + logits.log_softmax(dim=-1)[0, target]
            total = total + log_prob.exp() * likelihood / 2
        return total

    weight = model.query.weight
    (exact,) = torch.autograd.grad(expected_by_enumeration(), weight)
    rows = 40_000
    model.set_progress(0.0, torch.Generator().manual_seed(0))
    answers = model({"scene": shown.expand(rows, -1, -1)})
    missed = cross_entropies(answers.logits, targets.expand(-1, rows))
    assert answers.log_probs is not None
    assert answers.values is not None
    # Back-propagation through the state carries the rest of the gradient: of what was read before.
    advantages = (-missed.detach().flip(0).cumsum(dim=0).flip(0) / 2) - answers.values.detach()
    losses = read_losses(answers, -missed.detach())
    total = losses["read"] * (advantages.std() + 1e-3) + missed.mean()
    (sampled,) = torch.autograd.grad(-total, weight)
    scale = exact.abs().max().item()
    torch.testing.assert_close(sampled, exact, atol=0.1 * scale, rtol=0.0)
