"""Published files: in `$GLIMPSE_DATA`, else in the user's cache, else downloaded once."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from glimpse_envs.sources.examples import SourceError

VARIABLE = "GLIMPSE_DATA"


@dataclass(frozen=True)
class PublishedFile:
    """A file as its authors publish it."""

    folder: str
    """Its folder under the data folder, such as "mnist"."""
    url: str
    checksum: str
    """Algorithm and hexadecimal digest, such as `md5:c58f...`, as pooch writes them."""

    @property
    def name(self) -> str:
        """The file's name, the last part of its address."""
        return self.url.rsplit("/", 1)[-1]


def own_data() -> Path | None:
    """The folder in the environment variable GLIMPSE_DATA, or None where it is not set."""
    value = os.environ.get(VARIABLE)
    return Path(value).expanduser() if value else None


def user_cache() -> Path:
    """This package's folder in the user's cache, which need not exist. XDG_CACHE_HOME moves it."""
    import pooch

    return Path(pooch.os_cache("glimpse_envs"))


def find(file: PublishedFile) -> Path:
    """The path of a published file whose checksum is right.

    Where GLIMPSE_DATA is set, only `$GLIMPSE_DATA/folder/name` will do and nothing is downloaded.
    Else it is `folder/name` in the user's cache, downloaded when missing or damaged there.

    Raises:
        SourceError: if the file is missing, damaged or out of reach.
    """
    data = own_data()
    if data is None:
        return download(file)
    path = data / file.folder / file.name
    if not path.is_file():
        raise missing(path, file.url)
    verify(path, file.checksum, cure=f"Fetch it again from {file.url}")
    return path


def missing(path: Path, url: str) -> SourceError:
    """The error for a file which is not in the folder that GLIMPSE_DATA names."""
    return SourceError(
        f"{path} is missing. {VARIABLE} is set to {own_data()}, so it must be there: put it there "
        f"from {url}, or unset {VARIABLE} to have it downloaded into the user's cache."
    )


def verify(path: Path, checksum: str, cure: str) -> None:
    """Check that a file has the checksum "algorithm:digest"; `cure` ends the error's message.

    Raises:
        SourceError: naming the file, the checksum expected and the one found.
    """
    algorithm, _, expected = checksum.partition(":")
    with path.open("rb") as opened:
        found = hashlib.file_digest(opened, algorithm).hexdigest()
    if found != expected:
        raise SourceError(
            f"{path} is damaged or another version: its {algorithm.upper()} checksum should be "
            f"{expected}, but is {found}. {cure}."
        )


def download(file: PublishedFile) -> Path:
    """The path in the user's cache, where the file is downloaded unless it is there and intact.

    Pooch downloads to a temporary name and renames it once the checksum is right.

    Raises:
        SourceError: if the download fails or has the wrong checksum.
    """
    import pooch

    folder = user_cache() / file.folder
    try:
        path = pooch.retrieve(file.url, file.checksum, file.name, folder)
    except (OSError, ValueError) as error:  # no network or no disk; a wrong checksum
        raise SourceError(
            f"{file.url} could not be downloaded to {folder / file.name}: {error} "
            f"Try again with a network, or set {VARIABLE} to a folder which holds "
            f"{file.folder}/{file.name}."
        ) from None
    return Path(path)
