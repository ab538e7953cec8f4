"""Pen strokes of the ten handwritten digits, as control points.

Coordinates are (x, y) in pixels from the middle of a 28x28 image, x to the right and y down. Within
a curve the pen moves smoothly through its points; a corner or a lifted pen begins a new curve. A
digit that people write in different ways has several styles, each as likely as the others.
"""

from typing import TypeAlias

import numpy as np

from glimpse_envs.core.arrays import Floats

Curve: TypeAlias = tuple[tuple[float, float], ...]
Style: TypeAlias = tuple[Curve, ...]

# fmt: off
STYLES: tuple[tuple[Style, ...], ...] = (  # indexed by digit
    (
        (((1, -9), (-4, -6.5), (-6, 0), (-4, 6.5), (0, 9), (4.5, 6.5), (6, 0),
          (4.5, -6.5), (1, -9)),),
        (((3, -8), (-1.5, -8.5), (-5, -3), (-4.5, 5), (-0.5, 9), (4, 5.5), (5, -1.5),
          (2, -8.5), (-1, -8)),),
    ),
    (
        (((0.5, -9), (0, 0), (-0.5, 9)),),
        (((-3.5, -5.5), (-1, -7), (0.5, -9)), ((0.5, -9), (0.5, 9))),
        (((-3.5, -5.5), (-1, -7), (0.5, -9)), ((0.5, -9), (0.5, 9)), ((-4, 9), (5, 9))),
    ),
    (
        (((-5, -5), (-3, -8.2), (1, -9), (4.7, -6.5), (4.3, -2.5), (0.5, 3), (-5.5, 9)),
         ((-5.5, 9), (6, 9))),
        (((-5.5, -5.5), (-2, -8.8), (2.5, -8.4), (4.6, -4.8), (2.5, 1), (-2, 6.8), (-4.8, 8.8),
          (-5.8, 7), (-3, 5.8), (1, 8.2), (6, 8.2)),),
    ),
    (
        (((-5, -7), (-1, -9), (3.6, -7.6), (3.6, -3.2), (-1, -0.8)),
         ((-1, -0.8), (3.6, 0.4), (5.2, 4), (3.3, 7.8), (-1, 9), (-5.5, 7))),
        (((-5, -9), (4.8, -9)), ((4.8, -9), (-0.5, -2)),
         ((-0.5, -2), (4, -0.4), (5.3, 3.8), (3, 8), (-1, 9), (-5.5, 7.2))),
    ),
    (
        (((-4.5, -8.5), (-5.5, 1)), ((-5.5, 1), (6, 0.5)), ((3, -9), (2.5, 9))),
        (((2.5, -9), (-6, 3)), ((-6, 3), (6.5, 3)), ((2.5, -9), (2.5, 9))),
    ),
    (
        (((-4, -9), (5, -9)), ((-4, -9), (-4.7, -1.2)),
         ((-4.7, -1.2), (-0.5, -2.5), (4.2, -0.2), (5.2, 4), (2.5, 8.2), (-2, 9), (-5.5, 7))),
        (((5.5, -9), (-1, -8.4)), ((-1, -8.4), (-3.5, -4), (-2.5, -1.8), (2.5, 0.4),
          (4, 4.5), (1, 8.4), (-5, 8.6))),
    ),
    (
        (((3.5, -9), (-1.5, -6), (-4.8, 0), (-4.6, 5.8), (-0.5, 9), (4, 7.3),
          (4.8, 3.4), (1.5, 0.5), (-2.5, 1.6), (-4.6, 5)),),
        (((-0.5, -9), (-3, -3), (-4, 3.5), (-2.5, 8), (1.5, 8.9), (4.2, 5.8), (3, 2.4),
          (-0.5, 2.4), (-3.4, 6)),),
    ),
    (
        (((-5.5, -8.5), (5.5, -8.5)), ((5.5, -8.5), (1.5, 0), (-1, 9))),
        (((-5.5, -8.5), (5.5, -8.5)), ((5.5, -8.5), (1.5, 0), (-1, 9)), ((-2.8, 0.4), (5, 0))),
        (((-5, -5), (-5, -8)), ((-5, -8), (0, -7.6), (5, -8.4)), ((5, -8.4), (2.5, 0), (2, 9))),
    ),
    (
        (((3.8, -6.2), (0.5, -9), (-3.6, -7.4), (-3.2, -3.6), (0.4, -0.8), (4.4, 3),
          (4, 7.3), (0, 9), (-4.2, 7.2), (-4, 3.2), (0.2, -0.8), (3.4, -3.6), (3.8, -6.2)),),
        (((0, -9), (-3.4, -7), (-3, -2.8), (0, -1), (3.2, -2.8), (3.4, -7), (0, -9)),
         ((0, -1), (-4, 1.2), (-4.4, 6), (0, 9), (4.4, 6), (4, 1.2), (0, -1))),
    ),
    (
        (((4.3, -6), (1, -8.9), (-3.4, -7.6), (-4.6, -3.8), (-1.8, -1), (2.4, -2.2), (4.3, -6)),
         ((4.3, -6), (3.8, 1), (3, 9))),
        (((4.5, -6), (1, -8.9), (-3.2, -7.8), (-4.4, -4), (-1.6, -1.2), (2.6, -2.6), (4.5, -6)),
         ((4.5, -6), (4.9, 1), (3.4, 7), (-0.5, 9), (-4.2, 7.4))),
    ),
)
# fmt: on


def trace(curve: Curve) -> Floats:
    """The smooth path of the pen through a curve's control points, (points, 2), finely sampled.

    A cubic Hermite spline over centripetal knots (Lee, 1989), which neither overshoots nor loops
    between uneven points. A curve that ends where it began is closed without a corner.
    """
    points = np.array(curve)
    closed = len(curve) > 2 and curve[0] == curve[-1]
    if closed:
        points = np.concatenate([points[-2:-1], points, points[1:2]])
    spacing = np.sqrt(np.linalg.norm(np.diff(points, axis=0), axis=1))
    knots = np.concatenate([[0.0], np.cumsum(spacing)])
    slopes = np.gradient(points, knots, axis=0)
    spans = np.arange(len(points) - 1)[1:-1] if closed else np.arange(len(points) - 1)

    u = np.linspace(0, 1, 32)[None, :, None]  # (1, samples, 1), along each span
    start, end = points[spans, None], points[spans + 1, None]  # (spans, 1, 2)
    width = spacing[spans, None, None]
    path = (
        (2 * u**3 - 3 * u**2 + 1) * start
        + (u**3 - 2 * u**2 + u) * width * slopes[spans, None]
        + (3 * u**2 - 2 * u**3) * end
        + (u**3 - u**2) * width * slopes[spans + 1, None]
    )
    return path.reshape(-1, 2)


def sample_style(style: Style, total: int) -> list[Floats]:
    """A style's curves as polylines of (points, 2), `total` points in all, evenly spaced."""
    paths = [trace(curve) for curve in style]
    travelled = [
        np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
        for path in paths
    ]
    lengths = np.array([distance[-1] for distance in travelled])
    cuts = np.rint(np.cumsum(lengths) / lengths.sum() * total).astype(int)
    counts = np.diff(cuts, prepend=0)
    return [
        np.stack([np.interp(np.linspace(0, d[-1], n), d, path[:, axis]) for axis in (0, 1)], axis=1)
        for path, d, n in zip(paths, travelled, counts, strict=True)
    ]
