"""Strokes on an RGB canvas: enlarged images, text, paths and marks.

Every canvas is a (height, width, 3) uint8 array and is drawn on in place. Points are (x, y) in
edge coordinates: canvas pixel (r, c) covers x in [c, c + 1), y in [r, r + 1).
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from glimpse_envs.core.arrays import Bytes, Floats
from glimpse_envs.rendering.palette import (
    BACKGROUND,
    HALO,
    PATH,
    PRESENT,
    TARGET,
    TEXT,
    Colour,
    verdict_colour,
)

Canvas = Bytes

SUBPIXEL_BITS = 4


def blank(height: int, width: int, colour: Colour) -> Canvas:
    """A canvas of one colour, (height, width, 3)."""
    canvas = np.empty((height, width, 3), np.uint8)
    canvas[:] = colour
    return canvas


def enlarge(image: NDArray[np.floating], height: int, width: int) -> Canvas:
    """Enlarge (C, H, W) in [0, 1], grey or RGB, to a canvas (height, width, 3).

    Pixels stay square and sharp: repeated a whole number of times, then averaged down to size.
    """
    from glimpse_envs.core.opencv import cv2

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
    if text:
        scale, _ = fit_text(text, size, 1, width)
        put_text(canvas, text, (corner[0], corner[1] + size), scale, colour, 1)


def is_within(text: str, size: int, width: int) -> bool:
    """Whether one line, its capitals `size` pixels high, is at most `width` pixels long."""
    scale, capital = fit_text(text, size, 1, width)
    return scale == size / capital


def fit_text(text: str, size: float, thickness: int, width: float) -> tuple[float, float]:
    """Return the font's scale at which capitals are `size` pixels high, or smaller where the line
    would be longer than `width` pixels, and the height in pixels of capitals at scale 1."""
    from glimpse_envs.core.opencv import cv2

    font = cv2.FONT_HERSHEY_SIMPLEX
    # The text is measured, because OpenCV 4 and 5 draw this font at different sizes.
    (_, capital), _ = cv2.getTextSize("H", font, 1.0, 1)
    scale = size / capital
    (needed, _), _ = cv2.getTextSize(text, font, scale, thickness)
    return scale * min(1.0, width / max(needed, 1)), capital


def put_text(
    canvas: Canvas, text: str, origin: tuple[int, int], scale: float, colour: Colour, thickness: int
) -> None:
    """Write one line with its lower left corner at `origin` (x, y)."""
    from glimpse_envs.core.opencv import cv2

    font = cv2.FONT_HERSHEY_SIMPLEX
    cv2.putText(canvas, text, origin, font, scale, colour, thickness, cv2.LINE_AA)


def fixed_point(points: NDArray[np.floating]) -> NDArray[np.int32]:
    """Return points (n, 2) in edge coordinates as OpenCV's fixed-point pixels (n, 2).

    OpenCV counts from pixel centres, edge coordinates from pixel edges.
    """
    return np.rint((points.astype(np.float64) - 0.5) * (1 << SUBPIXEL_BITS)).astype(np.int32)


def draw_disc(canvas: Canvas, centre: tuple[float, float], radius: float, colour: Colour) -> None:
    """Draw a filled circle around `centre` (x, y)."""
    from glimpse_envs.core.opencv import cv2

    ((x, y),) = fixed_point(np.array([centre])).tolist()
    extent = round(radius * (1 << SUBPIXEL_BITS))
    cv2.circle(canvas, (x, y), extent, colour, -1, cv2.LINE_AA, SUBPIXEL_BITS)


def draw_outline(canvas: Canvas, outline: Floats, colour: Colour, thickness: int) -> None:
    """Draw the outline of a polygon with corners (n, 2), inside its edges and within the canvas."""
    from glimpse_envs.core.opencv import cv2

    inside = _inside(canvas, outline, thickness)
    core = cv2.erode(inside, np.ones((2 * thickness + 1, 2 * thickness + 1), np.uint8))
    canvas[(inside > core)[thickness:-thickness, thickness:-thickness]] = colour


def dim_outside(canvas: Canvas, outlines: Sequence[Floats], light: float) -> None:
    """Reduce everything outside all polygons, each with corners (n, 2), to `light` (0 to 1)."""
    dark = ~np.any([_inside(canvas, outline) > 0 for outline in outlines], axis=0)
    canvas[dark] = np.rint(light * canvas[dark].astype(np.float32)).astype(np.uint8)


def draw_boxes(canvas: Canvas, boxes: Floats, thickness: int) -> None:
    """Draw the outlines of target boxes (n, 4), x0, y0, x1, y1, except those of NaN."""
    for x0, y0, x1, y1 in boxes[~np.isnan(boxes).any(axis=1)]:
        corners = np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
        draw_outline(canvas, corners, TARGET, thickness)


def _inside(canvas: Canvas, outline: Floats, beyond: int = 0) -> Bytes:
    """Return which pixels of the canvas, and of a rim of `beyond` pixels around it, lie in a
    polygon, its corners (n, 2) rounded: (h + 2 beyond, w + 2 beyond) uint8, 0 or 1."""
    from glimpse_envs.core.opencv import cv2

    edges = np.rint(outline)
    # OpenCV also fills the pixels of the corners: those right and below end one before the edge.
    corners = (edges - (outline > outline.mean(axis=0))).astype(np.int32)
    found = np.zeros([side + 2 * beyond for side in canvas.shape[:2]], np.uint8)
    cv2.fillPoly(found, [corners + beyond], 1)
    return found


def draw_path(canvas: Canvas, path: NDArray[np.floating], unit: float) -> None:
    """Fixations joined by lines: older ones smaller and fainter, the present one in its own colour.

    Args:
        canvas: drawn on in place.
        path: (t, 2) fixations (x, y) in canvas pixels.
        unit: line width in pixels; dots scale with it.
    """
    from glimpse_envs.core.opencv import cv2

    points = path.tolist()
    ends = fixed_point(path).tolist()
    strengths = np.linspace(0.35, 1.0, len(points)) if len(points) > 1 else np.ones(1)
    line_width, halo_width = max(1, round(unit)), max(1, round(unit)) + 2

    def blend(before: Canvas, strength: float) -> None:
        canvas[:] = cv2.addWeighted(canvas, strength, before, 1.0 - strength, 0.0)

    for start, end, strength in zip(ends[:-1], ends[1:], strengths[1:], strict=True):
        before = canvas.copy()
        cv2.line(canvas, start, end, HALO, halo_width, cv2.LINE_AA, SUBPIXEL_BITS)
        cv2.line(canvas, start, end, PATH, line_width, cv2.LINE_AA, SUBPIXEL_BITS)
        blend(before, float(strength))
    for point, strength in zip(points[:-1], strengths[:-1], strict=True):
        before = canvas.copy()
        _draw_dot(canvas, point, unit * (1.2 + 1.2 * float(strength)), PATH)
        blend(before, float(strength))
    _draw_dot(canvas, points[-1], 2.8 * unit, PRESENT)


def _draw_dot(canvas: Canvas, point: tuple[float, float], radius: float, colour: Colour) -> None:
    draw_disc(canvas, point, radius + 1.2, HALO)
    draw_disc(canvas, point, radius, colour)


def draw_mark(canvas: Canvas, corner: tuple[int, int], size: int, verdict: bool | None) -> None:
    """A tick on green, a cross on red, or a grey ring while the verdict is open."""
    from glimpse_envs.core.opencv import cv2

    centre = corner[0] + size / 2, corner[1] + size / 2
    stroke = max(1, size // 8)
    draw_disc(canvas, centre, size / 2, verdict_colour(verdict))
    if verdict is None:
        draw_disc(canvas, centre, size / 2 - stroke, BACKGROUND)
        return
    strokes = (
        ((-0.45, 0.05), (-0.12, 0.38), (0.48, -0.32))
        if verdict
        else ((-0.36, -0.36), (0.36, 0.36), (0, 0), (0.36, -0.36), (-0.36, 0.36))
    )
    corners = fixed_point(np.array(centre) + np.array(strokes) * size / 2).tolist()
    for start, end in pairwise(corners):
        cv2.line(canvas, start, end, TEXT, stroke, cv2.LINE_AA, SUBPIXEL_BITS)
