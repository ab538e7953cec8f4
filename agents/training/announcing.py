"""What a training prints before it starts, and when it has ended."""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agents.training.distributed import processes
from agents.training.loop import on_one_core
from agents.training.precision import is_emulated
from glimpse_envs.episodes.lookup import task_class_of
from glimpse_envs.evaluation.runs import Run
from glimpse_envs.evaluation.trust import trust_option


def plan_of(name: str, config: Any, folder: Path) -> str:
    """What will be trained, for how long, on what and where, in a few lines.

    Args:
        name: of the algorithm.
        config: of the training, of any learner.
        folder: of the run.
    """
    kwargs = "".join(f" {key}={value}" for key, value in config.env_kwargs.items())
    settled = getattr(config, "settled", config)  # with the precision of this machine
    precision = getattr(settled, "precision", None)
    threads = "1 thread" if config.threads == 1 else f"{config.threads} threads"
    if processes() > 1:
        threads = f"{processes()} processes of {threads}"
    where = config.device if precision is None else f"{config.device} in {precision}"
    if precision is not None and is_emulated(precision, config.device):
        where += " (emulated here, many times as slow as float32)"
    return (
        f"{name} on {config.env_id}{kwargs}, seed {config.seed}\n"
        f"  for    {_length(config)}\n"
        f"  on     {where}, {threads}\n"
        f"  in     {folder}"
    )


def _length(config: Any) -> str:
    if config.minutes is not None:
        clock = "CPU" if on_one_core(config.device, config.threads) else "wall"
        length = f"{config.minutes:g} minutes of {clock} time"
    elif hasattr(config, "timesteps"):
        length = f"{config.timesteps:,} timesteps"
    else:
        length = f"{config.episodes:,} episodes"
    if hasattr(config, "timesteps"):  # of Stable-Baselines3
        return length
    length += f", {config.batch_size:,} at once"
    if config.stop_at is not None:
        length += f", or until {100 * config.stop_at:g} % of validation episodes have success"
    return length


def evaluate_command(config: Any, folder: Path, policy: str | None = None) -> str:
    """The command that scores the run in `folder`, of a training of `policy`, "module:Class", by
    `config`."""
    # Environments of others have no fixed scenes: how many episodes are played has to be said.
    number = "" if task_class_of(config.env_id) else " --episodes 100"
    trust = trust_option({"policy": policy, "config": asdict(config)})
    return f"python -m agents.evaluate {shlex.quote(str(folder))}{number}{trust}"


def last_validation(run: Run) -> str | None:
    """The last score on the validation split, as a line; None where there was none."""
    lines = [line for line in run.read_metrics() if "validation/episodes" in line]
    if not lines:
        return None
    last = lines[-1]
    success = last.get("validation/success")
    score = "" if success is None else f"{100 * success:.2f} % success, "
    return (
        f"validation after {last['step']:,} episodes: {score}return "
        f"{last['validation/return']:.3f}, on {last['validation/episodes']:,.0f} episodes"
    )
