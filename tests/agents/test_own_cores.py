"""A core of another package is tried before it is trained: its state must be one that is kept."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from agents.policy.core import Core, State
from agents.policy.cores import make_core
from agents.policy.networks import NetworkConfig

UNITS = 6
INPUTS = 5


class Counting(Core):
    """Keeps its last code, and how many codes it has read, (B, 1)."""

    def __init__(self, inputs: int, units: int) -> None:
        super().__init__()
        self.units = units
        self.mix = nn.Sequential(nn.Linear(inputs, units), nn.Dropout())

    def initial_state(self, rows: int) -> State:
        return torch.zeros(rows, self.units), torch.zeros(rows, 1)

    def forward(self, seen: Tensor, state: State) -> State:
        return self.mix(seen), state[1] + torch.rand(len(seen), 1)


def own_core() -> Core:
    config = NetworkConfig(core=f"{__name__}:Counting", core_units=UNITS)
    return make_core(config, INPUTS)


def test_a_core_that_was_tried_is_in_training_and_has_drawn_nothing() -> None:
    torch.manual_seed(0)
    Counting(INPUTS, UNITS)
    expected = torch.get_rng_state()
    torch.manual_seed(0)
    core = own_core()
    assert all(module.training for module in core.modules())
    assert torch.equal(torch.get_rng_state(), expected)


def vector(core: Counting, rows: int) -> Any:
    return torch.zeros(rows, core.units), torch.zeros(rows)


def matrices(core: Counting, rows: int) -> Any:
    return torch.zeros(rows, core.units), torch.zeros(rows, 3, 4)


def narrow(core: Counting, rows: int) -> Any:
    return (torch.zeros(rows, core.units - 1),)


def listed(core: Counting, rows: int) -> Any:
    return [torch.zeros(rows, core.units)]


def with_number(core: Counting, rows: int) -> Any:
    return torch.zeros(rows, core.units), 0


def empty(core: Counting, rows: int) -> Any:
    return ()


@pytest.mark.parametrize(
    ("initial_state", "returned"),
    [
        (vector, r"\(a tensor \(2, 6\), a tensor \(2,\)\)"),
        (matrices, r"\(a tensor \(2, 6\), a tensor \(2, 3, 4\)\)"),
        (narrow, r"\(a tensor \(2, 5\),\)"),
        (listed, "a value of the type list"),
        (with_number, r"\(a tensor \(2, 6\), a value of the type int\)"),
        (empty, r"\(\)"),
    ],
)
def test_a_first_state_that_cannot_be_kept_is_refused(
    initial_state: Callable[[Counting, int], Any], returned: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows (B,) would be reset as (B, B) without a word."""
    monkeypatch.setattr(Counting, "initial_state", initial_state)
    wrong = (
        rf"core='.*test_own_cores:Counting': `initial_state\(2\)` returned {returned}; it must be "
        r"a tuple of tensors \(rows, n\), the first \(rows, units\), \(2, 6\): "
    )
    with pytest.raises(ValueError, match=wrong):
        own_core()


@pytest.mark.parametrize(
    ("forward", "wrong"),
    [
        (lambda core, seen, state: core.mix(seen), r"returned a tensor \(2, 6\); it must be a tup"),
        (
            lambda core, seen, state: (core.mix(seen),),
            r"returned \(a tensor \(2, 6\),\) for the state \(a tensor \(2, 6\), a tensor "
            r"\(2, 1\)\); the next state must have the same shapes",
        ),
        (
            lambda core, seen, state: (core.mix(seen), state[1][:, 0]),
            r"returned \(a tensor \(2, 6\), a tensor \(2,\)\); it must be a tuple",
        ),
        (
            lambda core, seen, state: (core.mix(state[0]), state[1]),
            r"does not read codes \(2, 5\) and the state .*cannot be multiplied",
        ),
    ],
)
def test_a_next_state_that_cannot_be_kept_is_refused(
    forward: Callable[..., Any], wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Counting, "forward", forward)
    with pytest.raises(ValueError, match=rf"core='.*:Counting'.* {wrong}"):
        own_core()
