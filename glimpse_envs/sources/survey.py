"""A survey of a source: how many images its splits hold, of which classes, and which of them are in
more than one place."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import combinations

import numpy as np

from glimpse_envs.core.arrays import Ints
from glimpse_envs.sources import SPLITS, Examples, SourceError, SourceInfo, describe, load


@dataclass(frozen=True)
class Survey:
    """What is in a source. Two images are the same if all their pixels are."""

    info: SourceInfo
    counts: dict[str, Ints]
    """Split -> number of images of each class (classes,), of the splits that there are."""
    lacking: dict[str, str]
    """Split -> why it could not be loaded."""
    shared: dict[tuple[str, str], int]
    """Two splits -> number of images of the second one that are in the first one, too."""
    contradicted: int
    """Number of different images that are there with more than one label."""


def survey(source: str) -> Survey:
    """Load all splits of a source and compare their images.

    Raises:
        ValueError: there is no such source, or its examples are not as it describes them.
        SourceError: no split can be loaded.
    """
    info = describe(source)
    found: dict[str, Examples] = {}
    lacking: dict[str, str] = {}
    for split in SPLITS:
        try:
            found[split] = load(source, split)
        except SourceError as error:
            lacking[split] = str(error)
    if not found:
        raise SourceError("; ".join(dict.fromkeys(lacking.values())))
    digests = {split: _digests(examples) for split, examples in found.items()}
    labels: dict[bytes, set[int]] = {}
    for split, examples in found.items():
        for digest, label in zip(digests[split], examples.labels.tolist(), strict=True):
            labels.setdefault(digest, set()).add(label)
    return Survey(
        info=info,
        counts={
            split: np.bincount(examples.labels, minlength=len(info.class_names))
            for split, examples in found.items()
        },
        lacking=lacking,
        shared={
            (one, other): sum(map(set(digests[one]).__contains__, digests[other]))
            for one, other in combinations(found, 2)
        },
        contradicted=sum(len(named) > 1 for named in labels.values()),
    )


def _digests(examples: Examples) -> list[bytes]:
    return [blake2b(image, digest_size=16).digest() for image in examples.images]


def surveyed(found: Survey) -> Iterator[str]:
    """A survey in lines of text; what would spoil a comparison comes last."""
    channels, height, width = found.info.image_shape
    names = ", ".join(found.info.class_names)
    yield found.info.name
    yield f"  images       {height} x {width}, {'grey' if channels == 1 else 'RGB'}"
    yield f"  classes      {len(found.info.class_names)}: {names}"
    for split, counts in found.counts.items():
        least, most = int(counts.min()), int(counts.max())
        each = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        yield f"  {split:12} {counts.sum():,} images, {each} of each class"
    for split, reason in found.lacking.items():
        yield f"  {split:12} none: {reason}"
    yield from _warnings(found)


def _warnings(found: Survey) -> Iterator[str]:
    for (one, other), count in found.shared.items():
        if count:
            yield (
                f"warning: {count:,} of {found.counts[other].sum():,} images of {other!r} are in "
                f"{one!r}, too"
            )
    if found.contradicted:
        yield f"warning: {found.contradicted:,} images are there with more than one label"
    for split, counts in found.counts.items():
        absent = [found.info.class_names[label] for label in np.flatnonzero(counts == 0)]
        if absent:
            yield f"warning: {split!r} has no image of {', '.join(absent)}"
        share = counts.max() / counts.sum()
        if share > 1 / len(counts) + 0.1:
            yield (
                f"warning: {share:.0%} of the images of {split!r} are of the class "
                f"{found.info.class_names[counts.argmax()]}; chance, on which normalised scores "
                f"rest, is taken as 1 / {len(counts)}"
            )
