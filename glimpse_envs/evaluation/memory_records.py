"""One JSON record a run on tapes and tables: what all that is published of them is drawn from."""

from __future__ import annotations

import json
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from glimpse_envs.evaluation.memory_record_kinds import COPY_KINDS, MEMORY_KINDS, Kinds
from glimpse_envs.evaluation.records import RecordError, digest, settings_of, write_json

AnswerBy = Literal["label", "reward"]
Curriculum = Literal["uniform", "mixture", "threshold", "none"]

_CHOICES: Kinds = {
    "answer_by": (lambda value: value in get_args(AnswerBy), f"one of {get_args(AnswerBy)}"),
    "curriculum": (lambda value: value in get_args(Curriculum), f"one of {get_args(Curriculum)}"),
}

MULTIPLES = (1, 2, 4, 6)
"""Times the longest training length at which accuracy is told."""

SOLVED = 0.99
"""The share of held-out sequences to be wholly right of a task that is solved."""

NTM_COPY = "NTM copy"
"""The task that a record of `baselines.memories.ntm_copy` names."""


@dataclass(frozen=True)
class MemoryRecord:
    """One training run on one memory task, and how it did on sequences that it never saw."""

    env_id: str
    env_kwargs: dict[str, Any]
    """What differs from the id's defaults: flat scalars."""
    model: str
    """Its words tell what it sees. With "full" it has no memory and sees the whole sequence; with
    "soft" it reads every cell of a memory of the sequence, with "hard" one cell of such a memory,
    and with both it goes from soft to hard in training; others walk and see one cell a step."""
    answer_by: AnswerBy
    """Whether answers learn from `info["target"]` by cross-entropy, or from reward alone."""
    curriculum: Curriculum
    """What chose the lengths in training: all alike, RL-NTM's mixture, a threshold, or nothing."""
    seed: int
    """Of the training run."""
    length: int
    """The longest in training, whatever the environment was made for."""
    solved: bool
    """At the end `SOLVED` of 1,000 validation sequences of that length were wholly right."""
    episodes_to_solve: int | None
    """Until the first check that found it solved; None where none did."""
    minutes_to_solve: float | None
    """The same on the clock, of one core."""
    episodes: int
    """Of the whole training."""
    seconds: float
    """Time of the training, of its core where one thread did all, else on the wall's clock."""
    accuracy_by_length: dict[str, float]
    """Length, as text -> share in [0, 1] of test sequences wholly right; `length` is one of them,
    `MULTIPLES` of it are the others, as far as the task goes."""
    cells_read: float
    """Of one episode at `length`, a mean: cells that reading touched, counted each time."""
    hardware: str
    revision: str
    config: dict[str, Any]
    seconds_per_step: float | None = None
    """Of the model and the environment together at evaluation, one row at `length`."""
    multiply_adds: float | None = None
    """Of one episode at `length`, a mean."""
    sequences: int = 1_000
    """Test sequences behind each accuracy."""
    notes: str = ""
    """What differs from the references' setting, for the reader of the table."""
    cores: int = 1
    """Cores that the training kept busy."""

    def accuracy(self, multiple: int) -> float | None:
        """The share right at `multiple` times the training length; None where not measured."""
        return self.accuracy_by_length.get(str(multiple * self.length))


@dataclass(frozen=True)
class CopyRecord:
    """The paper's test of a neural Turing machine, copying 8-bit vectors:
    `baselines.memories.ntm_copy`."""

    seed: int
    """Of the training run."""
    by_length: dict[str, dict[str, float]]
    """Length, as text -> of its test sequences `wrong_bits`, a mean, the `greatest` number of them,
    and the share in [0, 1] copied `wholly`."""
    sequences: int
    """Learned from."""
    test_sequences: int
    """Scored, of each length."""
    seconds: float
    """Time of the training, of its core."""
    config: dict[str, Any]
    hardware: str
    revision: str
    task: str = NTM_COPY


def write_memory_record(record: MemoryRecord, folder: str | Path) -> Path:
    """Write `record` into `folder` (made where it is missing) and return the file's path.

    The name is built from what identifies the run, so writing the same run again replaces it.

    Raises:
        RecordError: the record contradicts itself or holds something that JSON cannot.
    """
    check_memory_record(record)
    stem = f"{record.env_id}_{record.model}_length{record.length}_seed{record.seed}"
    return write_json(record, folder, stem, _identity)


def read_memory_records(
    folder: str | Path,
) -> tuple[list[MemoryRecord], list[CopyRecord], list[str]]:
    """All `*.json` records of `folder`, by file name, and the problems of those left out.

    Keys that a record does not know are dropped. A run recorded twice counts once. A folder that is
    not there holds none.
    """
    runs: dict[str, MemoryRecord] = {}
    copies: dict[str, CopyRecord] = {}
    problems: list[str] = []
    for path in sorted(Path(folder).glob("*.json")):
        try:
            record = parse_memory_record(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            problems.append(f"{path.name}: {error}")
            continue
        identity = _identity(record)
        if identity in runs or identity in copies:
            problems.append(f"{path.name}: the same run as a file before it, which is kept")
        elif isinstance(record, CopyRecord):
            copies[identity] = record
        else:
            runs[identity] = record
    return list(runs.values()), list(copies.values()), problems


def parse_memory_record(data: object) -> MemoryRecord | CopyRecord:
    """The record in a JSON object; `task` tells a copy's.

    Raises:
        RecordError: a key is missing, has the wrong kind of value, or contradicts another.
    """
    if not isinstance(data, dict):
        raise RecordError(f"holds a JSON {type(data).__name__}; a record is an object")
    wanted = CopyRecord if data.get("task") == NTM_COPY else MemoryRecord
    missing = [f.name for f in fields(wanted) if f.default is MISSING and f.name not in data]
    if missing:
        raise RecordError(f"lacks {', '.join(missing)}")
    record = wanted(**{f.name: data[f.name] for f in fields(wanted) if f.name in data})
    if isinstance(record, CopyRecord):
        _check_kinds(record, COPY_KINDS)
    else:
        check_memory_record(record)
    return record


def check_memory_record(record: MemoryRecord) -> None:
    """Refuse a record whose values are of the wrong kind or contradict each other.

    Raises:
        RecordError: naming the key, its value and what would be right.
    """
    _check_kinds(record, MEMORY_KINDS | _CHOICES)
    if record.accuracy(1) is None:
        raise RecordError(
            f"accuracy_by_length has the lengths {', '.join(record.accuracy_by_length)}; "
            f"it must have the training's, {record.length}"
        )
    if (record.episodes_to_solve is None) != (record.minutes_to_solve is None):
        raise RecordError(
            f"episodes_to_solve is {record.episodes_to_solve} and minutes_to_solve is "
            f"{record.minutes_to_solve}; both must be known, or neither"
        )
    if record.solved and record.episodes_to_solve is None:
        raise RecordError("solved is True and episodes_to_solve is None; it must be a count")
    if record.episodes_to_solve is not None and record.episodes_to_solve > record.episodes:
        raise RecordError(
            f"episodes_to_solve is {record.episodes_to_solve}; it must be at most all the "
            f"episodes, {record.episodes}"
        )


def _check_kinds(record: object, kinds: Kinds) -> None:
    for name, (holds, right) in kinds.items():
        value = getattr(record, name)
        if not holds(value):
            raise RecordError(f"{name} is {value!r}; it must be {right}")


def _identity(record: MemoryRecord | CopyRecord) -> str:
    """What tells one run from another."""
    said = settings_of(record.config)
    if isinstance(record, CopyRecord):
        return digest([record.task, record.seed, said])
    return digest(
        [
            record.env_id,
            record.env_kwargs,
            record.model,
            record.answer_by,
            record.curriculum,
            record.length,
            record.seed,
            said,
        ]
    )
