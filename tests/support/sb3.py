"""Small trainings by Stable-Baselines3's learners, which the tests of them share."""

from typing import Any

from stable_baselines3 import PPO

from agents.policy.networks import NetworkConfig
from agents.sb3.models import (
    A2CConfig,
    SB3Config,
)
from tests.support.episodes import CENTRED

ROWS = 5
WHOLE: dict[str, Any] = {"glimpse_size": 28, "inside": True, "budget": 2}

SMALL = NetworkConfig(
    what_units=16, where_units=8, glimpse_units=16, core_units=16, head_units=16,
    look_std=0.3, learn_look_std=True,
)  # fmt: skip


def small(kind: type[SB3Config], env_kwargs: dict[str, Any], **changes: Any) -> SB3Config:
    minibatches = {} if kind is A2CConfig else {"minibatch_size": 128}
    defaults: dict[str, Any] = dict(
        env_id=CENTRED, env_kwargs=env_kwargs, n_steps=4, learning_rate=3e-3, network=SMALL,
        log_every=5, checkpoint_every=4,
    )  # fmt: skip
    return kind(**{**defaults, **minibatches, **changes})


def tiny_ppo(venv: Any, **changes: Any) -> PPO:
    arguments: dict[str, Any] = dict(
        n_steps=8, batch_size=20, n_epochs=1, seed=0, policy_kwargs={"net_arch": [8]}, device="cpu"
    )
    return PPO("MultiInputPolicy", venv, **{**arguments, **changes})
