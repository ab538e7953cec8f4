"""A folder of the user's own images: `PATH/class name/image.png`.

If PATH has the three folders train, validation and test, these hold the class folders. Otherwise
each image falls into a split, 80 : 10 : 10, by a hash of its class and file name, so that it stays
in its split when others are added. Images of mixed sizes are resized by "folder:PATH?resize=28".
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from glimpse_envs.core.arguments import shown
from glimpse_envs.core.arrays import Bytes, Ints
from glimpse_envs.core.memory import memory_of_machine
from glimpse_envs.sources.examples import SPLITS, Examples, SourceError, SourceInfo
from glimpse_envs.sources.image_files import check_file, read_image, resized, stamp_of

_RESIZE = re.compile(r"\?resize=([1-9][0-9]{0,3})$")
SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp")
UNREAD = (".webp", ".gif", ".tif", ".tiff", ".avif", ".heic", ".jp2", ".ppm", ".pgm")
"""Endings of images that are refused, not left out: they would be missed."""
LAYOUT = "It must hold one folder of images (png, jpg, bmp) for each class"


@dataclass(frozen=True)
class ImageFolder:
    """Images, labels and splits of a folder."""

    class_names: tuple[str, ...]
    images: Bytes  # (N, C, h, w)
    labels: Ints  # (N,)
    splits: Ints  # (N,), indices into SPLITS
    fingerprint: str  # of names and contents


def describe(source: str) -> SourceInfo:
    """Shape and classes of "folder:PATH"; reads all its images.

    Raises:
        ValueError: `source` has an unknown option after PATH.
        SourceError: if the folder is missing or empty, or an image is damaged or of another size.
    """
    folder = read_folder(path_of(source), side_of(source))
    channels, height, width = folder.images.shape[1:]
    return SourceInfo(source, (channels, height, width), folder.class_names, folder.fingerprint)


def load(source: str, split: str) -> Examples:
    """The images of a split of "folder:PATH", in the order of `digest_of`, in which classes are
    mixed: the first few of a split stand for all.

    Raises:
        SourceError: as for `describe`, and if no image is in this split.
    """
    folder = read_folder(path_of(source), side_of(source))
    chosen = folder.splits == SPLITS.index(split)
    if not chosen.any():
        raise SourceError(
            f"{path_of(source)} has {len(chosen)} images, of which none is in the split {split}. "
            f"Add images, or sort them into the folders {', '.join(SPLITS)}."
        )
    return Examples(folder.images[chosen], folder.labels[chosen])


def path_of(source: str) -> Path:
    """The absolute path in "folder:PATH".

    Raises:
        ValueError: the text after a question mark is neither an option nor part of a folder's name.
    """
    path = Path(_RESIZE.sub("", source).partition(":")[2]).expanduser().resolve()
    _, mark, option = path.name.rpartition("?")
    if mark and not path.is_dir():
        raise ValueError(
            f"source={shown(source)} has the option {option!r}; there is only resize=SIDE, with a "
            'side from 1 to 9999 pixels, as in "folder:PATH?resize=28"'
        )
    return path


def side_of(source: str) -> int | None:
    """The side in "folder:PATH?resize=SIDE" to which images are resized; None: no resizing."""
    found = _RESIZE.search(source)
    return None if found is None else int(found[1])


Found = list[tuple[int, str, Path]]
"""The (split, class name, path) of images."""

_READ: dict[tuple[Path, int | None], tuple[object, ImageFolder]] = {}
"""(root, side) -> the stamps of a folder's files when it was last read, and its images."""


def read_folder(root: Path, side: int | None = None) -> ImageFolder:
    """Return all images under `root`, resized to `side` x `side` pixels unless it is None. They are
    read again if names, sizes or modification times of the files have changed.

    Raises:
        SourceError: if the folder is missing or empty, or an image is damaged or of another size.
    """
    files = find_images(root)
    stamps = [(*file, stamp_of(file[2])) for file in files]
    before = _READ.get((root, side))
    if before is None or before[0] != stamps:
        _READ[root, side] = before = stamps, _read_images(root, files, side)
    return before[1]


def forget() -> None:
    """Drop the images of all folders that were read."""
    _READ.clear()


def _read_images(root: Path, files: Found, side: int | None) -> ImageFolder:
    """Read `files`, all images under `root`: as grey if all of them are grey, else as RGB."""
    first = _read(files[0][2], side)
    needed = 2 * len(files) * first.nbytes  # as they are read, and by channels
    if needed > memory_of_machine():
        raise SourceError(
            f"{root} has {len(files)} images, which need {needed:,} bytes of memory; this machine "
            f"has {memory_of_machine():,}. Resize or remove some."
        )
    content = hashlib.sha256()
    colours = np.empty((len(files), *first.shape), np.uint8)  # (N, h, w, 3)
    for row, (_, _, path) in zip(colours, files, strict=True):
        image = _read(path, side)
        if image.shape != first.shape:
            raise SourceError(
                f"{path} has {_size(image)} pixels, but {files[0][2]} has {_size(first)}: "
                f"all images must be of one size. Resize it to {_size(first)}, or all "
                'by source="folder:PATH?resize=SIDE".'
            )
        row[:] = image
        content.update(row)
    grey = np.array_equal(colours[..., 0], colours[..., 1]) and np.array_equal(
        colours[..., 1], colours[..., 2]
    )
    class_names = tuple(sorted({name for _, name, _ in files}))
    content.update(repr([(split, name, path.name) for split, name, path in files]).encode())
    return ImageFolder(
        class_names,
        np.ascontiguousarray(colours[..., : 1 if grey else 3].transpose(0, 3, 1, 2)),
        np.array([class_names.index(name) for _, name, _ in files]),
        np.array([split for split, _, _ in files]),
        content.hexdigest(),
    )


def find_images(root: Path) -> Found:
    """The (split, class name, path) of every image, in the order of `digest_of`.

    Raises:
        SourceError: if there is no folder, no class or no image, or a split's folder is missing.
    """
    if not root.is_dir():
        raise SourceError(f"{root} is not a folder. {LAYOUT}.")
    names = {folder.name for folder in _folders(root)}
    if not names:
        raise SourceError(f"{root} has no folders in it. {LAYOUT}.")
    misnamed = sorted(names & {"val", "valid"})
    if misnamed and "train" in names:
        raise SourceError(
            f"{root} has the folders train and {misnamed[0]}: rename {misnamed[0]} to validation. "
            f"It must have {', '.join(SPLITS)}, or class folders alone."
        )
    if names <= set(SPLITS) or names >= set(SPLITS):
        absent = [split for split in SPLITS if split not in names]
        if absent:
            raise SourceError(
                f"{root} is sorted into splits, but has no folder {' and '.join(absent)}. "
                f"It must have {', '.join(SPLITS)}, or class folders alone."
            )
        found = [
            (SPLITS.index(split), name, path)
            for split in SPLITS
            for name, path in _images(root / split)
        ]
    else:
        found = [(split_of(f"{name}/{path.name}"), name, path) for name, path in _images(root)]
    return sorted(found, key=lambda image: (digest_of(f"{image[1]}/{image[2].name}"), image[0]))


def digest_of(relative: str) -> bytes:
    """The SHA-256 of the name "class/file" of an image."""
    return hashlib.sha256(relative.encode()).digest()


def split_of(relative: str) -> int:
    """The split, an index into SPLITS, of the image "class/file", by `digest_of`."""
    tenth = int.from_bytes(digest_of(relative)[:8]) % 10
    return SPLITS.index({8: "validation", 9: "test"}.get(tenth, "train"))


def _images(parent: Path) -> list[tuple[str, Path]]:
    """The (class name, path) of every image in the class folders of `parent`."""
    found = []
    for folder in _folders(parent):
        paths, inner = [], _folders(folder)
        for path in folder.iterdir():
            if path.suffix.lower() in UNREAD:
                raise SourceError(
                    f"{path} is of a format that is not read: convert such images to png, jpg or "
                    "bmp, or remove them."
                )
            if path.suffix.lower() in SUFFIXES:
                paths.append(path)
            elif path in inner and any(
                file.suffix.lower() in SUFFIXES + UNREAD for file in path.rglob("*")
            ):
                raise SourceError(
                    f"{path} is a folder within a class, whose images would be missed: move them "
                    f"into {folder}, or make it a class of its own."
                )
        if not paths:
            raise SourceError(f"{folder} holds no image (png, jpg, bmp). Add some or remove it.")
        for path in paths:
            check_file(path)
        found += [(folder.name, path) for path in paths]
    if not found:
        raise SourceError(f"{parent} has no folders in it. {LAYOUT}.")
    return found


def _folders(parent: Path) -> list[Path]:
    """The folders in a folder, without hidden ones."""
    return [path for path in parent.iterdir() if path.is_dir() and not path.name.startswith(".")]


def _read(path: Path, side: int | None) -> Bytes:
    """Read one image, resized to `side` x `side` pixels unless it is None."""
    image = read_image(path)
    return image if side is None else resized(image, side)


def _size(image: Bytes) -> str:
    """Return an image's size as text, "width x height"."""
    return f"{image.shape[1]}x{image.shape[0]}"
