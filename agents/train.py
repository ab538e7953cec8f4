"""Train an agent: `python -m agents.train reinforce --env-id Glimpse/ClutteredMNIST-v0`.

Ctrl-C saves; `python -m agents.train reinforce --run RUN --resume` goes on.
From a script: `train_agent("reinforce", ReinforceConfig(...), "runs/mine")`.
"""

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol

import tyro

from agents.algorithms.actor_critic import ActorCritic, ActorCriticConfig
from agents.algorithms.exact import Exact, ExactConfig
from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.algorithms.straight_through import StraightThrough, StraightThroughConfig
from agents.scoring.memory_evaluation import solved_share
from agents.training.command_line import run_command
from agents.training.loop import Learner, TrainingConfig, train
from agents.training.resuming import read_config, resume_command
from glimpse_envs.evaluation.runs import Run, open_run


class Trainable(Protocol):
    """What the command line needs of an algorithm: its config's class, and how to train it."""

    @property
    def config(self) -> type[Any]: ...
    def train(
        self, config: Any, folder: Path, *, resume: bool, progress_bar: bool, how_to_resume: str
    ) -> Run: ...


@dataclass(frozen=True)
class Algorithm:
    """One learner: its configuration and how to make it."""

    config: type[TrainingConfig]
    make: Callable[[Any], Learner]

    def train(
        self, config: Any, folder: Path, *, resume: bool, progress_bar: bool, how_to_resume: str
    ) -> Run:
        """Train it in the run's `folder`; see `agents.training.loop.train`."""
        return train(
            self.make,
            config,
            folder,
            resume=resume,
            progress_bar=progress_bar,
            how_to_resume=how_to_resume,
            solved_share=solved_share,
        )


# The one list of algorithms; a new one is a file and a row.
ALGORITHMS: dict[str, Algorithm] = {
    "reinforce": Algorithm(ReinforceConfig, Reinforce),
    "actor_critic": Algorithm(ActorCriticConfig, ActorCritic),
    "exact": Algorithm(ExactConfig, Exact),
    "straight_through": Algorithm(StraightThroughConfig, StraightThrough),
}


@dataclass(frozen=True)
class RunOptions:
    """Where a run is kept."""

    run: Path | None = None
    """The run's folder; runs/ENVIRONMENT-ALGORITHM-SEED where none is given."""
    resume: bool = False
    """Go on with the run in that folder, if there is one: with its config, from which only device,
    threads, log-every and checkpoint-every may differ."""


def train_agent(
    algorithm: str,
    config: TrainingConfig,
    folder: str | Path,
    *,
    resume: bool = False,
    progress_bar: bool = True,
) -> Run:
    """Train `algorithm` (a name in `ALGORITHMS`) by `config` in the run's `folder`; see
    `agents.training.loop.train`.

    Raises:
        ValueError: the algorithm is not known, or the config is another's.
    """
    if algorithm not in ALGORITHMS:
        raise ValueError(f"algorithm={algorithm!r} must be one of {', '.join(ALGORITHMS)}")
    row = ALGORITHMS[algorithm]
    if not isinstance(config, row.config):
        raise ValueError(f"{algorithm} takes a {row.config.__name__}, not {type(config).__name__}")
    return row.train(
        config,
        Path(folder),
        resume=resume,
        progress_bar=progress_bar,
        how_to_resume=resume_command("agents.train", algorithm, Path(folder)),
    )


def main(arguments: list[str] | None = None) -> None:
    """The command line: an algorithm's name, then its config's fields as options."""
    run_main("agents.train", ALGORITHMS, arguments)


def run_main(
    module: str,
    algorithms: Mapping[str, Trainable],
    arguments: list[str] | None = None,
    prefix: str = "",
) -> None:
    """The command line `python -m module` that trains one of `algorithms`; without --run, a run's
    folder is called by `prefix` and the algorithm's name."""
    name, *rest = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if name in ("-h", "--help"):
        print(f"usage: python -m {module} {{{','.join(algorithms)}}} [--help] [OPTIONS]")
        sys.exit(0)
    if name not in algorithms:
        print(f"error: algorithm {name!r} must be one of {', '.join(algorithms)}", file=sys.stderr)
        sys.exit(2)

    run_command(lambda: _train_as_told(module, name, prefix, algorithms[name], rest))


def _train_as_told(
    module: str, name: str, prefix: str, algorithm: Trainable, arguments: list[str]
) -> None:
    """Train `algorithm`, which `module` calls `name`, by the command line's `arguments`."""
    kind = algorithm.config
    default = _config_to_resume(kind, arguments) or kind()

    def command(config: Any = default, options: RunOptions = RunOptions()) -> None:
        environment = config.env_id.rpartition("/")[2]
        folder = options.run or Path("runs") / f"{environment}-{prefix}{name}-{config.seed}"
        run = algorithm.train(
            config,
            folder,
            resume=options.resume,
            progress_bar=True,
            how_to_resume=resume_command(module, name, folder),
        )
        print(f"the run is in {run.folder}; evaluate it: python -m agents.evaluate {run.folder}")

    # Options are the fields themselves, --seed and not --config.seed.
    command.__annotations__["config"] = Annotated[kind, tyro.conf.arg(name="")]
    command.__annotations__["options"] = Annotated[RunOptions, tyro.conf.arg(name="")]
    prog = f"python -m {module} {name}"
    tyro.cli(command, args=arguments, prog=prog, description=kind.__doc__)


def _config_to_resume(kind: type[Any], arguments: list[str]) -> Any:
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
