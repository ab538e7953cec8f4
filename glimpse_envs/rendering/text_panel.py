"""The lines of a text, one below the other, with the path of the reader through them."""

from glimpse_envs.rendering.cells import Area, Visits, draw_box, draw_star
from glimpse_envs.rendering.drawing import Canvas, draw_text
from glimpse_envs.rendering.palette import MUTED, PATH, RELEVANT, TEXT, mix
from glimpse_envs.rendering.tape_picture import TablePicture

FEWEST = 8
"""Least number of lines that the height is divided into."""


def draw_lines(canvas: Canvas, picture: TablePicture, area: Area) -> None:
    """Draw the cells of a picture as lines into an area of the canvas: on the left the number of
    each, on the right those of the path's steps that visited it, from 1 on."""
    height = area.height / max(FEWEST, len(picture.cells))
    for place, (address, text) in enumerate(zip(picture.addresses, picture.cells, strict=True)):
        line = Area(area.left, area.top + place * height, area.width, height)
        _draw_line(canvas, picture, address, text, line.inset(0.06 * height))


def _draw_line(canvas: Canvas, picture: TablePicture, address: int, text: str, line: Area) -> None:
    seen = Visits.of(picture, address, text)
    unit = line.height
    thickness = unit / 30 if not seen.steps else unit / 10 if seen.present else unit / 16
    draw_box(canvas, line, seen.fill, seen.edge, max(1.0, thickness))
    size = max(6, round(0.42 * unit))
    top = round(line.top + (unit - size) / 2)
    margin, notes = round(1.6 * unit), round(0.22 * line.width)
    room = round(line.width) - margin - notes
    draw_text(canvas, text, (round(line.left) + margin, top), size, TEXT, room)
    note = max(5, round(0.3 * unit))
    low = round(line.top + (unit - note) / 2)
    number = round(line.left + 0.4 * unit), low
    draw_text(canvas, str(address), number, note, mix(seen.fill, MUTED, 0.8), margin)
    if seen.steps:
        left = round(line.right) - notes
        draw_text(canvas, seen.named(5), (left, low), note, PATH, notes - round(1.2 * unit))
    if address in picture.relevant:
        side = 0.6 * unit
        star = Area(line.right - 1.6 * side, line.top + (unit - side) / 2, side, side)
        draw_star(canvas, star, RELEVANT)
