"""One JSON record a run: what every published number and plot is drawn from."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.files import write_atomically
from glimpse_envs.evaluation.record_kinds import KINDS

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

AnyRecord = TypeVar("AnyRecord", bound="DataclassInstance")

# Entries of a config that tell seeds and machines apart, not what was trained.
INCIDENTAL = frozenset({"seed", "device", "threads", "log_every", "checkpoint_every"})

# How far two roundings of the same percentage may lie apart (one decimal).
ROUNDING = 0.06


class RecordError(ValueError):
    """A record is incomplete or contradicts itself; the message names the key and the cure."""


@dataclass(frozen=True)
class Record:
    """The score of one trained run on one split, each scene played once."""

    env_id: str
    env_kwargs: dict[str, Any]
    """What differs from the id's defaults: flat scalars."""
    model: str
    """Which agent or baseline; a name with the word "random" is a random-glimpse control."""
    seed: int
    """Of the training run."""
    glimpses: int
    """The budget, the first glimpse included."""
    error_percent: float
    """Of the last answer, in [0, 100]."""
    interval_percent: tuple[float, float]
    """95 % Wilson interval of `error_percent`."""
    error_by_glimpse: tuple[float, ...]
    """(glimpses,) error in percent after 1, 2, ... glimpses; its last is `error_percent`."""
    images_seen: int
    """Training images, counted each time that they are dealt."""
    seconds: float
    """Time of the training, of its core where one thread did all, else, and in older runs, on the
    wall's clock."""
    hardware: str
    revision: str
    config: dict[str, Any]
    split: str = "test"
    scenes: int = 10_000
    correct_hex: str = ""
    """Which scenes were right, in scene order, by `pack_correct`; empty where it is not known."""
    notes: str = ""
    """What differs from the reference's setting, for the reader of the table."""
    cores: int = 1
    """Cores that the training kept busy, so that its cost is `seconds * cores`."""
    costs: dict[str, float] = field(default_factory=dict)
    """Of one episode of the evaluation, a mean over the scenes (`agents.scoring.costs` measures
    them):
    `values_delivered` (numbers that reading handed to the model), `pixels_covered` (of the scene,
    distinct, that were under a window), `multiply_adds` (in all), `multiply_adds_reading` (of
    these, spent on reading). Empty where they were not measured."""
    costs_by_glimpse: dict[str, list[float]] = field(default_factory=dict)
    """The same, name -> (glimpses,), after 1, 2, ... glimpses."""
    curve: list[list[float]] = field(default_factory=list)
    """Error while it was trained: [core-seconds, images, error in percent, scenes], in order, on
    scenes of the validation split; empty where it was not measured."""


def pack_correct(correct: NDArray[np.bool_]) -> str:
    """Hexadecimal text of `correct` (scenes,) bool, eight scenes a byte."""
    return np.packbits(np.asarray(correct, dtype=np.bool_)).tobytes().hex()


def unpack_correct(text: str, scenes: int) -> NDArray[np.bool_]:
    """The (scenes,) bool array that `pack_correct` made into `text`.

    Raises:
        RecordError: the text is not hexadecimal or holds another number of scenes.
    """
    try:
        packed = np.frombuffer(bytes.fromhex(text), dtype=np.uint8)
    except ValueError as error:
        raise RecordError(f"correct_hex is not hexadecimal: {error}") from error
    if packed.size != math.ceil(scenes / 8):
        raise RecordError(
            f"correct_hex holds {packed.size} bytes; {scenes} scenes need {math.ceil(scenes / 8)}"
        )
    return np.unpackbits(packed, count=scenes).astype(np.bool_)


def settings_of(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """What a config says of what was trained, less `INCIDENTAL`; nested by path, "network.core".

    What is off (False or None) is left out, so that a record written before an option existed is
    alike to those of runs that leave it off.
    """
    settings: dict[str, Any] = {}
    for name, value in config.items():
        path = f"{prefix}{name}"
        if isinstance(value, Mapping):
            settings |= settings_of(value, f"{path}.")
        elif value is not None and value is not False and path not in INCIDENTAL:
            settings[path] = value
    return settings


def digest(value: object) -> str:
    """Eight hexadecimal digits that tell JSON-able values apart."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:8]


def write_record(record: Record, folder: str | Path) -> Path:
    """Write `record` into `folder` (made where it is missing) and return the file's path.

    The name is built from what identifies the run, so writing the same run again replaces it.

    Raises:
        RecordError: the record contradicts itself or holds something that JSON cannot.
    """
    check_record(record)
    stem = f"{record.env_id}_{record.model}_{record.glimpses}gl_seed{record.seed}"
    return write_json(record, folder, stem, _identity)


def write_json(
    record: AnyRecord, folder: str | Path, stem: str, identity: Callable[[AnyRecord], str]
) -> Path:
    """Write a record into `folder` (made where it is missing), as a file that is called by `stem`
    and what `identity` makes of it, other signs than letters, digits, ".", "_" and "-" replaced;
    return its path.

    Raises:
        RecordError: the record holds something that JSON cannot.
    """
    try:
        text = json.dumps(asdict(record), indent=1, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise RecordError(f"env_kwargs or config does not fit into JSON: {error}") from error
    path = Path(folder) / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', stem)}_{identity(record)}.json"
    write_atomically(path, text.encode())
    return path


def read_records(folder: str | Path) -> tuple[list[Record], list[str]]:
    """All `*.json` records of `folder`, by file name, and the problems of those left out.

    Keys that a record does not know are dropped. A run recorded twice counts once.

    Raises:
        FileNotFoundError: there is no such folder.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"no folder {folder}: give the one that holds the records")
    records: list[Record] = []
    problems: list[str] = []
    names: dict[str, str] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            record = parse_record(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            problems.append(f"{path.name}: {error}")
            continue
        identity = _identity(record)
        if identity in names:
            problems.append(f"{path.name}: the same run as {names[identity]}, which is kept")
            continue
        names[identity] = path.name
        records.append(record)
    return records, problems


def parse_record(data: object) -> Record:
    """The record in a JSON object.

    Raises:
        RecordError: a key is missing, has the wrong kind of value, or contradicts another.
    """
    if not isinstance(data, dict):
        raise RecordError(f"holds a JSON {type(data).__name__}; a record is an object")
    required = [
        f.name for f in fields(Record) if f.default is MISSING and f.default_factory is MISSING
    ]
    missing = [name for name in required if name not in data]
    if missing:
        raise RecordError(f"lacks {', '.join(missing)}")
    known = {f.name: data[f.name] for f in fields(Record) if f.name in data}
    for name in ("interval_percent", "error_by_glimpse"):
        if isinstance(known[name], list):
            known[name] = tuple(known[name])
    record = Record(**known)
    check_record(record)
    return record


def check_record(record: Record) -> None:
    """Refuse a record whose values are of the wrong kind or contradict each other.

    Raises:
        RecordError: naming the key, its value and what would be right.
    """
    for name, (holds, right) in KINDS.items():
        value = getattr(record, name)
        if not holds(value):
            raise RecordError(f"{name} is {value!r}; it must be {right}")
    low, high = record.interval_percent
    if not low - ROUNDING <= record.error_percent <= high + ROUNDING:
        raise RecordError(
            f"interval_percent is [{low}, {high}]; it must hold error_percent "
            f"{record.error_percent}"
        )
    if len(record.error_by_glimpse) != record.glimpses:
        raise RecordError(
            f"error_by_glimpse has {len(record.error_by_glimpse)} values; "
            f"it must have one for each of the {record.glimpses} glimpses"
        )
    if abs(record.error_by_glimpse[-1] - record.error_percent) > ROUNDING:
        raise RecordError(
            f"error_by_glimpse ends in {record.error_by_glimpse[-1]}; it is in percent and must "
            f"end in error_percent, {record.error_percent}"
        )
    for name, values in record.costs_by_glimpse.items():
        if len(values) != record.glimpses:
            raise RecordError(
                f"costs_by_glimpse has {len(values)} values of {name}; "
                f"it must have one for each of the {record.glimpses} glimpses"
            )
        total = record.costs.get(name, values[-1])
        if not math.isclose(values[-1], total, rel_tol=1e-3, abs_tol=ROUNDING):
            raise RecordError(
                f"costs_by_glimpse of {name} ends in {values[-1]}; it must end in what costs "
                f"says, {total}"
            )
    if record.correct_hex:
        wrong = 100 * float(np.mean(~unpack_correct(record.correct_hex, record.scenes)))
        if abs(wrong - record.error_percent) > ROUNDING:
            raise RecordError(
                f"correct_hex has {wrong:.2f} % wrong; error_percent is {record.error_percent}"
            )


def _identity(record: Record) -> str:
    """What tells one run's score from another's."""
    return digest(
        [
            record.env_id,
            record.env_kwargs,
            record.model,
            record.glimpses,
            record.seed,
            record.split,
            settings_of(record.config),
        ]
    )
