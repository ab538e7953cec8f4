"""The options of all learners, and their checks."""

from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Self

import torch

from agents.training.checks import (
    check_choices,
    check_counts,
    check_device,
    check_not_negative,
    check_positive,
    check_threads,
    check_types,
)
from agents.training.command_line import KEY_VALUE_PAIRS
from agents.training.optimizers import Kind
from agents.training.precision import Precision, fastest_precision
from glimpse_envs.core.arguments import check_seed, did_you_mean
from glimpse_envs.episodes.levels import find_levels
from glimpse_envs.episodes.lookup import arguments_of
from glimpse_envs.evaluation.batches import make_batch
from glimpse_envs.sources import SourceError


@dataclass(frozen=True)
class RunConfig:
    """Options of every run, of this package's learners and of Stable-Baselines3's."""

    algorithm: ClassVar[str]
    """Name of the algorithm on the command line, in runs and in records."""

    env_id: str = "Glimpse/ClutteredMNIST-v0"
    """Id of the environment."""
    env_kwargs: Annotated[dict[str, Any], KEY_VALUE_PAIRS] = field(default_factory=dict)
    """Arguments of the environment, all after one option, such as budget=6 look=tiles. Those of a
    preset, a record or a resumed run stay unless they are given anew or --env-id changes."""
    seed: int = 0
    """Random seed of scenes, samples and initial weights."""
    device: str = "cpu"
    """Torch device of the model, such as cpu, cuda or cuda:1."""
    threads: int = 1
    """Number of CPU threads of torch; one is fastest for small models."""


@dataclass(frozen=True)
class TrainingConfig(RunConfig):
    """Options of all learners."""

    episodes: int = 3_000_000
    """Number of episodes to train on, all different, if --minutes is None; given on the command
    line, it replaces the minutes of a preset or record."""
    minutes: float | None = None
    """Length of the training in minutes, instead of --episodes: of CPU time with one thread on the
    CPU, else of wall time. Schedules follow this clock."""
    stop_at: float | None = None
    """Share of validation episodes with success, in (0, 1], at which the training ends early; None:
    never."""
    validate_every: int = 0
    """Number of updates from one validation to the next; 0: validations after 1/128, 1/64, ... 1/2
    and all of the training."""
    validation_episodes: int = 1_000
    """Maximum number of episodes of a validation, at the level that the task is scored at; a
    smaller split is played whole; 0: no validation."""
    batch_size: int = 128
    """Number of episodes played at once; each update learns from one such batch."""
    curriculum: str | None = None
    """Distribution of the training's levels (lengths or hops). threshold: uniform up to a level
    that rises with success; mixture: that of Zaremba & Sutskever (2015) around such a level;
    distance: first glimpses of pictures start near their targets and move away with success;
    "module:Class": a `LevelDistribution` of another package; None: uniform over all levels."""
    solve_share: float | None = None
    """Share of the episodes at the curriculum's present level, in (0, 1], that must be solved
    before the next level; None: 0.8, or 0.7 for distance. A level that cannot be solved so often is
    never left."""
    copies: int = 1
    """Number of episodes of each scene in a batch (M in the RAM literature), a divisor of the
    batch size."""
    optimizer: Kind = "adam"
    """Optimizer: adam; or muon, which learns matrices of at least 32 rows and columns by
    orthogonal steps, and the rest by Adam."""
    learning_rate: float = 1e-3
    """Peak learning rate; it decays along a cosine to 0."""
    weight_decay: float = 0.0
    """Decoupled weight decay (Loshchilov & Hutter 2019): each update takes this share, times the
    learning rate, off each weight."""
    warmup: float = 0.01
    """Share of the training, in [0, 1), over which the learning rate rises linearly from 0."""
    max_gradient_norm: float = 5.0
    """Maximum Euclidean norm of the gradient; greater ones are scaled down to it."""
    precision: Precision = "auto"
    """Precision of matrix products; auto is bfloat16 where the processor multiplies it faster
    (AMX, or AVX-512 of AMD's), and float32 elsewhere."""
    log_every: int = 100
    """Number of updates from one line of metrics to the next."""
    checkpoint_every: int = 500
    """Number of updates from one checkpoint to the next; one process also saves after two minutes
    of its clock."""

    @property
    def torch_precision(self) -> torch.dtype:
        return torch.bfloat16 if self.settled.precision == "bfloat16" else torch.float32

    @property
    def settled(self) -> Self:
        """The config with precision="auto" resolved for this machine."""
        if self.precision != "auto":
            return self
        return replace(self, precision=fastest_precision(self.device))


def check_config(config: TrainingConfig) -> None:
    """Raise where a config is invalid for every learner.

    Raises:
        ValueError: naming the field, its value and the rule.
        gymnasium.error.Error: there is no environment `env_id`.
    """
    check_choices(config)
    check_types(config)
    check_seed(config.seed)
    counts = ("episodes", "batch_size", "copies", "log_every", "checkpoint_every")
    check_counts(config, *counts)
    check_threads(config)
    check_positive(config, "minutes", "learning_rate", "max_gradient_norm")
    check_not_negative(config, "validate_every", "validation_episodes", "weight_decay")
    if not 0 <= config.warmup < 1:
        raise ValueError(f"warmup={config.warmup} must be at least 0 and below 1")
    if config.batch_size % config.copies:
        raise ValueError(
            f"batch_size={config.batch_size} must be a multiple of copies={config.copies}"
        )
    if config.stop_at is not None and not 0 < config.stop_at <= 1:
        raise ValueError(f"stop_at={config.stop_at} must be a share above 0, at most 1")
    _check_curriculum(config)
    check_device(config.device)
    _check_arguments(config)


def check_validation(config: TrainingConfig) -> None:
    """Raise where the environment of a config that can be trained has no validation split.

    Raises:
        SourceError: naming the split, and how to train without validation.
    """
    try:
        with closing(make_batch(config.env_id, 1, "validation", **config.env_kwargs)) as env:
            env.reset(seed=0)  # which reads the split
    except SourceError as error:
        raise SourceError(
            f"{error}; or train without validation (--validation-episodes 0)"
        ) from error


def _check_curriculum(config: TrainingConfig) -> None:
    """Raise where there is no such curriculum, or it does not take its share."""
    share = config.solve_share
    if share is not None and not 0 < share <= 1:
        raise ValueError(f"solve_share={share} must be a share above 0, at most 1")
    if config.curriculum is not None:
        find_levels(config.curriculum, share)
    elif share is not None:
        raise ValueError(
            f"solve_share={share} belongs to a curriculum: give curriculum too, or leave it out"
        )


def _check_arguments(config: TrainingConfig) -> None:
    """Raise for arguments that the environment lacks, or that the learner sets itself."""
    known = arguments_of(config.env_id, config.env_kwargs)
    if config.curriculum == "distance" and "first_glimpse" not in (known or ()):
        raise ValueError(
            f"curriculum='distance': {config.env_id} hides no picture with first glimpses to move"
        )
    if config.curriculum == "distance" and "first_glimpse" in config.env_kwargs:
        raise ValueError(
            f"first_glimpse={config.env_kwargs['first_glimpse']!r}: curriculum='distance' moves "
            "first glimpses itself, so that one of the two must be left out"
        )
    for name, value in (("look", "tiles"), ("view", "full")):
        if config.curriculum == "distance" and config.env_kwargs.get(name) == value:
            raise ValueError(
                f"curriculum='distance' moves first glimpses at places, and {name}={value!r} has "
                "none: leave one of the two out"
            )
    check_env_kwargs(config.env_id, config.env_kwargs)


def check_env_kwargs(env_id: str, env_kwargs: dict[str, Any]) -> None:
    """Raise a `ValueError` for arguments that an environment of this package lacks, or that are not
    for a training; another package's checks its own."""
    known = arguments_of(env_id, env_kwargs)
    if known is None:
        return
    known -= {"split"}
    unknown = sorted(env_kwargs.keys() - known)
    if unknown:
        raise ValueError(
            f"env_kwargs: {', '.join(unknown)} cannot be set here; {env_id} takes "
            f"{', '.join(sorted(known))}{did_you_mean(unknown[0], known)}"
        )
