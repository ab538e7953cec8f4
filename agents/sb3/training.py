"""Training with Stable-Baselines3 in a run's folder: progress, metrics, checkpoints, resuming.

    RUN/model.zip                Stable-Baselines3's model, which its own `load` reads too
    RUN/checkpoint.safetensors   the policy's tensors, which evaluation reads without unpickling

Stable-Baselines3 cannot resume exactly: its model holds neither unfinished episodes nor the states
of the random streams. A resumed run goes on from model.zip with fresh episodes, of a new seed.
"""

import json
import time
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger, TensorBoardOutputFormat
from stable_baselines3.common.vec_env import VecEnv, VecMonitor
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

from agents.sb3.models import (
    SB3Config,
    SB3Model,
    check_config,
    freeze_look_std,
    make_model,
    with_history,
)
from agents.training.interrupts import finish_on_interrupt
from agents.training.resuming import begin_run, run_to_resume
from glimpse_envs.adapters.sb3 import make_sb3_env
from glimpse_envs.core.files import replacing
from glimpse_envs.evaluation.runs import CheckpointError, Run

POLICY_CLASS = "agents.sb3.__main__:SB3Policy"
_PROGRESS = "glimpse_progress.json"  # a file of ours in model.zip


def train(
    config: SB3Config,
    folder: str | Path,
    *,
    resume: bool = False,
    progress_bar: bool = True,
    how_to_resume: str = "resume=True",
) -> Run:
    """Train until the configured number of timesteps in the run's `folder`; Ctrl-C saves and
    returns.

    Args:
        config: of the training; `with_history` is applied to it.
        folder, resume, progress_bar, how_to_resume: see `agents.training.loop.train`.

    Raises:
        RunError: there is a run in `folder` and `resume` is False, or it has another config, or its
            model.zip is damaged.
        ValueError: the config has an invalid value; no run is made.
    """
    check_config(config)
    config = with_history(config)
    torch.set_num_threads(config.threads)
    torch.set_flush_denormal(True)
    folder = Path(folder)
    run = run_to_resume(folder, config) if resume else None
    venv = VecMonitor(make_sb3_env(config.env_id, config.n_envs, **config.env_kwargs))
    try:
        if run is not None and model_path(run).exists():
            model, episodes, seconds = load_model(run, config, venv)
        else:
            model, episodes, seconds = make_model(config, venv), 0, 0.0
        if run is None:
            run = begin_run(folder, config, POLICY_CLASS, config.model)
        _learn(model, config, _Keeper(run, config, episodes, seconds, progress_bar), how_to_resume)
    finally:
        venv.close()
    return run


def _learn(model: SB3Model, config: SB3Config, keeper: "_Keeper", how_to_resume: str) -> None:
    run, done = keeper.run, model.num_timesteps
    run.cut_metrics(done)
    logger = Logger(str(run.folder), [_Events(run.folder / "tensorboard", done), _Metrics(run)])
    model.set_logger(logger)
    left = max(0, config.timesteps - done)
    try:
        with finish_on_interrupt() as keeper.interrupted:
            if left:
                model.learn(
                    left, callback=keeper, log_interval=config.log_every, reset_num_timesteps=False
                )
    finally:
        keeper.bar.close()
        logger.close()
    save_model(run, model, keeper.episodes, keeper.seconds)
    if keeper.interrupted:
        print(f"saved after {model.num_timesteps} timesteps; go on with {how_to_resume}")


class _Keeper(BaseCallback):
    """The callback that counts episodes, records metrics and saves.

    Attributes:
        episodes: number that ended, earlier trainings of the run included.
        interrupted: empty until Ctrl-C, which ends the training after an update.
    """

    def __init__(
        self, run: Run, config: SB3Config, episodes: int, seconds: float, progress_bar: bool
    ) -> None:
        super().__init__()
        self.run, self.config, self.episodes = run, config, episodes
        self.updates, self._earlier, self._started = 0, seconds, time.perf_counter()
        self.interrupted: list[bool] = []
        self._ended: list[dict[str, Any]] = []  # infos of the rows that ended in this update
        self.bar = tqdm(total=config.timesteps, unit="step", disable=not progress_bar)

    @property
    def seconds(self) -> float:
        """Seconds of training, earlier trainings of the run included."""
        return self._earlier + time.perf_counter() - self._started

    def _on_rollout_start(self) -> None:
        if self.updates and self.updates % self.config.checkpoint_every == 0:
            save_model(self.run, self._model, self.episodes, self.seconds)

    def _on_step(self) -> bool:
        infos = self.locals["infos"]
        self._ended += [infos[row] for row in np.flatnonzero(self.locals["dones"])]
        return not self.interrupted

    def _on_rollout_end(self) -> None:
        self.updates += 1
        self.episodes += len(self._ended)
        if self._ended:
            means = {
                "error": 1.0 - np.mean([info["is_success"] for info in self._ended]),
                "return": np.mean([info["episode"]["r"] for info in self._ended]),
                "glimpses": np.mean([info["episode"]["l"] for info in self._ended]),
            }
            for name, mean in means.items():
                self.logger.record_mean(name, float(mean))
            self.bar.set_postfix_str(f"error {100 * means['error']:.1f} %", refresh=False)
            self._ended.clear()
        self.logger.record("episodes", self.episodes)
        self.logger.record("seconds", round(self.seconds, 3))
        self.bar.update(self.num_timesteps - self.bar.n)

    @property
    def _model(self) -> SB3Model:
        assert isinstance(self.model, SB3Model)
        return self.model


class _Metrics(KVWriter):
    """Writer of all metrics as the run's lines."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def write(
        self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0
    ) -> None:
        self.run.append_metrics(step, key_values)

    def close(self) -> None:
        """Do nothing: every line is written at once."""


class _Events(TensorBoardOutputFormat):
    """TensorBoard's events, without those that a killed run wrote after its last checkpoint."""

    def __init__(self, folder: Path, step: int) -> None:
        self.writer = SummaryWriter(str(folder), purge_step=step)
        self._is_closed = False


def model_path(run: Run) -> Path:
    """The path of Stable-Baselines3's model of a run."""
    return run.folder / "model.zip"


def save_model(run: Run, model: SB3Model, episodes: int, seconds: float) -> None:
    """Replace the run's checkpoint, and then its model.zip, each in one move."""
    tensors = {
        f"policy/{name}": tensor.detach().cpu().numpy()
        for name, tensor in model.policy.state_dict().items()
    }
    progress = {"episodes": episodes, "seconds": seconds, "timesteps": model.num_timesteps}
    run.save_checkpoint(tensors, progress)
    with replacing(model_path(run)) as path:
        # A loaded model starts fresh episodes: the last observation need not be kept.
        model.save(path, exclude=["_last_obs", "_last_original_obs"])
        with ZipFile(path, "a") as archive:
            archive.writestr(_PROGRESS, json.dumps(progress))


def load_model(run: Run, config: SB3Config, venv: VecEnv) -> tuple[SB3Model, int, float]:
    """Load the run's model.zip, and its numbers of episodes and seconds.

    Raises:
        CheckpointError: the file is damaged.
    """
    path = model_path(run)
    try:
        with ZipFile(path) as archive:
            damaged = archive.testzip()
            progress = json.loads(archive.read(_PROGRESS)) if damaged is None else {}
    except (BadZipFile, KeyError) as error:
        damaged = str(error)
    if damaged is not None:
        raise CheckpointError(
            f"{path} is damaged ({damaged}). Put back a copy, or delete the run and train again."
        )
    model = config.sb3_class.load(path, env=venv, device=config.device)
    freeze_look_std(model, config)
    # `load` seeds everything as at the start, which would deal the same scenes again.
    fresh = np.random.SeedSequence((config.seed, model.num_timesteps)).generate_state(1)
    model.set_random_seed(int(fresh[0]))
    return model, progress["episodes"], progress["seconds"]
