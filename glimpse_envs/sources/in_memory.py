"""Sources of a user's own arrays, registered under a name for this process."""

import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from glimpse_envs.core.arguments import check_integers
from glimpse_envs.core.arrays import Bytes, Ints
from glimpse_envs.sources.examples import SPLITS, Examples, SourceError, SourceInfo
from glimpse_envs.sources.image_files import resized
from glimpse_envs.sources.names import SOURCES

Labelled = tuple[ArrayLike, ArrayLike]
"""Images (N, C, H, W) or (N, H, W) uint8, C being 1 or 3, and labels (N,), integers."""


@dataclass(frozen=True)
class _Registered:
    info: SourceInfo
    splits: Mapping[str, Examples]


_REGISTERED: dict[str, _Registered] = {}


def is_registered(source: str) -> bool:
    """Return whether `from_arrays` or `from_dataset` has registered `source` in this process."""
    return source in _REGISTERED


def from_arrays(
    name: str,
    *,
    train: Labelled,
    validation: Labelled | None = None,
    test: Labelled | None = None,
    class_names: tuple[str, ...] = (),
) -> None:
    """Register labelled images under `name`, for this process; spawned processes have to register
    them themselves. A name may be registered again only with the same images.

    Args:
        name: letters, digits and underscores; not that of another source.
        train, validation, test: images (N, C, H, W) or (N, H, W) uint8 of one size, and labels (N,)
            from 0 on. The arrays are copied.
        class_names: by label, no two alike; (): the labels themselves, each of which some image has
            then.

    Raises:
        ValueError: the name is taken, or the arrays or class names are not of this form.
    """
    _register(name, {"train": train, "validation": validation, "test": test}, class_names)


def from_dataset(
    name: str,
    dataset: Mapping[str, Any],
    *,
    image: str = "image",
    label: str = "label",
    resize: int | None = None,
) -> None:
    """Register a data set of Hugging Face's `datasets` library, or data sets in the form of
    torchvision's; see `from_arrays`.

    Args:
        name: as in `from_arrays`.
        dataset: split -> columns, name -> values, or pairs of an image and a label, as a data set
            of torchvision without transforms gives them. It needs "train", and splits other than
            "train", "validation" and "test" are left out.
        image: column of PIL images, or of arrays (H, W) or (H, W, 3) uint8.
        label: column of integers; class names are taken from its feature, or the `classes` of a
            data set of pairs, if it has them.
        resize: side to which the images are resized; None: they must be of one size.

    Raises:
        ValueError: the name is taken, or the data set is not of this form.
    """
    if not isinstance(dataset, Mapping):
        raise ValueError(
            f"{name}: the data set must be a mapping of splits, such as {{'train': dataset}}, not "
            f"a {type(dataset).__name__}"
        )
    if "train" not in dataset:
        raise ValueError(f"{name}: the data set has no split 'train', only {', '.join(dataset)}")
    if resize is not None:
        check_integers(1, resize=resize)
    columns = {
        split: _columns(dataset[split], image, label) for split in SPLITS if split in dataset
    }
    pixels: dict[str, Bytes] = {}
    for split in columns:
        images = [_as_colours(one) for one in _column(name, columns, split, image, "image=")]
        if not images:
            raise ValueError(f"{name}: the split {split} has no images: leave it out")
        if resize is not None:
            images = [resized(one, resize) for one in images]
        if len({one.shape for one in images}) != 1:
            raise ValueError(f"{name}: images of {split} differ in size: give resize=")
        pixels[split] = np.stack(images).transpose(0, 3, 1, 2)
    grey = all((images == images[:, :1]).all() for images in pixels.values())
    splits: dict[str, Any] = {
        split: (
            images[:, :1] if grey else images,
            np.asarray(_column(name, columns, split, label, "label=")),
        )
        for split, images in pixels.items()
    }
    feature = (getattr(dataset["train"], "features", None) or {}).get(label)
    classes = getattr(dataset["train"], "classes", None)
    names = tuple(getattr(feature, "names", None) or classes or ())
    _register(name, splits, names)


def describe(source: str) -> SourceInfo:
    """Shape and classes of a registered source."""
    return _REGISTERED[source].info


def load(source: str, split: str) -> Examples:
    """The images of a split of a registered source.

    Raises:
        SourceError: it was registered without this split.
    """
    splits = _REGISTERED[source].splits
    if split not in splits:
        raise SourceError(
            f"source={source!r} was registered without the split {split}, only with "
            f"{', '.join(splits)}: give {split}= too"
        )
    return splits[split]


def _register(
    name: str, given: Mapping[str, Labelled | None], class_names: tuple[str, ...]
) -> None:
    """Register the splits in `given`, of which "train" is one; called by what the user calls."""
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"name={name!r} must be letters, digits and underscores")
    taken = {source.partition(":")[0]: path for source, path in SOURCES.items()}
    if name in taken:
        raise ValueError(f"the name {name!r} is taken: it stands for {taken[name]}")
    splits = {
        split: _checked(f"{name}: {split}", one)
        for split, one in given.items()
        if one is not None or split == "train"
    }
    for split, examples in splits.items():
        if split != "train":  # which is dealt at random
            _warn_of_sorted(f"{name}: {split}", examples.labels)
    shape = splits["train"].images.shape[1:]
    greatest = max(int(examples.labels.max()) for examples in splits.values())
    names = tuple(map(str, class_names)) or tuple(map(str, range(greatest + 1)))
    if isinstance(class_names, str) or len(set(names)) < len(names):
        raise ValueError(
            f"{name}: class_names={class_names!r} must be a name for each label, no two alike"
        )
    used = np.unique(np.concatenate([examples.labels for examples in splits.values()]))
    if not class_names and len(used) <= greatest:
        absent = int(np.setdiff1d(np.arange(greatest + 1), used)[0])
        raise ValueError(
            f"{name}: labels must be from 0 to {len(used) - 1} for the {len(used)} that there are; "
            f"no image has the label {absent}, and one has {greatest}. Number them anew, or give "
            "class_names"
        )
    if greatest >= len(names):
        raise ValueError(f"{name}: there is a label {greatest}, but {len(names)} class_names")
    content = hashlib.sha256(repr(names).encode())
    for split, examples in splits.items():
        if examples.images.shape[1:] != shape:
            raise ValueError(
                f"{name}: images of {split} have the shape {examples.images.shape[1:]}, those of "
                f"train {shape}: all must be of one size"
            )
        content.update(f"{split}{examples.images.shape}".encode())
        content.update(examples.images.data)
        content.update(examples.labels.data)
    info = SourceInfo(name, shape, names, content.hexdigest())
    if name in _REGISTERED and _REGISTERED[name].info != info:
        raise ValueError(f"name={name!r} is registered with other images: choose another name")
    _REGISTERED[name] = _Registered(info, splits)


def _columns(rows: Any, image: str, label: str) -> Any:
    """Return the rows of a split as columns, name -> values; pairs are taken apart."""
    if isinstance(rows, Mapping) or not hasattr(rows, "__getitem__") or not len(rows):
        return rows
    first = rows[0]
    if not isinstance(first, tuple) or len(first) != 2:
        return rows
    pairs = [rows[index] for index in range(len(rows))]
    return {image: [one for one, _ in pairs], label: [kind for _, kind in pairs]}


def _column(name: str, dataset: Mapping[str, Any], split: str, column: str, argument: str) -> Any:
    """Return a column of one split; `argument` is how it is named."""
    try:
        return dataset[split][column]
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{name}: the split {split} has no column {column!r}: name the right one by {argument}"
        ) from error


def _warn_of_sorted(what: str, labels: Ints) -> None:
    """Warn where the first images of a fixed split do not stand for all."""
    if len(labels) > 2 * len(np.unique(labels)) > 2 and (np.diff(labels) >= 0).all():
        warnings.warn(
            f"{what}: the images are sorted by label, so a score on the first of them, as "
            "validations during training and evaluate(episodes=...) are, is of few classes: "
            "shuffle them once, before they are registered",
            UserWarning,
            stacklevel=4,  # the user's call
        )


def _checked(what: str, labelled: Labelled | None) -> Examples:
    """Return copies of the arrays as examples."""
    if not isinstance(labelled, tuple | list) or len(labelled) != 2:
        raise ValueError(
            f"{what} must be a pair, (images, labels), not {type(labelled).__name__}"
            + (f" of {len(labelled)}" if isinstance(labelled, tuple | list) else "")
        )
    images, labels = labelled
    pixels, classes = np.asarray(images), np.asarray(labels)
    if pixels.ndim == 3:
        pixels = pixels[:, None]
    if pixels.dtype != np.uint8 or pixels.ndim != 4 or pixels.shape[1] not in (1, 3):
        cure = ""
        if pixels.dtype.kind == "f":
            cure = ": numbers from 0 to 1 become bytes by (255 * images).astype(np.uint8)"
        elif pixels.ndim == 4 and pixels.shape[3] in (1, 3):
            cure = ": give images.transpose(0, 3, 1, 2)"
        raise ValueError(
            f"{what}: images must be (N, H, W), (N, 1, H, W) or (N, 3, H, W) of uint8, not "
            f"{np.shape(images)} of {pixels.dtype}{cure}"
        )
    if classes.dtype.kind not in "iu" or classes.shape != (len(pixels),) or not pixels.size:
        raise ValueError(
            f"{what}: labels must be ({len(pixels)},) integers, one for each image, and there must "
            f"be images; they are {classes.shape} of {classes.dtype}"
        )
    if classes.min() < 0:
        raise ValueError(f"{what}: labels must be at least 0; one is {classes.min()}")
    return Examples(pixels.copy(), classes.astype(np.int64))


def _as_colours(image: Any) -> Bytes:
    """Return a PIL image or an array (H, W), (H, W, 1) or (H, W, 3) as (H, W, 3)."""
    mode = str(getattr(image, "mode", ""))
    if mode.startswith(("I", "F")):  # converting would cut, not scale
        raise ValueError(
            f"an image has the mode {mode!r}, of more than a byte a channel: make it a byte first, "
            "such as 16 bits by (np.asarray(image) >> 8).astype(np.uint8)"
        )
    has_alpha = mode in ("RGBA", "LA", "PA") or "transparency" in getattr(image, "info", {})
    if has_alpha and image.convert("RGBA").getchannel("A").getextrema()[0] < 255:
        raise ValueError(
            "an image has transparent pixels, whose colour is not what is seen: put it on a "
            "background first"
        )
    pixels = np.asarray(image.convert("RGB") if hasattr(image, "convert") else image)
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] not in (1, 3):
        raise ValueError(
            f"an image must be (H, W, 3) of uint8, not {pixels.shape} of {pixels.dtype}"
        )
    return np.broadcast_to(pixels, (*pixels.shape[:2], 3))
