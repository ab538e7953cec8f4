"""Train by Stable-Baselines3: `python -m agents.sb3 ppo --env-id Glimpse/ClutteredGlyphs-v0`.

ppo, a2c and recurrent_ppo; `python -m agents.sb3 ppo --run RUN --resume` goes on. The run is scored
as any other: `python -m agents.evaluate RUN`. From a script: `agents.sb3.training.train`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.policies import ActorCriticPolicy

from agents.sb3.models import CONFIGS, SB3Config, make_policy
from agents.sb3.training import train
from agents.train_command import run_main
from agents.training.checkpoints import load_weights
from agents.training.resuming import read_config
from glimpse_envs.core.arguments import naming_environment
from glimpse_envs.evaluation.policy import Policy
from glimpse_envs.evaluation.run_errors import RunError
from glimpse_envs.evaluation.runs import Run
from glimpse_envs.flat import FlatActions


class SB3Policy(Policy):
    """A policy of Stable-Baselines3 that acts in Dict actions.

    Args:
        policy: with flat actions.
        flat: their codec.
    """

    def __init__(self, policy: ActorCriticPolicy, flat: FlatActions) -> None:
        self.policy, self.flat = policy, flat

    def predict(
        self,
        observation: dict[str, NDArray],
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[dict[str, NDArray], Any]:
        """Dict actions and the next state; see `agents.policy.glimpse_policy.GlimpsePolicy`."""
        actions, state = self.policy.predict(observation, state, episode_start, deterministic)
        return self.flat.decode(actions), state

    @classmethod
    def from_run(cls, run: Run, device: str = "cpu") -> Self:
        """Load the policy of a run from its last checkpoint.

        Raises:
            RunError: the run or its checkpoint is missing or damaged.
        """
        algorithm = run.config.get("algorithm")
        if algorithm not in CONFIGS:
            raise RunError(
                f"{run.folder} is of algorithm {algorithm!r}, none of {', '.join(CONFIGS)}"
            )
        config = read_config(run, CONFIGS[algorithm])
        with naming_environment(config.env_id, config.env_kwargs):
            env = gym.make(config.env_id, **config.env_kwargs)
        flat = FlatActions(env.action_space)
        policy = make_policy(config, env.observation_space, flat.space)
        load_weights(policy, run)
        return cls(policy.to(device), flat)


class SB3Algorithm(NamedTuple):
    """One of Stable-Baselines3's algorithms, as a row of `agents.train_command.run_main`."""

    config: type[SB3Config]
    train: Callable[..., Run] = train


ALGORITHMS = {name: SB3Algorithm(config) for name, config in CONFIGS.items()}
"""Name -> algorithm."""


def main(arguments: list[str] | None = None) -> None:
    """The command line: an algorithm's name, then its config's fields as options."""
    run_main("agents.sb3", ALGORITHMS, arguments, prefix="sb3-")


if __name__ == "__main__":
    main()
