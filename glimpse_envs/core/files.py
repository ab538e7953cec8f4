"""Writing files whole or not at all."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

_OF_DISKS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


def check_writable(name: str, path: Path, *, folder: bool = False) -> None:
    """Raise a `ValueError` where no file, or no `folder`, can be written at `path`, before the work
    whose result it is to hold. Folders above it may be missing: they are made.

    Args:
        name: what `path` is, for the message, such as "--film".
        path: to be written.
        folder: whether it is to be a folder, which may be there already.
    """
    for place in (path.absolute(), *path.absolute().parents):
        if place.is_symlink() and not place.exists():
            raise ValueError(
                f"{name} {path} cannot be written: {place} is a link to {place.readlink()}, which "
                "is not there"
            )
    if path.exists() and path.is_dir() != folder:
        wanted, found = ("folder", "file") if folder else ("file", "folder")
        raise ValueError(f"{name} {path} must be a {wanted}; it is a {found}")
    places = (path.absolute(), *path.absolute().parents)[0 if folder else 1 :]
    nearest = next(place for place in places if place.exists())
    if not nearest.is_dir():
        raise ValueError(f"{name} {path} cannot be written: {nearest} is a file, not a folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise ValueError(
            f"{name} {path} cannot be written: the folder {nearest} is closed to you; name another"
        )


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Add `path` to errors of a full or broken disk, which name no file."""
    try:
        yield
    except OSError as error:
        if error.errno in _OF_DISKS and error.filename is None:
            error.filename = os.fspath(path)
        raise


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
        with naming_file(target):
            yield temporary
            os.replace(temporary, target)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old or the new one, even after a power cut."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
