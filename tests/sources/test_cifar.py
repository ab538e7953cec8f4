"""CIFAR's archives are extracted once, and damaged ones leave nothing."""

import hashlib
import os
import pickle
import struct
import tarfile
import time
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs.sources import (
    SourceError,
    cifar,
    describe,
    forget,
    load,
)
from tests.support.source_files import files_under, real

ArchiveMode: TypeAlias = Literal["w:xz", "w:gz"]


def python2_pickle(images: NDArray[np.uint8], labels: list[int]) -> bytes:
    """A batch as Python 2 pickled it; `images` (N, 3072)."""
    rows = struct.pack("<i", len(images))
    pixels = images.tobytes()
    return (
        b"\x80\x02}(U\x04datacnumpy.core.multiarray\n_reconstruct\n"
        b"cnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01J" + rows + b"M\x00\x0c\x86"
        b"cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        b"\x89T" + struct.pack("<i", len(pixels)) + pixels + b"tb"
        b"U\x06labels](" + b"".join(b"K" + bytes([label]) for label in labels) + b"eu."
    )


@pytest.fixture
def batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Six small batches in the published format, which are taken for the published ones."""
    rng = np.random.default_rng(0)
    content = {
        name: python2_pickle(rng.integers(0, 256, (2, 3072), np.uint8), [number, 9])
        for number, name in enumerate(cifar.MD5)
    }
    digests = {name: hashlib.md5(value).hexdigest() for name, value in content.items()}
    monkeypatch.setattr(cifar, "MD5", digests)
    return content


def write_archive(path: Path, members: dict[str, bytes], mode: ArchiveMode) -> None:
    """Write a tar archive of these batches and of things that nobody asked for."""
    scratch = path.parent / "scratch"
    scratch.mkdir(parents=True)
    with tarfile.open(path, mode) as archive:
        for name in [*members, "../escaped", "readme.html"]:
            (scratch / "member").write_bytes(members.get(name, b"surprise"))
            archive.add(scratch / "member", f"cifar-10-batches-py/{name}")


@pytest.mark.parametrize(
    ("name", "mode"), [("cifar-10-batches-py.tar.xz", "w:xz"), ("cifar-10-python.tar.gz", "w:gz")]
)
def test_cifar_archives_are_extracted_once(
    name: str, mode: ArchiveMode, data: Path, batches: dict[str, bytes]
) -> None:
    write_archive(data / "cifar10" / name, batches, mode)
    assert load("cifar10", "train").labels.tolist() == [0, 9, 1, 9, 2, 9, 3, 9]
    assert load("cifar10", "validation").labels.tolist() == [4, 9]
    test = load("cifar10", "test")
    assert test.labels.tolist() == [5, 9]
    pixels = np.frombuffer(batches["test_batch"], np.uint8)
    start = batches["test_batch"].index(b"\x89T") + 6
    assert np.array_equal(test.images.ravel(), pixels[start : start + 2 * 3072])

    cached = data.parent / "cache"
    assert sorted(Path(file).name for file in files_under(cached)) == sorted(batches)
    (data / "cifar10" / name).write_bytes(b"no longer read")
    forget()
    assert len(load("cifar10", "test")) == 2


def test_cifar_folders_are_read_where_they_are(data: Path, batches: dict[str, bytes]) -> None:
    batch_folder = data / "cifar10/cifar-10-batches-py"
    batch_folder.mkdir(parents=True)
    for name, content in batches.items():
        (batch_folder / name).write_bytes(content)
    assert load("cifar10", "test").images.shape == (2, 3, 32, 32)
    assert not (data.parent / "cache").exists()
    (batch_folder / "data_batch_5").write_bytes(b"damaged")
    with pytest.raises(SourceError, match=r"data_batch_5 is damaged.*MD5.*Delete the folder"):
        load("cifar10", "validation")
    (batch_folder / "data_batch_1").unlink()
    with pytest.raises(SourceError, match=r"data_batch_1 is missing.*Delete the folder"):
        load("cifar10", "train")


def test_damaged_cifar_archives_leave_nothing(data: Path, batches: dict[str, bytes]) -> None:
    with pytest.raises(SourceError, match=r"cifar-10-python\.tar\.gz is missing"):
        load("cifar10", "test")
    archive = data / "cifar10/cifar-10-batches-py.tar.xz"
    write_archive(archive, batches, "w:xz")
    whole = archive.read_bytes()
    for content in (whole[:-2000], b"not an archive"):
        archive.write_bytes(content)
        with pytest.raises(SourceError, match=r"tar\.xz is cut short or damaged"):
            load("cifar10", "test")
    for damage, message in (
        ({"test_batch": b"other"}, r"test_batch is damaged.*Fetch .*tar\.xz again"),
        ({}, r"tar\.xz has no cifar-10-batches-py/data_batch_1"),
    ):
        (data / "cifar10/scratch/member").unlink()
        (data / "cifar10/scratch").rmdir()
        write_archive(archive, batches | damage if damage else {}, "w:xz")
        with pytest.raises(SourceError, match=message):
            load("cifar10", "test")
    assert files_under(data.parent / "cache") == []
    assert os.listdir(data.parent / "cache/glimpse_envs/cifar10") == []


class Malicious:
    """Writes a file when an ordinary unpickler loads it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


def test_a_batch_cannot_run_code(tmp_path: Path) -> None:
    batch = tmp_path / "test_batch"
    batch.write_bytes(pickle.dumps({b"data": Malicious(tmp_path / "owned")}))
    with pytest.raises(SourceError, match=r"test_batch is not a CIFAR-10 batch.*mkdir"):
        cifar.unpickle(batch)
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize(
    "content",
    [
        None,
        [1, 2],
        {},
        {b"data": None, b"labels": [1]},
        {b"data": [[0] * 3072], b"labels": [1]},
        {b"data": b"text", b"labels": b"text"},
    ],
    ids=str,
)
def test_a_pickle_of_something_else_is_no_batch(tmp_path: Path, content: object) -> None:
    path = tmp_path / "batch"
    path.write_bytes(pickle.dumps(content))
    with pytest.raises(SourceError, match=r"batch is not a CIFAR-10 batch"):
        cifar.read_batch(path, hashlib.md5(path.read_bytes()).hexdigest())


def test_a_damaged_pickle_is_no_batch(tmp_path: Path) -> None:
    path = tmp_path / "batch"
    whole = python2_pickle(np.zeros((1, 3072), np.uint8), [1])
    huge = whole.replace(
        struct.pack("<i", 1) + b"M\x00\x0c", struct.pack("<i", 2**31 - 1) + b"M\x00\x0c"
    )
    label = python2_pickle(np.zeros((1, 3072), np.uint8), [11])
    two = python2_pickle(np.zeros((1, 3072), np.uint8), [1, 2])
    for content in (
        b"",
        huge,
        label,
        two,
        whole.replace(b"u1K", b"c8K"),
        whole.replace(b"u1K", b"zzK"),
    ):
        assert content != whole
        path.write_bytes(content)
        with pytest.raises(SourceError, match=r"batch is not a CIFAR-10 batch"):
            cifar.read_batch(path, hashlib.md5(content).hexdigest())


def test_without_a_cache_to_write_to_the_archive_is_extracted_beside_itself(
    data: Path, batches: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_archive(data / "cifar10/cifar-10-python.tar.gz", batches, "w:gz")
    (data / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(data / "file"))  # even root makes no folder in a file
    assert load("cifar10", "validation").labels.tolist() == [4, 9]
    assert (data / "cifar10/cifar-10-batches-py/test_batch").is_file()


def test_what_a_killed_process_left_is_cleared(data: Path, batches: dict[str, bytes]) -> None:
    write_archive(data / "cifar10/cifar-10-python.tar.gz", batches, "w:gz")
    cache = data.parent / "cache/glimpse_envs/cifar10"
    for name, age in (("old", 3600), ("new", 0)):
        left = cache / f".cifar-10-batches-py-{name}"
        left.mkdir(parents=True)
        (left / "data_batch_1").write_bytes(b"half")
        os.utime(left, (time.time() - age,) * 2)
    load("cifar10", "validation")
    hidden = sorted(path.name for path in cache.iterdir() if path.name.startswith("."))
    assert hidden == [".cifar-10-batches-py-new"]  # perhaps of a process that is still at it


@pytest.mark.learning
@real("cifar10")
def test_cifar10_is_the_published_one() -> None:
    test = load("cifar10", "test")
    assert test.images.shape == (10_000, 3, 32, 32)
    assert np.bincount(test.labels).tolist() == [1000] * 10
    assert describe("cifar10").class_names[test.labels[0]] == "cat"
    assert len(load("cifar10", "validation")) == 10_000
    train = load("cifar10", "train")
    assert len(train) == 40_000
    assert train.labels[0] == 6
    assert train.images[0, :, 0, 0].tolist() == [59, 62, 63]
