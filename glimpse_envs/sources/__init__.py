"""Raw examples: the labelled images that scenes are made of.

A source is named by a string: "glyphs", "mnist", "fashion_mnist", "cifar10", "folder:PATH", or a
name under which `from_arrays` or `from_dataset` registered images in this process.
"""

from functools import cache
from importlib import import_module
from typing import Protocol, cast

from glimpse_envs.core.arguments import shown
from glimpse_envs.sources import in_memory
from glimpse_envs.sources.examples import SPLITS, Examples, SourceError, SourceInfo
from glimpse_envs.sources.in_memory import from_arrays, from_dataset

__all__ = [
    "SOURCES",
    "SPLITS",
    "Examples",
    "SourceError",
    "SourceInfo",
    "describe",
    "from_arrays",
    "from_dataset",
    "is_known",
    "load",
]

SOURCES: dict[str, str] = {
    "glyphs": "glimpse_envs.sources.glyphs",
    "mnist": "glimpse_envs.sources.idx",
    "fashion_mnist": "glimpse_envs.sources.idx",
    "cifar10": "glimpse_envs.sources.cifar",
    "folder:PATH": "glimpse_envs.sources.folder",
}
"""The one list of sources: the module which has each one's `describe` and `load`."""


class SourceModule(Protocol):
    """Interface of a source's module; `source` is the whole source string."""

    def describe(self, source: str) -> SourceInfo: ...
    def load(self, source: str, split: str) -> Examples: ...


def describe(source: str) -> SourceInfo:
    """Image shape and class names of a source; only "folder:PATH" touches files for it.

    Raises:
        ValueError: if there is no such source.
        SourceError: if a folder is missing, empty or damaged.
    """
    return _module(source).describe(source)


@cache
def load(source: str, split: str) -> Examples:
    """All examples of a split, kept for the life of the process. Where a source is published in two
    parts, `validation` is the last 10,000 training images and `train` the others.

    Raises:
        ValueError: if there is no such source or split.
        SourceError: if a file is missing, damaged or out of reach.
    """
    if split not in SPLITS:
        raise ValueError(f"unknown split {split!r}: it must be one of {', '.join(SPLITS)}")
    return _module(source).load(source, split)


def is_known(source: object) -> bool:
    """Return whether `source` names a source; no file is touched."""
    if not isinstance(source, str):
        return False
    return in_memory.is_registered(source) or _key(source) in SOURCES


def _key(source: str) -> str:
    """Return the key of a source in `SOURCES`."""
    name, colon, argument = source.partition(":")
    return f"{name}:PATH" if colon and argument else source


def _module(source: str) -> SourceModule:
    """The module of a source, imported now, because some of them import much."""
    if not is_known(source):
        raise ValueError(
            f"source={shown(source)} must be one of {', '.join(SOURCES)}, or registered in this "
            "process: sources of glimpse_envs.sources.from_arrays and from_dataset have to be "
            "registered in each process that uses them, spawned workers and unpickling ones "
            "included"
        )
    if in_memory.is_registered(source):
        return in_memory
    return cast(SourceModule, import_module(SOURCES[_key(source)]))
