"""The training loop that every learner shares: a run's folder, progress, checkpoints, resuming."""

import inspect
import math
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

import gymnasium as gym
import torch
from torch.utils.tensorboard import SummaryWriter

from agents.training.checkpoints import flatten, unflatten
from agents.training.checks import check_choices, check_counts, check_device, check_positive
from agents.training.command_line import KEY_VALUE_PAIRS
from agents.training.interrupts import finish_on_interrupt
from agents.training.precision import Precision
from agents.training.progress_bar import ProgressBar
from agents.training.resuming import check_same
from glimpse_envs.env import load_task
from glimpse_envs.evaluation.runs import Run, create_run, open_run


@dataclass(frozen=True)
class TrainingConfig:
    """What all learners have in common."""

    env_id: str = "Glimpse/ClutteredMNIST-v0"
    """The environment."""
    env_kwargs: Annotated[dict[str, Any], KEY_VALUE_PAIRS] = field(default_factory=dict)
    """Its arguments, such as budget=6 look=tiles."""
    seed: int = 0
    """Of the scenes, the samples and the first weights."""
    images: int = 3_000_000
    """Episodes to train on; each batch has fresh ones."""
    solve_at: float | None = None
    """Stop when this share of 1,000 validation sequences, of the greatest length where what is
    hidden has one, is wholly right."""
    solve_every: int = 100
    """Updates between two looks at whether it is so."""
    minutes: float | None = None
    """Stop after so many minutes instead, of the core where one thread does all, else on the wall's
    clock; the schedules then follow it."""
    batch_size: int = 128
    """Episodes an update."""
    curriculum: Literal["threshold", "mixture"] | None = None
    """Which lengths are dealt, where what is hidden has one: uniform up to a present one, which
    grows when it is solved, or the mixture of Zaremba & Sutskever (2015) around it; None deals all
    alike."""
    copies: int = 1
    """Episodes an image (M in the RAM literature); `batch_size` is a multiple."""
    learning_rate: float = 1e-3
    """Adam's, at its highest; it decays along a cosine to 0."""
    warmup: float = 0.01
    """Share of the training over which the learning rate rises."""
    max_gradient_norm: float = 5.0
    """Gradients are shortened to this norm."""
    precision: Precision = "float32"
    """Of matrix products; bfloat16 is faster where the processor has it."""
    device: str = "cpu"
    """Where the model runs: cpu, cuda, cuda:1, ..."""
    threads: int = 1
    """Threads of torch; one a process is fastest on small machines."""
    log_every: int = 100
    """Updates between two lines of metrics."""
    checkpoint_every: int = 500
    """Updates between two checkpoints."""

    @property
    def torch_precision(self) -> torch.dtype:
        return torch.bfloat16 if self.precision == "bfloat16" else torch.float32


VALIDATE_AT = tuple(0.5**k for k in range(7, -1, -1))
"""Shares of a training at which its run is scored, where `train` is told how: at each doubling."""

Validate = Callable[[Run], Mapping[str, float]]
"""From a run that has just been saved to its score, "validation_error" (a fraction) and more."""


class Learner(Protocol):
    """What the loop needs of an algorithm."""

    policy_class: str

    @property
    def name(self) -> str: ...
    def update(self, progress: float) -> dict[str, float]: ...
    def state_dict(self) -> dict[str, Any]: ...
    def load_state_dict(self, state: dict[str, Any]) -> None: ...
    def close(self) -> None: ...


def cosine_decay(progress: float, warmup: float) -> float:
    """The share of the highest learning rate at `progress` in [0, 1]: a linear rise, then half a
    cosine down to 0."""
    if progress < warmup:
        return progress / warmup
    return 0.5 * (1 + math.cos(math.pi * (progress - warmup) / (1 - warmup)))


def train(
    make_learner: Callable[[Any], Learner],
    config: TrainingConfig,
    folder: str | Path,
    *,
    resume: bool = False,
    progress_bar: bool = True,
    stop_after: int | None = None,
    how_to_resume: str = "resume=True",
    validate: Validate | None = None,
    solved_share: Callable[[Run], float] | None = None,
) -> Run:
    """Train until the configured number of images, or minutes, in the run's `folder`.

    Killed at any moment, a run that is resumed gives what the unbroken run gives (but for its
    clock; with `minutes` the schedules follow it). Ctrl-C finishes the update, saves and returns.

    Args:
        make_learner: from the config, e.g. `Reinforce`.
        config: what to train; of a run that is resumed its own, though what does not change what
            is learned (`agents.training.resuming.FREE`) may differ.
        folder: made if it is not there.
        resume: go on with the run in `folder` where there is one.
        progress_bar: show error, glimpses a second and the time left.
        stop_after: return, saved, after so many updates in all, for tests.
        how_to_resume: what Ctrl-C's message says to go on with.
        validate: called at the shares `VALIDATE_AT` of the training, whose clock stands still; what
            it returns is a line of metrics of its own.
        solved_share: how `solve_at` is measured, of a run that has just been saved, while the clock
            stands still; needed where that is set.

    Raises:
        RunError: there is a run in `folder` and `resume` is False, or it has another config.
        ValueError: the config has a value that cannot be; no run is made.
        FloatingPointError: a loss is not finite; what is saved is the last checkpoint.
    """
    check_config(config)
    if config.solve_at is not None and solved_share is None:
        raise ValueError(f"solve_at={config.solve_at}: nothing here says what is solved")
    torch.set_num_threads(config.threads)
    torch.set_flush_denormal(True)
    folder = Path(folder)
    if resume and (folder / "config.json").exists():
        run = open_run(folder)
        check_same(run, config)
    else:
        run = None
    learner = make_learner(config)
    if run is None:
        run = create_run(
            folder,
            {
                "policy": learner.policy_class,
                "model": learner.name,
                "command": " ".join(sys.argv),
                "algorithm": type(config).__name__,
                "config": asdict(config),
                "seed": config.seed,
            },
        )
    loop = _Loop(learner, config, run, validate, solved_share)
    try:
        interrupted = loop.go(progress_bar, stop_after)
    finally:
        learner.close()
    if interrupted:
        print(f"saved after {loop.images} images; go on with {how_to_resume}")
    return run


def clock_of(config: TrainingConfig) -> Callable[[], float]:
    """The clock, in seconds, by which a training is timed: that of the processor where one thread
    does all, so that other work on the machine does not count, and else the wall's."""
    one_core = config.device == "cpu" and config.threads == 1
    return time.process_time if one_core else time.perf_counter


def share_done(config: TrainingConfig, images: float, seconds: float) -> float:
    """How much of a training is done, in [0, 1], after so many images and seconds of updates."""
    if config.minutes is not None:
        return min(1.0, seconds / (60 * config.minutes))
    return min(1.0, images / config.images)


class _Loop:
    """Updates, and what is written down of them."""

    def __init__(
        self,
        learner: Learner,
        config: TrainingConfig,
        run: Run,
        validate: Validate | None,
        solved_share: Callable[[Run], float] | None,
    ) -> None:
        self.learner, self.config, self.run, self.validate = learner, config, run, validate
        self.solved_share = solved_share
        self.updates, self.seconds = 0, 0.0
        self.window: dict[str, float] = {}  # sums of metrics since the last line
        self.window_updates = 0
        if run.has_checkpoint:
            tensors, metadata = run.load_checkpoint()
            learner.load_state_dict(unflatten(tensors, metadata["numbers"]))
            self.updates, self.seconds = metadata["updates"], metadata["seconds"]
            self.window = metadata["window"]
            # Checkpoints without it are of runs that logged at multiples of log_every alone.
            since = self.updates % run.config["config"]["log_every"]
            self.window_updates = metadata.get("window_updates", since)
        run.cut_metrics(self.updates * config.batch_size)
        self.validated = max(
            (
                share_done(config, line["step"], line["seconds"])
                for line in (run.read_metrics() if validate else [])
                if "validation_error" in line
            ),
            default=0.0,
        )
        looks = [line for line in run.read_metrics() if "solved_share" in line]
        self.looked_at = max((int(line["step"]) for line in looks), default=0)  # images
        self.solved = config.solve_at is not None and any(
            line["solved_share"] >= config.solve_at for line in looks
        )

    @property
    def images(self) -> int:
        return self.updates * self.config.batch_size

    def progress(self) -> float:
        return share_done(self.config, self.images, self.seconds)

    def go(self, progress_bar: bool, stop_after: int | None) -> bool:
        """Update until all is done, Ctrl-C or `stop_after`; return whether it was Ctrl-C."""
        config, clock = self.config, clock_of(self.config)
        writer = SummaryWriter(str(self.run.folder / "tensorboard"), purge_step=self.images)
        timed = config.minutes is not None
        total = config.images if config.minutes is None else 60 * config.minutes
        bar = ProgressBar(
            total, timed, config.batch_size, self.images, self.seconds, shown=progress_bar
        )
        with finish_on_interrupt() as interrupted:
            self._validate_if_due()  # where it was killed between saving and scoring
            self._look_whether_solved()
            while self.progress() < 1.0 and not interrupted and not self.solved:
                if stop_after is not None and self.updates >= stop_after:
                    break
                started = clock()
                try:
                    metrics = self.learner.update(self.progress())
                except FloatingPointError as error:
                    raise FloatingPointError(
                        f"{error} at update {self.updates + 1} ({self.images} images) of "
                        f"{self.run.folder}; lower the learning rate and start anew, or resume "
                        "from the last checkpoint"
                    ) from error
                self.seconds += clock() - started
                self.updates += 1
                for name, value in metrics.items():
                    self.window[name] = self.window.get(name, 0.0) + value
                self.window_updates += 1
                if self.updates % config.log_every == 0 or self.progress() >= 1.0:
                    self._log(writer)
                if self.updates % config.checkpoint_every == 0:
                    self._save()
                bar.show(self.images, self.seconds, metrics)
                self._validate_if_due()
                self._look_whether_solved()
        bar.close()
        self._save()
        writer.close()
        return bool(interrupted)

    def _log(self, writer: SummaryWriter) -> None:
        means = {name: total / self.window_updates for name, total in self.window.items()}
        self.run.append_metrics(self.images, {**means, "seconds": round(self.seconds, 3)})
        for name, value in means.items():
            writer.add_scalar(name, value, self.images)
        self.window, self.window_updates = {}, 0

    def _validate_if_due(self) -> None:
        progress = self.progress()
        due = any(self.validated < share <= progress for share in VALIDATE_AT)
        if self.validate is None or not due:
            return
        self._save()
        scores = self.validate(self.run)
        self.run.append_metrics(self.images, {**scores, "seconds": self.seconds})
        self.validated = progress

    def _look_whether_solved(self) -> None:
        wanted = self.config.solve_at
        due = self.updates % self.config.solve_every == 0 or self.progress() >= 1.0
        due = due and self.images > self.looked_at
        if wanted is None or self.solved_share is None or not due:
            return
        self._save()
        share = self.solved_share(self.run)
        self.run.append_metrics(self.images, {"solved_share": share, "seconds": self.seconds})
        self.looked_at, self.solved = self.images, share >= wanted

    def _save(self) -> None:
        tensors, numbers = flatten(self.learner.state_dict())
        metadata = {
            "numbers": numbers,
            "updates": self.updates,
            "images": self.images,
            "seconds": self.seconds,
            "window": self.window,
            "window_updates": self.window_updates,
        }
        self.run.save_checkpoint(tensors, metadata)


def check_config(config: TrainingConfig) -> None:
    """Refuse what all learners refuse.

    Raises:
        ValueError: naming the field, its value and what would be right.
        gymnasium.error.Error: there is no environment `env_id`.
    """
    check_choices(config)
    check_counts(
        config, "images", "batch_size", "copies", "threads", "log_every", "checkpoint_every"
    )
    check_counts(config, "solve_every")
    check_positive(config, "minutes", "learning_rate", "max_gradient_norm")
    if not 0 <= config.warmup < 1:
        raise ValueError(f"warmup={config.warmup} must be at least 0 and below 1")
    if config.batch_size % config.copies:
        raise ValueError(
            f"batch_size={config.batch_size} must be a multiple of copies={config.copies}"
        )
    if config.solve_at is not None and not 0 < config.solve_at <= 1:
        raise ValueError(f"solve_at={config.solve_at} must be a share above 0, at most 1")
    check_device(config.device)
    _check_arguments(config)


def _check_arguments(config: TrainingConfig) -> None:
    """Refuse arguments that the environment lacks, or that the learner sets itself."""
    task = gym.spec(config.env_id).kwargs.get("task")
    if task is None:
        return  # an environment of others, which checks its own arguments
    known = inspect.signature(load_task(task)).parameters.keys() - {"split"}
    unknown = sorted(config.env_kwargs.keys() - known)
    if unknown:
        raise ValueError(
            f"env_kwargs: {', '.join(unknown)} cannot be set here; {config.env_id} takes "
            f"{', '.join(sorted(known))}"
        )
