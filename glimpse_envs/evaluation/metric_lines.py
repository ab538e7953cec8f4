"""Lines of metrics: numbers as JSON has them, and a file whose last line a kill may have torn."""

import math
import os
from pathlib import Path

import numpy as np

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
