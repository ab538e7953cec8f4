"""Settings of published agents: `python -m agents.train --preset tapes`."""

from dataclasses import replace
from typing import Any

from agents.algorithms.actor_critic import ActorCriticConfig
from agents.algorithms.reinforce import ReinforceConfig
from agents.policy.networks import NetworkConfig
from agents.training.config import TrainingConfig

_PICTURES: dict[str, Any] = {
    "episodes": 4_000_000,
    "optimizer": "muon",
    "batch_size": 1024,
    "learning_rate": 5e-3,
    "log_every": 20,
    "checkpoint_every": 100,
    "network": NetworkConfig(look_coordinates="cells"),
}
_MEMORY_NETWORK = NetworkConfig(
    what_units=32, where_units=32, glimpse_units=64, core_units=64, head_units=32, skip=True
)
_TAPES: dict[str, Any] = {
    "env_id": "Glimpse/Copy-v0",
    "minutes": 10.0,
    "stop_at": 0.99,
    "validate_every": 50,
    "batch_size": 256,
    "curriculum": "mixture",
    "learning_rate": 2e-3,
    "precision": "float32",
    "log_every": 50,
    "look_weight": 1.0,
    "entropy_weight": 0.01,
    "network": replace(_MEMORY_NETWORK, answer_in_view=True),
}
_TABLES: dict[str, Any] = {
    **_TAPES,
    "env_id": "Glimpse/AssociativeRecall-v0",
    "minutes": 8.0,
    "validate_every": 100,
    "batch_size": 512,
    "curriculum": "threshold",
    "entropy_weight": 0.002,
    "network": _MEMORY_NETWORK,
}

PRESETS: dict[str, tuple[TrainingConfig, ...]] = {
    "pictures": (ReinforceConfig(**_PICTURES), ActorCriticConfig(**_PICTURES)),
    "tapes": (ActorCriticConfig(**_TAPES, gae_lambda=1.0), ReinforceConfig(**_TAPES)),
    "tables": (ActorCriticConfig(**_TABLES, gae_lambda=1.0), ReinforceConfig(**_TABLES)),
}
"""Family of tasks -> configs, one an algorithm; the first is the default. Records in `results/`
differ by the options of their command."""
