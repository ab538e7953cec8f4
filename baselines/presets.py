"""Settings of published baselines: `python -m baselines.train --preset tapes`."""

from typing import Any

from agents.policy.networks import NetworkConfig
from agents.training.config import TrainingConfig
from baselines.memories.key_value_memory import KeyValueConfig
from baselines.memories.lstm_memory import LSTMMemoryConfig
from baselines.memories.ntm import NTMConfig
from baselines.pictures.attention_sampling import AttentionSamplingConfig
from baselines.pictures.captioner import CaptionerConfig
from baselines.pictures.full_view import FullViewConfig
from baselines.pictures.gaussian_window import GaussianWindowConfig
from baselines.pictures.patch_selection import PatchSelectionConfig
from baselines.pictures.pointer import PointerConfig
from baselines.pictures.soft_tiles import SoftTilesConfig
from baselines.pictures.spatial_transformer import SpatialTransformerConfig

_PICTURES: dict[str, Any] = {
    "episodes": 2_000_000,
    "optimizer": "muon",
    "batch_size": 512,
    "learning_rate": 4e-3,
}
_MEMORY: dict[str, Any] = {
    "minutes": 1.5,
    "stop_at": 0.99,
    "validate_every": 100,
    "learning_rate": 2e-3,
    "precision": "float32",
    "network": NetworkConfig(core_units=64),
}
_TAPES = {**_MEMORY, "env_id": "Glimpse/Copy-v0"}
_TABLES = {**_MEMORY, "env_id": "Glimpse/AssociativeRecall-v0"}
_TEXTS = {**_MEMORY, "env_id": "Glimpse/Stories-v0", "minutes": 5.0}
_MEGAPIXEL = "Glimpse/MegapixelMNIST-v0"
_SET = 5_000  # scenes that the papers train on, again and again

PRESETS: dict[str, tuple[TrainingConfig, ...]] = {
    "pictures": (
        # Half the scene at first: a digit of a small one can be read, and of one in a large scene a
        # part is often in view.
        GaussianWindowConfig(**_PICTURES, first_window=0.5),
        SoftTilesConfig(**_PICTURES),
        SpatialTransformerConfig(),
        FullViewConfig(),
        CaptionerConfig(optimizer="muon", batch_size=256, learning_rate=5e-3),
        PointerConfig(batch_size=64),
    ),
    "megapixel": (  # each on its own variant of the scenes
        AttentionSamplingConfig(
            env_id=_MEGAPIXEL,
            env_kwargs={"fixed": True, "noise": "over"},
            episodes=500 * _SET,
            warmup=0.0,
        ),
        PatchSelectionConfig(
            env_id=_MEGAPIXEL,
            env_kwargs={"fixed": True, "noise": "under"},
            episodes=150 * _SET,
            batch_size=16,
            warmup=10 / 150,
        ),
    ),
    "tapes": (KeyValueConfig(**_TAPES, feed=True), LSTMMemoryConfig(**_TAPES), NTMConfig(**_TAPES)),
    "tables": (KeyValueConfig(**_TABLES, feed=False), LSTMMemoryConfig(**_TABLES)),
    "texts": (KeyValueConfig(**_TEXTS, feed=False), LSTMMemoryConfig(**_TEXTS)),
}
"""What is hidden -> the configuration of each baseline that has one; the first is the default."""
