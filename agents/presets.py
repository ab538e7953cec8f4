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
    "weight_decay": 0.3,
    "log_every": 20,
    "checkpoint_every": 100,
    "network": NetworkConfig(
        look_coordinates="cells",
        what_units=128,
        where_units=64,
        glimpse_units=256,
        core_units=128,
        head_units=64,
    ),
}
_LARGE_SCENES: dict[str, Any] = {
    **_PICTURES,
    "env_id": "Glimpse/ClutteredMNIST-v0",
    "env_kwargs": {"scene_size": 480, "scales": None, "clutter": 16},
    "minutes": 30.0,
    "batch_size": 512,
    "curriculum": "distance",
    "solve_share": 0.5,
    # Cells of wide scales are large: each is looked at by itself, and a visit closes it alone.
    "network": replace(
        _PICTURES["network"],
        inhibition_of_return=True,
        wide_inhibition=True,
        look_block=1,
        refine_looks=True,
    ),
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
    "optimizer": "muon",
    "learning_rate": 4e-3,
    # Answers come from the glimpse alone: else the LSTM could remember six pairs and never read.
    "network": replace(_MEMORY_NETWORK, answer_in_view=True, inhibition_of_return=True),
}

_TEXTS: dict[str, Any] = {
    **_TAPES,
    "env_id": "Glimpse/Stories-v0",
    "minutes": 5.0,
    "validate_every": 100,
    "batch_size": 512,
    "curriculum": "threshold",
    "optimizer": "muon",
    "learning_rate": 4e-3,
    "network": replace(
        _MEMORY_NETWORK,
        what_units=64,
        where_units=64,
        glimpse_units=128,
        core_units=128,
        head_units=64,
    ),
}

_WORLDS: dict[str, Any] = {
    "env_id": "Glimpse/Catch-v0",
    "episodes": 1_000_000,
    "optimizer": "muon",
    "batch_size": 256,
    "learning_rate": 4e-3,
    "precision": "float32",
    "answer_by": "reward",
    "entropy_weight": 0.01,
    # A catch is earned by 24 acts and 24 looks: what one of them adds drowns in the whole return.
    # The policy's loss is summed over these steps, the critic's is a mean.
    "gae_lambda": 0.95,
    "value_weight": 24.0,
    "epochs": 2,
    "minibatches": 2,
    # A pixel is a sixteenth as bright at the coarsest scale: contrast makes it visible. In the core
    # the gradient of looks, all noise at first, would drown that of acts. Looks begin near the
    # middle, from where the whole screen is seen: acts are not learned while looks are scattered.
    "network": replace(
        _MEMORY_NETWORK,
        what_units=64,
        glimpse_units=64,
        core_units=64,
        contrast=True,
        detach_heads=True,
        look_std=0.1,
    ),
}
_GAMES: dict[str, Any] = {
    "env_id": "Glimpse/Atari-v0",
    "env_kwargs": {"game": "Pong", "fovea": 50, "segment": 128},
    "minutes": 60.0,
    # An update takes seconds.
    "log_every": 10,
    "checkpoint_every": 20,
    "batch_size": 16,
    "learning_rate": 5e-4,
    "precision": "float32",
    "answer_by": "reward",
    "epochs": 3,
    "minibatches": 2,
    "clip": 0.1,
    "discount": 0.99,
    "normalise_advantages": True,
    "entropy_weight": 0.01,
    # The policy's loss is summed over 128 steps, the critic's is a mean.
    "value_weight": 64.0,
    "max_gradient_norm": 50.0,
    "network": NetworkConfig(
        glimpse_network="conv", what_units=64, where_units=32, glimpse_units=256
    ),
}

_GRIDS: dict[str, Any] = {
    "env_id": "Glimpse/MiniGrid-v0",
    "env_kwargs": {"world": "DoorKey-6x6", "view": "agent", "tile": 4, "segment": 32},
    "minutes": 10.0,
    "batch_size": 64,
    "precision": "float32",
    "answer_by": "reward",
    "epochs": 4,
    "minibatches": 4,
    "discount": 0.99,
    "normalise_advantages": True,
    "entropy_weight": 0.01,
    # The policy's loss is summed over 32 steps, the critic's is a mean.
    "value_weight": 16.0,
    "max_gradient_norm": 50.0,
    "network": NetworkConfig(what_units=64, where_units=32, glimpse_units=128, core_units=128),
}

PRESETS: dict[str, tuple[TrainingConfig, ...]] = {
    "pictures": (ReinforceConfig(**_PICTURES), ActorCriticConfig(**_PICTURES)),
    "large_scenes": (ReinforceConfig(**_LARGE_SCENES),),
    "tapes": (ActorCriticConfig(**_TAPES, gae_lambda=1.0), ReinforceConfig(**_TAPES)),
    "tables": (
        # Without a discount a late answer is worth as much as an early one, and the likeliest
        # looks, which evaluation takes, may come back to the same cells until the budget is spent.
        ActorCriticConfig(**_TABLES, gae_lambda=1.0, discount=0.95),
        ReinforceConfig(**_TABLES),
    ),
    "texts": (
        # With a discount, as on tables, bAbI's few questions are learned by heart and answered at
        # once.
        ActorCriticConfig(**_TEXTS, gae_lambda=1.0),
        ReinforceConfig(**_TEXTS),
    ),
    "worlds": (ActorCriticConfig(**_WORLDS),),
    "games": (ActorCriticConfig(**_GAMES),),
    "grids": (ActorCriticConfig(**_GRIDS),),
}
"""Family of tasks -> configs, one for each algorithm; the first is the default. Records in
`results/` differ by the options of their command."""
