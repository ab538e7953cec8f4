"""A row of a list of algorithms: the class of its config, and how it is trained; rows by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from agents.scoring.run_scores import validate_run
from agents.training.config import TrainingConfig
from agents.training.learner import Learner
from agents.training.loop import train
from glimpse_envs.core.classes import find_instance
from glimpse_envs.episodes.lookup import task_class_of
from glimpse_envs.evaluation.runs import Run

_NAMED_HERE = {
    "a2c": "A2C is actor_critic (python -m agents.train actor_critic)",
    "ppo": "PPO is actor_critic with several epochs and minibatches "
    "(python -m agents.train actor_critic --epochs 4 --minibatches 4)",
}
"""Algorithms that go by another name here."""


class Trainable(Protocol):
    """An algorithm, as the command line uses it: its config's class, and `train`."""

    @property
    def config(self) -> type[Any]: ...
    def train(self, config: Any, folder: Path, **options: Any) -> Run: ...


@dataclass(frozen=True)
class Algorithm:
    """One learner: its config's class and its constructor."""

    config: type[TrainingConfig]
    make: Callable[[Any], Learner]

    def train(self, config: Any, folder: Path, **options: Any) -> Run:
        """Train it in the run's `folder`, with options of `agents.training.loop.train`."""
        # Worlds of others have no fixed scenes, and whole games take longer than a training.
        validate = validate_run if task_class_of(config.env_id) else None
        return train(self.make, config, folder, validate=validate, **options)


def find_algorithm(name: str, known: Mapping[str, Trainable]) -> Trainable:
    """An algorithm of `known`, or that of another package, "module:NAME", which is an `Algorithm`
    whose config's `algorithm` is that very name, by which runs and records find it again.

    Raises:
        ValueError: there is no such algorithm; the message says by what name A2C and PPO go here.
    """
    try:
        found = find_instance("algorithm", name, Algorithm, known)
    except ValueError as error:
        if name not in _NAMED_HERE:
            raise
        raise ValueError(
            f"{error}. {_NAMED_HERE[name]}; that of Stable-Baselines3 is "
            f"python -m agents.sb3 {name}"
        ) from error
    if found.config.algorithm != name:
        raise ValueError(
            f"algorithm {name!r}: {found.config.__name__}.algorithm is "
            f"{found.config.algorithm!r}; it must be {name!r}, by which runs find it again"
        )
    return found
