"""The meaning of outlines, marks and shades in a frame, as a strip below it."""

from collections.abc import Callable
from dataclasses import dataclass

from glimpse_envs.rendering.cells import Area, draw_box, draw_head, draw_star, lit
from glimpse_envs.rendering.drawing import Canvas, blank, draw_disc, draw_text
from glimpse_envs.rendering.palette import (
    BACKGROUND,
    BLACK,
    CELL,
    EDGE,
    MUTED,
    PATH,
    PRESENT,
    RELEVANT,
    WRITTEN,
    Colour,
    mix,
    scale_colour,
)
from glimpse_envs.rendering.picture import Picture
from glimpse_envs.rendering.tape_picture import TapePicture
from glimpse_envs.rendering.verdict import AnyPicture

_SEEN_BEFORE: Colour = (110, 110, 110)
COLUMNS = 3


@dataclass(frozen=True)
class Entry:
    """A sign and its meaning; `draw` puts the sign into a square of the canvas."""

    text: str
    draw: Callable[[Canvas, Area], None]


def legend_of(picture: AnyPicture) -> list[Entry]:
    """Return the signs that frames of pictures such as `picture` have."""
    unseen = Entry("not seen", _filled(BLACK, EDGE))
    if isinstance(picture, Picture):
        if not picture.outlines:
            return []
        scales = [Entry("what the glimpse shows", _filled(BACKGROUND, scale_colour(0)))]
        if len(picture.outlines) > 1:
            coarsest = scale_colour(len(picture.outlines) - 1)
            scales = [
                Entry("its finest window", _filled(BACKGROUND, scale_colour(0))),
                Entry("its coarsest", _filled(BACKGROUND, coarsest)),
            ]
        gaze, before = Entry("gaze", _dot(PRESENT)), Entry("gaze before", _dot(PATH))
        return [*scales, gaze, Entry("seen before", _filled(_SEEN_BEFORE, EDGE)), unseen, before]
    if isinstance(picture, TapePicture):
        return [
            Entry("head", lambda canvas, area: draw_head(
                canvas, (area.centre[0], area.bottom), area.height, PRESENT)),
            Entry("cell under it", _filled(lit(CELL, PRESENT), PRESENT)),
            Entry("written", _filled(lit(CELL, WRITTEN), mix(EDGE, WRITTEN, 0.7))),
            Entry("seen before", _filled(CELL, EDGE)),
            Entry("not seen", _filled(BACKGROUND, EDGE)),
        ]  # fmt: skip
    cell, steps = ("line", "beside") if picture.lines else ("cell", "below")
    written = Entry("written", _filled(lit(CELL, WRITTEN), EDGE))
    return [
        Entry(f"present {cell}", _filled(lit(CELL, PRESENT), PRESENT)),
        Entry(f"visited, at the steps {steps}", _filled(CELL, PATH)),
        *([] if picture.lines else [written]),
        Entry("holds the answer", lambda canvas, area: draw_star(canvas, area, RELEVANT)),
        unseen,
    ]


def draw_legend(picture: AnyPicture, height: int, width: int) -> Canvas:
    """Draw the legend of a picture, (height, width, 3)."""
    strip = blank(height, width, BACKGROUND)
    entries = legend_of(picture)
    margin, line = round(0.28 * height), height / 2
    size, column = round(0.5 * line), (width - margin) / COLUMNS
    for index, entry in enumerate(entries):
        left = margin + index % COLUMNS * column
        top = (index // COLUMNS) * line + 0.1 * line
        entry.draw(strip, Area(left, top, size, size))
        room = round(column - 2.2 * size)
        text = round(0.85 * size)
        draw_text(strip, entry.text, (round(left + 1.6 * size), round(top)), text, MUTED, room)
    return strip


def _filled(fill: Colour, edge: Colour) -> Callable[[Canvas, Area], None]:
    return lambda canvas, area: draw_box(canvas, area, fill, edge, 2.0)


def _dot(colour: Colour) -> Callable[[Canvas, Area], None]:
    return lambda canvas, area: draw_disc(canvas, area.centre, area.width / 2.4, colour)
