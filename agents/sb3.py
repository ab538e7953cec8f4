"""Train by Stable-Baselines3: `python -m agents.sb3 ppo --env-id Glimpse/ClutteredGlyphs-v0`.

ppo, a2c and recurrent_ppo; `python -m agents.sb3 ppo --run RUN --resume` goes on. The run is scored
as any other: `python -m agents.evaluate RUN`. From a script: `agents.sb3_training.train`.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import gymnasium as gym
import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from stable_baselines3.common.policies import ActorCriticPolicy

from agents.command_line import run_command
from agents.resuming import read_config, resume_command
from agents.sb3_models import CONFIGS, SB3Config, make_policy
from agents.sb3_training import train
from agents.train import RunOptions
from glimpse_envs.evaluation.runs import RunError, open_run
from glimpse_envs.flat import FlatActions, FlatGlimpseEnv

if TYPE_CHECKING:
    from glimpse_envs.evaluation.runs import Run


class SB3Policy:
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
        """Choose Dict actions, name -> (B, ...), for observations, name -> (B, ...).

        Args:
            observation: arrays.
            state: what the last call returned; None at the start.
            episode_start: (B,) True where the memory is to be emptied first.
            deterministic: the likeliest action rather than a sample.
        """
        actions, state = self.policy.predict(observation, state, episode_start, deterministic)
        return self.flat.decode(actions), state

    @classmethod
    def from_run(cls, run: "Run", device: str = "cpu") -> Self:
        """Load the policy of a run from its last checkpoint.

        Raises:
            RunError: the run or its checkpoint is missing or damaged.
        """
        kinds = {kind.__name__: kind for kind in CONFIGS.values()}
        algorithm = run.config.get("algorithm")
        if algorithm not in kinds:
            raise RunError(
                f"{run.folder} is of algorithm {algorithm!r}, none of {', '.join(kinds)}"
            )
        config = read_config(run, kinds[algorithm])
        tensors, _ = run.load_checkpoint()
        env = FlatGlimpseEnv(gym.make(config.env_id, **config.env_kwargs))
        policy = make_policy(config, env.observation_space, env.action_space)
        policy.load_state_dict(
            {
                name.removeprefix("policy/"): torch.as_tensor(np.array(value))
                for name, value in tensors.items()
            }
        )
        return cls(policy.to(device), env.flat)


def main(arguments: list[str] | None = None) -> None:
    """The command line: an algorithm's name, then its config's fields as options."""
    name, *rest = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if name in ("-h", "--help"):
        print(f"usage: python -m agents.sb3 {{{','.join(CONFIGS)}}} [--help] [OPTIONS]")
        sys.exit(0)
    if name not in CONFIGS:
        print(f"error: algorithm {name!r} must be one of {', '.join(CONFIGS)}", file=sys.stderr)
        sys.exit(2)
    run_command(lambda: _train_as_told(name, rest))


def _train_as_told(name: str, arguments: list[str]) -> None:
    """Train algorithm `name` by the command line's `arguments`."""
    kind = CONFIGS[name]
    default, where = _config_to_resume(kind, arguments) or kind(), RunOptions()

    def command(config: SB3Config = default, options: RunOptions = where) -> None:
        environment = config.env_id.rpartition("/")[2]
        folder = options.run or Path("runs") / f"{environment}-sb3-{name}-{config.seed}"
        again = resume_command("agents.sb3", name, folder)
        run = train(config, folder, resume=options.resume, how_to_resume=again)
        print(f"the run is in {run.folder}; evaluate it: python -m agents.evaluate {run.folder}")

    # Options are the fields themselves, --seed and not --config.seed.
    command.__annotations__["config"] = Annotated[kind, tyro.conf.arg(name="")]
    command.__annotations__["options"] = Annotated[RunOptions, tyro.conf.arg(name="")]
    prog = f"python -m agents.sb3 {name}"
    tyro.cli(command, args=arguments, prog=prog, description=kind.__doc__)


def _config_to_resume(kind: type[SB3Config], arguments: list[str]) -> SB3Config | None:
    """The config of the run that `arguments` resume; None where they resume none.

    Raises:
        RunError: the run is damaged or another algorithm's.
        ValueError: --env-kwargs stands twice, of which the first would be dropped.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--run", type=Path, nargs="?")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--env-kwargs", "--env_kwargs", action="append", nargs="*", default=[])
    known, _ = parser.parse_known_args(arguments)
    if len(known.env_kwargs) > 1:
        raise ValueError("--env-kwargs is given twice: give all pairs after one, a=1 b=2")
    if not known.resume or known.run is None or not (known.run / "config.json").exists():
        return None
    return read_config(open_run(known.run), kind)


if __name__ == "__main__":
    main()
