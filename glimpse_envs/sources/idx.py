"""MNIST and Fashion-MNIST in their published format: IDX files, compressed with gzip.

LeCun, Cortes and Burges, "The MNIST database of handwritten digits" (1998), describe the format:
two zero bytes, one for the element type (8: unsigned byte), one for the number of axes, the length
of each axis as a big-endian 32-bit integer, then the elements. Xiao, Rasul and Vollgraf (2017),
"Fashion-MNIST", arXiv:1708.07747, publish theirs in the same way.
"""

import gzip
import struct
import zlib
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

from glimpse_envs.core.arrays import Bytes, Ints
from glimpse_envs.sources.examples import HELD_OUT, Examples, SourceError, SourceInfo
from glimpse_envs.sources.files import PublishedFile, find

MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist/"
FASHION = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
PARTS = {"training": "train", "test": "t10k"}  # the beginnings of the files' names


@dataclass(frozen=True)
class Dataset:
    """One data set of four IDX files."""

    folder: str
    address: str
    kind: str
    class_names: tuple[str, ...]
    sha256: dict[str, str]
    """Checksum of each file, by the beginning of its name."""

    def file(self, kind: str) -> PublishedFile:
        """The published file of a kind such as "train-images-idx3"."""
        address = f"{self.address}{kind}-ubyte.gz"
        return PublishedFile(self.folder, address, f"sha256:{self.sha256[kind]}")


DATASETS = {
    "mnist": Dataset(
        folder="mnist",
        address=MNIST,
        kind="digit",
        class_names=tuple("0123456789"),
        sha256={
            "train-images-idx3": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            "train-labels-idx1": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            "t10k-images-idx3": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            "t10k-labels-idx1": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        },
    ),
    "fashion_mnist": Dataset(
        folder="fashion-mnist",
        address=FASHION,
        kind="garment",
        class_names=(
            "T-shirt/top",
            "Trouser",
            "Pullover",
            "Dress",
            "Coat",
            "Sandal",
            "Shirt",
            "Sneaker",
            "Bag",
            "Ankle boot",
        ),
        sha256={
            "train-images-idx3": "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
            "train-labels-idx1": "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
            "t10k-images-idx3": "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
            "t10k-labels-idx1": "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        },
    ),
}


def describe(source: str) -> SourceInfo:
    """Shape and classes of "mnist" or "fashion_mnist"; no file is touched."""
    dataset = DATASETS[source]
    return SourceInfo(source, (1, 28, 28), dataset.class_names, kind=dataset.kind)


def load(source: str, split: str) -> Examples:
    """Training images 0-49,999 (train), 50,000-59,999 (validation), or the 10,000 test images.

    Raises:
        SourceError: if a file is missing, damaged or out of reach.
    """
    dataset = DATASETS[source]
    part = PARTS["test" if split == "test" else "training"]
    images, labels = read_pair(
        find(dataset.file(f"{part}-images-idx3")),
        find(dataset.file(f"{part}-labels-idx1")),
        len(dataset.class_names),
    )
    if split == "train":
        images, labels = images[:-HELD_OUT], labels[:-HELD_OUT]
    elif split == "validation":  # copied, so as not to keep the training images in memory
        images, labels = images[-HELD_OUT:].copy(), labels[-HELD_OUT:].copy()
    return Examples(images[:, None], labels)


def read_pair(images_path: Path, labels_path: Path, classes: int) -> tuple[Bytes, Ints]:
    """Read images (N, h, w) and labels (N,), which must belong together.

    Raises:
        SourceError: if a file is damaged, their lengths differ, or a label is not a class.
    """
    images = read_idx(images_path, axes=3)
    labels = read_idx(labels_path, axes=1).astype(np.int64)
    if len(images) != len(labels):
        raise SourceError(
            f"{images_path} has {len(images)} images, but {labels_path} has {len(labels)} labels: "
            "fetch both again, they are not of one data set."
        )
    if len(labels) and labels.max() >= classes:
        raise SourceError(
            f"{labels_path} has the label {labels.max()}, but there are {classes} classes: "
            "fetch it again, it belongs to another data set."
        )
    return images, labels


def read_idx(path: Path, axes: int) -> Bytes:
    """Read a gzipped IDX file of unsigned bytes with this number of axes, of any shape; read-only.

    Raises:
        SourceError: if the file is not gzip, is cut short, or has another header or length.
    """
    header = 4 + 4 * axes
    try:
        with gzip.open(path) as opened:
            content = opened.read(header)
            # Only as much as the header announces, and one more byte: reading up to the end lets
            # gzip check its own checksum.
            lengths = struct.unpack(f">{axes}I", content[4:].ljust(4 * axes, b"\0"))
            content += opened.read(prod(lengths) + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error, OverflowError, MemoryError) as error:
        raise SourceError(f"{path} is cut short or not gzip ({error}). Fetch it again.") from error

    magic, expected = content[:4], bytes([0, 0, 8, axes])
    if magic != expected:
        raise SourceError(
            f"{path} is not an IDX file of bytes with {axes} axes: its magic number should be "
            f"0x{expected.hex()}, but is 0x{magic.hex()}. Fetch it again."
        )
    if len(content) < header:
        raise SourceError(
            f"{path} is cut short: its header should have {header} bytes, but there are "
            f"{len(content)}. Fetch it again."
        )
    shape = struct.unpack(f">{axes}I", content[4:header])
    if len(content) - header != prod(shape):
        found = len(content) - header
        raise SourceError(
            f"{path} should have {prod(shape)} bytes for the shape {shape}, but has "
            f"{found if found < prod(shape) else 'more'}. Fetch it again."
        )
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)
