"""CIFAR-10 in its published format: batches pickled by Python 2.

Krizhevsky (2009), "Learning multiple layers of features from tiny images". Each batch is a dict of
`data`, (10000, 3072) unsigned bytes, row by row of the red, then the green, then the blue plane,
and `labels`, a list of 10000 integers.
"""

import gzip
import io
import lzma
import os
import pickle
import shutil
import tarfile
import tempfile
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from glimpse_envs.core.arrays import Bytes, Ints
from glimpse_envs.sources.examples import Examples, SourceError, SourceInfo
from glimpse_envs.sources.files import (
    PublishedFile,
    download,
    missing,
    own_data,
    user_cache,
    verify,
)

DATA = "cifar10"
FOLDER = "cifar-10-batches-py"
ARCHIVE = PublishedFile(
    DATA,
    "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
    "md5:c58f30108f718f92721af3b95e74349a",
)
ARCHIVE_NAMES = tuple(
    f"{base}.tar.{kind}" for base in (FOLDER, "cifar-10-python") for kind in ("gz", "xz")
)
MD5 = {
    "data_batch_1": "c99cafc152244af753f735de768cd75f",
    "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
    "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
    "data_batch_4": "634d18415352ddfa80567beed471001a",
    "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
    "test_batch": "40351d587109b95175f43aff81a1287e",
}
BATCHES = {
    "train": ("data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4"),
    "validation": ("data_batch_5",),  # the last 10,000 training images
    "test": ("test_batch",),
}
IMAGE_SHAPE = (3, 32, 32)
_ROW = (3 * 32 * 32,)
_LONG_AGO = 600.0  # seconds: extracting the archive never takes so long
CLASS_NAMES = (
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
)


def describe(source: str) -> SourceInfo:
    """Shape and classes of CIFAR-10; no file is touched."""
    return SourceInfo(source, IMAGE_SHAPE, CLASS_NAMES, kind="object")


def load(source: str, split: str) -> Examples:
    """Training images 0-39,999 (train), 40,000-49,999 (validation), or the 10,000 test images.

    Raises:
        SourceError: if a file is missing, damaged or out of reach.
    """
    folder = find_batches()
    batches = [read_batch(folder / name, MD5[name]) for name in BATCHES[split]]
    images = np.concatenate([images for images, _ in batches])
    return Examples(images, np.concatenate([labels for _, labels in batches]))


def find_batches() -> Path:
    """The folder of the batches, extracted once into the user's cache where there is an archive.

    Raises:
        SourceError: if there is neither folder nor archive, or the archive is damaged.
    """
    data = own_data()
    root = (user_cache() if data is None else data) / DATA
    if (root / FOLDER).is_dir():
        return root / FOLDER
    archive = next((root / name for name in ARCHIVE_NAMES if (root / name).is_file()), None)
    if archive is None:
        if data is not None:
            raise missing(root / ARCHIVE.name, ARCHIVE.url)
        archive = download(ARCHIVE)
    # In the user's cache, or, if that cannot be written to, next to the archive.
    places = [user_cache() / DATA / FOLDER, archive.parent / FOLDER]
    for extracted in places:
        try:
            if not extracted.is_dir():
                extract(archive, extracted)
            return extracted
        except OSError as error:
            refusal = error
    raise SourceError(
        f"{archive} cannot be extracted to {' nor to '.join(map(str, places))}: {refusal}. Make "
        "room in one of them, or set XDG_CACHE_HOME to another folder."
    )


def extract(archive: Path, target: Path) -> None:
    """Extract the six batches, and nothing else, into the new folder `target`: all or none.

    Raises:
        SourceError: if the archive is damaged, or lacks a batch.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    for left in target.parent.glob(f".{FOLDER}-*"):  # left by a process that was killed
        with suppress(FileNotFoundError):  # another process deletes it too
            if time.time() - left.stat().st_mtime > _LONG_AGO:
                shutil.rmtree(left)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{FOLDER}-") as scratch:
        wanted = {f"{FOLDER}/{name}": checksum for name, checksum in MD5.items()}
        (Path(scratch) / FOLDER).mkdir()
        try:
            with tarfile.open(archive) as opened:
                for member in opened:
                    if member.name in wanted and member.isfile():
                        _copy_member(opened, member, Path(scratch) / member.name)
        except (tarfile.TarError, EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
            raise SourceError(
                f"{archive} is cut short or damaged ({error}). Fetch it again from {ARCHIVE.url}."
            ) from error
        for name, checksum in wanted.items():
            if not (Path(scratch) / name).is_file():
                raise SourceError(f"{archive} has no {name}. Fetch it again from {ARCHIVE.url}.")
            verify(Path(scratch) / name, f"md5:{checksum}", f"Fetch {archive} again")
        try:
            os.replace(Path(scratch) / FOLDER, target)
        except OSError:
            if not target.is_dir():  # else another process was faster
                raise


def _copy_member(archive: tarfile.TarFile, member: tarfile.TarInfo, to: Path) -> None:
    # Not by `extract`, whose safe filter Python has from 3.11.4 on alone.
    content = archive.extractfile(member)
    assert content is not None  # of a file
    with content, to.open("wb") as copy:
        shutil.copyfileobj(content, copy)


def read_batch(path: Path, md5: str) -> tuple[Bytes, Ints]:
    """Read one batch: images (N, 3, 32, 32) and labels (N,).

    Raises:
        SourceError: if the file is missing, or its MD5 checksum or its content is wrong.
    """
    cure = f"Delete the folder {path.parent} to have it extracted again from {ARCHIVE.url}"
    if not path.is_file():
        raise SourceError(f"{path} is missing. {cure}.")
    verify(path, f"md5:{md5}", cure)
    batch = unpickle(path)
    try:
        images, labels = batch[b"data"], np.asarray(batch[b"labels"])
        fits = images.dtype == np.uint8 and images.shape == (len(labels), *_ROW)
        fits = fits and labels.ndim == 1 and labels.dtype.kind in "iu"
        fits = fits and bool(((labels >= 0) & (labels < len(CLASS_NAMES))).all())
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        fits = False
    if not fits:
        raise SourceError(
            f"{path} is not a CIFAR-10 batch: it must hold data, bytes (N, {_ROW[0]}), and labels "
            f"below {len(CLASS_NAMES)}, (N,). {cure}."
        )
    return images.reshape(-1, *IMAGE_SHAPE), labels.astype(np.int64)


def unpickle(path: Path) -> Any:
    """Load a pickle that holds only arrays, bytes, numbers and containers of these.

    Raises:
        SourceError: if the file asks for anything else, or is not a pickle.
    """
    try:
        return _ArrayUnpickler(io.BytesIO(path.read_bytes()), encoding="bytes").load()
    except Exception as error:  # a file that is no pickle can raise anything
        raise SourceError(
            f"{path} is not a CIFAR-10 batch ({error}). Fetch it again from {ARCHIVE.url}."
        ) from error


def _dtype(kind: bytes, align: int, copy: int) -> np.dtype[Any]:
    """A dtype as Python 2 pickled it: with 0 and 1 for booleans, which NumPy 2.4 deprecates."""
    return np.dtype(kind.decode(), align=bool(align), copy=bool(copy))


class _ArrayUnpickler(pickle.Unpickler):
    """Rebuilds NumPy arrays; any other class or function in a pickle is refused, not called."""

    def find_class(self, module: str, name: str) -> Any:
        """Return the substitute of a global name in the pickle."""
        match module, name:
            case "numpy.core.multiarray", "_reconstruct":
                return np.empty(0).__reduce__()[0]  # the same function, wherever NumPy keeps it
            case "numpy", "ndarray":
                return np.ndarray
            case "numpy", "dtype":
                return _dtype
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no batch needs")
