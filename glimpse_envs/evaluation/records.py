"""Reading, writing and checking of records."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.files import write_atomically
from glimpse_envs.evaluation.from_json import FieldError, from_json
from glimpse_envs.evaluation.record import Record, Score, Validation
from glimpse_envs.evaluation.run_identity import identities, identity, same_run

# The greatest difference of two roundings of the same share.
ROUNDING = 6e-4


class RecordError(ValueError):
    """A record is incomplete or contradicts itself; the message names the key and the cure."""


def pack(successes: NDArray[np.bool_]) -> str:
    """Hexadecimal text of `successes` (episodes,) bool, eight episodes per byte."""
    return np.packbits(np.asarray(successes, dtype=np.bool_)).tobytes().hex()


def unpack(text: str, episodes: int) -> NDArray[np.bool_]:
    """The (episodes,) bool array that `pack` made into `text`.

    Raises:
        RecordError: the text is not hexadecimal or holds another number of episodes.
    """
    try:
        packed = np.frombuffer(bytes.fromhex(text), dtype=np.uint8)
    except ValueError as error:
        raise RecordError(f"successes is not hexadecimal: {error}") from error
    wanted = math.ceil(episodes / 8)
    if packed.size != wanted:
        raise RecordError(f"successes holds {packed.size} bytes; {episodes} episodes need {wanted}")
    return np.unpackbits(packed, count=episodes).astype(np.bool_)


def write_record(record: Record, folder: str | Path) -> Path:
    """Write `record` into `folder` (made where it is missing) and return the file's path.

    The name holds environment, model, seed and `identity`. Writing the same run again replaces its
    file, even if options were added in between, which changes its identity.

    Raises:
        RecordError: the record contradicts itself or has a value that JSON cannot hold.
    """
    try:
        text = json.dumps(asdict(record), indent=1, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise RecordError(f"a value does not fit into JSON: {error}") from error
    parse_record(json.loads(text))
    path = Path(folder) / f"{_stem(record)}_{identity(record)}.json"
    earlier = recorded_in(folder, record)
    write_atomically(path, text.encode())
    for old in earlier:
        if old != path:
            old.unlink()
    return path


def recorded_in(folder: str | Path, record: Record) -> list[Path]:
    """The files in `folder` that `write_record` would replace by `record`, of the same run."""
    found = sorted(Path(folder).glob(f"{_stem(record)}_*.json"))
    return [path for path in found if _holds(path, record)]


def _stem(record: Record) -> str:
    stem = f"{record.env_id}_{record.model.name}_seed{record.seed}"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem)


def _holds(path: Path, record: Record) -> bool:
    try:
        return same_run(read_record(path), record)
    except (OSError, RecordError):
        return False


def read_record(path: str | Path) -> Record:
    """The record in a file.

    Raises:
        OSError: the file cannot be read.
        RecordError: it holds no JSON, or no record; the message names the file.
    """
    try:
        return parse_record(json.loads(Path(path).read_text(encoding="utf-8")))
    except RecordError as error:
        raise RecordError(f"{path}: {error}") from error
    except ValueError as error:
        raise RecordError(f"{path}: is not JSON: {error}") from error


def read_records(folder: str | Path) -> tuple[list[Record], list[str]]:
    """All `*.json` records of `folder`, by file name, and the problems of those left out.

    A run recorded twice counts once.

    Raises:
        FileNotFoundError: there is no such folder.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"no folder {folder}: give the one that holds the records")
    found, problems = read_files(sorted(folder.glob("*.json")))
    return list(found.values()), problems


def read_files(
    paths: Iterable[Path], wanted: Callable[[Record], bool] = lambda _: True
) -> tuple[dict[Path, Record], list[str]]:
    """The `wanted` records of files, the first of each run, and the problems of those left out."""
    read: dict[Path, Record] = {}
    problems: list[str] = []
    for path in paths:
        try:
            record = read_record(path)
        except (OSError, RecordError) as error:
            problems.append(str(error))
            continue
        if wanted(record):
            read[path] = record
    found: dict[Path, Record] = {}
    firsts: dict[str, Path] = {}
    for (path, record), run in zip(read.items(), identities(read.values()), strict=True):
        first = firsts.setdefault(run, path)
        if first is path:
            found[path] = record
        else:
            problems.append(f"{path}: the same run as {first.name}, which is kept")
    return found, problems


def parse_record(data: object) -> Record:
    """The record in a JSON object.

    Raises:
        RecordError: a key is missing, unknown, of the wrong type, or contradicts another; the
            message names the key, its value and what would be right.
    """
    if not isinstance(data, dict):
        raise RecordError(f"holds a JSON {type(data).__name__}; a record is an object")
    try:
        record = from_json(Record, data)
    except FieldError as error:
        raise RecordError(str(error)) from error
    for name, text in (("env_id", record.env_id), ("model.name", record.model.name)):
        _check(text != "", f"{name} is empty; it must be a name")
    _check(len(record.scores) > 0, "scores is empty; it must hold at least one")
    for number, score in enumerate(record.scores):
        _check_score(score, f"scores[{number}]")
    _check_levels(record)
    _check_curve(record.curve, record.episodes)
    return record


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise RecordError(message)


def _check_score(score: Score, path: str) -> None:
    for name in ("success", "mean_return"):
        value = getattr(score, name)
        ends = getattr(score, f"{name.removeprefix('mean_')}_interval")
        if name == "mean_return" and ends is None and score.episodes == 1:
            continue  # of one episode there is no interval
        if value is None or ends is None:
            _check(value is ends, f"{path} has {name} {value} and interval {ends}; both or neither")
            continue
        _check(
            ends[0] - ROUNDING <= value <= ends[1] + ROUNDING,
            f"{path}.{name} is {value}; its interval must hold it, {ends}",
        )
    if score.success_by_glimpse:
        _check_end(score.success_by_glimpse, score.success, f"{path}.success_by_glimpse", "success")
    lengths = {len(values) for values in score.costs_by_glimpse.values()}
    lengths |= {len(score.success_by_glimpse)} - {0}
    _check(
        len(lengths) <= 1,
        f"{path} has values for {sorted(lengths)} glimpses; success_by_glimpse and each of "
        "costs_by_glimpse must be of equal length",
    )
    for name, values in score.costs_by_glimpse.items():
        where = f"{path}.costs_by_glimpse.{name}"
        _check(
            len(values) > 0 and all(less <= more for less, more in pairwise(values)),
            f"{where} is {values}; no value may lie below the one before it",
        )
        _check_end(values, score.costs.get(name, values[-1]), where, f"costs.{name}")
    if score.successes:
        share = float(np.mean(unpack(score.successes, score.episodes)))
        _check(
            score.success is not None and abs(share - score.success) <= ROUNDING,
            f"{path}.successes has a share of {share}; success is {score.success}",
        )


def _check_end(values: tuple[float, ...], end: float | None, path: str, name: str) -> None:
    _check(
        end is not None and math.isclose(values[-1], end, rel_tol=1e-3, abs_tol=ROUNDING),
        f"{path} ends in {values[-1]}; it must end in {name}, {end}",
    )


def _check_levels(record: Record) -> None:
    found = [(score.split, score.level) for score in record.scores]
    _check(len(set(found)) == len(found), f"scores has {found}; each must stand there once")
    levels = [level for _, level in found]
    if record.levels is None:
        _check(set(levels) == {None}, f"scores has the levels {levels}; levels is null")
        return
    least, greatest = record.levels
    _check(least <= greatest, f"levels is {record.levels}; the least must come first")
    _check(
        levels[0] in (greatest, None),
        f"scores has the levels {levels}; the first must be of the greatest trained, {greatest}, "
        "or null, of all",
    )


def _check_curve(curve: tuple[Validation, ...], episodes: int) -> None:
    for earlier, later in pairwise(curve):
        _check(
            earlier.episodes < later.episodes and earlier.core_seconds <= later.core_seconds,
            f"curve goes from {earlier} to {later}; each point must be after more episodes",
        )
    if curve:
        _check(
            curve[-1].episodes <= episodes,
            f"curve ends after {curve[-1].episodes} episodes; the training had {episodes}",
        )
