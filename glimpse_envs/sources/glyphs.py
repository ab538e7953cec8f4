"""Digits that look handwritten and need no files: pen strokes, deformed and drawn.

Every glyph is a digit's polyline (`glyph_strokes`), warped elastically as by Simard et
al. (2003, "Best practices for convolutional neural networks"), then scaled, slanted, rotated and
moved. As in MNIST, it is white on black, fills about the central 20x20 pixels of a 28x28 image
and is centred by its mass. There are unlimited glyphs: (split, index) names one, and nothing else
affects it.
"""

from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glimpse_envs.core.arrays import Bytes, Floats, Ints
from glimpse_envs.sources.examples import SPLITS, Examples, SourceInfo
from glimpse_envs.sources.glyph_strokes import STYLES, sample_style

BANK_SIZES = {"train": 50_000, "validation": 10_000, "test": 10_000}
SIDE = 28
SUPERSAMPLING = 4  # drawn this much larger without anti-aliasing, then averaged
SUBPIXEL_BITS = 4
POINTS = 40  # of a glyph's polylines together
LATTICE = 4  # the warp's random displacements stand on a LATTICE x LATTICE grid
REACH = 11.5  # the greatest distance of the pen's path from the middle, in pixels along an axis

# The ends of the ranges of uniform numbers.
ROTATION = (-0.2, 0.2)  # radians
SLANT = (-0.15, 0.4)  # pixels to the right for each pixel up
WIDTH = (0.75, 1.15)
HEIGHT = (0.82, 1.02)
OFFSET = (-1.0, 1.0)  # pixels, each axis
PEN = (1.4, 3.3)  # the stroke's width, pixels
WARP = (-2.4, 2.4)  # pixels, each lattice node and axis

DRAWS = 9 + 2 * LATTICE**2  # random numbers per glyph
BLOCK = 256  # glyphs that share one counter-based stream
CHUNK = 1024  # glyphs drawn at a time, which bounds the memory


def describe(source: str) -> SourceInfo:
    """Shape and classes of the glyphs."""
    return SourceInfo(source, (1, SIDE, SIDE), tuple("0123456789"), kind="digit")


def load(source: str, split: str) -> Examples:
    """The bank of a split: its first 50,000 (train) or 10,000 (validation, test) glyphs."""
    return draw_glyphs(np.arange(BANK_SIZES[split]), split)


def draw_glyphs(indices: ArrayLike, split: str) -> Examples:
    """Draw the named glyphs of a split: images (N, 1, 28, 28) and labels (N,), in order.

    Args:
        indices: (N,) integers >= 0, in any order, repeated or not, without an upper limit.
        split: "train", "validation" or "test", which share no glyph.

    Raises:
        ValueError: if `indices` is not a list of integers >= 0, or `split` is not a split.
    """
    wanted = np.asarray(indices)
    if split not in SPLITS:
        raise ValueError(f"unknown split {split!r}: it must be one of {', '.join(SPLITS)}")
    if wanted.ndim != 1 or (wanted.size and not np.issubdtype(wanted.dtype, np.integer)):
        raise ValueError(
            f"glyph indices must be a list of integers, not {wanted.dtype} {wanted.shape}"
        )
    if wanted.size and wanted.min() < 0:
        raise ValueError(f"glyph indices must be >= 0, but one is {wanted.min()}")

    images = np.empty((len(wanted), 1, SIDE, SIDE), np.uint8)
    labels = np.empty(len(wanted), np.int64)
    for start in range(0, len(wanted), CHUNK):
        chunk = slice(start, start + CHUNK)
        uniform = _uniform(wanted[chunk].astype(np.uint64), split)  # (n, DRAWS)
        labels[chunk], styles = _choose_styles(uniform[:, 0], uniform[:, 1])
        paths = _deform(styles, uniform[:, 2:])
        pens = _stretch(PEN, uniform[:, 8])
        images[chunk, 0] = _draw(paths, styles, pens)
    return Examples(images, labels)


def _uniform(indices: NDArray[np.uint64], split: str) -> Floats:
    """Random numbers in [0, 1) for each glyph, (n, DRAWS), from streams keyed by (split, block)."""
    blocks, rows = np.divmod(indices, np.uint64(BLOCK))
    uniform = np.empty((len(indices), DRAWS))
    for block in np.unique(blocks):
        key = np.array([SPLITS.index(split), block], np.uint64)
        raw = np.random.Philox(key=key).random_raw(BLOCK * DRAWS).reshape(BLOCK, DRAWS)
        here = blocks == block
        uniform[here] = (raw[rows[here]] >> np.uint64(11)) * 2.0**-53
    return uniform


def _stretch(ends: tuple[float, float], uniform: Floats) -> Floats:
    """Numbers in [0, 1) mapped to the range between two ends, in the same shape."""
    low, high = ends
    return low + (high - low) * uniform


def _choose_styles(digit: Floats, style: Floats) -> tuple[Ints, Ints]:
    """Labels (n,), and rows (n,) of the style table, from two numbers in [0, 1) per glyph."""
    styles_of = np.array([len(styles) for styles in STYLES])  # (10,)
    first = np.cumsum(styles_of) - styles_of
    labels = (digit * len(STYLES)).astype(np.int64)
    return labels, first[labels] + (style * styles_of[labels]).astype(np.int64)


@cache
def _style_table() -> tuple[Floats, Floats, tuple[tuple[slice, ...], ...]]:
    """Return the styles' points (S, P, 2), their lattice weights (S, P, nodes), and the curves."""
    curves = [sample_style(style, POINTS) for styles in STYLES for style in styles]
    points = np.stack([np.concatenate(style) for style in curves])  # (S, P, 2)
    axis = np.linspace(-10, 10, LATTICE)
    nodes = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)  # (nodes, 2)
    distance = np.linalg.norm(points[:, :, None] - nodes, axis=-1)  # (S, P, nodes)
    weights = np.exp(-0.5 * (distance / (0.6 * (axis[1] - axis[0]))) ** 2)
    weights /= weights.sum(axis=-1, keepdims=True)
    ends = [np.cumsum([len(curve) for curve in style]) for style in curves]
    parts = tuple(
        tuple(slice(end - len(curve), end) for curve, end in zip(style, stops, strict=True))
        for style, stops in zip(curves, ends, strict=True)
    )
    return points, weights, parts


def _deform(styles: Ints, uniform: Floats) -> Floats:
    """The pen's paths, (n, P, 2) in pixels (x, y) from the middle, from (n, DRAWS - 2) numbers."""
    points, weights, _ = _style_table()
    rotation = _stretch(ROTATION, uniform[:, 0])
    slant = _stretch(SLANT, uniform[:, 1])
    width = _stretch(WIDTH, uniform[:, 2])
    height = _stretch(HEIGHT, uniform[:, 3])
    offset = _stretch(OFFSET, uniform[:, 4:6])  # (n, 2)
    nodes = _stretch(WARP, uniform[:, 7:]).reshape(-1, LATTICE**2, 2)

    # The columns of rotation @ slant @ scale; y points down, so slanting right takes from x.
    cos, sin = np.cos(rotation), np.sin(rotation)
    x_axis = np.stack([cos * width, sin * width], axis=-1)
    y_axis = np.stack([-sin - slant * cos, cos - slant * sin], axis=-1) * height[:, None]

    paths = points[styles] + weights[styles] @ nodes
    paths = paths[:, :, :1] * x_axis[:, None] + paths[:, :, 1:] * y_axis[:, None]
    paths += (offset - paths.mean(axis=1))[:, None]
    furthest = np.abs(paths).max(axis=(1, 2), keepdims=True)
    return paths * np.minimum(1.0, REACH / furthest)


def _draw(paths: Floats, styles: Ints, pens: Floats) -> Bytes:
    """Draw the paths (n, P, 2) with pens of (n,) pixels: (n, 28, 28), white on black."""
    from glimpse_envs.core.opencv import cv2

    _, _, parts = _style_table()
    large = SIDE * SUPERSAMPLING
    # OpenCV's pixel centres are whole numbers, so the middle of the canvas is (large - 1) / 2.
    place = paths * SUPERSAMPLING + (large - 1) / 2
    fixed_point = np.rint(place * 2**SUBPIXEL_BITS).astype(np.int32)
    widths = np.rint(pens * SUPERSAMPLING).astype(int).tolist()
    canvas = np.zeros((len(paths), large, large), np.uint8)
    for glyph, style, width, sheet in zip(
        fixed_point, styles.tolist(), widths, canvas, strict=True
    ):
        curves = [glyph[part] for part in parts[style]]
        cv2.polylines(sheet, curves, False, 255, width, cv2.LINE_8, SUBPIXEL_BITS)
    column = canvas.reshape(-1, large)  # the glyphs below each other: resized in one call
    small = cv2.resize(column, (SIDE, len(paths) * SIDE), interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8).reshape(-1, SIDE, SIDE)
