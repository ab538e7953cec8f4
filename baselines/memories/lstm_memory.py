"""The controller alone, which remembers only its state."""

from dataclasses import dataclass
from typing import ClassVar

from baselines.memories.memory_model import MemoryConfig, MemoryModel
from glimpse_envs.evaluation.record import Model


@dataclass(frozen=True)
class LSTMMemoryConfig(MemoryConfig):
    """Train the controller without a memory on a whole tape, table or text."""

    algorithm: ClassVar[str] = "lstm_memory"


class LSTMMemory(MemoryModel):
    """A recurrent encoder and decoder in one (Sutskever et al. 2014), an LSTM by default."""

    config_class = LSTMMemoryConfig

    @property
    def model(self) -> Model:
        name = f"Full view {self.core_name} without memory"
        return Model(name, sees="everything", attention="none")
