"""Glyphs depend on split and index alone, and can be distinguished."""

import numpy as np
import pytest

from glimpse_envs.sources import (
    SPLITS,
    load,
)
from glimpse_envs.sources.glyphs import draw_glyphs


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


@pytest.mark.learning
def test_splits_and_indices_share_no_glyph() -> None:
    images = [image.tobytes() for split in SPLITS for image in load("glyphs", split).images[:2000]]
    assert len(set(images)) == 6000


@pytest.mark.learning
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
