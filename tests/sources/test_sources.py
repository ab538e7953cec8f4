"""Sources: what they give, that it never changes, and what they say when files are not in order."""

import gzip
import hashlib
import http.server
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs.sources import (
    SOURCES,
    SPLITS,
    Examples,
    SourceError,
    describe,
    files,
    idx,
    load,
)
from glimpse_envs.sources.files import PublishedFile
from tests.support.source_files import DATA, files_under, real


def test_unknown_names_are_answered_with_the_right_ones() -> None:
    for source in ("minst", "mnist:PATH", "folder:", "folder", ""):
        with pytest.raises(ValueError, match=r"glyphs, mnist, fashion_mnist, cifar10, folder:PATH"):
            describe(source)
        with pytest.raises(ValueError, match="registered in each process"):
            load(source, "train")
    with pytest.raises(ValueError, match=r"'valid'.*train, validation, test"):
        load("glyphs", "valid")


@pytest.mark.parametrize("source", [name for name in SOURCES if name != "folder:PATH"])
def test_a_source_is_described_without_files(source: str, data: Path) -> None:
    info = describe(source)
    assert info.name == source
    assert info.image_shape == ((3, 32, 32) if source == "cifar10" else (1, 28, 28))
    assert len(set(info.class_names)) == 10


def test_importing_and_describing_loads_no_heavy_module() -> None:
    script = (
        "import sys; from glimpse_envs.sources import describe, SOURCES\n"
        "for name in SOURCES:\n"
        "    if name != 'folder:PATH': describe(name)\n"
        "print(*{'cv2', 'numba', 'pooch', 'scipy', 'torch'} & set(sys.modules))"
    )
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert output.stdout.split() == []


def test_examples_are_read_only_and_must_belong_together() -> None:
    images, labels = np.zeros((2, 1, 4, 4), np.uint8), np.zeros(2, np.int64)
    examples = Examples(images, labels)
    with pytest.raises(ValueError, match="read-only"):
        examples.images[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        examples.labels[0] = 1
    images[0] = 1  # the caller's own array stays writeable
    with pytest.raises(ValueError, match="2 images need labels of shape"):
        Examples(images, labels[:1])
    with pytest.raises(ValueError, match=r"\(N, C, h, w\)"):
        Examples(images[0], labels)


# IDX files


def write_idx(path: Path, array: NDArray[np.uint8], magic: int | None = None) -> Path:
    """Write an IDX file, with a wrong magic number where one is given."""
    header = struct.pack(f">{1 + array.ndim}I", magic or 0x0800 + array.ndim, *array.shape)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(header + array.tobytes()))
    return path


def test_idx_round_trip(tmp_path: Path) -> None:
    images = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    assert np.array_equal(idx.read_idx(write_idx(tmp_path / "i.gz", images), 3), images)


def test_damaged_idx_files_say_what_is_wrong(tmp_path: Path) -> None:
    images = np.zeros((2, 3, 4), np.uint8)
    path = write_idx(tmp_path / "i.gz", images)
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    with pytest.raises(SourceError, match=r"i\.gz is cut short"):
        idx.read_idx(path, 3)
    path.write_bytes(b"<html>not found</html>")
    with pytest.raises(SourceError, match=r"i\.gz.*not gzip"):
        idx.read_idx(path, 3)
    with pytest.raises(SourceError, match=r"should be 0x00000803, but is 0x00000801"):
        idx.read_idx(write_idx(path, images, magic=0x0801), 3)
    path.write_bytes(gzip.compress(bytes([0, 0, 8, 3, 0, 0])))
    with pytest.raises(SourceError, match="header should have 16 bytes, but there are 6"):
        idx.read_idx(path, 3)
    path.write_bytes(gzip.compress(gzip.decompress(whole)[:-5]))
    with pytest.raises(SourceError, match=r"should have 24 bytes.*but has 19"):
        idx.read_idx(path, 3)


def test_no_flipped_bit_of_an_idx_file_changes_an_image(tmp_path: Path) -> None:
    array = np.random.default_rng(0).integers(0, 256, (2, 3, 4), np.uint8)
    path = write_idx(tmp_path / "flipped.gz", array)
    whole = path.read_bytes()
    refused = 0
    for bit in range(8 * len(whole)):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        try:
            assert np.array_equal(idx.read_idx(path, axes=3), array)
        except SourceError:
            refused += 1
    assert refused > 0.7 * 8 * len(whole)


def test_no_more_is_read_than_the_header_tells(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    header = bytes([0, 0, 8, 1]) + (5).to_bytes(4, "big")
    path.write_bytes(gzip.compress(header + bytes(10**7)))
    with pytest.raises(SourceError, match=r"bomb\.gz should have 5 bytes .*, but has (more|6)"):
        idx.read_idx(path, axes=1)


def test_images_and_labels_must_be_of_one_data_set(tmp_path: Path) -> None:
    images = write_idx(tmp_path / "i.gz", np.zeros((2, 3, 4), np.uint8))
    with pytest.raises(SourceError, match=r"i\.gz has 2 images, but .*l\.gz has 3 labels"):
        idx.read_pair(images, write_idx(tmp_path / "l.gz", np.zeros(3, np.uint8)), 10)
    with pytest.raises(SourceError, match=r"l\.gz has the label 10, but there are 10 classes"):
        idx.read_pair(images, write_idx(tmp_path / "l.gz", np.array([1, 10], np.uint8)), 10)


def test_a_missing_file_is_not_downloaded_behind_glimpse_data(data: Path) -> None:
    with pytest.raises(
        SourceError, match=r"train-images-idx3-ubyte\.gz is missing.*https://.*unse"
    ):
        load("mnist", "train")
    assert files_under(data.parent) == []


def test_a_wrong_checksum_names_both(data: Path) -> None:
    path = write_idx(data / "mnist/t10k-images-idx3-ubyte.gz", np.zeros((2, 28, 28), np.uint8))
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    expected = idx.DATASETS["mnist"].sha256["t10k-images-idx3"]
    with pytest.raises(SourceError, match=rf"t10k-images.*{expected}, but is {found}.*Fetch it"):
        load("mnist", "test")


@real("mnist")
def test_mnist_is_the_published_one() -> None:
    train, validation, test = (load("mnist", split) for split in SPLITS)
    assert [len(examples) for examples in (train, validation, test)] == [50_000, 10_000, 10_000]
    assert (train.labels[0], test.labels[0]) == (5, 7)
    root = DATA / "mnist"
    images, labels = idx.read_pair(
        root / "train-images-idx3-ubyte.gz", root / "train-labels-idx1-ubyte.gz", 10
    )
    assert np.array_equal(validation.images[:, 0], images[-10_000:])
    assert np.array_equal(np.concatenate([train.labels, validation.labels]), labels)
    assert train.images.flags.c_contiguous
    assert not train.images.flags.writeable


@real("fashion-mnist")
def test_fashion_mnist_is_the_published_one() -> None:
    test = load("fashion_mnist", "test")
    assert test.images.shape == (10_000, 1, 28, 28)
    assert describe("fashion_mnist").class_names[test.labels[0]] == "Ankle boot"


# Downloads


class Server:
    """An HTTP server on this machine which answers every request with `body`."""

    def __init__(self, body: bytes) -> None:
        self.requests = 0
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.requests += 1
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None: ...

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_address[1]}/file.gz"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def server(data: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server of the bytes b"content", for a machine without GLIMPSE_DATA."""
    monkeypatch.delenv("GLIMPSE_DATA")
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(variable, "127.0.0.1")
    server = Server(b"content")
    yield server
    server.http.shutdown()
    server.http.server_close()


def test_a_file_is_downloaded_once_into_the_users_cache(server: Server, tmp_path: Path) -> None:
    digest = hashlib.sha256(b"content").hexdigest()
    file = PublishedFile("mnist", server.address, f"sha256:{digest}")
    path = files.find(file)
    assert path.is_relative_to(tmp_path / "cache")
    assert path.read_bytes() == b"content"
    assert files.find(file) == path
    assert server.requests == 1
    path.write_bytes(b"damaged")
    assert files.find(file).read_bytes() == b"content"


def test_a_download_with_a_wrong_checksum_leaves_nothing(server: Server, tmp_path: Path) -> None:
    found, expected = hashlib.sha256(b"content").hexdigest(), "0" * 64
    with pytest.raises(
        SourceError, match=rf"expected sha256:{expected} but got {found}.*GLIMPSE_DATA"
    ):
        files.find(PublishedFile("mnist", server.address, f"sha256:{expected}"))
    assert files_under(tmp_path) == []


def test_without_a_network_the_error_says_what_to_do(server: Server, tmp_path: Path) -> None:
    server.http.shutdown()
    server.http.server_close()  # nobody listens there any more
    with pytest.raises(SourceError, match=r"could not be downloaded.*set GLIMPSE_DATA to a folder"):
        files.find(PublishedFile("mnist", server.address, "sha256:" + "0" * 64))
    assert files_under(tmp_path) == []
