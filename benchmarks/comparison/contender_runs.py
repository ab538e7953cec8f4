"""The run of one contender: trained to its end, scored, recorded."""

from pathlib import Path
from typing import Any

from agents.scoring.run_record import make_record
from agents.scoring.run_scores import score_run
from agents.training.config import TrainingConfig
from agents.training.loop import train
from agents.training.schedules import share_done
from benchmarks.comparison.contenders import ALGORITHMS, CONTENDERS
from glimpse_envs.evaluation.record import Record
from glimpse_envs.evaluation.records import write_record
from glimpse_envs.evaluation.runs import Run, RunError


def train_contender(name: str, config: TrainingConfig, folder: Path, **options: Any) -> Run:
    """Train the contender `name` in `folder`, or go on with its run there, to the end.

    Args:
        **options: see `agents.training.loop.train`.

    Raises:
        RunError: the run in `folder` has another config, or the training was interrupted.
    """
    make = ALGORITHMS[CONTENDERS[name].algorithm].make
    how = "the same command"
    run = train(make, config, folder, resume=True, how_to_resume=how, **options)
    _, metadata = run.load_checkpoint()
    if share_done(config, metadata["episodes"], metadata["seconds"]) < 1.0:
        raise RunError(f"interrupted; {how} goes on with it")
    return run


def score_contender(name: str, run: Run, records: Path, **options: Any) -> Record:
    """Score a trained run and write its record into the folder `records`.

    Args:
        **options: see `agents.scoring.run_scores.score_run`.
    """
    record = make_record(run, score_run(run, **options), CONTENDERS[name].notes)
    write_record(record, records)
    return record
