"""Lines of metrics: numbers as JSON has them, and a file whose last line a kill may have torn."""

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from glimpse_envs.evaluation.run_errors import RunError

Number = float | np.floating | np.integer


def json_number(value: Number) -> float | None:
    """The number, or None for NaN and the infinities, which JSON lacks."""
    number = value.item() if isinstance(value, np.generic) else value
    return number if math.isfinite(number) else None


def drop_torn_line(path: Path) -> None:
    """Cut off what follows the last newline; the next line would be appended to it."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 1, 0))
        if file.read(1) not in (b"\n", b""):
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)


def whole_lines(path: Path) -> list[tuple[bytes, dict[str, Any]]]:
    """Return the whole lines of the metrics at `path`, each as bytes and as the record that it
    holds; [] where there is no file. A torn last line is left out.

    Raises:
        RunError: a whole line is damaged.
    """
    if not path.exists():
        return []
    lines = path.read_bytes().splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        lines.pop()
    return [(line, _record_of(line, f"{path}, line {n}")) for n, line in enumerate(lines, 1)]


def _record_of(line: bytes, place: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:
        record = None
    if not isinstance(record, dict) or not isinstance(record.get("step"), int):
        raise RunError(
            f"{place} is damaged: it should be a JSON object with an integer 'step', it is "
            f"{line[:80]!r}. Delete that line."
        )
    return record
