"""The ways to choose and read one of N cells, each as a function that is run to be timed.

Axes: R reads at once, B memories (one a row of a batch), N cells, `UNITS` of the controller's
state, `SIZE` of a key and of a value. All is float32, and every way chooses by one linear layer on
the state.

Gradients reach this layer and the controller's state, not the memory, which belongs to the
environment. A hard choice is sampled and its log-probability differentiated, as in REINFORCE; a
hard read has no gradient. A soft look-up is differentiated through its weights. Its parts have the
form that was fastest on a processor; `attend` is torch's fused kernel for both.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from agents.policy.distributions import Bernoullis
from agents.policy.heads import Head, LogitsHead
from baselines.attention import attend

READS = 16
UNITS = 128
SIZE = 32
FLOAT_BYTES = 4
PREPARED = 64  # batches of addresses that take turns, so that a gather seldom finds a cell cached

# Arrays (READS, N) alive at once where a softmax over addresses is sampled and differentiated, and
# (B, N) in a soft look-up: logits, weights, noise, and the gradients of these.
SOFTMAX_ARRAYS = 6
SOFT_ARRAYS = 4

Part = Literal["choosing", "reading", "both"]


@dataclass(frozen=True)
class Way:
    """An operation to be timed."""

    name: str
    part: Part
    needs_memory: bool
    """Whether it holds an array as large as the memory, or the softmax's head."""


WAYS = (
    Way("move", "choosing", False),
    Way("bits", "choosing", False),
    Way("softmax", "choosing", True),
    Way("soft weights", "choosing", True),
    Way("gather", "reading", True),
    Way("weighted sum", "reading", True),
    Way("attend", "both", True),
)


def bits_for(cells: int) -> int:
    """How many bits an address of one of `cells` cells has."""
    return max(1, (cells - 1).bit_length())


def bytes_needed(cells: int, rows: int) -> int:
    """An upper estimate of what all ways hold together over `rows` memories of `cells` cells: the
    softmax's head, keys and values, and the greatest of what comes and goes."""
    head = (UNITS + 1) * cells
    memory = 2 * SIZE * rows * cells
    passing = max(head + SOFTMAX_ARRAYS * READS * cells, memory + SOFT_ARRAYS * rows * cells)
    return FLOAT_BYTES * (head + memory + passing)


def rows_that_fit(cells: int, limit: float) -> int:
    """The most memories, READS or a half, a quarter ... of it, within `limit` bytes; 0 where not
    even one fits."""
    rows = READS
    while rows and bytes_needed(cells, rows) > limit:
        rows //= 2
    return rows


class Reads:
    """All ways among `cells` cells of `rows` memories, over the same tensors.

    Args:
        cells: N.
        rows: B, at most READS and a divisor of it; 0 makes only the ways that need no memory.
    """

    def __init__(self, cells: int, rows: int) -> None:
        self.cells, self.rows = cells, rows
        self.core = torch.randn(READS, UNITS)
        self.advantage = torch.randn(READS)
        self.move_head = LogitsHead(UNITS, 3)
        self.bits_head = LogitsHead(UNITS, bits_for(cells), Bernoullis)
        self.places = 2 ** torch.arange(bits_for(cells))
        self.address = torch.full((READS,), cells // 2)
        if not rows:
            return
        self.softmax_head = LogitsHead(UNITS, cells)
        self.query_head = nn.Linear(UNITS, SIZE)
        self.keys, self.values = (torch.randn(rows, cells, SIZE) for _ in range(2))
        self.weights = torch.rand(rows, cells).softmax(dim=-1)
        self.addresses = torch.randint(cells, (PREPARED, READS))
        # With fewer memories than reads, several reads go to the same one.
        self.memory_of = torch.arange(READS) % rows
        self.turn = 0

    def prepare(self, way: Way, gradients: bool) -> tuple[Callable[[], object], int]:
        """Return the function that does `way` once, and how many reads that is."""
        ways: dict[str, Callable[[bool], object]] = {
            "move": self._move,
            "bits": self._bits,
            "softmax": self._softmax,
            "soft weights": self._soft_weights,
            "gather": self._gather,
            "weighted sum": self._weighted_sum,
            "attend": self._attend,
        }
        act = ways[way.name]

        def once() -> object:
            with torch.set_grad_enabled(gradients):
                return act(gradients)

        soft = way.name in ("soft weights", "weighted sum", "attend")
        return once, self.rows if soft else READS

    # --- hard ---------------------------------------------------------------------------------

    def _move(self, gradients: bool) -> Tensor:
        """To the cell on the left, nowhere, or to that on the right."""
        move = self._choose(self.move_head, gradients)
        self.address = (self.address + move - 1).clamp_(0, self.cells - 1)
        return self.address

    def _bits(self, gradients: bool) -> Tensor:
        """Each bit of the address a Bernoulli sample; addresses beyond the last begin anew."""
        return (self._choose(self.bits_head, gradients) * self.places).sum(dim=-1) % self.cells

    def _softmax(self, gradients: bool) -> Tensor:
        """A logit for each address."""
        return self._choose(self.softmax_head, gradients)

    def _choose(self, head: Head, gradients: bool) -> Tensor:
        """Sample by `head`, and differentiate the log-probability."""
        core = self._state(READS, gradients)
        distribution = head(core, {})
        choice: Tensor = distribution.sample()
        if gradients:
            _backpropagate(distribution.log_prob(choice), self.advantage, core, head)
        return choice

    def _gather(self, gradients: bool) -> Tensor:
        """The value of one cell, without a gradient."""
        self.turn = (self.turn + 1) % PREPARED
        return self.values[self.memory_of, self.addresses[self.turn]]

    # --- soft ---------------------------------------------------------------------------------

    def _soft_weights(self, gradients: bool) -> Tensor:
        """The weight of each cell, by its key."""
        core = self._state(self.rows, gradients)
        query = self.query_head(core)[:, None] / math.sqrt(SIZE)
        weights = (query @ self.keys.mT)[:, 0].softmax(dim=-1)  # (B, N)
        if gradients:
            _backpropagate(weights, self.weights, core, self.query_head)
        return weights

    def _weighted_sum(self, gradients: bool) -> Tensor:
        """The values by their weights."""
        weights = self.weights.detach().requires_grad_(gradients)
        read = (weights[:, None, :] @ self.values)[:, 0]
        if gradients:
            torch.autograd.grad(read, weights, self.values[:, 0])
        return read

    def _attend(self, gradients: bool) -> Tensor:
        """Weights and weighted sum at once."""
        core = self._state(self.rows, gradients)
        read = attend(self.query_head(core), self.keys, self.values)
        if gradients:
            _backpropagate(read, self.values[:, 0], core, self.query_head)
        return read

    def _state(self, rows: int, gradients: bool) -> Tensor:
        """The controller's state (rows, UNITS), at which gradients end."""
        return self.core[:rows].detach().requires_grad_(gradients)


def _backpropagate(output: Tensor, upstream: Tensor, core: Tensor, head: nn.Module) -> None:
    """The gradient of `output`, weighed by `upstream` of the same shape, to state and head."""
    torch.autograd.grad(output, [core, *head.parameters()], upstream)
