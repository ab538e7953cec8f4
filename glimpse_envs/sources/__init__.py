"""Raw examples: the labelled images that scenes are made of.

A source is named by a string: "glyphs", "mnist", "fashion_mnist", "cifar10", "folder:PATH", a class
of any package as "module:Class" or "module:Class?ARGUMENT", or a name that `register_source`,
`from_arrays` or `from_dataset` registered in this process.
"""

from functools import cache
from importlib import import_module
from typing import Any, Protocol, cast

from glimpse_envs.core.arguments import shown
from glimpse_envs.core.classes import add_name, suggested_class
from glimpse_envs.sources import folder, in_memory
from glimpse_envs.sources.examples import SPLITS, Examples, SourceError, SourceInfo
from glimpse_envs.sources.in_memory import from_arrays, from_dataset
from glimpse_envs.sources.names import SOURCES

__all__ = [
    "SOURCES",
    "SPLITS",
    "Examples",
    "SourceError",
    "SourceInfo",
    "describe",
    "forget",
    "from_arrays",
    "from_dataset",
    "is_known",
    "load",
    "register_source",
]


class SourceModule(Protocol):
    """Interface of a source's module or class; `source` is the whole source string.

    `describe` reads no files. `load` returns all examples of a split, or raises a `SourceError`.
    """

    def describe(self, source: str) -> SourceInfo: ...
    def load(self, source: str, split: str) -> Examples: ...


def describe(source: str) -> SourceInfo:
    """Image shape and class names of a source; files are read only for "folder:PATH".

    Raises:
        ValueError: if there is no such source, or it describes no images.
        SourceError: if a folder is missing, empty or damaged.
    """
    info = _module(source).describe(source)
    if not isinstance(info, SourceInfo) or len(info.image_shape) != 3:
        raise ValueError(
            f"source={source!r}: describe must return a SourceInfo whose image_shape is (C, h, w), "
            f"not {shown(info)}"
        )
    if info.image_shape[0] not in (1, 3):
        raise ValueError(
            f"source={source!r}: its image_shape is {info.image_shape}; it must be (C, h, w), with "
            "a C of 1 for grey or 3 for RGB"
        )
    return info


def load(source: str, split: str, fingerprint: str | None = None) -> Examples:
    """All examples of a split, kept for the life of the process. Where a source is published in two
    parts, `validation` is the last 10,000 training images and `train` the others.

    Args:
        source: see above.
        split: "train", "validation" or "test".
        fingerprint: that of `describe`: exactly its images are returned, without a look at their
            files if they were loaded before. None: a folder's present images.

    Raises:
        ValueError: if there is no such source or split, or its examples are not as it describes
            them.
        SourceError: if a file is missing, damaged or out of reach, or the images now have another
            fingerprint.
    """
    if split not in SPLITS:
        raise ValueError(f"unknown split {split!r}: it must be one of {', '.join(SPLITS)}")
    return _kept(
        source, split, describe(source).fingerprint if fingerprint is None else fingerprint
    )


@cache
def _kept(source: str, split: str, fingerprint: str) -> Examples:
    """The examples with this fingerprint."""
    examples, info = _module(source).load(source, split), describe(source)
    if info.fingerprint != fingerprint:
        raise SourceError(
            f"the images of source={source!r} have changed since the environment was made: make it "
            "anew"
        )
    _check_promises(f"source={source!r}: load of the split {split!r}", examples, info)
    return examples


def _check_promises(what: str, examples: object, info: SourceInfo) -> None:
    """Raise a ValueError unless `examples` are as `info` says: kernels copy images of that shape,
    and take labels as indices, without checks."""
    if not isinstance(examples, Examples):
        raise ValueError(f"{what} must return Examples, not {shown(examples)}")
    if not len(examples):
        raise ValueError(f"{what} returned no images; there must be at least one")
    if examples.images.shape[1:] != tuple(info.image_shape):
        raise ValueError(
            f"{what} returned images of the shape {examples.images.shape[1:]}; describe promises "
            f"{tuple(info.image_shape)}"
        )
    least, greatest = int(examples.labels.min()), int(examples.labels.max())
    if least < 0 or greatest >= len(info.class_names):
        raise ValueError(
            f"{what} returned a label {least if least < 0 else greatest}; describe names "
            f"{len(info.class_names)} classes, so labels are from 0 to {len(info.class_names) - 1}"
        )


def forget() -> None:
    """Drop all examples that are kept; they are loaded again when they are needed."""
    _kept.cache_clear()
    folder.forget()


def register_source(name: str, path: str) -> None:
    """Let `source=name` stand for the class "module:Class", in this process. The class is made
    without arguments, and has the methods of `SourceModule`.

    Raises:
        ValueError: the name stands for something else.
    """
    if in_memory.is_registered(name):
        raise ValueError(f"the name {name!r} is taken: it stands for arrays of this process")
    add_name(SOURCES, name, path)


def is_known(source: object) -> bool:
    """Return whether `source` names a source, or is written as a class; nothing is imported."""
    if not isinstance(source, str):
        return False
    return in_memory.is_registered(source) or _key(source) in SOURCES or _is_class(source)


def _key(source: str) -> str:
    """Return the key of a source in `SOURCES`."""
    name, colon, argument = source.partition(":")
    return f"{name}:PATH" if colon and argument else source


def _is_class(source: str) -> bool:
    """Whether `source` is written "module:Class", or so with an argument after "?"."""
    module, _, name = source.partition("?")[0].partition(":")
    return name.isidentifier() and all(part.isidentifier() for part in module.split("."))


_RIGHT = (
    f"must be one of {', '.join(SOURCES)}, the name of a class as a string, 'module:Class', or "
    "registered in this process: sources of glimpse_envs.sources.from_arrays and from_dataset have "
    "to be registered in each process that uses them, spawned workers and unpickling ones included"
)


def _module(source: str) -> SourceModule:
    """The module or class of a source, imported only now, because some of them import much."""
    if not is_known(source):
        raise ValueError(f"source={shown(source)} {_RIGHT}{suggested_class(source, SOURCES)}")
    if in_memory.is_registered(source):
        return in_memory
    # An argument is the class's own: it is given the whole string.
    path = SOURCES.get(_key(source), source.partition("?")[0])
    name, _, class_name = path.partition(":")
    try:
        found: Any = import_module(name)
    except ModuleNotFoundError as error:
        raise ValueError(f"source={source!r} {_RIGHT}; there is no module {error.name}") from error
    if class_name:
        found = getattr(found, class_name, None)
        if not (hasattr(found, "describe") and hasattr(found, "load")):
            raise ValueError(
                f"source={source!r}: {name} has no class {class_name} with the methods describe "
                "and load of glimpse_envs.sources.SourceModule"
            )
        found = found()
    return cast(SourceModule, found)
