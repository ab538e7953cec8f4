"""Every published number, read from the records in `results/`."""

from pathlib import Path
from typing import Any

from glimpse_envs.evaluation.record import Record, Score
from glimpse_envs.evaluation.records import read_records

RESULTS = Path(__file__).parents[2] / "results"


def published_numbers() -> dict[str, Any]:
    """Environment, seed and what was trained -> the scores, costs and curve of a run."""
    folders = (RESULTS, RESULTS / "comparison", RESULTS / "memory")
    records = [record for folder in folders for record in read_records(folder)[0]]
    return {_run_of(record): _numbers(record) for record in records}


def _run_of(record: Record) -> str:
    """What tells a run from all others, whatever its file is called."""
    run = [record.env_id, record.seed, record.revision[:12], record.seconds, record.episodes]
    return " ".join(map(str, run))


def _numbers(record: Record) -> dict[str, Any]:
    solved = record.solved_after
    return {
        "env_id": record.env_id,
        "seed": record.seed,
        "hardware": record.hardware,
        "revision": record.revision,
        "seconds": record.seconds,
        "episodes": record.episodes,
        "solved_after": None if solved is None else [solved.core_seconds, solved.episodes],
        "curve": [[p.core_seconds, p.episodes, _error(p.success), p.scored] for p in record.curve],
        "scores": [_score(score) for score in record.scores],
    }


def _score(score: Score) -> dict[str, Any]:
    assert score.success_interval is not None
    low, high = score.success_interval
    return {
        "split": score.split,
        "level": score.level,
        "episodes": score.episodes,
        "error": _error(score.success),
        "interval": [_error(high), _error(low)],
        "error_by_glimpse": [_error(success) for success in score.success_by_glimpse],
        "costs": score.costs,
    }


def _error(success: float | None) -> float:
    """In percent, as tables and plots show it; its fifth decimal is rounding."""
    assert success is not None
    return round(100 * (1 - success), 4)
