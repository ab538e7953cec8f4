"""A row of a list of algorithms: the class of its config, and how it is trained."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from agents.scoring.run_scores import validate_run
from agents.training.config import TrainingConfig
from agents.training.interrupts import ignore
from agents.training.learner import Learner
from agents.training.loop import train
from glimpse_envs.episodes.lookup import task_class_of
from glimpse_envs.evaluation.runs import Run


class Trainable(Protocol):
    """An algorithm, as the command line uses it: its config's class, and `train`."""

    @property
    def config(self) -> type[Any]: ...
    def train(
        self,
        config: Any,
        folder: Path,
        *,
        resume: bool,
        progress_bar: bool,
        how_to_resume: str,
        loggers: Sequence[str] = ("tensorboard",),
        on_begin: Callable[[], None] = lambda: None,
        on_interrupt: Callable[[int], None] = ignore,
    ) -> Run: ...


@dataclass(frozen=True)
class Algorithm:
    """One learner: its config's class and its constructor."""

    config: type[TrainingConfig]
    make: Callable[[Any], Learner]

    def train(
        self,
        config: Any,
        folder: Path,
        *,
        resume: bool,
        progress_bar: bool,
        how_to_resume: str,
        loggers: Sequence[str] = ("tensorboard",),
        on_begin: Callable[[], None] = lambda: None,
        on_interrupt: Callable[[int], None] = ignore,
    ) -> Run:
        """Train it in the run's `folder`; see `agents.training.loop.train`."""
        return train(
            self.make,
            config,
            folder,
            resume=resume,
            progress_bar=progress_bar,
            how_to_resume=how_to_resume,
            # An environment of others has no validation split.
            validate=validate_run if task_class_of(config.env_id) else None,
            loggers=loggers,
            on_begin=on_begin,
            on_interrupt=on_interrupt,
        )
