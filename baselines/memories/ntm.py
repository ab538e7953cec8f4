"""The Neural Turing Machine and its memory (Graves, Wayne & Danihelka 2014, section 3).

Every head weighs all cells, by their content and by its last place; reading and writing are
weighted sums, so that gradients flow through the weights. N cells, W their width, H heads.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from agents.training.checks import check_counts
from agents.training.precision import wide
from baselines.memories.memory_model import MemoryConfig, MemoryModel
from baselines.setting import Setting
from glimpse_envs.evaluation.record import Model

# Every cell's first content. A constant learns about twice as fast as noise (Collier & Beel 2018);
# so small that whatever is written outweighs it.
FIRST_CONTENT = 1e-6
# Lower bound of weights within logarithms and of norms within quotients.
LEAST = 1e-12


class MemoryState(NamedTuple):
    """The memory of B rows between two steps."""

    memory: Tensor  # (B, N, W)
    weights: Tensor  # (B, H, N), each head's, adding up to 1; the first `reads` heads read
    read: Tensor  # (B, reads * W), the last read


def content_weights(keys: Tensor, memory: Tensor, strength: Tensor) -> Tensor:
    """Weigh cells by their similarity to each head's key: equations 5 and 6.

    Args:
        keys: (B, H, W), k.
        memory: (B, N, W).
        strength: (B, H, 1), beta, above 0.

    Returns:
        (B, H, N), softmax over cells of beta times the cosine of key and cell.
    """
    dots = keys @ memory.mT
    # linalg.vector_norm has no gradient at 0; a cell may be exactly 0.
    cells = (memory.square().sum(dim=-1) + LEAST**2).rsqrt()[:, None]  # (B, 1, N)
    length = (keys.square().sum(dim=-1, keepdim=True) + LEAST**2).rsqrt()
    return (dots * cells * (strength * length)).softmax(dim=-1)


def shifted(weights: Tensor, shifts: Tensor) -> Tensor:
    """Move weights along the ring of cells: the circular convolution of equation 8.

    Args:
        weights: (B, H, N).
        shifts: (B, H, 2 r + 1), s: the share of the weight that moves by -r, ..., r cells.
    """
    reach = shifts.shape[-1] // 2
    ring = torch.cat(
        [weights[..., weights.shape[-1] - reach :], weights, weights[..., :reach]], dim=-1
    )
    # Cell i receives shifts[k] of the weight at i + r - k, which is entry i + 2 r - k of the ring.
    windows = ring.unfold(-1, 2 * reach + 1, 1)  # (B, H, N, 2 r + 1)
    return (windows * shifts.flip(-1)[..., None, :]).sum(dim=-1)


def sharpened(weights: Tensor, power: Tensor) -> Tensor:
    """weights ** power over their sum, equation 9: weights (B, H, N), power (B, H, 1) from 1."""
    return (power * weights.clamp(min=LEAST).log()).softmax(dim=-1)


def written(memory: Tensor, weights: Tensor, erase: Tensor, add: Tensor) -> Tensor:
    """Erase, then add, in the share of each cell's weight: equations 3 and 4 of one head.

    Args:
        memory: (B, N, W).
        weights: (B, N).
        erase: (B, W) in (0, 1).
        add: (B, W).
    """
    # M (1 - w e) + w a, in two passes over the memory.
    change = torch.addcmul(add[:, None], erase[:, None], memory, value=-1.0)
    return torch.addcmul(memory, weights[..., None], change)


class NTMMemory(nn.Module):
    """Cells with heads that a controller steers.

    All heads find their weights in the memory of the step before; the writing heads write, one
    after another; then the reading heads read the new memory (equation 2). At first every head
    rests on cell 0, where the paper learns a bias.

    Args:
        units: of the controller's output.
        cells: N.
        width: W.
        reads: reading heads.
        writes: writing heads.
        reach: r, the maximum number of cells that a head moves in one step, to either side.

    Raises:
        ValueError: a size is invalid.
    """

    def __init__(
        self,
        units: int,
        cells: int = 128,
        width: int = 20,
        *,
        reads: int = 1,
        writes: int = 1,
        reach: int = 1,
    ) -> None:
        super().__init__()
        if cells <= 2 * reach:
            raise ValueError(
                f"cells={cells} must be more than {2 * reach}, those within {reach} of a head's own"
            )
        self.cells, self.width, self.reads, self.writes = cells, width, reads, writes
        # Outputs of each head: key, strength, gate, power, shifts.
        self.sizes = (width, 1, 1, 1, 2 * reach + 1)
        self.steer = nn.Linear(units, (reads + writes) * sum(self.sizes))
        self.write = nn.Linear(units, writes * 2 * width)

    @property
    def read_size(self) -> int:
        """Numbers that one step reads."""
        return self.reads * self.width

    def initial_state(self, rows: int) -> MemoryState:
        """The state of `rows` rows before the first step."""
        like = self.steer.weight
        weights = like.new_zeros(rows, self.reads + self.writes, self.cells)
        weights[..., 0] = 1.0
        memory = like.new_full((rows, self.cells, self.width), FIRST_CONTENT)
        return MemoryState(memory, weights, like.new_zeros(rows, self.read_size))

    def forward(self, core: Tensor, state: MemoryState) -> MemoryState:
        """Move, write and read by the controller's output (B, units)."""
        weights = self.address(core, state)
        memory = state.memory
        changes = self.write(core).unflatten(1, (self.writes, 2, self.width))
        for head in range(self.writes):
            erase, add = changes[:, head].unbind(dim=1)
            memory = written(memory, weights[:, self.reads + head], erase.sigmoid(), add)
        read = (weights[:, : self.reads] @ memory).flatten(1)
        return MemoryState(memory, weights, read)

    def address(self, core: Tensor, state: MemoryState) -> Tensor:
        """Every head's next weights (B, H, N): by content, by place, or between the two."""
        heads = self.reads + self.writes
        outputs = torch.unflatten(wide(self.steer(core)), 1, (heads, -1))
        key, strength, gate, power, shifts = torch.split(outputs, list(self.sizes), dim=-1)
        by_content = content_weights(key.tanh(), state.memory, F.softplus(strength))
        gated = torch.lerp(state.weights, by_content, gate.sigmoid())  # equation 7
        moved = shifted(gated, shifts.softmax(dim=-1))
        return sharpened(moved, 1.0 + F.softplus(power))


@dataclass(frozen=True)
class NTMConfig(MemoryConfig):
    """Train a Neural Turing Machine on a whole tape, table or text."""

    algorithm: ClassVar[str] = "ntm"

    cells: int = 128
    """Number of cells of the memory, N."""
    width: int = 20
    """Number of entries of a cell, W."""
    reads: int = 1
    """Number of reading heads."""
    writes: int = 1
    """Number of writing heads."""


class NTM(MemoryModel):
    """A controller that writes into a memory while it is fed, and reads it while it answers.

    Raises:
        ValueError: a size in `config` cannot be.
    """

    config_class = NTMConfig

    def __init__(self, setting: Setting, config: NTMConfig) -> None:
        check_counts(config, "cells", "width", "reads", "writes")
        super().__init__(setting, config, config.reads * config.width)
        self.memory = NTMMemory(
            self.core.units, config.cells, config.width, reads=config.reads, writes=config.writes
        )

    @property
    def model(self) -> Model:
        name = f"Soft NTM {self.core_name}"
        return Model(name, sees="everything", attention="soft", reference_kind="NTM")

    def cells_read(self, cells: int) -> float:
        heads = self.memory.reads + self.memory.writes
        return float(cells + (cells + self.sequence.steps(cells)) * heads * self.memory.cells)

    def begin(self, scene: Tensor) -> MemoryState:
        return self.memory.initial_state(len(scene))

    def visit(
        self, core: Tensor, memory: MemoryState, answering: bool
    ) -> tuple[Tensor, MemoryState]:
        memory = self.memory(core, memory)
        return memory.read, memory
