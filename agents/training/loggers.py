"""Where a run's metrics are also sent, besides its own file: TensorBoard, Weights & Biases."""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol

from agents.training.checkpoints import leaves_of
from agents.training.events import Events
from glimpse_envs.evaluation.runs import Run


class Logger(Protocol):
    """Takes the lines of metrics of one run, in the order in which they are written."""

    def add(self, line: Mapping[str, float], step: int) -> None:
        """Take a line, name -> value, at a number of episodes (Stable-Baselines3: timesteps)."""

    def close(self) -> None:
        """Send what is left; called once, also after an error."""


def import_wandb() -> Any:
    """Import the package wandb.

    Raises:
        ValueError: it is not installed, or its import fails, as with libraries of other versions.
    """
    try:
        import wandb
    except ModuleNotFoundError as error:
        if error.name != "wandb":
            raise _failed(error) from error
        raise ValueError(
            "--wandb needs the package wandb: pip install wandb, or leave the option out"
        ) from error
    except Exception as error:  # an import may raise anything, as wandb's beside a new NumPy
        raise _failed(error) from error
    return wandb


def _failed(error: Exception) -> ValueError:
    return ValueError(
        f"--wandb: wandb cannot be imported ({type(error).__name__}: {error}): install another "
        "version (pip install -U wandb), or leave the option out"
    )


class WeightsAndBiases:
    """A run of Weights & Biases, in the project that WANDB_PROJECT names (glimpse_envs without
    it), resumed with the run. WANDB_MODE=offline keeps all in RUN/wandb, to be sent later.

    Raises:
        ValueError: the package is not installed, or the service cannot be reached.
    """

    def __init__(self, run: Run, step: int) -> None:
        wandb = import_wandb()
        started = f"{run.config.get('created')} {run.folder.resolve()}"
        try:
            self._run = wandb.init(
                project=os.environ.get("WANDB_PROJECT", "glimpse_envs"),
                name=run.folder.name,
                id=hashlib.sha256(started.encode()).hexdigest()[:16],
                resume="allow",
                dir=str(run.folder),
                config={**leaves_of(run.config["config"], "."), "revision": run.config["revision"]},
            )
        except wandb.Error as error:
            raise ValueError(f"Weights & Biases refused the run: {error}") from error

    def add(self, line: Mapping[str, float], step: int) -> None:
        """Send a line of metrics."""
        self._run.log(dict(line), step=step)

    def close(self) -> None:
        """Send what is left."""
        self._run.finish()


LOGGERS: dict[str, Callable[[Run, int], Logger]] = {
    "tensorboard": Events,
    "wandb": WeightsAndBiases,
}
"""The one list of loggers; each is made with a run and the step at which it goes on."""


@contextmanager
def open_loggers(names: Sequence[str], run: Run, step: int) -> Iterator[list[Logger]]:
    """The loggers of `run` by their names in `LOGGERS`, which are closed after the block."""
    with ExitStack() as stack:
        loggers: list[Logger] = []
        for name in names:
            loggers.append(LOGGERS[name](run, step))
            stack.callback(loggers[-1].close)
        yield loggers
