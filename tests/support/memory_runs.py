"""Made-up records of runs on memory tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from glimpse_envs.evaluation.memory_records import CopyRecord, MemoryRecord

LENGTH = 10


def make_run(seed: int = 0, right: float = 0.995, **changes: Any) -> MemoryRecord:
    """A run of an agent on Copy, that solved it where 99 % are right at the training length."""
    solved = right >= 0.99
    record = MemoryRecord(
        env_id="Glimpse/Copy-v0",
        env_kwargs={},
        model="Reinforce LSTM",
        answer_by="label",
        curriculum="mixture",
        seed=seed,
        length=LENGTH,
        solved=solved,
        episodes_to_solve=20_000 * (seed + 1) if solved else None,
        minutes_to_solve=1.5 * (seed + 1) if solved else None,
        episodes=900_000,
        seconds=600.0,
        accuracy_by_length={str(m * LENGTH): right / m for m in (1, 2, 4, 6)},
        cells_read=12.0,
        hardware="2-core x86-64",
        revision="abc1234",
        config={"batch": 256},
    )
    return replace(record, **changes)


def make_soft_run(seed: int = 0, right: float = 0.8, **changes: Any) -> MemoryRecord:
    """A run of a soft memory on the same tapes."""
    soft: dict[str, Any] = {
        "env_kwargs": {"view": "full"},
        "model": "Soft key-value memory",
        "curriculum": "uniform",
        "cells_read": 120.0,
    }
    return make_run(seed, right, **soft | changes)


def make_copy(seed: int = 0, wrong: float = 0.5) -> CopyRecord:
    """A neural Turing machine that gets `wrong` bits of each 20 vectors wrong."""
    return CopyRecord(
        seed=seed,
        by_length={
            str(length): {"wrong_bits": wrong * length / 20, "greatest": 7.0, "wholly": 0.75}
            for length in (20, 40, 80, 120)
        },
        sequences=100_000,
        test_sequences=500,
        seconds=1_200.0,
        config={"units": 100},
        hardware="2-core x86-64",
        revision="abc1234",
    )
