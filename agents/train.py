"""Train an agent: `python -m agents.train reinforce --env-id Glimpse/ClutteredMNIST-v0`.

From a script: `train_agent("reinforce", ReinforceConfig(...), "runs/mine")`.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from agents.command_line import run_command
from agents.reinforce import Reinforce, ReinforceConfig
from agents.training import Learner, TrainingConfig, train
from glimpse_envs.evaluation.runs import Run


@dataclass(frozen=True)
class Algorithm:
    """One learner: its configuration and how to make it."""

    config: type[TrainingConfig]
    make: Callable[[Any], Learner]


# The one list of algorithms; a new one is a file and a row.
ALGORITHMS: dict[str, Algorithm] = {
    "reinforce": Algorithm(ReinforceConfig, Reinforce),
}


@dataclass(frozen=True)
class RunOptions:
    """Where a run is kept."""

    run: Path | None = None
    """The run's folder; runs/ENVIRONMENT-ALGORITHM-SEED where none is given."""
    resume: bool = False
    """Go on with the run in that folder, if there is one."""


def train_agent(
    algorithm: str,
    config: TrainingConfig,
    folder: str | Path,
    *,
    resume: bool = False,
    progress_bar: bool = True,
) -> Run:
    """Train `algorithm` (a name in `ALGORITHMS`) by `config` in the run's `folder`; see
    `agents.training.train`.

    Raises:
        ValueError: the algorithm is not known, or the config is another's.
    """
    if algorithm not in ALGORITHMS:
        raise ValueError(f"algorithm={algorithm!r} must be one of {', '.join(ALGORITHMS)}")
    row = ALGORITHMS[algorithm]
    if not isinstance(config, row.config):
        raise ValueError(f"{algorithm} takes a {row.config.__name__}, not {type(config).__name__}")
    return train(row.make, config, folder, resume=resume, progress_bar=progress_bar)


def main(arguments: list[str] | None = None) -> None:
    """The command line: an algorithm's name, then its config's fields as options."""
    name, *rest = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if name in ("-h", "--help"):
        print(f"usage: python -m agents.train {{{','.join(ALGORITHMS)}}} [--help] [OPTIONS]")
        sys.exit(0)
    if name not in ALGORITHMS:
        print(f"error: algorithm {name!r} must be one of {', '.join(ALGORITHMS)}", file=sys.stderr)
        sys.exit(2)

    def command(
        config: Annotated[TrainingConfig, tyro.conf.arg(name="")],
        options: Annotated[RunOptions, tyro.conf.arg(name="")],
    ) -> None:
        environment = config.env_id.rpartition("/")[2]
        folder = options.run or Path("runs") / f"{environment}-{name}-{config.seed}"
        run = train_agent(name, config, folder, resume=options.resume)
        print(f"the run is in {run.folder}; evaluate it: python -m agents.evaluate {run.folder}")

    row = ALGORITHMS[name]
    command.__annotations__["config"] = Annotated[row.config, tyro.conf.arg(name="")]
    prog = f"python -m agents.train {name}"
    run_command(lambda: tyro.cli(command, args=rest, prog=prog, description=row.config.__doc__))


if __name__ == "__main__":
    main()
