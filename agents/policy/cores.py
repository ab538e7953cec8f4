"""The cores: a rectifier RNN (RAM, Mnih et al. 2014), GRU, LSTM, DRAM's two LSTMs, and one without
memory."""

import re
from collections.abc import Callable
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from agents.policy.context import is_shown
from agents.policy.core import Core, State
from agents.policy.lstm_cell import lstm_cell
from agents.policy.networks import NetworkConfig
from agents.policy.recall import RecallCore
from glimpse_envs.core.classes import find_class


class RectifierCore(Core):
    """RAM's core: h = relu(W g + U h)."""

    def __init__(self, inputs: int, units: int) -> None:
        super().__init__()
        self.units = units
        self.step = nn.Linear(inputs + units, units)
        # Le, Jaitly & Hinton (2015): a rectifier RNN learns when it begins as the identity.
        with torch.no_grad():
            self.step.weight[:, inputs:] = torch.eye(units)

    def initial_state(self, rows: int) -> State:
        return (self.step.weight.new_zeros(rows, self.units),)

    def forward(self, seen: Tensor, state: State) -> State:
        return (F.relu(self.step(torch.cat([seen, state[0]], dim=1))),)


class FeedforwardCore(Core):
    """One layer of rectifiers without memory, as a control: h = relu(W g)."""

    def __init__(self, inputs: int, units: int) -> None:
        super().__init__()
        self.units = units
        self.step = nn.Linear(inputs, units)

    def initial_state(self, rows: int) -> State:
        return (self.step.weight.new_zeros(rows, self.units),)

    def forward(self, seen: Tensor, state: State) -> State:
        return (F.relu(self.step(seen)),)


class GRUCore(Core):
    """Gated recurrent units (Cho et al. 2014)."""

    stacked: ClassVar[dict[str, int]] = {"cell.weight_ih": 3, "cell.weight_hh": 3}

    def __init__(self, inputs: int, units: int) -> None:
        super().__init__()
        self.units = units
        self.cell = nn.GRUCell(inputs, units)

    def initial_state(self, rows: int) -> State:
        return (self.cell.weight_hh.new_zeros(rows, self.units),)

    def forward(self, seen: Tensor, state: State) -> State:
        return (self.cell(seen, state[0]),)


class LSTMCore(Core):
    """Long short-term memory; one matrix product a step, and a cell kept in full precision."""

    stacked: ClassVar[dict[str, int]] = {"gates.weight": 4}

    def __init__(self, inputs: int, units: int) -> None:
        super().__init__()
        self.units = units
        self.gates = nn.Linear(inputs + units, 4 * units)
        with torch.no_grad():
            self.gates.bias[units : 2 * units] = 1.0  # remember at the start

    def initial_state(self, rows: int) -> State:
        zeros = self.gates.weight.new_zeros(rows, self.units)
        return (zeros, zeros)

    def forward(self, seen: Tensor, state: State) -> State:
        output, cell = state
        return lstm_cell(self.gates(torch.cat([seen, output], dim=1)), cell)


class DRAMCore(Core):
    """Two LSTMs (Ba, Mnih & Kavukcuoglu 2015, section 3): answers come from the lower one, which
    reads glimpses; looks, stops and the baseline from the upper one, which reads the lower. A
    context, a coarse view of the scene, sets the upper one's first state, so that it tells where to
    look and nothing of the answer."""

    def __init__(self, inputs: int, units: int, context: tuple[int, ...] | None = None) -> None:
        super().__init__()
        self.units = units
        self.lower, self.upper = LSTMCore(inputs, units), LSTMCore(units, units)
        self.context: nn.Module | None = None
        if context is not None:
            channels, height, width = context
            self.context = nn.Sequential(
                nn.Conv2d(channels, 16, 3, padding=1),
                nn.ReLU(),
                nn.Conv2d(16, 16, 3, padding=1),
                nn.ReLU(),
                nn.Conv2d(16, 16, 3, stride=2, padding=1),
                nn.ReLU(),
                nn.Flatten(),
                nn.Linear(16 * -(-height // 2) * -(-width // 2), units),
                nn.Tanh(),
            )

    def initial_state(self, rows: int) -> State:
        return (*self.lower.initial_state(rows), *self.upper.initial_state(rows))

    def with_context(self, state: State, context: Tensor) -> State:
        """Set the upper LSTM's output by `context` (B, C, h, w), where it is shown: not black."""
        assert self.context is not None, "no context was announced"
        shown = is_shown(context)
        if not shown.any():
            return state
        lower, cell, upper, upper_cell = state
        return (lower, cell, torch.where(shown[:, None], self.context(context), upper), upper_cell)

    def forward(self, seen: Tensor, state: State) -> State:
        lower = self.lower(seen, state[:2])
        return (*lower, *self.upper(lower[0], state[2:]))

    def choosing(self, state: State) -> Tensor:
        return state[2]


def make_core(config: NetworkConfig, inputs: int, context: tuple[int, ...] | None = None) -> Core:
    """Return the core that `config` names; a class, "module:Class", is given the inputs and the
    units.

    Args:
        config: its kind and units, and its recall.
        inputs: units of a glimpse's code.
        context: (C, h, w) of a context, which "dram" alone takes.

    Raises:
        ValueError: there is no such class, or its core has another number of units or a state that
            is no tuple of tensors (B, n).
    """
    if config.core == "dram":
        return DRAMCore(inputs, config.core_units, context)
    cores: dict[str, Callable[[int, int], Core]] = {
        "rnn": RectifierCore,
        "gru": GRUCore,
        "lstm": LSTMCore,
        "feedforward": FeedforwardCore,
    }
    make = cores.get(config.core) or find_class("core", config.core, Core, {})
    recalled = config.recall_units if config.recall_glimpses else 0
    made = make(inputs + recalled, config.core_units)
    units = getattr(made, "units", None)
    if units != config.core_units:
        raise ValueError(
            f"core={config.core!r} was given core_units={config.core_units} and has units={units}: "
            "its output, and its attribute `units`, must be of that number"
        )
    if config.core not in cores:
        _check_own_core(config.core, made, inputs + recalled)
    return RecallCore(inputs, made, recalled, config.recall_glimpses) if recalled else made


def _check_own_core(name: str, core: Core, inputs: int) -> None:
    """Try the core of another package on two rows of codes (2, inputs).

    Raises:
        ValueError: it does not read them; or its state before or after them is no tuple of tensors
            (2, n), of which the first is (2, units), or not the same n after as before.
    """
    right = (
        f"it must be a tuple of tensors (rows, n), the first (rows, units), {(2, core.units)}: "
        "flatten what has more axes, and give a vector a second one"
    )
    core.eval()
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        before = core.initial_state(2)
        if not _is_state(before, core.units):
            raise ValueError(
                f"core={name!r}: `initial_state(2)` returned {_shapes_of(before)}; {right}"
            )
        try:
            after = core(torch.zeros(2, inputs), before)
        except (RuntimeError, ValueError) as error:  # torch's own, of shapes that do not fit
            if not re.search("shape|size|dimension", str(error)):
                core.train()
                return  # it may run on a GPU alone
            raise ValueError(
                f"core={name!r} does not read codes {(2, inputs)} and the state "
                f"{_shapes_of(before)}: {error}"
            ) from error
    core.train()
    if not _is_state(after, core.units):
        raise ValueError(f"core={name!r}: `forward` returned {_shapes_of(after)}; {right}")
    if _shapes_of(after) != _shapes_of(before):
        raise ValueError(
            f"core={name!r}: `forward` returned {_shapes_of(after)} for the state "
            f"{_shapes_of(before)}; the next state must have the same shapes"
        )


def _is_state(value: object, units: int) -> bool:
    """Whether a core of so many units may return `value` as the state of two rows."""
    return (
        isinstance(value, tuple)
        and len(value) > 0
        and all(isinstance(part, Tensor) and part.shape[:1] == (2,) for part in value)
        and all(part.ndim == 2 for part in value)
        and value[0].shape[1] == units
    )


def _shapes_of(value: object) -> str:
    """What a core returned, for messages: tensors by their shapes, all else by its type."""
    if isinstance(value, Tensor):
        return f"a tensor {tuple(value.shape)}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_shapes_of, value))}{',' * (len(value) == 1)})"
    return f"a value of the type {type(value).__name__}"
