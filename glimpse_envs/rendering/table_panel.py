"""A table's cells in a grid, with the path of reads and writes through it."""

from glimpse_envs.rendering.cells import Area, Visits, draw_box, draw_cell_text, draw_star
from glimpse_envs.rendering.drawing import Canvas, draw_text
from glimpse_envs.rendering.palette import MUTED, PATH, RELEVANT, TEXT, mix
from glimpse_envs.rendering.tape_panel import draw_tapes
from glimpse_envs.rendering.tape_picture import TablePicture, TapePicture
from glimpse_envs.rendering.text_panel import draw_lines

GRIDS = ((4, 2), (4, 3), (4, 4), (5, 4), (6, 5), (8, 6), (10, 8))
"""(columns, rows), smallest first: the first grid that holds all cells is drawn."""


def draw_cells(canvas: Canvas, picture: TapePicture | TablePicture, area: Area) -> None:
    """Draw tapes or a table into an area of the canvas."""
    if isinstance(picture, TapePicture):
        draw_tapes(canvas, picture, area)
    else:
        _draw_table(canvas, picture, area)


def _draw_table(canvas: Canvas, picture: TablePicture, area: Area) -> None:
    """Draw the query and the cells into an area of the canvas.

    Every cell has its address in the upper left corner, and in the lower left one the numbers of
    the path's steps that visited it, from 1 on. If the largest grid does not hold all cells, the
    relevant ones and those visited last are drawn.
    """
    title = area.height / 16
    draw_text(
        canvas,
        picture.query,
        (round(area.left), round(area.top)),
        max(6, round(title)),
        RELEVANT,
        round(area.width),
    )
    top = area.top + 2 * title
    grid = Area(area.left, top, area.width, area.bottom - top)
    if picture.lines:
        draw_lines(canvas, picture, grid)
        return
    places = _place_cells(shown_cells(picture), grid)
    texts = dict(zip(picture.addresses, picture.cells, strict=True))
    for address, place in places.items():
        _draw_cell(canvas, picture, address, texts[address], place.inset(0.006 * area.width))


def shown_cells(picture: TablePicture) -> tuple[int, ...]:
    """Return the addresses that are drawn, in the picture's order."""
    columns, rows = GRIDS[-1]
    latest = {address: step for step, address in enumerate(picture.path)}
    ranked = sorted(
        picture.addresses,
        key=lambda address: (
            address != picture.path[-1] if picture.path else False,
            address not in picture.relevant,
            -latest.get(address, -1),
        ),
    )
    kept = set(ranked[: columns * rows])
    return tuple(address for address in picture.addresses if address in kept)


def _place_cells(addresses: tuple[int, ...], grid: Area) -> dict[int, Area]:
    """Return the area of each address, address -> area, row by row."""
    columns, rows = next(
        (columns, rows) for columns, rows in GRIDS if columns * rows >= len(addresses)
    )
    width, height = grid.width / columns, grid.height / rows
    return {
        address: Area(
            grid.left + (index % columns) * width, grid.top + (index // columns) * height,
            width, height,
        )
        for index, address in enumerate(addresses)
    }  # fmt: skip


def _draw_cell(canvas: Canvas, picture: TablePicture, address: int, text: str, cell: Area) -> None:
    seen = Visits.of(picture, address, text)
    # In high cells (above 0.62 of the width) the size of texts follows from the width.
    unit = min(cell.height, 0.62 * cell.width)
    thickness = unit / 50 if not seen.steps else unit / 22 if seen.present else unit / 36
    draw_box(canvas, cell, seen.fill, seen.edge, max(1.0, thickness))
    draw_cell_text(canvas, text, cell, max(0.2 * unit, 6.0), TEXT)
    if address in picture.relevant:
        side = 0.26 * unit
        star = Area(cell.right - 1.3 * side, cell.top + 0.3 * side, side, side)
        draw_star(canvas, star, RELEVANT)

    if unit < 15:
        return  # there is no room for notes
    note = max(5, round(0.12 * unit))
    left, top = round(cell.left + 0.08 * unit), round(cell.top + 0.09 * unit)
    room = round(0.6 * cell.width)
    draw_text(canvas, str(address), (left, top), note, mix(seen.fill, MUTED, 0.8), room)
    if seen.steps:
        low = round(cell.bottom - 0.1 * unit) - note
        draw_text(canvas, seen.named(3), (left, low), note, PATH, room)
