"""Sources: what they give, that it never changes, and what they say when files are not in order."""

import gzip
import hashlib
import http.server
import os
import pickle
import struct
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from glimpse_envs.sources import (
    SOURCES,
    SPLITS,
    Examples,
    SourceError,
    cifar,
    describe,
    files,
    folder,
    idx,
    load,
)
from glimpse_envs.sources.files import PublishedFile
from glimpse_envs.sources.glyphs import draw_glyphs

DATA = Path(os.environ.get("GLIMPSE_DATA", "nowhere"))


def real(name: str) -> pytest.MarkDecorator:
    """A mark for tests of the published files."""
    return pytest.mark.skipif(
        not (DATA / name).is_dir(), reason=f"no {name} in GLIMPSE_DATA ({DATA})"
    )


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    yield
    load.cache_clear()
    folder.read_folder.cache_clear()


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty GLIMPSE_DATA, and an empty user's cache beside it."""
    monkeypatch.setenv("GLIMPSE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def files_under(path: Path) -> list[str]:
    """Every file below a folder, relative to it."""
    return sorted(str(p.relative_to(path)) for p in path.rglob("*") if p.is_file())


# The list of sources


def test_unknown_names_are_answered_with_the_right_ones() -> None:
    for source in ("minst", "mnist:PATH", "folder:", "folder", ""):
        with pytest.raises(ValueError, match=r"glyphs, mnist, fashion_mnist, cifar10, folder:PATH"):
            describe(source)
        with pytest.raises(ValueError, match="unknown source"):
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


# Glyphs


def test_a_glyph_depends_on_its_split_and_index_alone() -> None:
    together = draw_glyphs(np.arange(3000), "train")
    order = np.random.default_rng(0).permutation(3000)[:500]
    shuffled = draw_glyphs(order, "train")
    assert np.array_equal(shuffled.images, together.images[order])
    assert np.array_equal(shuffled.labels, together.labels[order])
    alone = draw_glyphs([777], "train")
    assert np.array_equal(alone.images[0], together.images[777])
    far = draw_glyphs([10**12, 5, 5], "train")
    assert np.array_equal(far.images[1], together.images[5])
    assert np.array_equal(far.images[1], far.images[2])


def test_splits_and_indices_share_no_glyph() -> None:
    images = [image.tobytes() for split in SPLITS for image in load("glyphs", split).images[:2000]]
    assert len(set(images)) == 6000


def test_glyph_banks_have_balanced_labels_and_the_look_of_mnist() -> None:
    sizes = [len(load("glyphs", split)) for split in SPLITS]
    assert sizes == [50_000, 10_000, 10_000]
    bank = load("glyphs", "test")
    assert bank is load("glyphs", "test")
    assert bank.images.shape == (10_000, 1, 28, 28)
    counts = np.bincount(bank.labels, minlength=10)
    assert ((counts - 1000) ** 2 / 1000).sum() < 27.9  # chi-squared, 9 degrees: 1 in 1,000

    images = bank.images[:, 0] / 255.0
    assert images.max(axis=(1, 2)).min() == 1
    assert 0.11 < images.mean() < 0.16  # MNIST: 0.13
    assert images[:, 4:24, 4:24].sum() / images.sum() > 0.95
    border = images.copy()
    border[:, 1:-1, 1:-1] = 0
    assert (border.max(axis=(1, 2)) > 0).mean() < 0.05


def test_glyphs_can_be_told_apart_across_splits() -> None:
    train, test = draw_glyphs(range(2000), "train"), draw_glyphs(range(1000), "test")
    x, z = (examples.images.reshape(len(examples), -1) / 255.0 for examples in (train, test))
    means = np.stack([x[train.labels == digit].mean(axis=0) for digit in range(10)])
    nearest = ((z[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert 0.6 < (nearest == test.labels).mean() < 0.98  # neither noise nor ten fixed pictures


def test_glyphs_refuse_what_is_no_index() -> None:
    with pytest.raises(ValueError, match="one is -1"):
        draw_glyphs([3, -1], "train")
    with pytest.raises(ValueError, match="float64"):
        draw_glyphs([0.5], "train")
    with pytest.raises(ValueError, match="unknown split"):
        draw_glyphs([0], "tests")
    assert draw_glyphs([], "train").images.shape == (0, 1, 28, 28)


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


# CIFAR-10

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
    load.cache_clear()
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


# A folder of the user's own


def write_image(path: Path, image: NDArray[np.uint8]) -> None:
    """Write an image, (h, w) grey or (h, w, 3) RGB."""
    path.parent.mkdir(parents=True, exist_ok=True)
    ordered = image if image.ndim == 2 else image[..., ::-1]
    path.write_bytes(cv2.imencode(path.suffix, ordered)[1].tobytes())


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    """A folder of 40 grey images of 6x5 pixels in two classes."""
    for number in range(40):
        name = ("cat", "dog")[number % 2]
        write_image(tmp_path / f"pets/{name}/{number}.png", np.full((5, 6), number, np.uint8))
    (tmp_path / "pets/notes.txt").write_text("not an image")
    (tmp_path / "pets/.hidden").mkdir()
    return tmp_path / "pets"


def test_folder_splits_are_stable_and_disjoint(pets: Path) -> None:
    info = describe(f"folder:{pets}")
    assert (info.image_shape, info.class_names) == ((1, 5, 6), ("cat", "dog"))
    before = {split: load(f"folder:{pets}", split) for split in SPLITS}
    seen = {split: set(examples.images[:, 0, 0, 0]) for split, examples in before.items()}
    assert sorted(set().union(*seen.values())) == list(range(40))
    assert sum(len(examples) for examples in before.values()) == 40
    for examples in before.values():
        assert np.array_equal(examples.labels, examples.images[:, 0, 0, 0] % 2)

    write_image(pets / "ant/100.png", np.full((5, 6), 100, np.uint8))
    load.cache_clear()
    folder.read_folder.cache_clear()
    for split in SPLITS:
        after = set(load(f"folder:{pets}", split).images[:, 0, 0, 0])
        assert after - {100} == seen[split]


def test_the_hash_of_a_name_gives_80_10_10() -> None:
    counts = np.bincount([folder.split_of(f"class/{n}.png") for n in range(5000)])
    assert np.abs(counts / 5000 - [0.8, 0.1, 0.1]).max() < 0.02
    # Users' splits must not move with a new version.
    held_out = {n: folder.split_of(f"cat/{n}.png") for n in range(20)}
    assert {n: split for n, split in held_out.items() if split} == {10: 2}


def test_one_coloured_image_makes_all_rgb(pets: Path) -> None:
    image = np.zeros((5, 6, 3), np.uint8)
    image[...] = (200, 100, 50)
    write_image(pets / "cat/red.bmp", image)
    split = SPLITS[folder.split_of("cat/red.bmp")]
    examples = load(f"folder:{pets}", split)
    assert describe(f"folder:{pets}").image_shape == (3, 5, 6)
    assert [200, 100, 50] in examples.images[:, :, 0, 0].tolist()


def test_a_folder_may_bring_its_own_splits(tmp_path: Path) -> None:
    for value, split in enumerate(SPLITS):
        write_image(tmp_path / f"own/{split}/cat/a.png", np.full((4, 4), value, np.uint8))
    for value, split in enumerate(SPLITS):
        assert load(f"folder:{tmp_path / 'own'}", split).images.ravel().tolist() == [value] * 16
    folder.read_folder.cache_clear()
    (tmp_path / "own/validation").rename(tmp_path / "elsewhere")
    with pytest.raises(SourceError, match=r"own is sorted into splits, but has no .*validation"):
        describe(f"folder:{tmp_path / 'own'}")


def test_folders_not_in_order_say_what_is_wrong(pets: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"nowhere is not a folder.*one folder of images"):
        describe(f"folder:{tmp_path / 'nowhere'}")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="empty has no folders in it"):
        describe(f"folder:{tmp_path / 'empty'}")
    (tmp_path / "empty/cat").mkdir()
    with pytest.raises(SourceError, match="cat holds no image"):
        describe(f"folder:{tmp_path / 'empty'}")
    write_image(tmp_path / "empty/cat/0.png", np.zeros((5, 6), np.uint8))
    with pytest.raises(SourceError, match=r"has 1 images, of which none is in the split \w+"):
        [load(f"folder:{tmp_path / 'empty'}", split) for split in SPLITS]
    write_image(pets / "dog/tall.png", np.zeros((7, 6), np.uint8))
    with pytest.raises(SourceError, match=r"tall\.png has 6x7 pixels, but .* has 6x5"):
        describe(f"folder:{pets}")


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".bmp"])
def test_a_damaged_image_is_named(suffix: str, pets: Path) -> None:
    path = pets / f"cat/broken{suffix}"
    write_image(path, np.random.default_rng(0).integers(0, 256, (5, 6), np.uint8))
    whole = path.read_bytes()
    for content in (b"", b"text", whole[: len(whole) * 2 // 3]):
        path.write_bytes(content)
        with pytest.raises(SourceError, match=rf"broken\{suffix} is not an image.*Replace"):
            describe(f"folder:{pets}")
