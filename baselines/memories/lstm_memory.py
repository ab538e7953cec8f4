"""The controller alone: what is not in its state is forgotten."""

from dataclasses import dataclass
from typing import ClassVar

from baselines.memories.memory_model import MemoryBaseline, MemoryConfig, MemorySetting
from glimpse_envs.evaluation.record import Model


@dataclass(frozen=True)
class LSTMMemoryConfig(MemoryConfig):
    """Train the controller without a memory on a whole tape or table."""

    algorithm: ClassVar[str] = "lstm_memory"


class LSTMMemory(MemoryBaseline):
    """A recurrent encoder and decoder in one (Sutskever et al. 2014), an LSTM by default."""

    config_class = LSTMMemoryConfig

    def __init__(self, setting: MemorySetting, config: LSTMMemoryConfig) -> None:
        super().__init__(setting, config, read_size=0)

    @property
    def model(self) -> Model:
        name = f"Full view {self.core_name} without memory"
        return Model(name, "everything", attention="none")
