"""Cells of tapes, tables and texts, drawn on a canvas: boxes, head markers, text in the middle."""

from dataclasses import dataclass

import numpy as np

from glimpse_envs.rendering.drawing import (
    SUBPIXEL_BITS,
    Canvas,
    draw_disc,
    fit_text,
    fixed_point,
    put_text,
)
from glimpse_envs.rendering.palette import (
    BLACK,
    CELL,
    EDGE,
    MUTED,
    PATH,
    PRESENT,
    SLOT,
    WRITTEN,
    Colour,
    mix,
)
from glimpse_envs.rendering.tape_picture import TablePicture


@dataclass(frozen=True)
class Area:
    """A rectangle on a canvas, in its pixels; edge coordinates, which may be fractions."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height

    @property
    def centre(self) -> tuple[float, float]:
        return self.left + self.width / 2, self.top + self.height / 2

    def inset(self, by: float) -> "Area":
        """The area without a rim of `by` pixels."""
        return Area(self.left + by, self.top + by, self.width - 2 * by, self.height - 2 * by)


@dataclass(frozen=True)
class Visits:
    """The steps, from 1 on, of a picture's path that visited one cell, and its colours by them."""

    steps: list[int]
    present: bool
    fill: Colour
    edge: Colour

    @classmethod
    def of(cls, picture: TablePicture, address: int, text: str) -> "Visits":
        """Those of the cell at `address`, which shows `text`."""
        steps = [step for step, visited in enumerate(picture.path, 1) if visited == address]
        present = bool(steps) and steps[-1] == len(picture.path)
        fill, edge = (CELL if text else SLOT), EDGE
        if address in picture.unseen:
            fill = BLACK
        if address in picture.written:
            fill = lit(fill, WRITTEN)
        elif present:
            fill = lit(fill, PRESENT)
        if present:
            edge = PRESENT
        elif steps:
            edge = mix(EDGE, PATH, 0.2 + 0.6 * steps[-1] / len(picture.path))
        return cls(steps, present, fill, edge)

    def named(self, most: int) -> str:
        """The last `most` steps, separated by commas."""
        return ("..," if len(self.steps) > most else "") + ",".join(map(str, self.steps[-most:]))


def draw_box(canvas: Canvas, area: Area, fill: Colour, edge: Colour, thickness: float) -> None:
    """A box with rounded corners; its edge lies inside the area."""
    radius = min(0.18 * min(area.width, area.height), 9.0)
    _fill_rounded(canvas, area, radius, edge)
    _fill_rounded(canvas, area.inset(thickness), max(radius - thickness, 0.0), fill)


def draw_cell_text(canvas: Canvas, text: str, area: Area, size: float, colour: Colour) -> None:
    """Write text into the middle of an area, its capitals `size` pixels high or smaller to fit."""
    from glimpse_envs.core.opencv import cv2

    if not text:
        return
    thickness = max(1, round(size / 8))
    scale, capital = fit_text(text, size, thickness, 0.88 * area.width)
    (width, _), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, scale, thickness)
    x, y = area.centre
    corner = round(x - width / 2), round(y + scale * capital / 2)
    put_text(canvas, text, corner, scale, colour, thickness)


def draw_head(canvas: Canvas, tip: tuple[float, float], side: float, colour: Colour) -> None:
    """A triangle that points down to its tip (x, y)."""
    x, y = tip
    height = 0.8 * side
    corners = np.array([(x, y), (x - side / 2, y - height), (x + side / 2, y - height)])
    _fill(canvas, corners, colour)


def draw_dots(canvas: Canvas, centre: tuple[float, float], radius: float) -> None:
    """Three dots, one above the other: they stand for cells that are not shown."""
    for step in (-1, 0, 1):
        draw_disc(canvas, (centre[0], centre[1] + 4 * step * radius), radius, MUTED)


def draw_star(canvas: Canvas, area: Area, colour: Colour) -> None:
    """A star of five points."""
    from glimpse_envs.core.opencv import cv2

    angles = np.pi * np.arange(10) / 5 - np.pi / 2
    radii = np.where(np.arange(10) % 2, 0.2, 0.5) * min(area.width, area.height)
    x, y = area.centre
    points = np.stack([x + radii * np.cos(angles), y + radii * np.sin(angles)], axis=1)
    cv2.fillPoly(canvas, [fixed_point(points)], colour, cv2.LINE_AA, SUBPIXEL_BITS)


def lit(fill: Colour, by: Colour) -> Colour:
    """The fill of a cell that is highlighted in a colour."""
    return mix(fill, by, 0.3)


def _fill_rounded(canvas: Canvas, area: Area, radius: float, colour: Colour) -> None:
    quarter = np.linspace(0.0, np.pi / 2, 9)
    corners = (
        (area.right - radius, area.bottom - radius, 0.0),
        (area.left + radius, area.bottom - radius, np.pi / 2),
        (area.left + radius, area.top + radius, np.pi),
        (area.right - radius, area.top + radius, 3 * np.pi / 2),
    )
    arcs = [
        np.stack([x + radius * np.cos(start + quarter), y + radius * np.sin(start + quarter)], 1)
        for x, y, start in corners
    ]
    _fill(canvas, np.concatenate(arcs), colour)


def _fill(canvas: Canvas, corners: np.ndarray, colour: Colour) -> None:
    """Fill a convex polygon; corners (n, 2) as (x, y)."""
    from glimpse_envs.core.opencv import cv2

    cv2.fillConvexPoly(canvas, fixed_point(corners), colour, cv2.LINE_AA, SUBPIXEL_BITS)
