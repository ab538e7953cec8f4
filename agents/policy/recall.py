"""Recall: a core that attends to the codes of the episode's own glimpses.

Where to look stays a hard choice; what was seen is kept as it was encoded and read softly, so that
the recurrent state need not hold all of it. The scores are additive (Bahdanau, Cho & Bengio 2015),
which can compare a number that was seen with one in the query; what was read is fed to the next
step (Luong, Pham & Manning 2015), and marked where it was read (coverage: Tu et al. 2016).
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from agents.policy.core import Core, State
from agents.training.precision import wide

FIRST_STRENGTH = 1.5
"""Logarithm of the initial strength of the scores, at which they vary by about 1."""

GREATEST_STRENGTH = 20.0
"""Largest logarithm of the strength of the scores, so that its exponential stays finite."""


class RecallCore(Core):
    """A core whose output is followed by what it recalls: (B, core's units + units).

    Of each glimpse a key k, a value v and a mark m are kept. With the inner core's output h and
    learned w, Q, c, s and g, the weights of the kept glimpses, the present one among them, are
    a = softmax(exp(s · h) w · relu(k + Q h + m c)); what is read is the sum of a v. The factor
    before w, a key strength (Graves et al. 2014, eq. 5), lets small differences decide. Then
    m grows by sigmoid(g · h) a: what was read may be passed over from then on, or read again.

    The state is the output, the rest of the inner core's state, the entries
    (B, glimpses (2 units + 1)), the latest last, each key, value and 1, or zeros, and the marks
    (B, glimpses).

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
        self.marked = nn.Linear(1, units, bias=False)
        self.score = nn.Linear(units, 1, bias=False)
        self.strength = nn.Linear(core.units, 1)  # its logarithm
        self.gate = nn.Linear(core.units, 1)
        nn.init.constant_(self.strength.bias, FIRST_STRENGTH)

    def initial_state(self, rows: int) -> State:
        output, *rest = self.core.initial_state(rows)
        nothing = output.new_zeros(rows, self.recalled)
        entries = output.new_zeros(rows, self.glimpses * (2 * self.recalled + 1))
        marks = output.new_zeros(rows, self.glimpses)
        return (torch.cat([output, nothing], dim=1), *rest, entries, marks)

    def forward(self, seen: Tensor, state: State) -> State:
        last, *rest, entries, marks = state
        before, read_out = torch.split(last, [self.core.units, self.recalled], dim=1)
        inputs = torch.cat([seen, read_out.to(seen.dtype)], dim=1)
        output, *rest = self.core(inputs, (before, *rest))
        entries = _pushed(entries, self._entry(seen).to(entries.dtype))
        marks = _pushed(marks, torch.zeros_like(marks[:, :1]))
        weights = self.weights(output, entries, marks)
        values = self._parts(entries)[1]
        with torch.autocast(weights.device.type, enabled=False):  # in full precision
            read_out = torch.bmm(weights[:, None], values)[:, 0].to(output.dtype)
        marks = marks + wide(self.gate(output)).sigmoid() * weights
        return (torch.cat([output, read_out], dim=1), *rest, entries, marks)

    def weights(self, output: Tensor, entries: Tensor, marks: Tensor) -> Tensor:
        """The weight of each kept glimpse, (B, glimpses), in float32 at least."""
        keys, _, filled = self._parts(entries)
        asked = self.query(output)[:, None] + self.marked(marks[..., None])
        scores = wide(self.score(F.relu(keys + asked)))[..., 0]
        strength = wide(self.strength(output)).clamp(max=GREATEST_STRENGTH).exp()
        scores = (strength * scores).masked_fill(filled[..., 0] == 0, -math.inf)
        return scores.softmax(dim=1)

    def _entry(self, seen: Tensor) -> Tensor:
        """The entry for a glimpse's code (B, inputs): key, value and 1."""
        stored = self.store(seen)
        return torch.cat([stored, torch.ones_like(stored[:, :1])], dim=1)

    def _parts(self, entries: Tensor) -> tuple[Tensor, ...]:
        """Keys and values, (B, glimpses, units) each, and 1 or 0, (B, glimpses, 1)."""
        of_glimpses = entries.view(len(entries), self.glimpses, 2 * self.recalled + 1)
        return torch.split(of_glimpses, [self.recalled, self.recalled, 1], dim=2)


def _pushed(kept: Tensor, latest: Tensor) -> Tensor:
    """`kept` (B, n) without its first entry, and with the `latest` (B, m) as its last."""
    return torch.cat([kept[:, latest.shape[1] :], latest], dim=1)
