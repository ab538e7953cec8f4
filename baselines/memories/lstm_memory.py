"""The controller alone: what is not in its state is forgotten."""

from dataclasses import dataclass

from baselines.memories.memory_model import MemoryBaseline, MemoryConfig, MemorySetting


@dataclass(frozen=True)
class LSTMMemoryConfig(MemoryConfig):
    """Train the controller without a memory on a whole tape or table."""


class LSTMMemory(MemoryBaseline):
    """A recurrent encoder and decoder in one (Sutskever et al. 2014), an LSTM by default."""

    config_class = LSTMMemoryConfig

    def __init__(self, setting: MemorySetting, config: LSTMMemoryConfig) -> None:
        super().__init__(setting, config, read_size=0)

    @property
    def title(self) -> str:
        return f"Full view {self.core_name} without memory"
