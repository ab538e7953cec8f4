"""Recall: a core that attends to the codes of the episode's own glimpses.

Where to look stays a hard choice; what was seen is kept as it was encoded and read softly, so that
the recurrent state need not hold all of it. The scores are additive (Bahdanau, Cho & Bengio 2015),
which can compare a number that was seen with one in the query; what was read is fed to the next
step (Luong, Pham & Manning 2015).
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from agents.policy.core import Core, State
from agents.training.precision import wide

EMPTY = -1e4
"""Added to the score of an entry that holds no glimpse yet."""

FIRST_STRENGTH = 1.5
"""Logarithm of the strength of the scores at first, by which they vary by about 1."""


class RecallCore(Core):
    """A core whose output is followed by what it recalls: (B, core's units + units).

    Of each glimpse a key k and a value v are kept. With the inner core's output h and learned w, Q
    and s, the read-out is the sum of softmax(exp(s · h) w · relu(k + Q h)) v over the kept
    glimpses, the present one among them. The factor before w, a key strength (Graves et al. 2014,
    eq. 5), lets small differences decide. The state is the output, the rest of the inner core's
    state and the memory, (B, glimpses (2 units + 1)), the latest entry last; an entry is key, value
    and 1, or zeros.

    Args:
        inputs: units of a glimpse's code.
        core: the inner one, which reads the code and the last read-out, (B, inputs + units).
        units: of a key and of a value.
        glimpses: number of the latest glimpses that are kept.
    """

    def __init__(self, inputs: int, core: Core, units: int, glimpses: int) -> None:
        super().__init__()
        self.core, self.recalled, self.glimpses = core, units, glimpses
        self.units = core.units + units
        self.store = nn.Linear(inputs, 2 * units)
        self.query = nn.Linear(core.units, units)
        self.score = nn.Linear(units, 1, bias=False)
        self.strength = nn.Linear(core.units, 1)  # its logarithm
        nn.init.constant_(self.strength.bias, FIRST_STRENGTH)

    def initial_state(self, rows: int) -> State:
        output, *rest = self.core.initial_state(rows)
        nothing = output.new_zeros(rows, self.recalled)
        memory = output.new_zeros(rows, self.glimpses * (2 * self.recalled + 1))
        return (torch.cat([output, nothing], dim=1), *rest, memory)

    def forward(self, seen: Tensor, state: State) -> State:
        last, *rest, memory = state
        before, read_out = torch.split(last, [self.core.units, self.recalled], dim=1)
        inputs = torch.cat([seen, read_out.to(seen.dtype)], dim=1)
        output, *rest = self.core(inputs, (before, *rest))
        memory = self.remember(seen, memory)
        read_out = self.read(output, memory).to(output.dtype)
        return (torch.cat([output, read_out], dim=1), *rest, memory)

    def remember(self, seen: Tensor, memory: Tensor) -> Tensor:
        """The memory with a glimpse's code (B, inputs), without the oldest entry."""
        entry = self.store(seen).to(memory.dtype)
        entry = torch.cat([entry, torch.ones_like(entry[:, :1])], dim=1)
        return torch.cat([memory[:, entry.shape[1] :], entry], dim=1)

    def read(self, output: Tensor, memory: Tensor) -> Tensor:
        """What an inner core's output (B, units) reads of the memory: (B, units of a value)."""
        entries = memory.view(len(memory), self.glimpses, -1)
        keys, values, filled = torch.split(entries, [self.recalled, self.recalled, 1], dim=2)
        scores = self.score(F.relu(keys + self.query(output)[:, None]))
        scores = wide(scores) * wide(self.strength(output)).exp()[:, None] + EMPTY * (1 - filled)
        return (scores.softmax(dim=1) * values).sum(dim=1)
