"""A survey of a source: its splits, classes, and images that are there more than once."""

from typing import Any

import numpy as np
import pytest

from glimpse_envs.rendering.mosaic import mosaic
from glimpse_envs.sources import Examples, SourceError, SourceInfo, from_arrays
from glimpse_envs.sources.survey import survey, surveyed

CLASSES = ("a", "b", "c", "d")


def images(*shades: int) -> np.ndarray[Any, Any]:
    return np.array(shades, np.uint8)[:, None, None].repeat(4, 1).repeat(5, 2)


def register(name: str, **splits: tuple[tuple[int, ...], tuple[int, ...]]) -> str:
    """A source whose images are even, given by their shades and labels, split by split."""
    given = {split: (images(*shades), np.array(at)) for split, (shades, at) in splits.items()}
    from_arrays(name, class_names=CLASSES, **given)
    return name


def test_nothing_is_wrong_where_all_images_differ() -> None:
    source = register(
        "all_differ",
        train=((1, 2, 3, 4, 5, 6, 7, 8, 9), (0, 1, 2, 3, 3, 2, 1, 0, 0)),
        test=((11, 12, 13, 14), (0, 1, 2, 3)),
    )
    found = survey(source)
    assert {split: counts.tolist() for split, counts in found.counts.items()} == {
        "train": [3, 2, 2, 2],
        "test": [1, 1, 1, 1],
    }
    assert list(found.lacking) == ["validation"]
    assert found.shared == {("train", "test"): 0}
    assert found.contradicted == 0
    lines = list(surveyed(found))
    assert lines[1] == "  images       4 x 5, grey"
    assert not any(line.startswith("warning") for line in lines)


def test_what_spoils_a_comparison_is_told() -> None:
    source = register(
        "spoiled",
        train=((1, 2, 3, 3), (0, 1, 2, 2)),
        validation=((4, 5, 6, 2), (0, 1, 2, 3)),
        test=((3, 3, 7, 6), (0, 0, 0, 2)),
    )
    found = survey(source)
    assert found.shared == {
        ("train", "validation"): 1, ("train", "test"): 2, ("validation", "test"): 1,
    }  # fmt: skip
    assert found.contradicted == 2, "the shades 2 and 3 have two labels each"
    warnings = [line for line in surveyed(found) if line.startswith("warning")]
    assert warnings == [
        "warning: 1 of 4 images of 'validation' are in 'train', too",
        "warning: 2 of 4 images of 'test' are in 'train', too",
        "warning: 1 of 4 images of 'test' are in 'validation', too",
        "warning: 2 images are there with more than one label",
        "warning: 'train' has no image of d",
        "warning: 50% of the images of 'train' are of the class c; chance, on which normalised "
        "scores rest, is taken as 1 / 4",
        "warning: 'test' has no image of b, d",
        "warning: 75% of the images of 'test' are of the class a; chance, on which normalised "
        "scores rest, is taken as 1 / 4",
    ]


class Gone:
    """A source whose files are missing."""

    def describe(self, source: str) -> SourceInfo:
        return SourceInfo(source, (1, 4, 5), CLASSES)

    def load(self, source: str, split: str) -> Examples:
        raise SourceError(f"gone.npz is missing: {source}")


def test_a_source_without_any_split_is_an_error() -> None:
    with pytest.raises(SourceError, match=r"^gone\.npz is missing: .*:Gone$"):
        survey(f"{__name__}:Gone")


@pytest.mark.parametrize(
    ("side", "drawn"), [((4, 5), 50), ((48, 30), 48), ((300, 400), 134), ((1000, 20), 143)]
)
def test_images_of_any_size_fit_into_a_picture(side: tuple[int, int], drawn: int) -> None:
    row = np.full((2, 3, *side), 200, np.uint8)
    picture = mosaic([row, row[:1]])
    longest = max(picture.shape[0] // 2, picture.shape[1] // 2)
    assert drawn <= longest <= drawn + 8
    assert (picture == 200).all(axis=-1).any()
