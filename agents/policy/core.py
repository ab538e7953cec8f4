"""The base of all cores, which are the memory of an episode's glimpses or, as a control, none."""

from abc import ABC, abstractmethod

from torch import Tensor, nn

State = tuple[Tensor, ...]  # each (B, units), or another number of columns


class Core(nn.Module, ABC):
    """Memory: joins the present observation's code to the state.

    Attributes:
        stacked: name of a matrix -> number of gates stacked in it; see
            `agents.training.optimizers`.
    """

    units: int

    @abstractmethod
    def initial_state(self, rows: int) -> State:
        """The state of `rows` rows before the first glimpse."""

    @abstractmethod
    def forward(self, seen: Tensor, state: State) -> State:
        """Return the next state; its first entry (B, units) is the core's output."""

    def choosing(self, state: State) -> Tensor:
        """The input (B, units) of the heads of looks and stops and of the baseline: the core's
        output."""
        return state[0]
