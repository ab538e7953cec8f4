"""What the tests of agents share: networks and trainings that are small enough for a second."""

from typing import Any

from agents.algorithms.actor_critic import ActorCriticConfig
from agents.algorithms.reinforce import ReinforceConfig
from agents.policy.networks import NetworkConfig

# What the recipe's defaults are is tuned; these tests are not to depend on it.
TINY: dict[str, Any] = {
    "glimpse_network": "dense",
    "core": "lstm",
    "normalise": False,
    "detach_heads": True,
    "what_units": 8,
    "where_units": 4,
    "glimpse_units": 8,
    "core_units": 8,
    "head_units": 4,
}
SHORT: dict[str, Any] = {"episodes": 96, "batch_size": 8, "log_every": 3, "checkpoint_every": 4,
                         "precision": "float32"}  # fmt: skip
"""Twelve updates of eight episodes; lines and checkpoints alternate."""
UPDATES = 12
SMALL = NetworkConfig(what_units=64, where_units=32, glimpse_units=64, core_units=64, head_units=32)


def tiny_network(**changes: Any) -> NetworkConfig:
    """A network of a few units."""
    return NetworkConfig(**{**TINY, **changes})


def tiny_config(**changes: Any) -> ReinforceConfig:
    """Twelve updates of eight episodes on built-in digits; lines and checkpoints alternate."""
    defaults: dict[str, Any] = {
        "env_id": "Glimpse/CenteredGlyphs-v0",
        "env_kwargs": {"budget": 3},
        "answer_by": "label",
        "look_signal": "reward",
        "look_weight": 0.1,
        "network": tiny_network(),
        **SHORT,
    }
    return ReinforceConfig(**{**defaults, **changes})


PPO: dict[str, Any] = {"epochs": 2, "minibatches": 2}


def tiny_actor_critic(**changes: Any) -> ActorCriticConfig:
    """The same for A2C or, with several `epochs` or `minibatches`, PPO."""
    defaults: dict[str, Any] = {
        "env_id": "Glimpse/CenteredGlyphs-v0",
        "env_kwargs": {"budget": 3},
        "network": tiny_network(detach_heads=False),
        **SHORT,
    }
    return ActorCriticConfig(**{**defaults, **changes})
