"""Baselines of tapes, tables and texts: a controller that sees every cell, with or without memory.

First the controller, the agents' own core, is fed the cells one after another; then it gives the
answers, and its only inputs are the query, if there is one, and its reads. Subclasses add the
memory that it reads at every step.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any

import torch
import tyro
from torch import Tensor, nn

from agents.policy.cores import make_core
from agents.policy.glimpse_network import WORD_UNITS
from agents.policy.networks import (
    NetworkConfig,
    NetworkOptions,
    check_network,
    check_without_recall,
    core_name,
)
from agents.training.command_line import without_options
from baselines.model import Answers, Baseline, BaselineConfig, Observation
from baselines.setting import Setting


@dataclass(frozen=True)
@without_options(*NetworkConfig.__dataclass_fields__.keys() - {"core", "core_units"})
class ControllerOptions(NetworkOptions):
    """Kind and size of the controller."""


@dataclass(frozen=True)
@without_options("supervise")
class MemoryConfig(BaselineConfig):
    """Options of every baseline of tapes, tables and texts."""

    env_id: str = "Glimpse/Copy-v0"
    """Id of the environment, a tape, a table or a text."""
    network: Annotated[NetworkConfig, tyro.conf.arg(constructor=ControllerOptions)] = field(
        default_factory=NetworkConfig
    )
    """Kind and size of the controller; no other network option has an effect."""


class MemoryModel(Baseline):
    """Answers from a whole tape, table or text.

    Args:
        setting: of the environment.
        config: of the training.
        read_size: numbers that one step reads.

    Raises:
        ValueError: a size or kind in `config` cannot be, or the setting hides no tape, table or
            text.

    Attributes:
        features, query_size: numbers that show one cell, and the query, words as vectors.
    """

    def __init__(self, setting: Setting, config: MemoryConfig, read_size: int = 0) -> None:
        super().__init__(setting, config)
        check_network(config.network)
        check_without_recall(config.network)
        self.sequence, self.read_size = setting.sequence, read_size
        # The last entry of an input is the phase: 1 while answers are given.
        units = WORD_UNITS if self.sequence.words else 1
        self.embedding: nn.Embedding | None = None
        if self.sequence.words:
            self.embedding = nn.Embedding(self.sequence.words, WORD_UNITS)
        self.features, self.query_size = self.sequence.features * units, self.sequence.query * units
        inputs = self.features + self.query_size + 1 + read_size
        self.core = make_core(config.network, inputs)
        self.core_name = core_name(config.network)
        self.answer_head = nn.Linear(self.core.units + read_size, setting.num_answers)

    def feeds(self) -> bool:
        """Whether the controller is fed the cells before it answers."""
        return True

    def begin(self, scene: Tensor) -> Any:
        """The memory before the first step, for `scene` (B, N, features)."""
        return None

    def visit(self, core: Tensor, memory: Any, answering: bool) -> tuple[Tensor, Any]:
        """One read (B, read_size) by the controller's output (B, units), and the memory after it.

        Args:
            core: (B, units).
            memory: as `begin` or the last `visit` left it.
            answering: all cells have been fed.
        """
        return core.new_zeros(len(core), 0), memory

    def finish(self, memory: Any) -> tuple[Tensor | None, Tensor | None]:
        """`log_probs` and `values` of `Answers`, from the memory after the last step."""
        return None, None

    def forward(self, observation: Observation) -> Answers:
        """Answers to `scene` (B, N, F), of numbers or words, and, where something is asked, to the
        query (B, q)."""
        numbers = {name: self._numbers(leaf) for name, leaf in observation.items()}
        scene = numbers.pop("scene")
        query = [*numbers.values()]
        rows, cells, features = scene.shape
        unasked = scene.new_zeros(rows, self.query_size)
        fed, memory = scene.new_zeros(rows, 1), self.begin(scene)
        read, state = scene.new_zeros(rows, self.read_size), self.core.initial_state(rows)
        if self.feeds():
            for cell in scene.unbind(dim=1):
                state = self.core(torch.cat([cell, unasked, fed, read], dim=1), state)
                read, memory = self.visit(state[0], memory, answering=False)
        unseen = scene.new_zeros(rows, features)
        outputs = []
        for _ in range(self.sequence.steps(cells)):
            state = self.core(torch.cat([unseen, *query, fed + 1, read], dim=1), state)
            read, memory = self.visit(state[0], memory, answering=True)
            outputs.append(torch.cat([state[0], read], dim=1))
        if not self.setting.answers_in_sequence:
            outputs = outputs[-1:]
        return Answers(self.answer_head(torch.stack(outputs)), *self.finish(memory))

    def _numbers(self, part: Tensor) -> Tensor:
        """A part (B, ..., w) of the observation as numbers: words as their vectors, side by side,
        (B, ..., w WORD_UNITS)."""
        return part if self.embedding is None else self.embedding(part.long()).flatten(-2)

    def cells_read(self, cells: int) -> float:
        """Cells touched in one episode on a scene of `cells` cells, counted each time."""
        return float(cells)
