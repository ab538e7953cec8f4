"""The Neural Turing Machine agrees with its paper's equations, and learns to copy."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from agents.training.checkpoints import load_weights
from agents.training.loop import train
from agents.training.resuming import read_config
from baselines.memories.copy_machine import CopyConfig, CopyMachine, CopyTraining, wrong_bits
from baselines.memories.ntm import (
    FIRST_CONTENT,
    NTMMemory,
    content_weights,
    sharpened,
    shifted,
    written,
)
from baselines.memories.ntm_copy import SCORED_LENGTHS, main, score
from glimpse_envs.evaluation.record import NTM_COPY
from glimpse_envs.evaluation.records import read_records
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import Run, load_policy, open_run
from tests.support.same_runs import assert_same_run

TINY = CopyConfig(
    bits=3, length=3, cells=10, width=8, units=32, learning_rate=3e-3, log_every=2, minutes=60.0
)


def random_weights(*shape: int) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(0)).softmax(dim=-1)


def test_content_weights_are_the_softmax_of_cosines() -> None:
    """A cell as the key, one at a right angle to it and one against it: cosines 1, 0, -1."""
    memory = torch.tensor([[[3.0, 0.0], [0.0, 0.1], [-1.0, 0.0]]])
    keys = torch.tensor([[[2.0, 0.0]]])
    weights = content_weights(keys, memory, torch.tensor([[[2.0]]]))
    e = np.exp([2.0, 0.0, -2.0])
    np.testing.assert_allclose(weights[0, 0], e / e.sum(), rtol=1e-5)


def test_an_empty_memory_is_weighed_evenly_and_has_a_gradient() -> None:
    memory = torch.zeros(1, 4, 2, requires_grad=True)
    weights = content_weights(torch.ones(1, 1, 2), memory, torch.ones(1, 1, 1))
    np.testing.assert_allclose(weights.detach(), 0.25)
    (slope,) = torch.autograd.grad(weights[0, 0, 0], memory)
    assert torch.isfinite(slope).all()


@pytest.mark.parametrize("reach", [0, 1, 2])
def test_shifts_are_the_circular_convolution(reach: int) -> None:
    """Equation 8: w~(i) = sum over j of w(j) s(i - j mod N)."""
    weights, shifts = random_weights(2, 3, 7), random_weights(2, 3, 2 * reach + 1)
    moved = shifted(weights, shifts)
    for i in range(7):
        expected = sum(
            weights[..., (i - by) % 7] * shifts[..., by + reach] for by in range(-reach, reach + 1)
        )
        torch.testing.assert_close(moved[..., i], expected)


def test_sharpening_raises_to_a_power() -> None:
    weights = torch.tensor([[[0.5, 0.25, 0.25, 0.0]]])
    expected = [[[4 / 6, 1 / 6, 1 / 6, 0.0]]]
    np.testing.assert_allclose(sharpened(weights, torch.tensor([[[2.0]]])), expected, atol=1e-6)
    np.testing.assert_allclose(sharpened(weights, torch.ones(1, 1, 1)), weights, atol=1e-6)


def test_writing_erases_then_adds() -> None:
    """Cell 0 wholly, cell 1 by half; what is not erased stays."""
    memory = torch.tensor([[[5.0, 6.0], [5.0, 6.0], [5.0, 6.0]]])
    weights = torch.tensor([[1.0, 0.5, 0.0]])
    after = written(memory, weights, torch.tensor([[1.0, 0.0]]), torch.tensor([[2.0, 3.0]]))
    np.testing.assert_allclose(after[0], [[2.0, 9.0], [3.5, 7.5], [5.0, 6.0]])


def steered(**outputs: float | list[float]) -> NTMMemory:
    """A memory of 5 cells of 2 whose heads all have the same constant outputs."""
    memory = NTMMemory(3, 5, 2)
    with torch.no_grad():
        for layer in (memory.steer, memory.write):
            layer.weight.zero_()
            layer.bias.zero_()
        heads = memory.steer.bias.view(2, -1)
        for name, value in outputs.items():
            start = {"key": 0, "strength": 2, "gate": 3, "power": 4, "shifts": 5}[name]
            constant = torch.tensor(value).flatten()
            heads[:, start : start + len(constant)] = constant
        memory.write.bias[:] = torch.tensor([30.0, 30.0, 1.0, -2.0])  # erase all, add (1, -2)
    return memory


def test_a_head_steered_by_place_walks_from_cell_to_cell() -> None:
    """By place alone (gate 0), one cell on at each step; what it writes there it reads."""
    memory = steered(gate=-40.0, shifts=[-40.0, -40.0, 40.0], power=-40.0)
    state = memory.initial_state(2)
    assert (state.memory == FIRST_CONTENT).all()
    for step in range(1, 4):
        state = memory(torch.randn(2, 3), state)
        np.testing.assert_allclose(state.weights[..., step].detach(), 1.0, atol=1e-5)
        np.testing.assert_allclose(state.read.detach(), [[1.0, -2.0]] * 2, atol=1e-4)
    np.testing.assert_allclose(state.memory[0, 1:4].detach(), [[1.0, -2.0]] * 3, atol=1e-4)
    np.testing.assert_allclose(state.memory[0, [0, 4]].detach(), 0.0, atol=1e-4)


def test_a_head_steered_by_content_jumps_to_its_key() -> None:
    """By content alone (gate 1), staying there; equation 7."""
    memory = steered(
        key=[1.0, -2.0], strength=300.0, gate=40.0, shifts=[-40.0, 40.0, -40.0], power=-40.0
    )
    state = memory.initial_state(1)
    state.memory[0, 3] = torch.tensor([math.tanh(1.0), math.tanh(-2.0)])
    weights = memory.address(torch.zeros(1, 3), state)
    np.testing.assert_allclose(weights[0, :, 3].detach(), 1.0, atol=1e-3)


def test_gradients_agree_with_finite_differences() -> None:
    torch.manual_seed(0)
    memory = NTMMemory(4, 5, 3, reads=2, writes=2).double()
    cores = torch.randn(3, 2, 4, dtype=torch.float64, requires_grad=True)
    first = torch.randn(2, 5, 3, dtype=torch.float64)

    def read(cores: Tensor) -> Tensor:
        state = memory.initial_state(2)._replace(memory=first)
        for core in cores:
            state = memory(core, state)
        np.testing.assert_allclose(state.weights.detach().sum(dim=-1), 1.0)
        return state.read

    assert torch.autograd.gradcheck(read, (cores,))


def test_too_few_cells_are_refused() -> None:
    with pytest.raises(ValueError, match="cells=2 must be more than 2"):
        NTMMemory(4, 2, 3)


def test_a_copy_is_given_from_memory_alone() -> None:
    """The first output depends on every vector; and rows do not mix."""
    torch.manual_seed(0)
    model = CopyMachine(TINY)
    bits = torch.randint(2, (2, 3, 3)).float().requires_grad_()
    logits = model(bits)
    assert logits.shape == bits.shape
    (slope,) = torch.autograd.grad(logits[0, 0].sum(), bits)
    assert (slope[0].abs().sum(dim=1) > 0).all()
    assert (slope[1] == 0).all()


def test_wrong_bits_are_counted_a_sequence() -> None:
    bits = torch.tensor([[[1.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]])
    logits = torch.tensor([[[2.0, 1.0], [-1.0, 3.0]], [[-1.0, -1.0], [-1.0, -1.0]]])
    assert wrong_bits(logits, bits).tolist() == [2.0, 0.0]


@pytest.mark.learning
def test_a_tiny_copy_is_learned_in_seconds() -> None:
    training = CopyTraining(TINY)
    errors = [training.update(update / 600)["error"] for update in range(600)]
    assert np.mean(errors[:20]) > 0.3
    assert np.mean(errors[-20:]) < 0.05


@pytest.mark.learning
@pytest.mark.filterwarnings("ignore:.torch.jit.script_method:DeprecationWarning")
def test_compiling_the_step_keeps_its_names() -> None:
    compiled, plain = CopyTraining(replace(TINY, compile=True)), CopyTraining(TINY)
    assert compiled.policy.state_dict().keys() == plain.policy.state_dict().keys()


def test_a_run_that_is_left_off_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    def trained(name: str, stop_after: int, **changes: Any) -> Run:
        config, folder = replace(TINY, **changes), tmp_path / name
        options: dict[str, Any] = {"resume": True, "progress_bar": False}
        return train(CopyTraining, config, folder, stop_after=stop_after, **options)

    whole = trained("whole", 7)
    for stop_after in (0, 3, 4, 7):
        broken = trained("broken", stop_after)
    assert [line["step"] for line in broken.read_metrics()] == [32, 64, 96]
    assert_same_run(broken, whole)
    with pytest.raises(RunError, match="units"):
        trained("whole", 7, units=8)
    model = load_policy(tmp_path / "whole")
    assert isinstance(model, CopyMachine)
    found = model.state_dict()
    for name, tensor in whole.load_checkpoint()[0].items():
        if name.startswith("policy/"):
            np.testing.assert_array_equal(found[name.removeprefix("policy/")], tensor)


@pytest.mark.learning
def test_the_command_trains_scores_and_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--minutes", "0.001", "--seed", "3", "--units", "8", "--cells", "4", "--width", "4"]
    records = tmp_path / "records"
    main([*options, "--test-sequences", "3", "--run", str(tmp_path), "--record", str(records)])
    (record,) = read_records(records)[0]
    assert (record.env_id, record.levels) == (NTM_COPY, (1, 20))
    assert [found.level for found in record.scores] == [20, 10, 40, 80, 120]
    assert record.seed == record.config["seed"] == 3
    assert record.episodes > 0
    costs = record.headline.costs
    assert 0 < costs["wrong_bits"] <= costs["wrong_bits_greatest"]
    assert "wrong bits a sequence" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main(["--run", str(tmp_path)])
    assert ended.value.code == 2
    assert "is a run already" in capsys.readouterr().err
    main(["--run", str(tmp_path), "--resume", "--record", str(records)])
    assert read_records(records)[0] == [record]
    model = load_policy(tmp_path)
    assert score(model, 3) == {length: record.at_level(length) for length in SCORED_LENGTHS}


@pytest.mark.learning
def test_the_greatest_length_of_the_training_is_scored_too(tmp_path: Path) -> None:
    options = ["--minutes", "0.001", "--length", "5", "--units", "8", "--cells", "4"]
    options += ["--width", "4", "--test-sequences", "3", "--run", str(tmp_path / "run")]
    main([*options, "--record", str(tmp_path)])
    (record,) = read_records(tmp_path)[0]
    assert [found.level for found in record.scores] == [5, 10, 20, 40, 80, 120]
    model = load_policy(tmp_path / "run")
    assert score(model, 3) == {length: record.at_level(length) for length in SCORED_LENGTHS}


@pytest.mark.learning
def test_a_machine_is_scored_with_other_memories_than_that_of_its_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--minutes", "0.001", "--length", "5", "--units", "8", "--cells", "4"]
    options += ["--width", "4", "--test-sequences", "3", "--run", str(tmp_path / "run")]
    with pytest.raises(SystemExit):
        main([*options, "--scored-cells", "4", "2"])
    assert "cells=2 must be more than 2" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
    main([*options, "--record", str(tmp_path), "--scored-cells", "4", "9"])
    nine, four = sorted(read_records(tmp_path)[0], key=lambda record: len(record.env_kwargs))[::-1]
    assert (four.env_kwargs, nine.env_kwargs) == ({}, {"cells": 9})
    assert four.config == nine.config
    run = open_run(tmp_path / "run")
    for record, cells in ((four, 4), (nine, 9)):
        model = CopyMachine(replace(read_config(run, CopyConfig), cells=cells))
        load_weights(model, run)
        assert score(model, 3) == {length: record.at_level(length) for length in SCORED_LENGTHS}
    assert four.scores != nine.scores


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"minutes": 0.0}, "minutes=0.0"),
        ({"bits": 0}, "bits=0"),
        ({"seed": 2**64}, "seed=18446744073709551616 must be an integer"),
        ({"length": 2, "min_length": 3}, "length=2 must be at least min_length=3"),
        ({"momentum": 1.0}, "momentum=1.0"),
    ],
)
def test_what_cannot_be_is_refused_by_name(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        CopyTraining(replace(TINY, **changes))


def test_a_loss_that_is_not_finite_leaves_the_model_as_it_was() -> None:
    training = CopyTraining(TINY)
    with torch.no_grad():
        training.policy.output.bias.fill_(math.nan)
    before = training.policy.output.weight.detach().clone()
    with pytest.raises(FloatingPointError, match="lower the learning rate"):
        training.update(0.0)
    torch.testing.assert_close(training.policy.output.weight.detach(), before)
