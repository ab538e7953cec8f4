"""Train an agent: `python -m agents.train reinforce --env-id Glimpse/ClutteredMNIST-v0`.

`--preset tapes` starts from the settings of published agents of tapes, and `--from-record
results/X.json` from those of a published run; further options change them.
Ctrl-C and SIGTERM save, with exit status 130 and 143; `python -m agents.train reinforce --run RUN
--resume` goes on. A run from elsewhere may name code of a third-party package, which is refused
without --trust.

From a script: `train_agent("reinforce", ReinforceConfig(...), "runs/mine")`.
"""

from pathlib import Path

from agents.algorithms.actor_critic import ActorCritic, ActorCriticConfig
from agents.algorithms.algorithm import Algorithm, find_algorithm
from agents.algorithms.exact import Exact, ExactConfig
from agents.algorithms.reinforce import Reinforce, ReinforceConfig
from agents.algorithms.straight_through import StraightThrough, StraightThroughConfig
from agents.presets import PRESETS
from agents.train_command import run_main
from agents.training.config import TrainingConfig
from agents.training.resuming import resume_command
from glimpse_envs.evaluation.runs import Run

# The one list of algorithms; a new one is a file and a row.
ALGORITHMS: dict[str, Algorithm] = {
    row.config.algorithm: row
    for row in (
        Algorithm(ReinforceConfig, Reinforce),
        Algorithm(ActorCriticConfig, ActorCritic),
        Algorithm(ExactConfig, Exact),
        Algorithm(StraightThroughConfig, StraightThrough),
    )
}


def train_agent(
    algorithm: str,
    config: TrainingConfig,
    folder: str | Path,
    *,
    resume: bool = False,
    progress_bar: bool = True,
) -> Run:
    """Train `algorithm` (a name in `ALGORITHMS`, or "module:NAME") by `config` in the run's
    `folder`; see `agents.training.loop.train`.

    Raises:
        ValueError: the algorithm is not known, or the config belongs to another.
    """
    row = find_algorithm(algorithm, ALGORITHMS)
    if not isinstance(config, row.config):
        raise ValueError(f"{algorithm} takes a {row.config.__name__}, not {type(config).__name__}")
    return row.train(
        config,
        Path(folder),
        resume=resume,
        progress_bar=progress_bar,
        how_to_resume=resume_command("agents.train", config, Path(folder)),
    )


def main(arguments: list[str] | None = None) -> None:
    """The command line: an algorithm's name, then its config's fields as options."""
    run_main("agents.train", ALGORITHMS, arguments, presets=PRESETS)


if __name__ == "__main__":
    main()
