"""A memory of keys and values, one of each for every cell, read softly or one cell at a time.

Soft and hard have the same controller and the same keys, values and queries, as in D-NTM (Gulcehre
et al. 2016): the hard read is a sample of the soft weights. There the memory is also written, and
its keys learn addresses; here a cell's key and value are functions of its content and of the bits
of its address. From soft to hard, there a read is soft with probability 1 / sqrt(1 + t); here the
share of hard reads grows linearly.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import torch
from gymnasium import spaces
from torch import Tensor, nn

from agents.training.checks import check_choices, check_counts, check_positive
from agents.training.row_draws import draw_rows
from baselines.attention import attend, attend_hard
from baselines.memories.memory_model import MemoryConfig, MemoryModel
from baselines.scores import Score, ScoreName, make_score
from baselines.setting import Setting
from glimpse_envs.evaluation.record import Model

# Share of a training after which soft_to_hard samples every read.
ALL_HARD_AT = 0.75

MOST_ADDRESS_BITS = 32
"""Cells whose addresses have more bits do not fit into memory; int64 holds 63."""


@dataclass(frozen=True)
class KeyValueConfig(MemoryConfig):
    """Train a key-value memory, soft or hard, on a whole tape, table or text."""

    algorithm: ClassVar[str] = "key_value_memory"

    addressing: Literal["soft", "hard", "soft_to_hard"] = "soft"
    """Kind of read at each step. soft: the weighted sum of all values; hard: a sampled value,
    learned by REINFORCE; soft_to_hard: a random share of the reads is hard, which grows to 1 over
    the first three quarters of the training. After the training, hard and soft_to_hard read the
    likeliest cell."""
    score: ScoreName = "scaled_dot"
    """Score of a cell's key for the query."""
    key_units: int = 64
    """Number of entries of keys and queries."""
    value_units: int = 64
    """Number of entries of values."""
    temperature: float = 1.0
    """Divisor of the scores, above 0; --score cosine needs about 0.1."""
    address_bits: int = 10
    """Number of bits of a cell's address; the number of cells is at most 2 to this power."""
    feed: bool = True
    """Feed the cells to the controller one by one, one step each, before it answers; on tables the
    memory alone is enough."""


class KeyValueState(NamedTuple):
    """The memory of B rows, and the samples so far."""

    keys: Tensor  # (B, N, key_units)
    values: Tensor  # (B, N, value_units)
    log_probs: tuple[Tensor, ...] = ()  # one (B,) for each sampled read
    baselines: tuple[Tensor, ...] = ()  # one (B,) for each sampled read


class KeyValueMemory(MemoryModel):
    """Keys and values of all cells, read once at each step that answers.

    Raises:
        ValueError: a size or kind in `config` cannot be, or there are too many cells.
    """

    config_class = KeyValueConfig
    config: KeyValueConfig

    def __init__(self, setting: Setting, config: KeyValueConfig) -> None:
        check_choices(config)
        check_counts(config, "key_units", "value_units", "address_bits")
        check_positive(config, "temperature")
        if config.address_bits > MOST_ADDRESS_BITS:
            raise ValueError(
                f"address_bits={config.address_bits} must be at most {MOST_ADDRESS_BITS}"
            )
        super().__init__(setting, config, config.value_units)
        self._check_cells(self.sequence.cells)
        inputs = self.features + config.address_bits
        self.key = nn.Linear(inputs, config.key_units)
        self.value = nn.Linear(inputs, config.value_units)
        units = self.core.units
        self.query = nn.Linear(units, config.key_units)
        self.score: Score = make_score(
            config.score, config.key_units, config.key_units, units=config.key_units
        )
        self.baseline = nn.Linear(units, 1)
        self.hard_share = float(config.addressing == "hard")
        self.generator: torch.Generator | None = None

    @property
    def model(self) -> Model:
        kind = self.config.addressing
        name = f"{kind.replace('_', '-').capitalize()} key-value {self.core_name}"
        return Model(name, sees="everything", attention=kind)

    def check_readable(self, observation_space: spaces.Space) -> None:
        if isinstance(observation_space, spaces.Dict):
            self._check_cells((observation_space["scene"].shape or (0,))[0])

    def cells_read(self, cells: int) -> float:
        # Encoding touches each cell once; then each step scores the keys of all, also where the
        # value of one alone is read.
        return float(cells + self.sequence.steps(cells) * cells)

    def feeds(self) -> bool:
        return self.config.feed

    def set_progress(self, progress: float, generator: torch.Generator) -> None:
        if self.config.addressing == "soft_to_hard":
            self.hard_share = min(1.0, progress / ALL_HARD_AT)
        self.generator = generator

    def begin(self, scene: Tensor) -> KeyValueState:
        rows, cells = scene.shape[:2]
        self._check_cells(cells)
        addresses = torch.arange(cells, device=scene.device)[:, None]
        places = torch.arange(self.config.address_bits, device=scene.device)
        bits = (2 * (addresses >> places & 1) - 1).to(scene)  # (N, address_bits), -1 or 1
        inputs = torch.cat([scene, bits.expand(rows, -1, -1)], dim=2)
        return KeyValueState(self.key(inputs), self.value(inputs))

    def visit(
        self, core: Tensor, memory: KeyValueState, answering: bool
    ) -> tuple[Tensor, KeyValueState]:
        if not answering:
            return core.new_zeros(len(core), self.read_size), memory
        query = self.query(core)
        if not self.training and self.config.addressing != "soft":
            return self._likeliest(query, memory), memory
        if self.hard_share == 0.0:
            return self._soft(query, memory), memory
        read, _, log_prob = attend_hard(
            query,
            memory.keys,
            memory.values,
            score=self.score,
            temperature=self.config.temperature,
            generator=self.generator,
        )
        if self.hard_share < 1.0:
            drawn = draw_rows(
                lambda shape: torch.rand(shape, generator=self.generator),
                (len(core),),
                self.generator,
            )
            hard = drawn.to(core.device) < self.hard_share
            read = torch.where(hard[:, None], read, self._soft(query, memory))
            log_prob = torch.where(hard, log_prob, 0.0)
        # The baseline's gradient must not reach the controller.
        baseline = self.baseline(core.detach())[:, 0].float()
        return read, memory._replace(
            log_probs=(*memory.log_probs, log_prob), baselines=(*memory.baselines, baseline)
        )

    def finish(self, memory: KeyValueState) -> tuple[Tensor | None, Tensor | None]:
        if not memory.log_probs:
            return None, None
        return torch.stack(memory.log_probs), torch.stack(memory.baselines)

    def _soft(self, query: Tensor, memory: KeyValueState) -> Tensor:
        temperature = self.config.temperature
        return attend(query, memory.keys, memory.values, score=self.score, temperature=temperature)

    def _likeliest(self, query: Tensor, memory: KeyValueState) -> Tensor:
        best = self.score(query, memory.keys).argmax(dim=-1)
        return memory.values.take_along_dim(best[:, None, None], dim=1)[:, 0]

    def _check_cells(self, cells: int) -> None:
        bits = self.config.address_bits
        if cells > 2**bits:
            raise ValueError(
                f"address_bits={bits} tell {2**bits} cells apart, and there are {cells}"
            )
