"""Where published files lie, and what a folder holds."""

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("GLIMPSE_DATA", "nowhere"))


def real(name: str) -> pytest.MarkDecorator:
    """A mark for tests of the published files."""
    return pytest.mark.skipif(
        not (DATA / name).is_dir(), reason=f"no {name} in GLIMPSE_DATA ({DATA})"
    )


def files_under(path: Path) -> list[str]:
    """Every file below a folder, relative to it."""
    return sorted(str(p.relative_to(path)) for p in path.rglob("*") if p.is_file())
