"""Strokes on an RGB canvas: enlarged images, text, paths and marks.

Every canvas is a (height, width, 3) uint8 array and is drawn on in place. Points are (x, y) in
edge coordinates: canvas pixel (r, c) covers x in [c, c + 1), y in [r, r + 1).
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.rendering.palette import (
    BACKGROUND,
    HALO,
    PATH,
    PRESENT,
    TEXT,
    Colour,
    verdict_colour,
)

Canvas = NDArray[np.uint8]

SUBPIXEL_BITS = 4


def blank(height: int, width: int, colour: Colour) -> Canvas:
    """A canvas of one colour, (height, width, 3)."""
    canvas = np.empty((height, width, 3), np.uint8)
    canvas[:] = colour
    return canvas


def enlarge(image: NDArray[np.floating], height: int, width: int) -> Canvas:
    """(C, H, W) in [0, 1], grey or RGB, to a canvas of (height, width, 3).

    Pixels stay square and sharp: repeated a whole number of times, then averaged down to size.
    """
    import cv2

    channels, rows, columns = image.shape
    clipped = np.clip(np.nan_to_num(image.astype(np.float32)), 0.0, 1.0)
    rgb = np.broadcast_to(clipped, (3, rows, columns)) if channels == 1 else clipped
    pixels = np.rint(255.0 * rgb.transpose(1, 2, 0)).astype(np.uint8)  # (H, W, 3)
    repeated = pixels.repeat(-(-height // rows), axis=0).repeat(-(-width // columns), axis=1)
    return np.asarray(cv2.resize(repeated, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


def draw_text(
    canvas: Canvas,
    text: str,
    corner: tuple[int, int],
    size: int,
    colour: Colour,
    width: int,
) -> None:
    """Write one line, its capitals `size` pixels high, below and right of `corner` (x, y).

    A line longer than `width` pixels is written smaller, so that it always fits.
    """
    import cv2

    if not text:
        return
    font, thickness = cv2.FONT_HERSHEY_SIMPLEX, 1
    # Measured, not assumed: OpenCV 4 and 5 draw this font at different sizes.
    (_, capital), _ = cv2.getTextSize("H", font, 1.0, thickness)
    scale = size / capital
    (needed, _), _ = cv2.getTextSize(text, font, scale, thickness)
    scale *= min(1.0, width / max(needed, 1))
    left, top = corner
    cv2.putText(canvas, text, (left, top + size), font, scale, colour, thickness, cv2.LINE_AA)


def draw_outline(
    canvas: Canvas, centre: tuple[float, float], side: float, colour: Colour, thickness: int
) -> None:
    """The outline of a square window, inside the window's edges; cut off at the canvas's edge."""
    left, top, right, bottom = window_edges(centre, side)
    rows, columns = np.ogrid[: canvas.shape[0], : canvas.shape[1]]
    # How far inside the window each pixel lies: 1 along its edge, below 1 outside.
    depth_down = np.minimum(rows - top + 1, bottom - rows)  # (height, 1)
    depth_across = np.minimum(columns - left + 1, right - columns)  # (1, width)
    depth = np.minimum(depth_down, depth_across)
    canvas[(depth >= 1) & (depth <= thickness)] = colour


def window_edges(centre: tuple[float, float], side: float) -> tuple[int, int, int, int]:
    """(left, top, right, bottom) of a square window, to whole pixels, right and bottom excluded."""
    x, y = centre
    half = side / 2
    return round(x - half), round(y - half), round(x + half), round(y + half)


def dim_outside(canvas: Canvas, centre: tuple[float, float], side: float, light: float) -> None:
    """Leave `light` (0 to 1) of everything outside a square window."""
    left, top, right, bottom = (max(edge, 0) for edge in window_edges(centre, side))
    seen = canvas[top:bottom, left:right].copy()
    canvas[:] = np.rint(light * canvas.astype(np.float32)).astype(np.uint8)
    canvas[top:bottom, left:right] = seen


def draw_path(canvas: Canvas, path: NDArray[np.floating], unit: float) -> None:
    """Fixations joined by lines: older ones smaller and fainter, the present one in its own colour.

    Args:
        canvas: drawn on in place.
        path: (t, 2) fixations (x, y) in canvas pixels.
        unit: line width in pixels; dots scale with it.
    """
    import cv2

    one = 1 << SUBPIXEL_BITS
    # cv2 counts from pixel centres, we from pixel edges.
    fixed = np.rint((path.astype(np.float64) - 0.5) * one).astype(int)
    points = [(int(x), int(y)) for x, y in fixed]
    strengths = np.linspace(0.35, 1.0, len(points)) if len(points) > 1 else np.ones(1)
    line_width, halo_width = max(1, round(unit)), max(1, round(unit)) + 2

    def blend(before: Canvas, strength: float) -> None:
        canvas[:] = cv2.addWeighted(canvas, strength, before, 1.0 - strength, 0.0)

    for start, end, strength in zip(points[:-1], points[1:], strengths[1:], strict=True):
        before = canvas.copy()
        cv2.line(canvas, start, end, HALO, halo_width, cv2.LINE_AA, SUBPIXEL_BITS)
        cv2.line(canvas, start, end, PATH, line_width, cv2.LINE_AA, SUBPIXEL_BITS)
        blend(before, float(strength))
    for point, strength in zip(points[:-1], strengths[:-1], strict=True):
        before = canvas.copy()
        _draw_dot(canvas, point, unit * (1.2 + 1.2 * float(strength)), PATH)
        blend(before, float(strength))
    _draw_dot(canvas, points[-1], 2.8 * unit, PRESENT)


def _draw_dot(canvas: Canvas, point: tuple[int, int], radius: float, colour: Colour) -> None:
    import cv2

    one = 1 << SUBPIXEL_BITS
    for extent, fill in ((radius + 1.2, HALO), (radius, colour)):
        cv2.circle(canvas, point, round(extent * one), fill, -1, cv2.LINE_AA, SUBPIXEL_BITS)


def draw_mark(canvas: Canvas, corner: tuple[int, int], size: int, verdict: bool | None) -> None:
    """A tick on green, a cross on red, or a grey ring while the verdict is open."""
    import cv2

    one = 1 << SUBPIXEL_BITS
    colour = verdict_colour(verdict)
    centre = np.array(corner, np.float64) + size / 2

    def at(x: float, y: float) -> tuple[int, int]:
        fixed = np.rint((centre + np.array((x, y)) * size / 2 - 0.5) * one).astype(int)
        return int(fixed[0]), int(fixed[1])

    stroke = max(1, size // 8)
    cv2.circle(canvas, at(0, 0), round(size / 2 * one), colour, -1, cv2.LINE_AA, SUBPIXEL_BITS)
    if verdict is None:
        inner = round((size / 2 - stroke) * one)
        cv2.circle(canvas, at(0, 0), inner, BACKGROUND, -1, cv2.LINE_AA, SUBPIXEL_BITS)
        return
    strokes = (
        ((-0.45, 0.05), (-0.12, 0.38), (0.48, -0.32))
        if verdict
        else ((-0.36, -0.36), (0.36, 0.36), (0, 0), (0.36, -0.36), (-0.36, 0.36))
    )
    for start, end in pairwise(strokes):
        cv2.line(canvas, at(*start), at(*end), TEXT, stroke, cv2.LINE_AA, SUBPIXEL_BITS)
