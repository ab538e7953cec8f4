"""The training loop of all learners: run folder, progress, validation, checkpoints, resuming."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Any

import torch

from agents.training.checkpoints import flatten, naming_misfits, unflatten
from agents.training.config import TrainingConfig, check_config, check_validation
from agents.training.continuing import extend_budget, trained_on_here
from agents.training.distributed import (
    anywhere,
    averages_of_any,
    everyones,
    from_first,
    is_first,
    processes,
    share_of,
)
from agents.training.finiteness import EnvironmentNotFinite
from agents.training.host import settle_host
from agents.training.interrupts import finish_on_interrupt, ignore
from agents.training.learner import Learner, LoopConfig
from agents.training.loggers import Logger, open_loggers
from agents.training.progress_bar import ProgressBar
from agents.training.resuming import begin_run, check_model, run_to_resume, settled
from agents.training.schedules import share_done, validation_due
from glimpse_envs.evaluation.run_lock import writing
from glimpse_envs.evaluation.runs import Run

Validate = Callable[[Run], Mapping[str, float]]
"""From a saved run to the metrics of its validation, with "validation/success" where the task has
success: `agents.scoring.run_scores.validate_run`."""

UNSAVED_SECONDS = 120.0
"""After so many seconds of its clock a training in one process saves, however few its updates."""


def train(
    make_learner: Callable[[Any], Learner],
    config: LoopConfig,
    folder: str | Path,
    *,
    resume: bool = False,
    progress_bar: bool = True,
    stop_after: int | None = None,
    how_to_resume: str = "resume=True",
    validate: Validate | None = None,
    loggers: Sequence[str] = ("tensorboard",),
    on_begin: Callable[[Any], None] = lambda config: None,
    on_interrupt: Callable[[int], None] = ignore,
) -> Run:
    """Train for the configured number of episodes, or minutes, in the run's `folder`, or until
    `stop_at` is reached.

    Killed at any moment and resumed, a run equals the unbroken run (but for its clock, which the
    schedules follow with `minutes`), unless the learner is not `resumable`: then it goes on with
    new episodes, and their number is the metric "new_episodes". Ctrl-C or SIGTERM finishes the
    update, saves and returns.

    On several processes (see `agents.training.distributed`) each trains on its share of the rows,
    and the first one reads and writes the run.

    Args:
        make_learner: constructor of the learner, e.g. `Reinforce`.
        config: of the training; for a resumed run its own, except for the fields in
            `agents.training.resuming.FREE` and a greater budget.
        folder: made if it is not there.
        resume: go on with the run in `folder` where there is one.
        progress_bar: show error or return, steps a second and the time left.
        stop_after: total number of updates after which to save and return, for tests.
        how_to_resume: the command or argument named in the message after Ctrl-C.
        validate: called every `validate_every` updates, outside the clock; its result is a line of
            metrics. Without it, or with `validation_episodes` of 0, there is no validation.
        loggers: names in `agents.training.loggers.LOGGERS`, which are also given all metrics.
        on_begin: called before the first update with the config that is trained, once all checks
            have passed; not where the training is complete.
        on_interrupt: called with the number of the signal when the interrupted run is saved.

    Raises:
        RunError: there is a run in `folder` and `resume` is False, or it has another config, or is
            being trained already.
        ValueError, SourceError: the config is invalid, or its validation split is missing; no run
            is made.
        FloatingPointError: a loss is not finite; the last checkpoint stays.
    """
    if isinstance(config, TrainingConfig):
        check_config(config)
    if config.validation_episodes == 0:
        validate = None
    if config.stop_at is not None and validate is None:
        raise ValueError(f"stop_at={config.stop_at} needs validation, and there is none here")
    settle_host(config.threads)
    folder = Path(folder)
    saved = from_first(lambda: run_to_resume(folder, config) if resume else None)
    config = from_first(lambda: settled(config, saved))
    learner = make_learner(share_of(config))

    def begin() -> Run:
        if saved is None:
            return begin_run(folder, config, learner.policy_class, learner.model)
        return extend_budget(saved, config)

    try:
        check_model(config.algorithm, learner.model)
        if validate is not None and isinstance(config, TrainingConfig):
            from_first(lambda: check_validation(config))
        with writing(folder) if is_first() else nullcontext():
            run = from_first(begin)
            loop = _Loop(learner, config, run, validate, loggers)
            if loop.progress() < 1.0 and not loop.stopped:
                if saved is not None:
                    run = loop.run = from_first(lambda: trained_on_here(run, config))
                on_begin(config)
            elif not loop.stopped:
                print(f"{folder} is trained in full; greater --minutes or --episodes go on with it")
            try:
                interrupted = loop.go(progress_bar, stop_after)
            except OSError as error:  # such as of a full disk
                if run.has_checkpoint:
                    error.add_note(f"the last checkpoint is whole; go on with {how_to_resume}")
                raise
    finally:
        learner.close()
    if interrupted:
        print(f"saved after {loop.episodes} episodes; go on with {how_to_resume}")
        on_interrupt(interrupted)
    elif loop.stopped:
        print(
            f"solved after {loop.episodes} episodes: validation reached the share "
            f"stop_at={config.stop_at}, at which the training ends"
        )
    return run


def clock_of(device: str, threads: int) -> Callable[[], float]:
    """The clock of a training, in seconds: CPU time on one thread, so that other work on the
    machine does not count, else wall time."""
    return time.process_time if on_one_core(device, threads) else time.perf_counter


def on_one_core(device: str, threads: int) -> bool:
    """Whether a training keeps one core busy and nothing else."""
    return device == "cpu" and threads == 1 and processes() == 1


class _Loop:
    """Updates, metrics, checkpoints and validations of one run."""

    def __init__(
        self,
        learner: Learner,
        config: LoopConfig,
        run: Run,
        validate: Validate | None,
        loggers: Sequence[str],
    ) -> None:
        self.learner, self.config, self.run, self.validate = learner, config, run, validate
        self.loggers = loggers
        self.updates, self.seconds = 0, 0.0
        # Sums of metrics since the last line, and in how many updates each was measured.
        self.window: dict[str, float] = {}
        self.window_counts: dict[str, float] = {}
        checkpoint = from_first(lambda: run.load_checkpoint() if run.has_checkpoint else None)
        if checkpoint is not None:
            tensors, metadata = checkpoint
            with naming_misfits(run, f"the learner of {config.algorithm}"):
                learner.load_state_dict(unflatten(tensors, metadata["numbers"]))
            self.updates, self.seconds = metadata["updates"], metadata["seconds"]
            self.window = metadata["window"]
            every = dict.fromkeys(self.window, metadata.get("window_updates", 0))  # older ones
            self.window_counts = metadata.get("window_counts", every)
        from_first(lambda: run.cut_metrics(self.updates * config.batch_size))
        self.saved_at = self.seconds
        self.restarted = checkpoint is not None and not learner.resumable
        self.validated, self.stopped = 0.0, False
        for line in from_first(run.read_metrics):
            if "validation/episodes" in line:
                self._note(line, line["step"], line["seconds"])

    @property
    def episodes(self) -> int:
        return self.updates * self.config.batch_size

    def progress(self) -> float:
        return share_done(self.config, self.episodes, self.seconds)

    def go(self, progress_bar: bool, stop_after: int | None) -> int:
        """Update until the end, an interrupt or `stop_after`; return the number of the interrupt's
        signal, 0 without one."""
        config, clock = self.config, clock_of(self.config.device, self.config.threads)
        timed = config.minutes is not None
        total = config.episodes if config.minutes is None else 60 * config.minutes
        bar = ProgressBar(
            total,
            timed,
            config.batch_size,
            self.episodes,
            self.seconds,
            shown=progress_bar and is_first(),
        )
        # The bar ends first, so that an error stands on a line of its own.
        with (
            self._opened() as loggers,
            closing(bar),
            finish_on_interrupt() as interrupted,
        ):
            if self.restarted and self.progress() < 1.0 and not self.stopped:
                self._write(loggers, {"new_episodes": config.batch_size, "seconds": self.seconds})
            self._validate_if_due(loggers)  # after a kill between saving and validating
            while self.progress() < 1.0 and not self.stopped and not anywhere(bool(interrupted)):
                if stop_after is not None and self.updates >= stop_after:
                    break
                started = clock()
                try:
                    metrics = self.learner.update(self.progress())
                except FloatingPointError as error:
                    ours = not isinstance(error, EnvironmentNotFinite)
                    cure = "lower the learning rate" if ours else "mend the environment"
                    raise FloatingPointError(
                        f"{error} at update {self.updates + 1} ({self.episodes} episodes) of "
                        f"{self.run.folder}; {cure} and start anew"
                    ) from error
                self.seconds += clock() - started
                if timed:
                    self.seconds = from_first(lambda: self.seconds)
                self.updates += 1
                for name, value in metrics.items():
                    self.window[name] = self.window.get(name, 0.0) + value
                    self.window_counts[name] = self.window_counts.get(name, 0.0) + 1
                if self.updates % config.log_every == 0 or self.progress() >= 1.0:
                    self._log(loggers)
                if self.updates % config.checkpoint_every == 0 or self._is_long_unsaved():
                    self._save()
                bar.show(self.episodes, self.seconds, metrics)
                self._validate_if_due(loggers)
            if self.stopped and anywhere(bool(self.window)):
                self._log(loggers)  # what was played since the last line
            self._save()
            return max(everyones(interrupted[0] if interrupted else 0))

    def _opened(self) -> AbstractContextManager[list[Logger]]:
        """The loggers, in the first process."""
        return (
            open_loggers(self.loggers, self.run, self.episodes) if is_first() else nullcontext([])
        )

    def _log(self, loggers: list[Logger]) -> None:
        sums, counts = averages_of_any(self.window), averages_of_any(self.window_counts)
        means = {name: total / counts[name] for name, total in sums.items()}
        self._write(loggers, {**means, "seconds": round(self.seconds, 3)})
        self.window, self.window_counts = {}, {}

    def _write(self, loggers: list[Logger], line: Mapping[str, float]) -> None:
        if is_first():
            self.run.append_metrics(self.episodes, line)
            for logger in loggers:
                logger.add(line, self.episodes)

    def _validate_if_due(self, loggers: list[Logger]) -> None:
        due = validation_due(self.config, self.updates, self.progress(), self.validated)
        validate = self.validate
        if validate is None or self.stopped or not due:
            return
        self._save()
        # A resumed run may not repeat the validation, whose policy draws its first weights.
        with torch.random.fork_rng(devices=[]):
            scores = from_first(lambda: validate(self.run))
        self._write(loggers, {**scores, "seconds": self.seconds})
        self._note(scores, self.episodes, self.seconds)

    def _note(self, scores: Mapping[str, float], episodes: float, seconds: float) -> None:
        """Note a validation after so many episodes and seconds."""
        self.validated = share_done(self.config, episodes, seconds)
        wanted = self.config.stop_at
        self.stopped = wanted is not None and scores.get("validation/success", 0.0) >= wanted

    def _is_long_unsaved(self) -> bool:
        # The clocks of several processes differ, and all must save together.
        return processes() == 1 and self.seconds - self.saved_at >= UNSAVED_SECONDS

    def _save(self) -> None:
        self.saved_at = self.seconds
        self.window, self.window_counts = (
            averages_of_any(self.window),
            averages_of_any(self.window_counts),
        )
        state = self.learner.state_dict()  # joined from all processes
        if not is_first():
            return
        tensors, numbers = flatten(state)
        metadata = {
            "numbers": numbers,
            "updates": self.updates,
            "episodes": self.episodes,
            "seconds": self.seconds,
            "window": self.window,
            "window_counts": self.window_counts,
        }
        self.run.save_checkpoint(tensors, metadata)
