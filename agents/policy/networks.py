"""The configuration of a recurrent attention model (RAM, Mnih et al. 2014), and its cores."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from agents.training.checks import check_choices, check_counts, check_positive

State = tuple[Tensor, ...]  # each (B, units)


@dataclass(frozen=True)
class NetworkConfig:
    """The controller, the same for hard and soft attention."""

    glimpse_network: Literal["dense", "conv"] = "dense"
    """How what is seen is encoded: one dense layer, as in RAM, or convolutions."""
    contrast: bool = False
    """Also show the network each glimpse less its mean, over its standard deviation, so that faint
    shapes and gradients become visible."""
    core: Literal["rnn", "gru", "lstm"] = "lstm"
    """The recurrent core: rectifier RNN (RAM's), GRU or LSTM."""
    what_units: int = 256
    """Units that encode what is seen (and channels times 4 of the convolutions); RAM has 128."""
    where_units: int = 128
    """Units that encode where it was seen and what remains."""
    word_units: int = 32
    """Size of the vector that stands for a word, where words are observed."""
    glimpse_units: int = 512
    """Units that join the two; RAM has 256."""
    normalise: bool = True
    """Layer normalisation (Ba et al. 2016) of what joins the two; RAM has none."""
    core_units: int = 256
    """Units of the core."""
    head_units: int = 128
    """Hidden units of the look's and the baseline's heads."""
    look_std: float = 0.15
    """Standard deviation of a continuous look at the start."""
    learn_look_std: bool = False
    """Learn that standard deviation rather than fixing or scheduling it."""
    detach_heads: bool = False
    """Stop the gradient of the look, the stop and the baseline at the core, as RAM does."""
    skip: bool = False
    """Heads also see the encoded glimpse itself, past the core."""
    answer_in_view: bool = False
    """Which symbol is answered is worked out from the encoded glimpse alone (with `skip`), and only
    whether to answer from memory: what is put out must be in view."""
    direct_access: Literal["symbols", "all"] | None = None
    """Heads can also repeat what is read, as the direct-access controller of Zaremba & Sutskever
    (2015), where the task says what there is to repeat: the symbols that are answered or written,
    or all, the addresses looked at too."""


def core_name(config: NetworkConfig) -> str:
    """What the core is called in tables, and whether its heads may repeat what is read."""
    name = config.core if config.core == "rnn" else config.core.upper()
    direct = {None: "", "symbols": ", direct access to symbols", "all": ", direct access"}
    return name + direct[config.direct_access]


def check_network(config: NetworkConfig) -> None:
    """Refuse a network that cannot be.

    Raises:
        ValueError: naming the field, its value and what would be right.
    """
    check_choices(config)
    check_counts(config, "what_units", "where_units", "word_units")
    check_counts(config, "glimpse_units", "core_units", "head_units")
    check_positive(config, "look_std")
    if config.answer_in_view and not config.skip:
        raise ValueError("answer_in_view=True needs skip=True: heads must see the encoded glimpse")


class Core(nn.Module, ABC):
    """Memory: joins what was seen now to what was seen before."""

    units: int

    @abstractmethod
    def initial_state(self, rows: int) -> State:
        """The state of `rows` rows before the first glimpse."""

    @abstractmethod
    def forward(self, seen: Tensor, state: State) -> State:
        """Return the next state; its first entry (B, units) is the core's output."""


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


class GRUCore(Core):
    """Gated recurrent units (Cho et al. 2014)."""

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

    def __init__(self, inputs: int, units: int) -> None:
        super().__init__()
        self.units = units
        self.gates = nn.Linear(inputs + units, 4 * units)
        with torch.no_grad():
            self.gates.bias[units : 2 * units] = 1.0  # remember at first

    def initial_state(self, rows: int) -> State:
        zeros = self.gates.weight.new_zeros(rows, self.units)
        return (zeros, zeros)

    def forward(self, seen: Tensor, state: State) -> State:
        output, cell = state
        gates = self.gates(torch.cat([seen, output], dim=1)).to(cell.dtype)
        write, keep, show = gates[:, : 3 * self.units].sigmoid().chunk(3, dim=1)
        cell = keep * cell + write * gates[:, 3 * self.units :].tanh()
        return (show * cell.tanh(), cell)


def make_core(config: NetworkConfig, inputs: int) -> Core:
    """Return the core that `config` names."""
    cores: dict[str, Callable[[int, int], Core]] = {
        "rnn": RectifierCore,
        "gru": GRUCore,
        "lstm": LSTMCore,
    }
    return cores[config.core](inputs, config.core_units)
