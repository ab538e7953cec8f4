"""The parts of a recurrent attention model (RAM, Mnih et al. 2014, section 3.1), from spaces."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from gymnasium import spaces
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
    check_counts(config, "what_units", "where_units", "glimpse_units", "core_units", "head_units")
    check_positive(config, "look_std")
    if config.answer_in_view and not config.skip:
        raise ValueError("answer_in_view=True needs skip=True: heads must see the encoded glimpse")


class GlimpseNetwork(nn.Module):
    """What-and-where: glimpse and location are encoded apart and joined.

    Takes the observation, name -> (B, ...); gives (B, glimpse_units). "What" is `glimpse` or, in
    the full view, `scene`; "where" is everything else, flattened.

    Raises:
        ValueError: there is no such part, or it is no picture and `config` needs one.
    """

    def __init__(self, space: spaces.Dict, config: NetworkConfig) -> None:
        super().__init__()
        self.what_key = "scene" if "scene" in space.spaces else "glimpse"
        if self.what_key not in space.spaces:
            raise ValueError(
                f"the observation has {list(space.spaces)}; a glimpse network needs 'glimpse' or "
                "'scene'"
            )
        self.where_keys = [key for key in space.spaces if key != self.what_key]
        shape = space[self.what_key].shape
        assert shape is not None
        self.contrast = config.contrast
        if config.contrast:
            _check_picture(shape, "contrast=True", "leave it False")
            shape = (2 * shape[0], *shape[1:])
        self.what = _what_encoder(shape, config)
        where_size = sum(spaces.flatdim(space[key]) for key in self.where_keys)
        self.where = nn.Linear(where_size, config.where_units) if where_size else None
        joined = config.what_units + (config.where_units if where_size else 0)
        self.join: nn.Module = nn.Linear(joined, config.glimpse_units)
        if config.normalise:
            self.join = nn.Sequential(self.join, nn.LayerNorm(config.glimpse_units))

    def forward(self, observation: dict[str, Tensor]) -> Tensor:
        seen = observation[self.what_key]
        if self.contrast:
            seen = torch.cat([seen, _local_contrast(seen)], dim=1)
        encoded = self.what(seen)
        if self.where is not None:
            where = torch.cat([observation[key].flatten(1) for key in self.where_keys], dim=1)
            encoded = torch.cat([encoded, self.where(where)], dim=1)
        return F.relu(self.join(F.relu(encoded)))


def _local_contrast(seen: Tensor) -> Tensor:
    """Each picture of `seen` (..., g, g) less its mean, over its standard deviation."""
    centred = seen - seen.mean(dim=(-2, -1), keepdim=True)
    # The least step that matters is of the order of 1 / 255; an even picture stays even.
    return centred / (centred.square().mean(dim=(-2, -1), keepdim=True) + 1e-4).sqrt()


def _check_picture(shape: tuple[int, ...], option: str, cure: str) -> None:
    """Raise a ValueError unless `shape` is that of square pictures, which `option` needs."""
    if len(shape) < 3 or shape[-2] != shape[-1]:
        raise ValueError(
            f"{option} is for square pictures (..., side, side); what is seen here has the shape "
            f"{shape}: {cure}"
        )


def _what_encoder(shape: tuple[int, ...], config: NetworkConfig) -> nn.Module:
    if config.glimpse_network == "dense":
        return nn.Sequential(nn.Flatten(), nn.Linear(int(np.prod(shape)), config.what_units))
    _check_picture(shape, "glimpse_network='conv'", "take 'dense'")
    channels, side = int(np.prod(shape[:-2])), shape[-1]
    width = max(8, config.what_units // 4)
    pooled = -(-side // 2)
    return nn.Sequential(
        nn.Flatten(1, -3),
        nn.Conv2d(channels, width // 2, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(width // 2, width, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(width * pooled * pooled, config.what_units),
    )


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
