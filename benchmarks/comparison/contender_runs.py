"""The run of one contender: trained to its end, scored, recorded."""

from pathlib import Path
from typing import Any

from agents.scoring.run_record import make_record
from agents.scoring.run_scores import score_run
from agents.training.config import TrainingConfig
from benchmarks.comparison.contenders import ALGORITHMS, CONTENDERS
from benchmarks.whole_runs import train_to_end
from glimpse_envs.evaluation.record import Record
from glimpse_envs.evaluation.records import write_record
from glimpse_envs.evaluation.runs import Run


def train_contender(name: str, config: TrainingConfig, folder: Path) -> Run:
    """Train the contender `name` in `folder`; see `benchmarks.whole_runs.train_to_end`."""
    return train_to_end(ALGORITHMS[CONTENDERS[name].algorithm], config, folder)


def score_contender(name: str, run: Run, records: Path, **options: Any) -> Record:
    """Score a trained run and write its record into the folder `records`.

    Args:
        **options: see `agents.scoring.run_scores.score_run`.
    """
    record = make_record(run, score_run(run, **options), CONTENDERS[name].notes)
    write_record(record, records)
    return record
