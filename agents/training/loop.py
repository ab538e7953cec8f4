"""The training loop that every learner shares: a run's folder, progress, validation, checkpoints,
resuming."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import torch
from torch.utils.tensorboard import SummaryWriter

from agents.training.checkpoints import flatten, unflatten
from agents.training.config import TrainingConfig, check_config
from agents.training.interrupts import finish_on_interrupt
from agents.training.progress_bar import ProgressBar
from agents.training.resuming import check_same
from agents.training.schedules import share_done, validation_due
from glimpse_envs.evaluation.record import Model
from glimpse_envs.evaluation.runs import Run, create_run, open_run

Validate = Callable[[Run], Mapping[str, float]]
"""From a run that has just been saved to the metrics of its validation, "validation/success" among
them where the task has such a thing: `agents.scoring.run_scores.validate_run`."""


class Learner(Protocol):
    """What the loop needs of an algorithm."""

    policy_class: str

    @property
    def model(self) -> Model: ...
    def update(self, progress: float) -> dict[str, float]: ...
    def state_dict(self) -> dict[str, Any]: ...
    def load_state_dict(self, state: dict[str, Any]) -> None: ...
    def close(self) -> None: ...


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
) -> Run:
    """Train for the configured number of episodes, or minutes, in the run's `folder`, or until
    `stop_at` is reached.

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
        validate: called as `validate_every` says, while the clock stands still; what it returns is
            a line of metrics of its own. Without it, or with `validation_episodes` of 0, there is
            no validation.

    Raises:
        RunError: there is a run in `folder` and `resume` is False, or it has another config.
        ValueError: the config has a value that cannot be; no run is made.
        FloatingPointError: a loss is not finite; what is saved is the last checkpoint.
    """
    check_config(config)
    if config.validation_episodes == 0:
        validate = None
    if config.stop_at is not None and validate is None:
        raise ValueError(f"stop_at={config.stop_at} needs validation, and there is none here")
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
                "model": asdict(learner.model),
                "algorithm": config.algorithm,
                "config": asdict(config),
                "seed": config.seed,
            },
        )
    loop = _Loop(learner, config, run, validate)
    try:
        interrupted = loop.go(progress_bar, stop_after)
    finally:
        learner.close()
    if interrupted:
        print(f"saved after {loop.episodes} episodes; go on with {how_to_resume}")
    return run


def clock_of(config: TrainingConfig) -> Callable[[], float]:
    """The clock, in seconds, by which a training is timed: that of the processor where one thread
    does all, so that other work on the machine does not count, and else the wall's."""
    one_core = config.device == "cpu" and config.threads == 1
    return time.process_time if one_core else time.perf_counter


class _Loop:
    """Updates, and what is written down of them."""

    def __init__(
        self,
        learner: Learner,
        config: TrainingConfig,
        run: Run,
        validate: Validate | None,
    ) -> None:
        self.learner, self.config, self.run, self.validate = learner, config, run, validate
        self.updates, self.seconds = 0, 0.0
        self.window: dict[str, float] = {}  # sums of metrics since the last line
        self.window_updates = 0
        if run.has_checkpoint:
            tensors, metadata = run.load_checkpoint()
            learner.load_state_dict(unflatten(tensors, metadata["numbers"]))
            self.updates, self.seconds = metadata["updates"], metadata["seconds"]
            self.window, self.window_updates = metadata["window"], metadata["window_updates"]
        run.cut_metrics(self.updates * config.batch_size)
        self.validated, self.stopped = 0.0, False
        for line in run.read_metrics():
            if "validation/episodes" in line:
                self._note(line, line["step"], line["seconds"])

    @property
    def episodes(self) -> int:
        return self.updates * self.config.batch_size

    def progress(self) -> float:
        return share_done(self.config, self.episodes, self.seconds)

    def go(self, progress_bar: bool, stop_after: int | None) -> bool:
        """Update until all is done, Ctrl-C or `stop_after`; return whether it was Ctrl-C."""
        config, clock = self.config, clock_of(self.config)
        writer = SummaryWriter(str(self.run.folder / "tensorboard"), purge_step=self.episodes)
        timed = config.minutes is not None
        total = config.episodes if config.minutes is None else 60 * config.minutes
        bar = ProgressBar(
            total, timed, config.batch_size, self.episodes, self.seconds, shown=progress_bar
        )
        with finish_on_interrupt() as interrupted:
            self._validate_if_due()  # where it was killed between saving and scoring
            while self.progress() < 1.0 and not interrupted and not self.stopped:
                if stop_after is not None and self.updates >= stop_after:
                    break
                started = clock()
                try:
                    metrics = self.learner.update(self.progress())
                except FloatingPointError as error:
                    raise FloatingPointError(
                        f"{error} at update {self.updates + 1} ({self.episodes} episodes) of "
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
                bar.show(self.episodes, self.seconds, metrics)
                self._validate_if_due()
        bar.close()
        self._save()
        writer.close()
        return bool(interrupted)

    def _log(self, writer: SummaryWriter) -> None:
        means = {name: total / self.window_updates for name, total in self.window.items()}
        self.run.append_metrics(self.episodes, {**means, "seconds": round(self.seconds, 3)})
        for name, value in means.items():
            writer.add_scalar(name, value, self.episodes)
        self.window, self.window_updates = {}, 0

    def _validate_if_due(self) -> None:
        due = validation_due(self.config, self.updates, self.progress(), self.validated)
        if self.validate is None or self.stopped or not due:
            return
        self._save()
        scores = self.validate(self.run)
        self.run.append_metrics(self.episodes, {**scores, "seconds": self.seconds})
        self._note(scores, self.episodes, self.seconds)

    def _note(self, scores: Mapping[str, float], episodes: float, seconds: float) -> None:
        """Take note of a validation after so many episodes and seconds."""
        self.validated = share_done(self.config, episodes, seconds)
        wanted = self.config.stop_at
        self.stopped = wanted is not None and scores.get("validation/success", 0.0) >= wanted

    def _save(self) -> None:
        tensors, numbers = flatten(self.learner.state_dict())
        metadata = {
            "numbers": numbers,
            "updates": self.updates,
            "episodes": self.episodes,
            "seconds": self.seconds,
            "window": self.window,
            "window_updates": self.window_updates,
        }
        self.run.save_checkpoint(tensors, metadata)
