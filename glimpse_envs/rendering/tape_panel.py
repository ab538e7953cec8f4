"""Panel of tapes, one below the other: cells, heads, symbols written and put out."""

from glimpse_envs.rendering.cells import (
    Area,
    draw_box,
    draw_cell_text,
    draw_dots,
    draw_head,
    lit,
)
from glimpse_envs.rendering.drawing import Canvas, draw_text
from glimpse_envs.rendering.palette import (
    BACKGROUND,
    CELL,
    EDGE,
    MUTED,
    PRESENT,
    SLOT,
    TEXT,
    WRITTEN,
    Colour,
    mix,
    verdict_colour,
)
from glimpse_envs.rendering.tape_picture import Strip, TapePicture

FEWEST_SLOTS, MOST_SLOTS = 12, 24
"""Bounds of a tape's number of slots; of longer tapes only the part around the head is drawn."""


def draw_tapes(canvas: Canvas, picture: TapePicture, area: Area) -> None:
    """Draw the tapes into an area of the canvas, cells of one index below each other.

    The size of a cell depends on the area, on the number of tapes and on the first one's length.
    """
    slots = min(max(len(picture.strips[0].cells) + 2, FEWEST_SLOTS), MOST_SLOTS)
    if picture.strips[0].seen is not None:
        slots = MOST_SLOTS  # whatever the length, which was not seen
    pitch = area.width / (slots + 1)  # half a slot is free at either end
    band = area.height / len(picture.strips)
    side = min(0.86 * pitch, 0.55 * band)
    for index, strip in enumerate(picture.strips):
        top = area.top + index * band
        _draw_strip(canvas, strip, Area(area.left, top, area.width, band), slots, side)


def first_shown(strip: Strip, slots: int) -> int:
    """Index of the cell in a tape's first slot: -1 if the tape fits with a free slot at either end,
    else such that the head, or the symbol put out last, is near the middle."""
    put_out_last = (len(strip.good) or len(strip.cells)) - 1
    focus = put_out_last if strip.head is None else strip.head
    end = len(strip.cells) + 1 - slots
    return max(-1, focus - slots // 2 if strip.seen is not None else min(focus - slots // 2, end))


def _draw_strip(canvas: Canvas, strip: Strip, band: Area, slots: int, side: float) -> None:
    pitch = band.width / (slots + 1)
    label, marker, number = max(6, round(band.width / 60)), 0.42 * side, max(0.22 * side, 6.0)
    # Label, head marker, cell and index stand in the middle of the band.
    content = 1.4 * label + marker + side + 1.9 * number
    top = band.top + max(0.0, (band.height - content) / 2)
    left = band.left + pitch / 2
    draw_text(canvas, strip.name, (round(left), round(top)), label, MUTED, round(band.width / 2))
    cell_top = top + 1.4 * label + marker

    first = first_shown(strip, slots)
    for slot in range(slots):
        index = first + slot
        cell = Area(left + slot * pitch + (pitch - side) / 2, cell_top, side, side)
        _draw_cell(canvas, strip, index, cell)
        if _is_shown(strip, index) and index % 5 == 0 and side >= 18:
            below = Area(cell.left, cell.bottom + 0.5 * number, side, 1.4 * number)
            draw_cell_text(canvas, str(index), below, number, mix(BACKGROUND, MUTED, 0.6))
    middle = cell_top + side / 2
    if first > 0:
        draw_dots(canvas, (band.left + pitch / 4, middle), 0.05 * side)
    last = len(strip.cells) - 1 if strip.seen is None else max(strip.seen, default=0)
    if first + slots <= last:
        draw_dots(canvas, (band.right - pitch / 4, middle), 0.05 * side)


def _draw_cell(canvas: Canvas, strip: Strip, index: int, cell: Area) -> None:
    thin, thick = max(1.0, cell.width / 40), max(1.5, cell.width / 14)
    under_head = index == strip.head
    if not _is_shown(strip, index):
        edge = PRESENT if under_head else mix(BACKGROUND, SLOT, 0.9)
        draw_box(canvas, cell, BACKGROUND, edge, thick if under_head else thin)
    else:
        text = strip.cells[index]
        fill = CELL if text else SLOT
        edge, colour = EDGE, TEXT
        stain = _stain(strip, index)
        if stain is not None:
            fill, edge, colour = lit(fill, stain), mix(EDGE, stain, 0.7), TEXT
        if under_head:
            fill, edge = (fill if stain else lit(fill, PRESENT)), PRESENT
        draw_box(canvas, cell, fill, edge, thick if under_head else thin)
        draw_cell_text(canvas, text, cell, max(0.34 * cell.height, 6.0), colour)
    if under_head:
        tip = cell.centre[0], cell.top - 0.08 * cell.height
        draw_head(canvas, tip, 0.4 * cell.height, PRESENT)


def _is_shown(strip: Strip, index: int) -> bool:
    return 0 <= index < len(strip.cells) and (strip.seen is None or index in strip.seen)


def _stain(strip: Strip, index: int) -> Colour | None:
    """Return the colour of a cell that was put out or written; None for any other."""
    if index < len(strip.good):
        return verdict_colour(strip.good[index])
    return WRITTEN if index in strip.written else None
