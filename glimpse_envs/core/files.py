"""Writing files whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield a path to write to, which becomes `target` in one move unless an error is raised.

    It has the target's name and suffix, and may be made a folder where the target is not there. The
    target's folder is made where it is missing; after an error the target is unchanged and no other
    file is left.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    # A scratch folder: a killed process leaves nothing that a pattern such as *.json matches.
    with TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as scratch:
        temporary = Path(scratch) / target.name
        yield temporary
        os.replace(temporary, target)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old or the new one, even after a power cut."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
