"""Training with Stable-Baselines3 in a run's folder: progress, metrics, checkpoints, resuming.

    RUN/model.zip                Stable-Baselines3's model, which its own `load` reads too
    RUN/checkpoint.safetensors   the policy's tensors, which evaluation reads without unpickling

Stable-Baselines3 cannot resume exactly: its model holds neither unfinished episodes nor the states
of the random streams. A resumed run goes on from model.zip with fresh episodes, of a new seed; only
the weights and the optimiser are read from it, which torch does without unpickling any code. The
library's own `load` unpickles: do not call it on a model.zip from an untrusted source.
"""

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from pickle import UnpicklingError
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger
from tqdm import tqdm

from agents.sb3.models import (
    SB3Config,
    SB3Model,
    check_config,
    make_model,
    with_history,
)
from agents.training.continuing import extend_budget, trained_on_here
from agents.training.distributed import refuse_several
from agents.training.host import settle_host
from agents.training.interrupts import finish_on_interrupt, ignore
from agents.training.loggers import Logger as MetricsLogger
from agents.training.loggers import open_loggers
from agents.training.loop import clock_of
from agents.training.resuming import begin_run, run_to_resume
from glimpse_envs.adapters.sb3 import make_sb3_env
from glimpse_envs.core.arguments import naming_environment
from glimpse_envs.core.files import replacing
from glimpse_envs.core.pipes import is_terminal
from glimpse_envs.evaluation.run_errors import CheckpointError
from glimpse_envs.evaluation.run_lock import writing
from glimpse_envs.evaluation.runs import Run

POLICY_CLASS = "agents.sb3.__main__:SB3Policy"
_PROGRESS = "glimpse_progress.json"  # a file of ours in model.zip


def train(
    config: SB3Config,
    folder: str | Path,
    *,
    resume: bool = False,
    progress_bar: bool = True,
    how_to_resume: str = "resume=True",
    loggers: Sequence[str] = ("tensorboard",),
    on_begin: Callable[[Any], None] = lambda config: None,
    on_interrupt: Callable[[int], None] = ignore,
) -> Run:
    """Train in the run's `folder` until the configured timesteps or minutes are over; Ctrl-C saves
    and returns.

    Args:
        config: of the training; `with_history` is applied to it.
        folder, resume, progress_bar, how_to_resume, loggers, on_begin, on_interrupt: see
            `agents.training.loop.train`.

    Raises:
        RunError: there is a run in `folder` and `resume` is False, or it has another config, is
            being trained already, or its model.zip is damaged.
        ValueError: the config has an invalid value; no run is made.
    """
    refuse_several("Stable-Baselines3")
    check_config(config)
    config = with_history(config)
    settle_host(config.threads)
    folder = Path(folder)
    run = run_to_resume(folder, config) if resume else None
    with naming_environment(config.env_id, config.env_kwargs):
        venv = make_sb3_env(config.env_id, config.n_envs, **config.env_kwargs)
    try:
        model, episodes, seconds = make_model(config, venv), 0, 0.0
        with writing(folder):
            resumed = run is not None
            if run is None:
                run = begin_run(folder, config, POLICY_CLASS, config.model)
            else:
                run = extend_budget(run, config)
                if model_path(run).exists():
                    episodes, seconds = load_model(run, config, model)
            if _is_done(config, model.num_timesteps, seconds):
                print(
                    f"{folder} is trained in full; greater --minutes or --timesteps go on with it"
                )
            else:
                run = trained_on_here(run, config) if resumed else run
                on_begin(config)
            keeper = _Keeper(run, config, episodes, seconds, progress_bar)
            try:
                interrupted = _learn(model, config, keeper, loggers)
            except OSError as error:  # such as of a full disk
                if model_path(run).exists():
                    error.add_note(f"the last model is whole; go on with {how_to_resume}")
                raise
    finally:
        venv.close()
    if interrupted:
        print(f"saved after {model.num_timesteps} timesteps; go on with {how_to_resume}")
        on_interrupt(interrupted)
    return run


def _is_done(config: SB3Config, timesteps: int, seconds: float) -> bool:
    """Whether a run has used up its budget."""
    if config.minutes is not None:
        return seconds >= 60 * config.minutes
    return timesteps >= config.timesteps


def _learn(model: SB3Model, config: SB3Config, keeper: "_Keeper", loggers: Sequence[str]) -> int:
    """Train to the end or an interrupt, and save; return the number of the interrupt's signal, 0
    without one."""
    run, done = keeper.run, model.num_timesteps
    run.cut_metrics(done)
    most = config.timesteps if config.minutes is None else sys.maxsize
    left = 0 if _is_done(config, done, keeper.seconds) else most - done
    with (
        open_loggers(loggers, run, done) as others,
        closing(keeper.bar),
        finish_on_interrupt() as interrupted,
    ):
        logger = Logger(str(run.folder), [_Metrics(run, others)])
        model.set_logger(logger)
        keeper.interrupted = interrupted
        if left:
            model.learn(
                left, callback=keeper, log_interval=config.log_every, reset_num_timesteps=False
            )
            # The library logs before an update: what came after the last line is one more.
            if "episodes" in logger.name_to_value:
                logger.dump(model.num_timesteps)
        save_model(run, model, keeper.episodes, keeper.seconds)
    return interrupted[0] if interrupted else 0


class _Keeper(BaseCallback):
    """The callback that counts episodes, records metrics and saves.

    Attributes:
        episodes: number of ended episodes, earlier trainings of the run included.
        interrupted: empty until Ctrl-C, which ends the training at the next step.
    """

    def __init__(
        self, run: Run, config: SB3Config, episodes: int, seconds: float, progress_bar: bool
    ) -> None:
        super().__init__()
        self.run, self.config, self.episodes = run, config, episodes
        self._clock = clock_of(config.device, config.threads)
        self.updates, self._earlier, self._started = 0, seconds, self._clock()
        self.interrupted: list[int] = []
        self._ended: list[dict[str, Any]] = []  # infos of the rows that ended in this update
        steps = config.timesteps if config.minutes is None else None
        interval = 0.5 if is_terminal(sys.stderr) else 30.0
        hidden = not progress_bar or sys.stderr is None
        self.bar = tqdm(total=steps, unit="step", mininterval=interval, disable=hidden)

    @property
    def seconds(self) -> float:
        """Seconds of training, earlier trainings of the run included."""
        return self._earlier + self._clock() - self._started

    @property
    def spent(self) -> bool:
        """Whether the minutes of the training, where it has some, are over."""
        minutes = self.config.minutes
        return minutes is not None and self.seconds >= 60 * minutes

    def _on_rollout_start(self) -> None:
        if self.updates and self.updates % self.config.checkpoint_every == 0:
            save_model(self.run, self._model, self.episodes, self.seconds)

    def _on_step(self) -> bool:
        infos = self.locals["infos"]
        self._ended += [infos[row] for row in np.flatnonzero(self.locals["dones"])]
        return not self.interrupted and not self.spent

    def _on_rollout_end(self) -> None:
        self.updates += 1
        self.episodes += len(self._ended)
        if self._ended:
            means = {
                "return": np.mean([info["episode"]["r"] for info in self._ended]),
                "glimpses": np.mean([info["episode"]["l"] for info in self._ended]),
            }
            told = f"return {means['return']:.3f}"
            if "is_success" in self._ended[0]:  # not every task has success
                means["error"] = 1.0 - np.mean([info["is_success"] for info in self._ended])
                told = f"error {100 * means['error']:.1f} %"
            for name, mean in means.items():
                self.logger.record_mean(name, float(mean))
            self.bar.set_postfix_str(told, refresh=False)
            self._ended.clear()
        self.logger.record("episodes", self.episodes)
        self.logger.record("seconds", round(self.seconds, 3))
        self.bar.update(self.num_timesteps - self.bar.n)

    @property
    def _model(self) -> SB3Model:
        assert isinstance(self.model, SB3Model)
        return self.model


class _Metrics(KVWriter):
    """Writer of all metrics as the run's lines, and to its loggers."""

    def __init__(self, run: Run, loggers: list[MetricsLogger]) -> None:
        self.run, self.loggers = run, loggers

    def write(
        self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0
    ) -> None:
        self.run.append_metrics(step, key_values)
        for logger in self.loggers:
            logger.add(key_values, step)

    def close(self) -> None:
        """Do nothing: every line is written at once."""


def model_path(run: Run) -> Path:
    """The path of Stable-Baselines3's model of a run."""
    return run.folder / "model.zip"


def save_model(run: Run, model: SB3Model, episodes: int, seconds: float) -> None:
    """Replace the run's model.zip, and then its checkpoint, each in one move."""
    tensors = {
        f"policy/{name}": tensor.detach().cpu().numpy()
        for name, tensor in model.policy.state_dict().items()
    }
    progress = {
        "episodes": episodes,
        "seconds": seconds,
        "timesteps": model.num_timesteps,
        "updates": model._n_updates,
    }
    with replacing(model_path(run)) as path:
        # A loaded model starts fresh episodes: the last observation need not be kept.
        model.save(path, exclude=["_last_obs", "_last_original_obs"])
        with ZipFile(path, "a") as archive:
            archive.writestr(_PROGRESS, json.dumps(progress))
    # After the model: a run that is resumed cuts its metrics to the model's step, which so is never
    # before the checkpoint's.
    run.save_checkpoint(tensors, progress)


def load_model(run: Run, config: SB3Config, model: SB3Model) -> tuple[int, float]:
    """Load weights and optimiser of the run's model.zip into `model`, the fresh one of `config`,
    and return its numbers of episodes and seconds. Nothing is unpickled.

    Raises:
        CheckpointError: the file is damaged or of another network.
    """
    path = model_path(run)
    try:
        with ZipFile(path) as archive:
            damaged = archive.testzip()
            progress = json.loads(archive.read(_PROGRESS)) if damaged is None else {}
        if damaged is None:
            model.set_parameters(str(path), device=config.device)
    except (BadZipFile, KeyError, ValueError, RuntimeError, UnpicklingError) as error:
        damaged = str(error)
    if damaged is not None:
        raise CheckpointError(
            f"{path} is damaged ({damaged}). Put back a copy, or delete the run and train again."
        )
    model.num_timesteps = progress["timesteps"]
    model._n_updates = progress["updates"]
    # It was seeded as at the start, which would deal the same scenes again.
    fresh = np.random.SeedSequence((config.seed, model.num_timesteps)).generate_state(1)
    model.set_random_seed(int(fresh[0]))
    return progress["episodes"], progress["seconds"]
